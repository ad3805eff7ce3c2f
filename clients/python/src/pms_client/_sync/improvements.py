# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

from collections.abc import Iterator

from .._call import read
from ..events import ImprovementEvent, improvement_event_of
from .follow import follow
from .operations import ImprovementsOperations


class Improvements(ImprovementsOperations):
    """Searches for a better version of a prompt."""

    def stream(self, improvement_id: str) -> Iterator[ImprovementEvent]:
        """Yields the progress of an improvement until its end. Reconnects after a broken connection."""
        call = read("improvements", improvement_id, "stream")
        return follow(
            self._transport, call, improvement_event_of, is_last=lambda event: event.type != "improvement.progress"
        )
