from __future__ import annotations

from collections.abc import AsyncIterator

from .._call import read
from ..events import ChangesEvent, changes_event_of
from .follow import async_follow
from .operations import AsyncEventsOperations


class AsyncEvents(AsyncEventsOperations):
    """Events of the workspace."""

    def changes(self) -> AsyncIterator[ChangesEvent]:
        """Yields the types of resources that change, at most once a second, without end. The first event names none, as does
        the first one after an interruption: reload what you show.
        """
        return async_follow(self._transport, read("changes"), changes_event_of, is_last=lambda _: False)
