# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

from collections.abc import Iterator, Mapping

from typing_extensions import Unpack

from .._call import Call, change, create, read
from .._lazy import models
from ..types import ExecutionFields, ExecutionStatus, Time
from .operations import ExecutionsOperations
from .stream import EVENT_STREAM, SILENCE_SECONDS, ExecutionStream
from .transport import Transport

DEFAULT_WAIT_SECONDS = 60
_MARGIN_SECONDS = 15.0


class Executions(ExecutionsOperations):
    """Runs of prompts."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        prompt_name: str | None = None,
        variables: Mapping[str, object] | None = None,
        *,
        wait: int = DEFAULT_WAIT_SECONDS,
        idempotency_key: str | None = None,
        **fields: Unpack[ExecutionFields],
    ) -> models.Execution:
        """Runs a prompt, and waits for its end for the maximum time of one request. `execute` of the client waits longer.

        Args:
            wait: seconds, at most 300. The run continues after that; 0 does not wait.

        Returns:
            The record in its current state, also of a failed run (`status`, `error`).
        """
        call = create(
            "executions",
            body=_body(prompt_name, variables, fields),
            idempotency_key=idempotency_key,
            headers={"Prefer": f"wait={wait}"},
            timeout=wait + _MARGIN_SECONDS,
        )
        return self._transport.fetch(models.Execution, call)

    def stream(
        self,
        prompt_name: str | None = None,
        variables: Mapping[str, object] | None = None,
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[ExecutionFields],
    ) -> ExecutionStream:
        """Runs a prompt, and yields its events as the model writes. The run starts when the first event is requested."""
        call: Call = create(
            "executions",
            body=_body(prompt_name, variables, fields),
            idempotency_key=idempotency_key,
            headers=EVENT_STREAM,
            timeout=SILENCE_SECONDS,
        )
        return ExecutionStream(self._transport, call=call)

    def stream_of(self, execution_id: str, *, last_event_id: str | None = None) -> ExecutionStream:
        """The events of an existing execution, from its beginning or after an event."""
        return ExecutionStream(self._transport, execution_id=execution_id, last_event_id=last_event_id)

    def get(self, execution_id: str) -> models.Execution:
        return self._transport.fetch(models.Execution, read("executions", execution_id))

    def list(
        self,
        *,
        prompt_name: str | None = None,
        status: ExecutionStatus | None = None,
        model: str | None = None,
        recorded: bool | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
    ) -> Iterator[models.Execution]:
        """All executions, newest first, page by page (`limit` is the page size). `recorded`: only executions made elsewhere, or
        (False) here.
        """
        return self._transport.pages(
            models.Execution,
            "executions",
            prompt_name=prompt_name,
            status=status,
            model=model,
            recorded=recorded,
            since=since,
            until=until,
            limit=limit,
        )

    def cancel(self, execution_id: str) -> models.Execution:
        return self._transport.fetch(models.Execution, change("POST", "executions", execution_id, "cancel"))

    def delete(self, execution_id: str) -> models.Execution:
        """Deletes an ended execution."""
        return self._transport.fetch(models.Execution, change("DELETE", "executions", execution_id))


def _body(
    prompt_name: str | None, variables: Mapping[str, object] | None, fields: ExecutionFields
) -> dict[str, object]:
    named = {} if prompt_name is None else {"prompt_name": prompt_name}
    given = {} if variables is None else {"variables": variables}
    return {**named, **given, **fields}
