from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Any

import httpx
from httpx_sse import EventSource, SSEError

from .._call import Call, read, telling
from .._lazy import models
from .._runtime import async_sleep
from ..errors import PmsError, StreamInterruptedError, UnexpectedResponseError
from ..events import ExecutionEnded, ExecutionStarted, StreamEvent, Transcript, event_of
from .transport import AsyncTransport

EVENT_STREAM = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
# The service sends a comment every 15 seconds.
SILENCE_SECONDS = 45.0


class AsyncExecutionStream:
    """The events of an execution, once. After a broken connection, it resumes after the last event.

    Iterate it, or use `text`, `tool_calls` and `execution`: the state after the events so far. Closing it cancels nothing.
    """

    def __init__(
        self,
        transport: AsyncTransport,
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

    async def until_done(self) -> models.Execution:
        """Reads the rest.

        Returns:
            The record of the execution, whatever its status.
        """
        async for _ in self:
            pass
        if not self._transcript.is_complete:
            raise StreamInterruptedError("The stream was closed before the execution ended.")
        return self.execution

    def __aiter__(self) -> AsyncExecutionStream:
        return self

    async def __anext__(self) -> StreamEvent:
        return await self._events.__anext__()

    async def __aenter__(self) -> AsyncExecutionStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        close: Any = getattr(self._events, "aclose", None)
        if close is not None:
            await close()

    async def _read(self) -> AsyncIterator[StreamEvent]:
        patience = self._transport.patience()
        while True:
            call = self._next_call()
            error: PmsError = StreamInterruptedError("The stream ended before the execution did, again and again.")
            cause: BaseException | None = None
            try:
                async with self._transport.open(call) as response:
                    async for event in self._events_of(response):
                        patience.reset()
                        yield event
                        if isinstance(event, ExecutionEnded):
                            return
            except PmsError as caught:
                error, cause = caught, caught.__cause__
            wait = patience.seconds_after(call, error, cause)
            if wait is None:
                raise telling(error, call)
            await async_sleep(wait)

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

    async def _events_of(self, response: httpx.Response) -> AsyncIterator[StreamEvent]:
        try:
            async for sent in EventSource(response).aiter_sse():
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
