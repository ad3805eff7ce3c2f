"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._messages import Message
from ..prompt import Prompt
from ._cache_marks import last_mark, mark_of, texts_up_to_marks, with_marks_up_to
from ._call import (
    Call,
    Request,
    UnsupportedError,
    as_text,
    call_of,
    decoded,
    given,
    parts_of,
    stops_of,
    text_of,
    type_of,
)
from ._json_schema import adapted_schema, is_structured
from ._models import AnthropicTraits, anthropic_traits

_JSON_TOOL = "json"
# Shares of the model's tokens.
_BUDGETS = {"minimal": 0.02, "low": 0.1, "medium": 0.3, "high": 0.6, "xhigh": 0.9}
_LEAST_BUDGET = 1024
_MAX_CACHE_MARKS = 4


def to_anthropic(
    prompt: Prompt,
    variables: Mapping[str, object] | None = None,
    *,
    messages: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Request:
    """A prompt as a request to Anthropic's messages. It is what the service would send.

        client.messages.create(**to_anthropic(prompt, {"name": "Ada"}))

    Args:
        messages: go behind the prompt's own.
        model: instead of the prompt's, as the client that sends the request calls it. Needed for a fallback, which has none.
        parameters: replace those of the prompt by name.

    Raises:
        VariablesError: naming the variables that are missing or don't fit.
        UnsupportedError: naming the field that Anthropic has no place for.
    """
    return anthropic_request(call_of(prompt, variables, messages, model, parameters, ("anthropic",)))


def anthropic_request(call: Call) -> Request:
    messages, tools = with_marks_up_to(call.messages, call.tools, _MAX_CACHE_MARKS)
    call = replace(call, messages=messages, tools=tools)
    traits = anthropic_traits(call.model)
    thinking, effort = _thinking(call, traits)
    has_json_tool = call.schema is not None and not (traits.has_formats and is_structured(call.schema))
    fields = {
        "model": call.model,
        **_message_fields(call),
        **_parameters(call, traits, thinking, effort, has_json_tool),
        **_tool_fields(call, traits, (thinking or {}).get("type") == "enabled", has_json_tool),
    }
    return call.request(fields, "anthropic", _JSON_TOOL if has_json_tool else None)


def _message_fields(call: Call) -> dict[str, Any]:
    system: list[dict[str, Any]] = []
    sent: list[dict[str, Any]] = []
    for index, message in enumerate(call.messages):
        if message["role"] == "system":
            if not sent:
                system += [{"type": "text", **text} for text in texts_up_to_marks(message)]
                continue
            # Anthropic accepts system messages only before all others.
            said = f"<system>\n{text_of(message['content'])}\n</system>"
            message = {"role": "user", "content": [{"type": "text", "text": said, **last_mark(message)}]}
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks_of(message, f"messages.{index}.content")
        # Roles must alternate: consecutive messages of a role are merged.
        if sent and sent[-1]["role"] == role:
            sent[-1]["content"] += blocks
        else:
            sent.append({"role": role, "content": blocks})
    for message in sent:
        if message["role"] == "assistant":
            # Tool uses come after all texts.
            message["content"].sort(key=lambda block: block["type"] == "tool_use")
    if sent and sent[-1]["role"] == "assistant" and sent[-1]["content"]:
        # Anthropic continues the assistant's last message, which must not end with a space.
        last = sent[-1]["content"][-1]
        if last["type"] == "text":
            last["text"] = last["text"].strip()
    return {**({"system": system} if system else {}), "messages": sent}


def _blocks_of(message: Message, path: str) -> list[dict[str, Any]]:
    role, content = message["role"], message["content"]
    if role == "tool":
        return [
            {"type": "tool_result", "tool_use_id": part["id"], "content": as_text(part["output"]), **mark_of(part)}
            for part in content
        ]
    blocks: list[dict[str, Any]] = []
    for index, part in enumerate(parts_of(content)):
        at = f"{path}.{index}"
        if part["type"] == "text":
            if part["text"] or role == "user":
                blocks.append({"type": "text", "text": part["text"], **mark_of(part)})
        elif part["type"] == "tool_call":
            if not isinstance(part["input"], dict):
                raise UnsupportedError(f"{at}.input", "Anthropic accepts only an object as the input of a tool call")
            used = {"id": part["id"], "name": part["name"], "input": part["input"]}
            blocks.append({"type": "tool_use", **used, **mark_of(part)})
        elif role == "assistant":
            raise UnsupportedError(at, "Anthropic does not accept files in assistant messages")
        else:
            blocks.append({**_file_block(part, at), **mark_of(part)})
    return blocks


def _file_block(file: Mapping[str, Any], path: str) -> dict[str, Any]:
    media_type, data, url = file["media_type"], file.get("data"), file.get("url")
    by_url = {"type": "url", "url": url}
    if media_type.startswith("image/"):
        if url is not None:
            return {"type": "image", "source": by_url}
        return {"type": "image", "source": {"type": "base64", "media_type": type_of(file, path), "data": data}}
    title = given(title=file.get("filename"))
    if media_type == "application/pdf":
        source = by_url if url is not None else {"type": "base64", "media_type": media_type, "data": data}
        return {"type": "document", "source": source, **title}
    if media_type != "text/plain":
        raise UnsupportedError(f"{path}.media_type", f"Anthropic does not accept {media_type}")
    if url is not None:
        raise UnsupportedError(f"{path}.url", "Anthropic accepts text/plain only as data")
    source = {"type": "text", "media_type": media_type, "data": decoded(str(data))}
    return {"type": "document", "source": source, **title}


def _tool_fields(call: Call, traits: AnthropicTraits, has_budget: bool, has_json_tool: bool) -> dict[str, Any]:
    choice = call.tool_choice
    is_forced = choice == "required" or isinstance(choice, dict)
    is_forcible = traits.takes_forced_tools and not has_budget
    made = [
        {
            "name": tool["name"],
            **given(description=tool.get("description")),
            "input_schema": tool["input_schema"],
            **(given(strict=tool.get("strict")) if traits.has_formats else {}),
            **mark_of(tool),
        }
        for tool in call.tools
    ]
    if has_json_tool:
        if is_forced:
            raise _forced(choice, "together with a response_format")
        json_tool = {"name": _JSON_TOOL, "description": "Respond with a JSON object.", "input_schema": call.schema}
        return {
            "tools": [json_tool] if choice == "none" else [*made, json_tool],
            "tool_choice": {"type": "any" if is_forcible else "auto", "disable_parallel_tool_use": True},
        }
    if not made:
        return {}
    if is_forced and not is_forcible:
        raise _forced(choice, "with this model or reasoning_effort")
    if choice == "none":
        return {"tools": made, "tool_choice": {"type": "none"}}
    single = {"disable_parallel_tool_use": True} if call.is_one_tool_at_a_time else {}
    if choice is None and not single:
        return {"tools": made}
    if isinstance(choice, dict):
        return {"tools": made, "tool_choice": {"type": "tool", "name": choice["name"], **single}}
    return {"tools": made, "tool_choice": {"type": "any" if choice == "required" else "auto", **single}}


def _forced(choice: Any, when: str) -> UnsupportedError:
    name = choice["name"] if isinstance(choice, dict) else choice
    return UnsupportedError("tool_choice", f'Anthropic does not accept "{name}" {when}; use "auto"')


def _thinking(call: Call, traits: AnthropicTraits) -> tuple[dict[str, Any] | None, str | None]:
    effort = call.parameters.get("reasoning_effort")
    if effort is None:
        return None, None
    if effort == "none":
        return (None, "low") if traits.unthinking == "low_effort" else ({"type": traits.unthinking}, None)
    if traits.adapts:
        taken = "low" if effort == "minimal" else "high" if effort == "xhigh" and not traits.has_xhigh else effort
        return {"type": "adaptive", "display": "summarized"}, taken
    budget = max(_LEAST_BUDGET, int(traits.max_tokens * _BUDGETS[effort] + 0.5))
    return {"type": "enabled", "budget_tokens": min(traits.max_tokens, budget)}, None


def _parameters(
    call: Call, traits: AnthropicTraits, thinking: dict[str, Any] | None, effort: str | None, has_json_tool: bool
) -> dict[str, Any]:
    parameters = call.parameters
    sampling = ("temperature", "top_p", "top_k")
    call.refuse(["seed", "frequency_penalty", "presence_penalty"], "Anthropic has no such parameter")
    if not traits.samples:
        call.refuse(sampling, "this model does not support it")
    if thinking is not None and thinking["type"] != "disabled":
        call.refuse(sampling, "Anthropic does not support it with a reasoning_effort")
    if parameters.get("temperature") is not None:
        if parameters["temperature"] > 1:
            raise UnsupportedError("parameters.temperature", "Anthropic accepts at most 1")
        call.refuse(["top_p"], "Anthropic does not support it with a temperature")
    if (parameters.get("response_format") or {}).get("type") == "json_object":
        raise UnsupportedError("parameters.response_format", "Anthropic does not support json_object: use json_schema")
    asked = parameters.get("max_tokens")
    if traits.is_known and (asked or 0) > traits.max_tokens:
        raise UnsupportedError("parameters.max_tokens", f"this model accepts at most {traits.max_tokens}")
    # A thinking budget is added, never subtracted.
    tokens = (asked or traits.max_tokens) + (thinking or {}).get("budget_tokens", 0)
    schema = None if call.schema is None or has_json_tool else adapted_schema(call.schema)
    output = given(effort=effort, format=schema and {"type": "json_schema", "schema": schema})
    return {
        "max_tokens": min(tokens, traits.max_tokens) if traits.is_known else tokens,
        **given(**{name: parameters.get(name) for name in sampling}),
        **given(stop_sequences=stops_of(parameters), thinking=thinking, output_config=output or None),
    }
