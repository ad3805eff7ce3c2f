from __future__ import annotations

import time
from collections.abc import AsyncIterator

from typing_extensions import Unpack

from .._call import change, create, read
from .._lazy import models
from .._runtime import async_sleep
from ..errors import WaitTimeoutError
from ..events import EvaluationEvent, evaluation_event_of
from ..types import EvaluationFields, EvaluationStatus, RescoreFields, Time
from .follow import async_follow
from .operations import AsyncEvaluationsOperations
from .transport import AsyncTransport

ENDED = ("completed", "failed", "canceled")


class AsyncEvaluations(AsyncEvaluationsOperations):
    """Runs of a prompt over examples."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self, prompt_name: str, *, idempotency_key: str | None = None, **fields: Unpack[EvaluationFields]
    ) -> models.Evaluation:
        """Starts an evaluation, without waiting for it: see `wait`."""
        call = create("evaluations", body={"prompt_name": prompt_name, **fields}, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.Evaluation, call)

    async def wait(
        self, evaluation_id: str, *, timeout: float | None = None, interval: float = 2.0
    ) -> models.Evaluation:
        """Waits until an evaluation ends, or pauses because it has reached its `max_cost`.

        Args:
            timeout: seconds. Default: no limit.
            interval: seconds between polls.

        Raises:
            WaitTimeoutError: if it is still running after the timeout.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            evaluation = await self.get(evaluation_id)
            if evaluation.status in ENDED or evaluation.status == "paused":
                return evaluation
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeoutError(f"The evaluation {evaluation_id} is still {evaluation.status}.")
            await async_sleep(interval)

    async def get(self, evaluation_id: str) -> models.Evaluation:
        return await self._transport.fetch(models.Evaluation, read("evaluations", evaluation_id))

    def list(
        self,
        *,
        prompt_name: str | None = None,
        status: EvaluationStatus | None = None,
        dataset: str | None = None,
        schedule_id: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[models.Evaluation]:
        """All evaluations, newest first, page by page (`limit` is the page size)."""
        return self._transport.pages(
            models.Evaluation,
            "evaluations",
            prompt_name=prompt_name,
            status=status,
            dataset=dataset,
            schedule_id=schedule_id,
            since=since,
            until=until,
            limit=limit,
        )

    def results(
        self,
        evaluation_id: str,
        *,
        regression: bool | None = None,
        improvement: bool | None = None,
        failed: bool | None = None,
        example_id: str | None = None,
        min_score: float | None = None,
        max_score: float | None = None,
        evaluator: str | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[models.EvaluationResult]:
        """The result of each example.

        Args:
            min_score: from 0 to 1, of the example or of one `evaluator`.
        """
        return self._transport.pages(
            models.EvaluationResult,
            "evaluations",
            evaluation_id,
            "results",
            regression=regression,
            improvement=improvement,
            failed=failed,
            example_id=example_id,
            min_score=min_score,
            max_score=max_score,
            evaluator=evaluator,
            limit=limit,
        )

    async def result(self, evaluation_id: str, seq: int) -> models.EvaluationResult:
        """The result of one example, by its `seq`."""
        return await self._transport.fetch(
            models.EvaluationResult, read("evaluations", evaluation_id, "results", str(seq))
        )

    def stream(self, evaluation_id: str) -> AsyncIterator[EvaluationEvent]:
        """Yields the progress of an evaluation until its end. Reconnects after a broken connection."""
        call = read("evaluations", evaluation_id, "stream")
        return async_follow(
            self._transport, call, evaluation_event_of, is_last=lambda event: event.type != "evaluation.progress"
        )

    async def compare(self, evaluation_id: str, other_id: str) -> models.EvaluationComparison:
        """Compares a run with an earlier one."""
        call = read("evaluations", evaluation_id, "compare", other_id)
        return await self._transport.fetch(models.EvaluationComparison, call)

    async def pause(self, evaluation_id: str) -> models.Evaluation:
        return await self._control(evaluation_id, "pause")

    async def resume(self, evaluation_id: str, *, max_cost: str | float | None = None) -> models.Evaluation:
        return await self._control(evaluation_id, "resume", {} if max_cost is None else {"max_cost": max_cost})

    async def cancel(self, evaluation_id: str) -> models.Evaluation:
        return await self._control(evaluation_id, "cancel")

    async def retry(self, evaluation_id: str) -> models.Evaluation:
        """Repeats the failed examples, and those that were not reached."""
        return await self._control(evaluation_id, "retry")

    async def rescore(
        self, evaluation_id: str, *, idempotency_key: str | None = None, **fields: Unpack[RescoreFields]
    ) -> models.Evaluation:
        """Scores the outputs of a completed run in a new one."""
        call = create("evaluations", evaluation_id, "rescore", body=fields, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.Evaluation, call)

    async def delete(self, evaluation_id: str) -> models.Evaluation:
        return await self._transport.fetch(models.Evaluation, change("DELETE", "evaluations", evaluation_id))

    async def _control(self, evaluation_id: str, how: str, body: object = None) -> models.Evaluation:
        return await self._transport.fetch(
            models.Evaluation, change("POST", "evaluations", evaluation_id, how, body=body)
        )
