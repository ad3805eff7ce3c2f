from __future__ import annotations

from collections.abc import AsyncIterator

from .._call import read
from ..events import ImprovementEvent, improvement_event_of
from .follow import async_follow
from .operations import AsyncImprovementsOperations


class AsyncImprovements(AsyncImprovementsOperations):
    """Searches for a better version of a prompt."""

    def stream(self, improvement_id: str) -> AsyncIterator[ImprovementEvent]:
        """Yields the progress of an improvement until its end. Reconnects after a broken connection."""
        call = read("improvements", improvement_id, "stream")
        return async_follow(
            self._transport, call, improvement_event_of, is_last=lambda event: event.type != "improvement.progress"
        )
