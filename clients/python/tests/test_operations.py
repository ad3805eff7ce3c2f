"""Every operation of the document is a method with a typed result."""

from __future__ import annotations

import asyncio
import inspect
import json
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import get_args

import pytest
from support import API_KEY, BASE_URL, call

from pms_client import AsyncPms, Pms, models, webhooks
from pms_client.errors import NotFoundError

ROOT = Path(__file__).resolve().parents[3]
NAMES: dict[str, str] = json.loads((ROOT / "clients" / "methods.json").read_text())


def operation_ids() -> set[str]:
    paths = json.loads((ROOT / "openapi.json").read_text())["paths"]
    return {operation["operationId"] for methods in paths.values() for operation in methods.values()}


def method_of(client: object, name: str) -> object:
    for step in name.split("."):
        client = getattr(client, step, None)
    return client


def test_every_operation_is_a_method_of_both_clients() -> None:
    assert set(NAMES) == operation_ids()
    clients = [Pms(BASE_URL, API_KEY), AsyncPms(BASE_URL, API_KEY)]
    for client in clients:
        assert [name for name in NAMES.values() if not inspect.ismethod(method_of(client, name))] == []


def test_every_event_of_webhooks_has_a_class() -> None:
    known = {
        name for kind in get_args(webhooks.WebhookEvent) for name in get_args(kind.model_fields["event"].annotation)
    }
    schemas = json.loads((ROOT / "openapi.json").read_text())["components"]["schemas"]
    assert known == set(schemas["EventType"]["enum"])


def test_generated_methods(pms: Pms, name: str) -> None:
    score = name.replace("/", "-")
    definition = pms.score_definitions.set(score, data_type="categorical", categories=[{"value": "good"}])
    assert definition.name == score
    assert pms.score_definitions.get(score) == definition
    assert score in [one.name for one in pms.score_definitions.list(limit=1)]
    queue = pms.queues.set(name, score_names=[score])
    assert queue.name == name
    assert list(pms.queues.items(name, state="pending")) == []
    assert pms.queues.delete(name).name == name
    assert pms.score_definitions.delete(score).name == score
    with pytest.raises(NotFoundError):
        pms.queues.get(name)


def test_a_generated_method_creates_once(pms: Pms) -> None:
    keys = [pms.keys.create(name="python", scopes=["read"], idempotency_key="python-keys") for _ in range(2)]
    assert keys[0] == keys[1]
    assert pms.keys.revoke(keys[0].id).id == keys[0].id


def test_times_are_in_utc_and_go_back_as_they_came(pms: Pms, name: str) -> None:
    pms.prompts.create(name, template="Greet {{ name }}.", model="sandbox/echo")
    prompt = pms.prompts.fetch(name)
    assert prompt.created_at.tzinfo is not None and prompt.created_at.utcoffset() == timedelta(0)
    assert abs(datetime.now(timezone.utc) - prompt.created_at) < timedelta(hours=1)
    sent = call("GET", f"/prompts/{name}")
    dumped = prompt.model_dump(mode="json", by_alias=True)
    assert {key: dumped[key] for key in ("created_at", "updated_at", "version_created_at") if key in sent} == {
        key: sent[key] for key in ("created_at", "updated_at", "version_created_at") if key in sent
    }
    assert models.Prompt.model_validate_json(prompt.model_dump_json()) == prompt


def test_times_are_sent_in_utc(pms: Pms, name: str) -> None:
    pms.prompts.create(name, template="Greet {{ name }}.", model="sandbox/echo")
    execution = pms.execute(name, {"name": "Ada"})
    ahead = timezone(timedelta(hours=2))
    since = (execution.created_at - timedelta(minutes=1)).astimezone(ahead)
    assert [one.id for one in pms.executions.list(prompt_name=name, since=since)] == [execution.id]
    assert list(pms.executions.list(prompt_name=name, until=since)) == []
    with pytest.raises(TypeError, match="no zone"):
        list(pms.executions.list(since=datetime(2026, 1, 1)))


def test_a_stream_of_an_evaluation(pms: Pms, name: str) -> None:
    pms.prompts.create(name, template="What is the capital of {{ country }}?", model="sandbox/fixed")
    examples = [{"id": "fr", "variables": {"country": "France"}, "expected": "Paris"}]
    evaluation = pms.evaluations.create(name, examples=examples, evaluators=[{"type": "exact_match"}])
    events = list(pms.evaluations.stream(evaluation.id))
    assert events[-1].type == "evaluation.completed"
    assert events[-1].evaluation.score == 1
    assert events[-1].evaluation.finished_at is not None

    async def last() -> str:
        async with AsyncPms(BASE_URL, API_KEY) as async_pms:
            return [event.type async for event in async_pms.evaluations.stream(evaluation.id)][-1]

    assert asyncio.run(last()) == "evaluation.completed"


def test_a_stream_of_an_improvement(pms: Pms, name: str) -> None:
    pms.prompts.create(name, template="Say {{ word }}.", model="sandbox/echo")
    examples = [{"variables": {"word": f"word {number}"}, "expected": "no"} for number in range(150)]
    pms.datasets.upload(name, examples)
    improvement = pms.improvements.create(
        prompt_name=name,
        dataset=name,
        evaluators=[{"type": "exact_match"}],
        reflection={"model": "sandbox/echo"},
        max_cost=None,
    )
    pms.improvements.cancel(improvement.id)
    events = list(pms.improvements.stream(improvement.id))
    assert [(event.type, event.improvement.status) for event in events] == [("improvement.canceled", "canceled")]
