"""Prompts as requests of providers' own clients, and their responses as runs."""

from __future__ import annotations

from typing import Any

import pytest
from support import API_KEY, BASE_URL, call, vectors

from pms_client import Pms, Prompt
from pms_client.errors import VariablesError
from pms_client.requests import UnsupportedError, from_anthropic, from_openai, to_anthropic, to_openai
from pms_client.requests._runs import parsed


@pytest.mark.parametrize("vector", vectors("requests"), ids=lambda vector: str(vector["title"]))
def test_it_is_what_the_service_sends(vector: Any) -> None:
    prompt = Prompt({"name": "x", **vector["prompt"]})
    make = to_openai if vector["to"] == "openai" else to_anthropic
    if "fault" in vector:
        with pytest.raises(UnsupportedError) as caught:
            make(prompt, vector.get("variables"))
        assert [detail.path for detail in caught.value.details] == [vector["fault"]]
    else:
        assert make(prompt, vector.get("variables")) == vector["request"]


def test_a_model_of_another_provider() -> None:
    prompt = Prompt({"name": "x", "version": 1, "template": "Hi", "model": "anthropic/claude-haiku-4-5"})
    with pytest.raises(UnsupportedError, match=r"^model: anthropic/claude-haiku-4-5 is not a model of openai"):
        to_openai(prompt)
    assert to_openai(prompt, model="anthropic/claude-haiku-4-5")["model"] == "anthropic/claude-haiku-4-5"


def test_a_fallback() -> None:
    fallback = Prompt.of_fallback("greeting", "Hi {{ name }}")
    with pytest.raises(UnsupportedError, match=r"^model: "):
        to_openai(fallback, {"name": "Ada"})
    with pytest.raises(VariablesError):
        to_openai(fallback, model="gpt-4o")
    request = to_openai(fallback, {"name": "Ada"}, model="gpt-4o", parameters={"seed": 1})
    assert request == {"model": "gpt-4o", "messages": [{"role": "user", "content": "Hi Ada"}], "seed": 1}
    run = from_openai({"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}, request)
    assert run["model"] == "openai/gpt-4o"
    assert run["output"] == "Hello"
    assert "prompt_name" not in run


def test_a_run_of_openai_is_recorded(name: str) -> None:
    call("POST", "/prompts", {"name": name, "template": "Say {{ what }}.", "model": "openai/gpt-4o"})
    with Pms(BASE_URL, api_key=API_KEY) as pms:
        request = to_openai(pms.prompts.get(name), {"what": "hello"})
        called = {"id": "call_1", "type": "function", "function": {"name": "get_time", "arguments": '{"at": 1}'}}
        response = {
            "choices": [{"finish_reason": "tool_calls", "message": {"content": "I look.", "tool_calls": [called]}}],
            "usage": {
                **{"prompt_tokens": 100, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 30}},
                "completion_tokens_details": {"reasoning_tokens": 20},
            },
        }
        id_ = pms.record(**from_openai(response, request))
        assert pms.flush()
    execution = call("GET", f"/executions/{id_}")
    assert execution["prompt_name"] == name
    assert execution["prompt_version"] == 1
    assert execution["variables"] == {"what": "hello"}
    assert execution["input"] == "Say hello."
    assert execution["output"] == "I look."
    assert execution["tool_calls"] == [{"id": "call_1", "name": "get_time", "input": {"at": 1}}]
    assert execution["tokens"] == {"input": 100, "output": 50, "cached_input": 30, "reasoning": 20, "total": 150}
    assert execution["metadata"] == {"finish_reason": "tool_calls"}


def test_a_run_of_anthropic() -> None:
    open_object = {"type": "object", "properties": {"any": {"type": "object"}}}
    schema = {"type": "json_schema", "json_schema": {"name": "a", "schema": open_object}}
    prompt = Prompt({"name": "x", "version": 2, "template": "Hi", "model": "claude-haiku-4-5"})
    usage = {"input_tokens": 60, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 10, "output_tokens": 5}
    request = to_anthropic(prompt, parameters={"response_format": schema})
    used = {"type": "tool_use", "id": "t", "name": "json", "input": {"any": {"a": 1}}}
    run = from_anthropic({"content": [used], "stop_reason": "tool_use", "usage": usage}, request)
    assert run["model"] == "anthropic/claude-haiku-4-5"
    assert run["output"] == '{"any":{"a":1}}'
    assert run["tokens"] == {"input": 100, "output": 5, "cached_input": 30, "reasoning": 0}
    assert run["metadata"] == {"finish_reason": "stop"}
    assert "tool_calls" not in run
    assert [parsed(text) for text in ('{"a":1.5e3,"b":[0.69999999999999996]}', '{"id":12345678901234567890}', "{")] == [
        {"a": 1500.0, "b": [0.7]},
        '{"id":12345678901234567890}',
        "{",
    ]
    for none in ({"input_tokens": 0, "output_tokens": 0}, None):
        assert "tokens" not in from_anthropic({"content": [used], "stop_reason": "tool_use", "usage": none}, request)
    refused = {"content": [{"type": "text", "text": "No."}], "stop_reason": "refusal", "usage": usage}
    run = from_anthropic(refused, to_anthropic(prompt))
    assert run["output"] is None
    assert run["error"] == {"code": "content_filtered", "message": "No."}


def test_a_copy_of_a_request_is_told_apart() -> None:
    request = to_openai(Prompt.of_fallback("x", "Hi"), model="gpt-4o")
    with pytest.raises(TypeError, match="copy"):
        from_openai({"choices": []}, dict(request))  # type: ignore[arg-type]
