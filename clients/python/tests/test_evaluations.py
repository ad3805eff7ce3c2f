from __future__ import annotations

import asyncio

import pytest
from support import API_KEY, BASE_URL, call

from pms_client import AsyncPms, Pms
from pms_client.errors import InvalidRequestError, WaitTimeoutError

EXAMPLES = [
    {"id": "fr", "variables": {"country": "France"}, "expected": "Paris"},
    {"id": "jp", "variables": {"country": "Japan"}, "expected": "Tokyo"},
    {"id": "de", "variables": {"country": "Germany"}, "expected": "Berlin"},
]


@pytest.fixture
def prompt(name: str) -> str:
    template = "What is the capital of {{ country }}?"
    call("POST", "/prompts", {"name": name, "template": template, "model": "sandbox/fixed"})
    return name


def test_evaluate_a_dataset(pms: Pms, prompt: str) -> None:
    dataset = pms.datasets.upload(prompt, EXAMPLES, description="Capitals.")
    assert (dataset.version, dataset.description) == (1, "Capitals.")
    assert [one.id for one in pms.datasets.examples(prompt, limit=1)] == ["fr", "jp", "de"]
    assert [one.id for one in pms.datasets.examples(prompt, q="FRANCE")] == ["fr"]
    evaluation = pms.evaluations.create(prompt, dataset=prompt, evaluators=[{"type": "exact_match"}], threshold=0.6)
    ended = pms.evaluations.wait(evaluation.id, interval=0.1)
    assert (ended.status, ended.passed, ended.examples_evaluated) == ("completed", True, 3)
    scores = {one.example_id: one.score for one in pms.evaluations.results(ended.id, limit=1)}
    for one in pms.evaluations.results(ended.id, min_score=0, max_score=1):
        assert pms.evaluations.result(ended.id, one.seq) == one
    assert scores == {"fr": 1, "jp": 1, "de": 0}
    again = pms.evaluations.rescore(ended.id, evaluators=[{"type": "contains", "value": "Paris"}])
    assert pms.evaluations.wait(again.id, interval=0.1).status == "completed"
    second = pms.evaluations.create(prompt, dataset=prompt, evaluators=[{"type": "exact_match"}])
    pms.evaluations.wait(second.id, interval=0.1)
    assert pms.evaluations.compare(second.id, ended.id) is not None
    assert second.id in [one.id for one in pms.evaluations.list(prompt_name=prompt, status="completed")]
    assert pms.datasets.upload(prompt, b"country,expected\nFrance,Paris\n", format="csv").version == 2
    assert [one.version for one in pms.datasets.versions(prompt)] == [2, 1]
    assert pms.evaluations.delete(ended.id).id == ended.id
    assert pms.datasets.delete(prompt).name == prompt


def test_inline_examples_control_and_bad_input(pms: Pms, prompt: str) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        pms.evaluations.create(prompt, examples=[{"variables": {}}], evaluators=[{"type": "exact_match"}])
    assert caught.value.details[0].path.startswith("examples.0")
    call("PUT", f"/prompts/{prompt}", {"model": "sandbox/stall"})
    evaluation = pms.evaluations.create(prompt, examples=EXAMPLES, evaluators=[{"type": "exact_match"}])
    with pytest.raises(WaitTimeoutError):
        pms.evaluations.wait(evaluation.id, timeout=0, interval=0.01)
    pms.evaluations.cancel(evaluation.id)
    assert pms.evaluations.wait(evaluation.id, interval=0.1).status == "canceled"


def test_usage(pms: Pms, prompt: str) -> None:
    pms.execute(prompt, {"country": "France"})
    usage = pms.usage(prompt_name=prompt, group_by="prompt")
    assert usage.data[0].prompt_name == prompt


def test_async(prompt: str) -> None:
    async def main() -> None:
        async with AsyncPms(BASE_URL, API_KEY) as pms:
            evaluation = await pms.evaluations.create(
                prompt, examples=EXAMPLES[:1], evaluators=[{"type": "exact_match"}]
            )
            ended = await pms.evaluations.wait(evaluation.id, interval=0.1)
            assert [one.score async for one in pms.evaluations.results(ended.id)] == [1]

    asyncio.run(main())
