from __future__ import annotations

import asyncio
import secrets

import pytest
from support import API_KEY, BASE_URL, call

from pms_client import AsyncPms, Pms
from pms_client.errors import InvalidRequestError


@pytest.fixture
def execution_id(pms: Pms, name: str) -> str:
    call("POST", "/prompts", {"name": name, "template": "Hello", "model": "sandbox/echo"})
    return pms.execute(name).id


def test_store_list_and_sum_up(pms: Pms, name: str, execution_id: str) -> None:
    helpful = f"{name}-helpful"
    stored = pms.scores.create(helpful, 0.5, execution_id=execution_id, comment="too long", source="person")
    assert (stored.value, stored.source, stored.comment) == (0.5, "person", "too long")
    again = pms.scores.create(helpful, 0.75, execution_id=execution_id, id=stored.id)
    assert (again.id, again.value) == (stored.id, 0.75)
    judge = {"rule": "mine", "version": "1", "model": None}
    many = pms.scores.create_many(
        [
            {"name": helpful, "value": 0.25, "subject": {"execution_id": execution_id}, "evaluator": judge},
            {"name": f"{name}-good", "value": True, "subject": {"execution_id": execution_id}},
        ]
    )
    assert [one.value for one in many] == [0.25, True]
    assert many[1].value is True
    listed = list(pms.scores.list(execution_id=execution_id, name=helpful, limit=1))
    assert [one.value for one in listed] == [0.25, 0.75]
    (row,) = pms.scores.summary(name=helpful, group_by="version").data
    assert (row.n, row.mean, row.prompt_version) == (2, 0.5, 1)
    trace_id = secrets.token_hex(16)
    for of, subject in (
        (pms.scores.create(f"{name}-whole", 1, trace_id=trace_id), {"trace_id": trace_id}),
        (
            pms.scores.create(f"{name}-whole", 1, trace_id=trace_id, span_id="ab" * 8),
            {"trace_id": trace_id, "span_id": "ab" * 8},
        ),
        (pms.scores.create(f"{name}-whole", 1, conversation_id=name), {"conversation_id": name}),
    ):
        assert of.subject.model_dump(exclude_none=True) == subject
    assert len(list(pms.scores.list(trace_id=trace_id))) == 2
    with pytest.raises(InvalidRequestError):
        pms.scores.create(helpful, True, execution_id=execution_id)


def test_a_token_for_a_page(pms: Pms, name: str, execution_id: str) -> None:
    helpful = f"{name}-thumb"
    call("PUT", f"/score-definitions/{helpful}", {"data_type": "boolean"})
    given = pms.scores.feedback_token(execution_id, names=[helpful], expires_in=60)
    assert (given.execution_id, given.names) == (execution_id, [helpful])
    call("POST", "/feedback", {"name": helpful, "value": True}, key=given.token)
    (score,) = pms.scores.list(name=helpful, source="feedback")
    assert score.value is True
    assert pms.scores.feedback_token(execution_id, names=helpful).names == [helpful]


def test_async(name: str, execution_id: str) -> None:
    async def run() -> None:
        async with AsyncPms(BASE_URL, API_KEY) as pms:
            stored = await pms.scores.create(f"{name}-tone", "kind", execution_id=execution_id)
            assert stored.data_type == "categorical"
            assert [one.id async for one in pms.scores.list(name=stored.name)] == [stored.id]
            assert (await pms.scores.summary(name=stored.name)).data[0].categories == {"kind": 1}
            assert (await pms.scores.feedback_token(execution_id, names=[stored.name])).token

    asyncio.run(run())
