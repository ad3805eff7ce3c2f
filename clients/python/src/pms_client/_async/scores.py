from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from typing_extensions import Unpack

from .._call import create, read
from .._lazy import models
from ..types import NewScore, ScoreFields, ScoreSource, Time
from .operations import AsyncScoresOperations
from .transport import AsyncTransport


class AsyncScores(AsyncScoresOperations):
    """Scores of executions, evaluation examples, traces and conversations."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        name: str,
        value: float | bool | str,
        *,
        execution_id: str | None = None,
        evaluation_id: str | None = None,
        example_id: str | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
        conversation_id: str | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[ScoreFields],
    ) -> models.Score:
        """Stores a score of an execution (`execution_id`), an evaluation example (`evaluation_id`, `example_id`),
        a trace (`trace_id`), one of its steps (`span_id`, too), or a conversation (`conversation_id`).

        Args:
            fields: with the `id` of an existing score, it is replaced.
        """
        given = {
            "execution_id": execution_id,
            "evaluation_id": evaluation_id,
            "example_id": example_id,
            "trace_id": trace_id,
            "span_id": span_id,
            "conversation_id": conversation_id,
        }
        subject = {key: id_ for key, id_ in given.items() if id_ is not None}
        body = {"name": name, "value": value, "subject": subject, **fields}
        return await self._transport.fetch(models.Score, create("scores", body=body, idempotency_key=idempotency_key))

    async def create_many(
        self, scores: Sequence[NewScore | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> Sequence[models.Score]:
        """Stores up to 1,000 scores in one request, all or none."""
        call = create("scores", body={"scores": scores}, idempotency_key=idempotency_key)
        return (await self._transport.fetch(models.Scores, call)).data

    def list(
        self,
        *,
        name: str | None = None,
        execution_id: str | None = None,
        evaluation_id: str | None = None,
        example_id: str | None = None,
        trace_id: str | None = None,
        span_id: str | None = None,
        conversation_id: str | None = None,
        source: ScoreSource | None = None,
        rule: str | None = None,
        prompt_name: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[models.Score]:
        """All scores, newest first, page by page (`limit` is the page size)."""
        return self._transport.pages(
            models.Score,
            "scores",
            name=name,
            execution_id=execution_id,
            evaluation_id=evaluation_id,
            example_id=example_id,
            trace_id=trace_id,
            span_id=span_id,
            conversation_id=conversation_id,
            source=source,
            rule=rule,
            prompt_name=prompt_name,
            since=since,
            until=until,
            limit=limit,
        )

    async def summary(
        self,
        *,
        name: str | None = None,
        prompt_name: str | None = None,
        source: ScoreSource | None = None,
        rule: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        group_by: str | None = None,
    ) -> models.ScoreSummary:
        """Means, shares and counts.

        Args:
            since: of the executions. Default: 30 days ago.
            group_by: any of prompt, version, label, arm and day, separated by commas.
        """
        call = read(
            "scores",
            "summary",
            name=name,
            prompt_name=prompt_name,
            source=source,
            rule=rule,
            since=since,
            until=until,
            group_by=group_by,
        )
        return await self._transport.fetch(models.ScoreSummary, call)

    async def feedback_token(
        self,
        execution_id: str,
        *,
        names: Sequence[str],
        expires_in: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.FeedbackToken:
        """Creates a token with which a page without a key can score one execution.

        Args:
            names: the allowed scores.
            expires_in: seconds. Default: a day.
        """
        body: dict[str, object] = {"names": list_of(names)}
        if expires_in is not None:
            body["expires_in"] = expires_in
        call = create("executions", execution_id, "feedback-token", body=body, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.FeedbackToken, call)


def list_of(names: Sequence[str]) -> list[str]:
    """A string is not a list of letters."""
    return [names] if isinstance(names, str) else list(names)
