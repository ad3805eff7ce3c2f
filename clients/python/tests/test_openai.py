"""OpenAI's own package runs prompts of the service."""

from __future__ import annotations

import json

import openai
import pytest
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolParam
from support import API_KEY, BASE_URL, call

WEATHER: ChatCompletionToolParam = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city right now.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture
def client() -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{BASE_URL}/v1", api_key=API_KEY, max_retries=0)


@pytest.fixture
def prompt(name: str) -> str:
    template = "Greet {{ name }} in one sentence."
    call("POST", "/prompts", {"name": name, "template": template, "model": "sandbox/echo"})
    return name


def test_plain(client: openai.OpenAI, prompt: str) -> None:
    completion = client.chat.completions.create(model=prompt, messages=[], extra_body={"variables": {"name": "Ada"}})
    assert completion.choices[0].message.content == "Greet Ada in one sentence."
    assert completion.choices[0].finish_reason == "stop"
    assert completion.model == f"{prompt}@1"
    assert completion.usage is not None
    assert completion.usage.total_tokens > 0
    assert call("GET", f"/executions/{completion.id}")["variables"] == {"name": "Ada"}
    assert prompt in [model.id for model in client.models.list()]


def test_streamed(client: openai.OpenAI, prompt: str) -> None:
    text, usage = "", None
    for chunk in client.chat.completions.create(
        model=f"{prompt}@1",
        messages=[],
        extra_body={"variables": {"name": "Ada"}},
        stream=True,
        stream_options={"include_usage": True},
    ):
        if chunk.choices:
            text += chunk.choices[0].delta.content or ""
        usage = chunk.usage or usage
    assert text == "Greet Ada in one sentence."
    assert usage is not None
    assert usage.total_tokens > 0


def test_tools(client: openai.OpenAI, name: str) -> None:
    call(
        "POST",
        "/prompts",
        {
            "name": name,
            "messages": [{"placeholder": "h", "required": False}, {"role": "user", "content": "Hi"}],
            "model": "sandbox/tools",
        },
    )
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What is the weather in Paris?"}]
    first = client.chat.completions.create(model=name, messages=messages, tools=[WEATHER])
    message = first.choices[0].message
    assert first.choices[0].finish_reason == "tool_calls"
    assert message.tool_calls is not None
    (called,) = message.tool_calls
    assert called.type == "function"
    assert called.function.name == "get_weather"
    assert "city" in json.loads(called.function.arguments)
    messages += [
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": called.id,
                    "type": "function",
                    "function": {"name": called.function.name, "arguments": called.function.arguments},
                }
            ],
        },
        {"role": "tool", "tool_call_id": called.id, "content": "21 degrees"},
    ]
    second = client.chat.completions.create(model=name, messages=messages, tools=[WEATHER])
    assert "21 degrees" in (second.choices[0].message.content or "")


def test_errors(client: openai.OpenAI, prompt: str) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model=f"{prompt}/none", messages=[])
    assert missing.value.code == "not_found"
    with pytest.raises(openai.BadRequestError, match="name") as bad:
        client.chat.completions.create(model=prompt, messages=[])
    assert bad.value.param == "variables.name"
    wrong = openai.OpenAI(base_url=f"{BASE_URL}/v1", api_key="pms_wrong", max_retries=0)
    with pytest.raises(openai.AuthenticationError):
        wrong.models.list()
