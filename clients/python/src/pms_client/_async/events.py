from __future__ import annotations

from collections.abc import AsyncIterator

from .._call import read
from ..events import ChangesEvent, changes_event_of
from .follow import async_follow
from .operations import AsyncEventsOperations


class AsyncEvents(AsyncEventsOperations):
    """What has happened."""

    def changes(self) -> AsyncIterator[ChangesEvent]:
        """Which types of resources change, once a second at most, for ever. The first event names none, as does the first one after an
        interruption: read again what you show."""
        return async_follow(self._transport, read("changes"), changes_event_of, is_last=lambda _: False)
