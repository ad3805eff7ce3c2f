# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from httpx_sse import EventSource, SSEError

from .._call import Call, telling
from .._runtime import sleep
from ..errors import PmsError, StreamInterruptedError, UnexpectedResponseError
from .stream import EVENT_STREAM, SILENCE_SECONDS
from .transport import Transport

Event = TypeVar("Event")


def follow(
    transport: Transport,
    call: Call,
    event_of: Callable[[str, dict[str, Any]], Event],
    *,
    is_last: Callable[[Event], bool],
) -> Iterator[Event]:
    """The events of a stream without positions: each contains the complete state. Reconnects after a broken connection.

    Raises:
        StreamInterruptedError: if it breaks repeatedly without an event.
    """
    call = replace(call, headers=EVENT_STREAM, timeout=SILENCE_SECONDS)
    patience = transport.patience()
    while True:
        error: PmsError = StreamInterruptedError("The stream ended before its last event, again and again.")
        cause: BaseException | None = None
        try:
            with transport.open(call) as response:
                for sent in EventSource(response).iter_sse():
                    if not sent.data:
                        continue
                    patience.reset()
                    event = event_of(sent.event, sent.json())
                    yield event
                    if is_last(event):
                        return
        except (SSEError, ValueError) as caught:
            raise UnexpectedResponseError(f"The response is not the requested stream: {caught}") from caught
        except PmsError as caught:
            error, cause = caught, caught.__cause__
        wait = patience.seconds_after(call, error, cause)
        if wait is None:
            raise telling(error, call)
        sleep(wait)
