# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

from collections.abc import Iterator

from .._call import read
from ..events import ChangesEvent, changes_event_of
from .follow import follow
from .operations import EventsOperations


class Events(EventsOperations):
    """Events of the workspace."""

    def changes(self) -> Iterator[ChangesEvent]:
        """Yields the types of resources that change, at most once a second, without end. The first event names none, as does
        the first one after an interruption: reload what you show.
        """
        return follow(self._transport, read("changes"), changes_event_of, is_last=lambda _: False)
