# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import httpx
from httpx_sse import EventSource, SSEError

from .._call import Call, read, telling
from .._lazy import models
from .._runtime import sleep
from ..errors import PmsError, StreamInterruptedError, UnexpectedResponseError
from ..events import ExecutionEnded, ExecutionStarted, StreamEvent, Transcript, event_of
from .transport import Transport

EVENT_STREAM = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
# The service sends a comment every 15 seconds.
SILENCE_SECONDS = 45.0


class ExecutionStream:
    """The events of an execution, once. After a broken connection, it resumes after the last event.

    Iterate it, or use `text`, `tool_calls` and `execution`: the state after the events so far. Closing it cancels nothing.
    """

    def __init__(
        self,
        transport: Transport,
        *,
        call: Call | None = None,
        execution_id: str | None = None,
        last_event_id: str | None = None,
    ) -> None:
        self._transport = transport
        # Sent again until the execution's id is known: its key identifies the same execution.
        self._call = call
        self._execution_id = execution_id
        self.last_event_id = last_event_id
        """Where to resume: the id of the last event."""
        self._transcript = Transcript()
        self._events = self._read()

    @property
    def text(self) -> str:
        """Since the last restart."""
        return self._transcript.text

    @property
    def tool_calls(self) -> list[models.ToolCall]:
        """Since the last restart."""
        return self._transcript.tool_calls

    @property
    def execution(self) -> models.Execution:
        """The record: at first as it was at the start, finally as it is at the end.

        Raises:
            ValueError: if no event has been read yet.
        """
        execution = self._transcript.execution
        if execution is None:
            raise ValueError("The stream has no execution yet: read its first event.")
        return execution

    def until_done(self) -> models.Execution:
        """Reads the rest.

        Returns:
            The record of the execution, whatever its status.
        """
        for _ in self:
            pass
        if not self._transcript.is_complete:
            raise StreamInterruptedError("The stream was closed before the execution ended.")
        return self.execution

    def __iter__(self) -> ExecutionStream:
        return self

    def __next__(self) -> StreamEvent:
        return self._events.__next__()

    def __enter__(self) -> ExecutionStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        close: Any = getattr(self._events, "close", None)
        if close is not None:
            close()

    def _read(self) -> Iterator[StreamEvent]:
        patience = self._transport.patience()
        while True:
            call = self._next_call()
            error: PmsError = StreamInterruptedError("The stream ended before the execution did, again and again.")
            cause: BaseException | None = None
            try:
                with self._transport.open(call) as response:
                    for event in self._events_of(response):
                        patience.reset()
                        yield event
                        if isinstance(event, ExecutionEnded):
                            return
            except PmsError as caught:
                error, cause = caught, caught.__cause__
            wait = patience.seconds_after(call, error, cause)
            if wait is None:
                raise telling(error, call)
            sleep(wait)

    def _next_call(self) -> Call:
        if self._execution_id is None:
            assert self._call is not None
            return self._call
        call = read("executions", self._execution_id, "stream")
        last = {} if self.last_event_id is None else {"Last-Event-ID": self.last_event_id}
        return Call(
            call.method,
            call.path,
            headers={**EVENT_STREAM, **last},
            timeout=SILENCE_SECONDS,
            is_repeatable=True,
            idempotency_key=None if self._call is None else self._call.idempotency_key,
        )

    def _events_of(self, response: httpx.Response) -> Iterator[StreamEvent]:
        try:
            for sent in EventSource(response).iter_sse():
                # After an `id:`, httpx-sse turns every comment into an event without data.
                if not sent.data:
                    continue
                event = event_of(sent.event, sent.json())
                if isinstance(event, ExecutionStarted):
                    self._execution_id = event.execution.id
                self.last_event_id = sent.id or self.last_event_id
                self._transcript.add(event)
                yield event
        except (SSEError, ValueError) as error:
            raise UnexpectedResponseError(f"This is not the stream of an execution: {error}") from error
