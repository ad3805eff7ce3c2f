from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from .._call import change, create, read
from .._lazy import models
from .._scorers import (
    EvaluateResult,
    ReadyScore,
    ScoreSpec,
    Task,
    batches_of,
    body_of,
    failure,
    named_scores,
    output_text,
    require_same,
    stored_score,
)
from .._workers import async_call, async_in_batches
from ..errors import InvalidRequestError, PayloadTooLargeError
from .transport import AsyncTransport


async def async_evaluate(
    transport: AsyncTransport,
    name: str,
    *,
    data: str | Mapping[str, Any] | Sequence[Mapping[str, Any]],
    task: Task,
    scores: Sequence[ScoreSpec],
    concurrency: int,
    resume: bool | str,
    fields: Mapping[str, object],
) -> EvaluateResult:
    """`AsyncPms.evaluate`."""
    scorers = named_scores(scores)
    if isinstance(resume, str):
        run = await _go_on(transport, resume, scorers)
    else:
        body = body_of(name, data, scorers, resume, fields)
        run = await transport.fetch(models.Evaluation, create("evaluations", "code", body=body))
    if run.status == "running":
        examples = transport.pages(models.OpenExample, "evaluations", run.id, "open-examples")
        work = partial(_run_example, task, scorers)
        done = async_in_batches(examples, work, concurrency)
        try:
            async for results in done:
                for batch in batches_of(results):
                    await _send(transport, run.id, batch)
        finally:
            await done.aclose()
        finish = change("POST", "evaluations", run.id, "finish", is_repeatable=True)
        run = await transport.fetch(models.Evaluation, finish)
    if run.baseline_id is None:
        return EvaluateResult(run, None)
    compare = read("evaluations", run.id, "compare", run.baseline_id)
    return EvaluateResult(run, await transport.fetch(models.EvaluationComparison, compare))


async def _go_on(transport: AsyncTransport, run_id: str, scorers: Sequence[ReadyScore]) -> models.Evaluation:
    run = await transport.fetch(models.Evaluation, read("evaluations", run_id))
    require_same(run, scorers)
    if run.status == "running" or (run.status == "completed" and run.examples_failed == 0):
        return run
    return await transport.fetch(models.Evaluation, change("POST", "evaluations", run_id, "retry"))


async def _run_example(task: Task, scorers: Sequence[ReadyScore], example: models.OpenExample) -> dict[str, Any]:
    result: dict[str, Any] = {"seq": example.seq}
    code = "task_failed"
    started = time.monotonic()
    try:
        output = await async_call(task, example.variables, example)
        result["duration_ms"] = round((time.monotonic() - started) * 1000)
        result["output"] = output_text(output)
        code = "scorer_failed"
        scores: dict[str, Any] = {}
        for scorer in scorers:
            scores[scorer.name] = stored_score(scorer.name, await async_call(scorer.score, output, example))
        result["scores"] = scores
    except Exception as error:
        result["error"] = failure(code, error)
    return result


async def _send(transport: AsyncTransport, run_id: str, results: list[dict[str, Any]]) -> None:
    """Sends the results of a rejected batch one by one: a result that can't be stored has failed."""
    call = change("POST", "evaluations", run_id, "results", body={"results": results}, is_repeatable=True)
    try:
        await transport.send(call)
    except (InvalidRequestError, PayloadTooLargeError) as error:
        if len(results) > 1:
            for result in results:
                await _send(transport, run_id, [result])
        elif results[0].get("error", {}).get("code") == "result_refused":
            raise
        else:
            refused = {"seq": results[0]["seq"], "error": failure("result_refused", error)}
            await _send(transport, run_id, [refused])
