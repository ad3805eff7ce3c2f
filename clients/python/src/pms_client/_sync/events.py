# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

from collections.abc import Iterator

from .._call import read
from ..events import ChangesEvent, changes_event_of
from .follow import follow
from .operations import EventsOperations


class Events(EventsOperations):
    """What has happened."""

    def changes(self) -> Iterator[ChangesEvent]:
        """Which types of resources change, once a second at most, for ever. The first event names none, as does the first one after an
        interruption: read again what you show."""
        return follow(self._transport, read("changes"), changes_event_of, is_last=lambda _: False)
