from __future__ import annotations

import asyncio

import pytest
from support import API_KEY, BASE_URL, Proxy, call

from pms_client import AsyncPms, Pms
from pms_client._sync import client as sync_client
from pms_client.errors import IdempotencyKeyReusedError, InvalidStateError, NotFoundError, StreamInterruptedError
from pms_client.events import ExecutionEnded, ExecutionStarted, OutputTextDelta, ToolCalled

WORDS = " ".join(f"word-{index}" for index in range(40))


@pytest.fixture
def prompt(name: str) -> str:
    call("POST", "/prompts", {"name": name, "template": "Say: {{ text }}", "model": "sandbox/echo"})
    return name


@pytest.fixture
def slow(name: str) -> str:
    call("POST", "/prompts", {"name": name, "template": "{{ text }}", "model": "sandbox/slow-1000"})
    return name


def test_execute(pms: Pms, prompt: str) -> None:
    execution = pms.execute(prompt, {"text": "Hi"}, version=1, metadata={"team": "x"})
    assert (execution.status, execution.output, execution.prompt_version) == ("completed", "Say: Hi", 1)
    assert execution.tokens.total > 0
    assert execution.cost.amount == "0"
    assert execution.metadata == {"team": "x"}
    assert pms.executions.get(execution.id) == execution
    assert [one.id for one in pms.executions.list(prompt_name=prompt, limit=1)] == [execution.id]
    assert pms.executions.delete(execution.id).id == execution.id
    with pytest.raises(NotFoundError):
        pms.executions.get(execution.id)


def test_a_failed_execution_is_no_error(pms: Pms, prompt: str) -> None:
    execution = pms.execute(prompt, {"text": "Hi"}, model="sandbox/fail-400")
    assert execution.status == "failed"
    assert execution.error is not None
    assert execution.error.code == "model_invalid_request"


def test_draft_and_messages(pms: Pms) -> None:
    execution = pms.execute(
        draft={"template": "Hello", "model": "sandbox/echo"}, messages=[{"role": "user", "content": "Again"}]
    )
    assert (execution.prompt_name, execution.output) == (None, "Again")


def test_does_not_wait_and_cancels(pms: Pms, prompt: str) -> None:
    execution = pms.execute(prompt, {"text": "Hi"}, model="sandbox/stall", wait=0)
    assert execution.status in ("queued", "running")
    assert pms.executions.cancel(execution.id).status == "canceled"
    with pytest.raises(InvalidStateError):
        pms.executions.cancel(execution.id)


def test_a_lost_response_is_asked_for_again_and_nothing_runs_twice(through_proxy: Proxy, prompt: str) -> None:
    with Pms(through_proxy.url, API_KEY) as pms:
        through_proxy.lose(b"HTTP/1.1 201")
        execution = pms.execute(prompt, {"text": "Hi"})
        assert through_proxy.cuts_left == 0
        assert execution.status == "completed"
        assert [one.id for one in pms.executions.list(prompt_name=prompt)] == [execution.id]


def test_execute_waits_for_the_end_or_as_long_as_it_is_told(
    pms: Pms, slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sync_client, "DEFAULT_WAIT_SECONDS", 0)
    execution = pms.execute(slow, {"text": "Hi"}, model="sandbox/slow-500")
    assert execution.output == "Hi"
    stalled = pms.execute(slow, {"text": "Hi"}, model="sandbox/stall", wait=0.01)
    assert stalled.status in ("queued", "running")
    # A service that stops waits for what runs.
    pms.executions.cancel(stalled.id)


def test_the_same_key_is_the_same_execution(pms: Pms, prompt: str) -> None:
    first = pms.execute(prompt, {"text": "Hi"}, idempotency_key=prompt)
    assert pms.execute(prompt, {"text": "Hi"}, idempotency_key=prompt).id == first.id
    with pytest.raises(IdempotencyKeyReusedError):
        pms.execute(prompt, {"text": "Ho"}, idempotency_key=prompt)


def test_stream(pms: Pms, slow: str) -> None:
    with pms.stream(slow, {"text": WORDS}) as stream:
        events = list(stream)
    assert isinstance(events[0], ExecutionStarted)
    assert isinstance(events[-1], ExecutionEnded)
    assert events[-1].execution.output == WORDS
    assert stream.text == WORDS
    assert stream.execution == events[-1].execution
    assert sum(isinstance(event, OutputTextDelta) for event in events) > 1
    assert list(stream) == []


def test_tool_calls_are_streamed(pms: Pms, name: str) -> None:
    tool = {
        "name": "get_weather",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    }
    call("POST", "/prompts", {"name": name, "template": "Paris?", "tools": [tool], "model": "sandbox/tools"})
    stream = pms.stream(name)
    called = [event.tool_call.name for event in stream if isinstance(event, ToolCalled)]
    assert called == ["get_weather"]
    assert stream.execution is not None
    assert stream.tool_calls == stream.execution.tool_calls


def test_a_stream_that_is_cut_five_times(through_proxy: Proxy, slow: str) -> None:
    with Pms(through_proxy.url, API_KEY) as pms:
        through_proxy.cut_behind_event("output_text.delta", 5)
        stream = pms.stream(slow, {"text": WORDS}, model="sandbox/slow-2000")
        execution = stream.until_done()
        assert through_proxy.cuts_left == 0
        assert execution.status == "completed"
        assert execution.output == stream.text == WORDS
        assert through_proxy.connections >= 6
        assert [one.id for one in pms.executions.list(prompt_name=slow)] == [execution.id]


def test_a_stream_that_is_cut_before_its_first_event(through_proxy: Proxy, slow: str) -> None:
    with Pms(through_proxy.url, API_KEY) as pms:
        through_proxy.lose(b"HTTP/1.1", 2)
        stream = pms.stream(slow, {"text": WORDS})
        assert stream.until_done().output == stream.text == WORDS
        assert len(list(pms.executions.list(prompt_name=slow))) == 1


def test_a_stream_of_an_execution_that_is_there(pms: Pms, prompt: str) -> None:
    execution = pms.execute(prompt, {"text": WORDS})
    with pms.executions.stream_of(execution.id) as stream:
        assert isinstance(next(stream), ExecutionStarted)
        next(stream)
        last = stream.last_event_id
    assert last is not None
    with pytest.raises(StreamInterruptedError, match="closed"):
        stream.until_done()
    rest = pms.executions.stream_of(execution.id, last_event_id=last)
    assert rest.until_done().output == f"Say: {WORDS}"
    with pytest.raises(NotFoundError):
        pms.executions.stream_of("exec_01a1fcb5-47d9-751c-a117-fc69fab1331f").until_done()


def test_async(through_proxy: Proxy, slow: str) -> None:
    async def main() -> None:
        async with AsyncPms(BASE_URL, API_KEY) as pms:
            execution = await pms.execute(slow, {"text": "Hi"}, model="sandbox/echo")
            assert execution.output == "Hi"
            ids = [one.id async for one in pms.executions.list(prompt_name=slow, limit=1)]
            assert ids == [execution.id]
        async with AsyncPms(through_proxy.url, API_KEY) as pms:
            through_proxy.cut_behind_event("output_text.delta", 2)
            async with pms.stream(slow, {"text": WORDS}) as stream:
                types = [type(event) async for event in stream]
            assert types[0] is ExecutionStarted
            assert types[-1] is ExecutionEnded
            assert stream.text == WORDS
            assert through_proxy.cuts_left == 0

    asyncio.run(main())
