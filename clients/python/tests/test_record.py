from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from support import API_KEY, BASE_URL, Proxy, call, until

from pms_client import AsyncPms, Pms, PmsError
from pms_client.errors import InvalidRequestError, InvalidRunError, QueueFullError


def run(name: str, output: str = "Hello!") -> dict[str, Any]:
    now = datetime.now(timezone.utc)
    return {
        **{"model": f"house/{name}", "input": "Say hello.", "output": output},
        **{"tokens": {"input": 10, "output": 5}, "started_at": now - timedelta(seconds=1), "finished_at": now},
    }


def outputs_of(name: str) -> list[str]:
    executions = call("GET", f"/executions?model=house/{name}&limit=100")["data"]
    return sorted(execution["output"] for execution in executions)


class Drops:
    def __init__(self) -> None:
        self.runs: list[Mapping[str, Any]] = []
        self.errors: list[PmsError] = []

    def __call__(self, runs: Sequence[Mapping[str, Any]], error: PmsError) -> None:
        self.runs += runs
        self.errors.append(error)


def test_runs_are_recorded_and_the_id_leads_to_the_execution(name: str) -> None:
    drops = Drops()
    with Pms(BASE_URL, API_KEY, on_drop=drops) as pms:
        ids = [pms.record(**run(name, str(index))) for index in range(20)]
        assert pms.flush()
        assert pms.executions.get(ids[7]).output == "7"
        assert pms.executions.get(ids[7]).recorded
        assert pms.record(**{**run(name), "id": name}) == name
    assert len(outputs_of(name)) == 21
    assert drops.runs == []


def test_they_are_sent_by_themselves_after_a_while(name: str) -> None:
    with Pms(BASE_URL, API_KEY, flush_after=0.01) as pms:
        pms.record(**run(name))
        until("the run", lambda: outputs_of(name) == ["Hello!"])
        pms.record(**run(name, "again"))
        until("the next run", lambda: len(outputs_of(name)) == 2)


def test_what_was_made_of_a_prompt_counts_for_it(name: str) -> None:
    call("POST", "/prompts", {"name": name, "template": "Say {{ what }}.", "model": "sandbox/echo"})
    with Pms(BASE_URL, API_KEY) as pms:
        prompt = pms.prompts.get(name)
        now = datetime.now(timezone.utc)
        id_ = pms.record(
            prompt_name=prompt.name,
            prompt_version=prompt.version,
            release=prompt.release,
            model="house/of-prompt",
            input=prompt.compile(what="hello"),
            output="Hello!",
            started_at=now,
            finished_at=now,
        )
        pms.flush()
        assert pms.executions.get(id_).prompt_version == 1


def test_what_is_wrong_is_dropped_and_told_and_the_rest_is_recorded(name: str) -> None:
    drops = Drops()
    with Pms(BASE_URL, API_KEY, on_drop=drops) as pms:
        for index in range(60):
            pms.record(**{**run(name, str(index)), **({"prompt_name": "none/such"} if index % 2 else {})})
        pms.record(**{**run(name), "variables": {"text": "x" * 1024 * 1024}})
        pms.record(**{**run(name), "variables": {"text": object()}})
    assert len(outputs_of(name)) == 30
    assert len(drops.runs) == 32
    assert isinstance(drops.errors[0], InvalidRunError)
    assert isinstance(drops.errors[1], InvalidRequestError)


def test_a_full_queue_drops_what_comes_and_tells_of_it(name: str) -> None:
    drops = Drops()
    with Pms(BASE_URL, API_KEY, on_drop=drops, max_recorded_runs=5, flush_after=60) as pms:
        for _ in range(20):
            pms.record(**run(name))
    assert len(outputs_of(name)) == 5
    assert len(drops.runs) == 15
    assert isinstance(drops.errors[0], QueueFullError)


def test_a_fault_of_on_drop_keeps_nothing_from_being_recorded(name: str) -> None:
    def clumsy(runs: object, error: object) -> None:
        raise RuntimeError("clumsy")

    with Pms(BASE_URL, API_KEY, on_drop=clumsy) as pms:
        pms.record(**{**run(name), "prompt_name": "none/such"})
        pms.record(**run(name, "kept"))
    assert outputs_of(name) == ["kept"]


def test_through_an_outage_nothing_is_lost_and_nothing_is_there_twice(name: str, through_proxy: Proxy) -> None:
    drops = Drops()
    with Pms(through_proxy.url, API_KEY, on_drop=drops, flush_after=0.01) as pms:
        through_proxy.lose(b"exec_")
        pms.record(**run(name, "0"))
        until("a response that was lost", lambda: through_proxy.cuts_left == 0)
        through_proxy.go_away()
        for index in range(1, 10):
            pms.record(**run(name, str(index)))
        assert not pms.flush(timeout=1)
        through_proxy.come_back()
    assert drops.runs == []
    assert outputs_of(name) == [str(index) for index in range(10)]


def test_with_async(name: str, through_proxy: Proxy) -> None:
    drops = Drops()

    async def main() -> None:
        async with AsyncPms(through_proxy.url, API_KEY, on_drop=drops, flush_after=0.01) as pms:
            through_proxy.lose(b"exec_")
            ids = [pms.record(**run(name, str(index))) for index in range(10)]
            assert await pms.flush()
            assert (await pms.executions.get(ids[3])).output == "3"
            pms.record(**{**run(name), "prompt_name": "none/such"})
            pms.record(**run(name, "last"))

    asyncio.run(main())
    assert len(outputs_of(name)) == 11
    assert len(drops.runs) == 1


def test_what_an_event_loop_leaves_is_sent_in_the_next_one(name: str) -> None:
    pms = AsyncPms(BASE_URL, API_KEY, flush_after=60)
    pms.record(**run(name, "before any"))

    async def record() -> None:
        pms.record(**run(name, "first"))
        await asyncio.sleep(0.05)

    asyncio.run(record())
    asyncio.run(pms.aclose())
    assert outputs_of(name) == ["before any", "first"]


@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)"])
def test_a_program_that_ends_without_closing_sends_what_waits(name: str, ending: str) -> None:
    program = f"""
from datetime import datetime, timezone
from pms_client import Pms
now = datetime.now(timezone.utc)
pms = Pms(flush_after=60)
pms.record(model="house/{name}", input="x", output="y", started_at=now, finished_at=now)
{ending}
"""
    env = {**os.environ, "PMS_BASE_URL": BASE_URL, "PMS_API_KEY": API_KEY}
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    assert time.monotonic() - began < 60
    assert outputs_of(name) == ["y"]
