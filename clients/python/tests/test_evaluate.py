from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import API_KEY, BASE_URL, Proxy, call, until

from pms_client import AsyncPms, NamedScore, Pms, ScoreWithReason
from pms_client.errors import InvalidStateError
from pms_client.models import OpenExample

DATA = [
    {"id": "fr", "variables": {"country": "France"}, "expected": "Paris"},
    {"id": "jp", "variables": {"country": "Japan"}, "expected": "Tokyo"},
    {"id": "de", "variables": {"country": "Germany"}, "expected": "Berlin"},
]
CAPITALS = {"France": "Paris", "Japan": "Tokyo", "Germany": "Bonn"}


def capital(variables: dict[str, Any], example: OpenExample) -> str:
    return CAPITALS[variables["country"]]


def numbers(count: int) -> list[dict[str, Any]]:
    return [{"id": f"n{n}", "variables": {"n": n}, "expected": n} for n in range(count)]


def runs_of(name: str) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = call("GET", f"/evaluations?prompt_name={name}")["data"]
    return runs


def test_function_over_examples(pms: Pms, name: str) -> None:
    metadata = {"commit": "abc"}
    first = pms.evaluate(name, data=DATA, task=capital, scores=["exact_match"], metadata=metadata)
    assert (first.passed, first.verdict, first.comparison) == (False, None, None)
    run = first.evaluation
    assert (run.status, run.target.type, run.target.name, run.score) == ("completed", "code", name, 0.666667)
    assert run.metadata == metadata

    def right(variables: dict[str, Any], example: OpenExample) -> object:
        return example.expected

    second = pms.evaluate(name, data=DATA, task=right, scores=["exact_match"], threshold=1.0)
    assert (second.passed, second.verdict) == (True, "too_few_differences")
    assert second.evaluation.baseline_id == run.id
    assert second.comparison is not None
    assert second.comparison.improvements.total == 1


def test_dataset_scores_and_failures(pms: Pms, name: str) -> None:
    pms.datasets.upload(name, DATA)

    def task(variables: dict[str, Any], example: OpenExample) -> dict[str, str]:
        if example.example_id == "jp":
            raise KeyError("no \0 such \ud800 country")
        return {"capital": CAPITALS[variables["country"]]}

    def known(output: dict[str, str], example: OpenExample) -> bool:
        return "capital" in output

    picky = NamedScore("picky", lambda output, example: 7 if example.example_id == "de" else 1)
    half = NamedScore("half", lambda output, example: ScoreWithReason(0.5, "Half."), weight=3)
    done = pms.evaluate(name, data={"name": name, "version": 1}, task=task, scores=[known, half, picky, "contains"])
    assert done.evaluation.examples_failed == 2
    results = list(pms.evaluations.results(done.evaluation.id))
    assert (results[0].output, results[0].score) == ('{"capital":"Paris"}', 0.75)
    assert results[0].scores is not None
    assert results[0].scores["half"].reason == "Half."
    errors = [result.error for result in results[1:]]
    assert errors[0] is not None and errors[1] is not None
    assert errors[0].code == "task_failed"
    assert "no \\x00 such" in errors[0].message or "no \ufffd such \ufffd country" in errors[0].message
    assert (errors[1].code, errors[1].message) == ("scorer_failed", "picky: a score must be from 0 to 1, but is 7")


def test_scores_that_are_refused(pms: Pms, name: str) -> None:
    with pytest.raises(TypeError, match="a name"):
        pms.evaluate(name, data=DATA, task=capital, scores=[lambda output, example: 1])
    with pytest.raises(TypeError, match='no built-in score "vibes"'):
        pms.evaluate(name, data=DATA, task=capital, scores=["vibes"])
    assert runs_of(name) == []


def test_so_many_at_a_time(pms: Pms, name: str) -> None:
    lock = threading.Lock()
    under_way = 0
    most = 0
    full = threading.Barrier(5)

    def task(variables: dict[str, Any], example: OpenExample) -> int:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        if example.seq < 5:
            full.wait(30)
        with lock:
            under_way -= 1
        return example.seq

    done = pms.evaluate(name, data=numbers(120), task=task, scores=["exact_match"], concurrency=5)
    assert (done.evaluation.score, done.evaluation.examples_evaluated, most) == (1, 120, 5)


def test_async_functions(name: str) -> None:
    async def main() -> None:
        under_way = most = 0

        async def task(variables: dict[str, Any], example: OpenExample) -> int:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.005)
            under_way -= 1
            return int(variables["n"])

        async def judged(output: int, example: OpenExample) -> bool:
            await asyncio.sleep(0)
            return output == example.expected

        async with AsyncPms(BASE_URL, API_KEY) as pms:
            done = await pms.evaluate(name, data=numbers(40), task=task, scores=[judged, "exact_match"], concurrency=4)
            assert (done.evaluation.score, most) == (1, 4)
            broken = await pms.evaluate(name, data=numbers(1), task=lambda *_: 1 / 0, scores=["exact_match"])
            assert broken.evaluation.examples_failed == 1

    asyncio.run(main())


def test_async_functions_need_the_async_client(pms: Pms, name: str) -> None:
    async def task(variables: dict[str, Any], example: OpenExample) -> str:
        return ""

    done = pms.evaluate(name, data=DATA[:1], task=task, scores=["exact_match"])
    [result] = pms.evaluations.results(done.evaluation.id)
    assert result.error is not None
    assert "AsyncPms" in result.error.message


def test_what_can_not_be_stored_has_failed(pms: Pms, name: str) -> None:
    outputs = ["0", "x\0y", "z" * 1_100_000, "3", object()]
    done = pms.evaluate(name, data=numbers(5), task=lambda _, example: outputs[example.seq], scores=["exact_match"])
    found = [one.error.code if one.error else one.status for one in pms.evaluations.results(done.evaluation.id)]
    assert found == ["scored", "result_refused", "result_refused", "scored", "task_failed"]


def test_lost_responses(through_proxy: Proxy, name: str) -> None:
    worked: list[int] = []

    def task(variables: dict[str, Any], example: OpenExample) -> int:
        worked.append(example.seq)
        return example.seq

    through_proxy.lose(b'"stored"', times=2)
    with Pms(through_proxy.url, API_KEY) as pms:
        done = pms.evaluate(name, data=numbers(20), task=task, scores=["exact_match"], concurrency=2)
    assert through_proxy.cuts_left == 0
    assert (done.evaluation.score, sorted(worked)) == (1, list(range(20)))


def test_canceled_and_gone_on_with(pms: Pms, name: str) -> None:
    def task(variables: dict[str, Any], example: OpenExample) -> int:
        if example.seq == 5:
            call("POST", f"/evaluations/{runs_of(name)[0]['id']}/cancel")
        return example.seq

    with pytest.raises(InvalidStateError):
        pms.evaluate(name, data=numbers(12), task=task, scores=["exact_match"], concurrency=1)
    run_id = runs_of(name)[0]["id"]
    worked: list[int] = []

    def again(variables: dict[str, Any], example: OpenExample) -> int:
        worked.append(example.seq)
        return example.seq

    with pytest.raises(ValueError, match="it has the scores exact_match"):
        pms.evaluate(name, data=numbers(12), task=again, scores=["contains"], resume=run_id)
    done = pms.evaluate(name, data=numbers(12), task=again, scores=["exact_match"], resume=run_id)
    assert (done.evaluation.id, done.evaluation.score) == (run_id, 1)
    assert sorted(worked) == list(range(5, 12))


PROGRAM = """
import sys, time
from pms_client import Pms

def task(variables, example):
    with open(sys.argv[2], "a") as log:
        log.write(f"{example.seq}\\n")
    time.sleep(0.03)
    return example.seq

data = [{"id": str(n), "variables": {"n": n}, "expected": n} for n in range(60)]
with Pms() as pms:
    done = pms.evaluate(sys.argv[1], data=data, task=task, scores=["exact_match"], concurrency=3, resume=True)
print(done.evaluation.id, done.evaluation.score)
"""


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Path]:
    file = tmp_path / "log"
    file.touch()
    yield file


def test_killed_and_started_again(name: str, log: Path) -> None:
    def start() -> subprocess.Popen[str]:
        env = {**os.environ, "PMS_BASE_URL": BASE_URL, "PMS_API_KEY": API_KEY}
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, name, str(log)], env=env, stdout=subprocess.PIPE, text=True
        )

    def stored() -> int:
        return sum(run["examples_evaluated"] for run in runs_of(name))

    for least in (10, 30):
        program = start()
        until("results", lambda least=least: stored() >= least)  # type: ignore[misc]
        program.send_signal(signal.SIGKILL)
        program.communicate()
        assert stored() < 60
    printed, _ = start().communicate()
    [run] = runs_of(name)
    assert printed.split() == [run["id"], "1.0"]
    results = call("GET", f"/evaluations/{run['id']}/results")["data"]
    assert [result["seq"] for result in results] == list(range(60))
    begun = log.read_text().split()
    assert len(set(begun)) == 60
    # Each killed process loses at most the work in progress or on its way to the service.
    assert len(begun) <= 60 + 2 * 2 * 3
