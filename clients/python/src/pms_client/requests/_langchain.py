"""LangChain's chat models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..prompt import Prompt
from ._anthropic import to_anthropic
from ._call import About, Request, UnsupportedError, provider_of
from ._openai import to_openai
from ._runs import run_of, tokens_of


@dataclass(frozen=True, slots=True)
class LangChainRequest:
    """A prompt for a chat model of LangChain."""

    messages: list[dict[str, Any]]
    """Files are in the provider's own form."""
    options: dict[str, Any]
    """Options of `ChatOpenAI` or `ChatAnthropic`: the prompt's model and its parameters."""
    about: About


def to_langchain(
    prompt: Prompt,
    variables: Mapping[str, object] | None = None,
    *,
    messages: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> LangChainRequest:
    """A prompt for `ChatOpenAI`, or for `ChatAnthropic` where its model is one of Anthropic. What that sends is what the service would
    send.

        request = to_langchain(prompt, {"name": "Ada"})
        message = ChatOpenAI(**request.options).invoke(request.messages)

    Args:
        messages: go behind the prompt's own.
        model: instead of the prompt's, as the provider calls it. Needed for a fallback, which has none.
        parameters: replace those of the prompt by name.

    Raises:
        VariablesError: naming the variables that are missing or don't fit.
        UnsupportedError: naming the field that there is no place for.
    """
    is_anthropic = provider_of(prompt, model) == "anthropic"
    make = to_anthropic if is_anthropic else to_openai
    request = make(prompt, variables, messages=messages, model=model, parameters=parameters)
    return _of_anthropic(request) if is_anthropic else _of_openai(request)


def _of_openai(request: Request) -> LangChainRequest:
    # LangChain would rename some fields, such as `max_tokens`, and has no option for fields of other servers.
    body = {name: value for name, value in request.items() if name not in ("model", "messages")}
    # It has its own temperatures for some models, and another API.
    options = {"model": request["model"], "temperature": None, "use_responses_api": False, "extra_body": body}
    sent = [_with_inputs(message, index) for index, message in enumerate(request["messages"])]
    return LangChainRequest(sent, options, request.about)


def _with_inputs(message: dict[str, Any], index: int) -> dict[str, Any]:
    """LangChain keeps tool inputs parsed, and accepts only objects."""
    for called in message.get("tool_calls") or []:
        if not isinstance(_parsed(called["function"]["arguments"]), dict):
            raise UnsupportedError(f"messages.{index}", "LangChain accepts only an object as the input of a tool call")
    return {**message, "content": message.get("content") or ""} if message["role"] == "assistant" else message


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _of_anthropic(request: Request) -> LangChainRequest:
    own = ("model", "max_tokens", "messages", "system")
    body = {name: value for name, value in request.items() if name not in own}
    options = {
        "model": request["model"],
        "max_tokens": request["max_tokens"],
        **({"model_kwargs": {"extra_body": body}} if body else {}),
    }
    system = [{"role": "system", "content": request["system"]}] if "system" in request else []
    return LangChainRequest([*system, *request["messages"]], options, request.about)


def from_langchain(response: Any, request: LangChainRequest) -> dict[str, Any]:
    """The run of a request and the message that a model of LangChain gave for it.

    pms.record(**from_langchain(message, request))
    """
    about = request.about
    given = [{"id": one["id"], "name": one["name"], "input": one["args"]} for one in response.tool_calls]
    used = next((one for one in given if about.json_tool is not None and one["name"] == about.json_tool), None)
    calls = [one for one in given if one is not used]
    metadata = response.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    usage = response.usage_metadata
    tokens = usage and tokens_of(
        usage["input_tokens"],
        usage["output_tokens"],
        (usage.get("input_token_details") or {}).get("cache_read"),
        (usage.get("output_token_details") or {}).get("reasoning"),
    )
    text = _text_of(response.content) if used is None else json.dumps(used["input"], separators=(",", ":"))
    return run_of(about, text, calls, reason if used is None or calls else "stop", tokens)


def _text_of(content: str | list[Any]) -> str:
    if isinstance(content, str):
        return content
    return "".join(block if isinstance(block, str) else block.get("text", "") for block in content)
