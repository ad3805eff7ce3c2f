"""Provider responses, converted for `pms.record`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timezone
from typing import Any

from .._json import compact, keeps_digits
from ._call import About, Request

_REASONS = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "refusal": "content_filter",
    "tool_calls": "tool_calls",
    "tool_use": "tool_calls",
    "function_call": "tool_calls",
}


def from_openai(response: Any, request: Request) -> dict[str, Any]:
    """The run of a request and its response, of OpenAI's package or of any that answers in its form.

        pms.record(**from_openai(response, request))

    Raises:
        TypeError: the request is a copy, or none of this package.
    """
    return from_openai_answer(response, about_of(request))


def from_openai_answer(response: Any, about: About) -> dict[str, Any]:
    """The same of what made the request."""
    answer = plain_of(response)
    choice: Mapping[str, Any] = (answer.get("choices") or [{}])[0]
    message: Mapping[str, Any] = choice.get("message") or {}
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "input": parsed(call["function"]["arguments"])}
        for call in message.get("tool_calls") or []
        if call.get("function")
    ]
    text = message.get("content") if message.get("content") is not None else message.get("refusal")
    return run_of(about, text or "", calls, choice.get("finish_reason"), _openai_tokens(answer.get("usage")))


def _openai_tokens(usage: Mapping[str, Any] | None) -> dict[str, int] | None:
    if not usage:
        return None
    count, output = usage["prompt_tokens"], usage["completion_tokens"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens")
    reasoning = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    # Some servers count reasoning outside `completion_tokens`, as the total reveals.
    if reasoning > 0 and usage.get("total_tokens") == count + output + reasoning:
        output += reasoning
    return tokens_of(count, output, cached, reasoning)


def from_anthropic(response: Any, request: Request) -> dict[str, Any]:
    """The run of a request and its response, of Anthropic's package.

        pms.record(**from_anthropic(response, request))

    Raises:
        TypeError: the request is a copy, or none of this package.
    """
    about, answer = about_of(request), plain_of(response)
    used = [block for block in answer["content"] if block["type"] == "tool_use"]
    is_json = [about.json_tool is not None and block["name"] == about.json_tool for block in used]
    json_block = next((block for block, found in zip(used, is_json, strict=True) if found), None)
    calls = [
        {"id": block["id"], "name": block["name"], "input": block["input"]} for block in used if block is not json_block
    ]
    text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
    return run_of(
        about,
        text if json_block is None else compact(json_block["input"]),
        calls,
        answer.get("stop_reason") if json_block is None or calls else "stop",
        _anthropic_tokens(answer.get("usage")),
    )


def _anthropic_tokens(usage: Mapping[str, Any] | None) -> dict[str, int] | None:
    if not usage:
        return None
    read, written = (usage.get(f"cache_{name}_input_tokens") or 0 for name in ("read", "creation"))
    thought = (usage.get("output_tokens_details") or {}).get("thinking_tokens")
    return tokens_of(usage["input_tokens"] + read + written, usage["output_tokens"], read, thought)


def about_of(request: Request) -> About:
    if not isinstance(request, Request):
        raise TypeError("The request must be the object that to_openai, to_anthropic … returned, not a copy of it.")
    return request.about


def plain_of(response: Any) -> Mapping[str, Any]:
    """A response as a JSON object; packages have classes for them."""
    if isinstance(response, Mapping):
        return response
    dumped: Mapping[str, Any] = response.model_dump()
    return dumped


def tokens_of(count: int, output: int, cached: int | None, reasoning: int | None) -> dict[str, int]:
    return {
        "input": count,
        "output": output,
        "cached_input": min(cached or 0, count),
        "reasoning": min(reasoning or 0, output),
    }


def _whole(source: str) -> int:
    return int(_kept(source))


def _decimal(source: str) -> float:
    return float(_kept(source))


def _kept(source: str) -> str:
    if not keeps_digits(source):
        raise ValueError(f"{source} would lose digits")
    return source


def parsed(text: str) -> Any:
    """Parses the input of a tool. It stays a string if it is not JSON or a number would lose digits, as in the service."""
    if not text.strip():
        return {}
    try:
        return json.loads(text, parse_int=_whole, parse_float=_decimal)
    except ValueError:
        return text


def run_of(
    about: About, output: str, calls: Sequence[Mapping[str, Any]], reason: str | None, tokens: dict[str, int] | None
) -> dict[str, Any]:
    """Follows the service's records: a withheld response is an error."""
    prompt = about.prompt
    finish_reason = _REASONS.get(reason or "", "other")
    if finish_reason == "stop" and calls:
        # Some servers end a response with tool calls this way, and so does OpenAI when a tool was named.
        finish_reason = "tool_calls"
    run: dict[str, Any] = {"model": about.model, "variables": about.variables, "input": about.input, "output": output}
    # A fallback is not a prompt of the service.
    if not prompt.is_fallback:
        release = None if prompt.release is None else asdict(prompt.release)
        run |= {"prompt_name": prompt.name, "prompt_version": prompt.version, "release": release}
    if calls:
        run["tool_calls"] = list(calls)
    # Some packages report zeros for a stream without requested usage: every call uses some tokens.
    if tokens and tokens["input"] + tokens["output"] > 0:
        run["tokens"] = tokens
    if finish_reason == "content_filter":
        message = output or "The provider withheld the response."
        run |= {"output": None, "error": {"code": "content_filtered", "message": message}}
    run["metadata"] = {"finish_reason": finish_reason}
    return {**run, "started_at": about.started_at, "finished_at": datetime.now(timezone.utc)}
