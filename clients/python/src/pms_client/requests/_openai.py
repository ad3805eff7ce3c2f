"""OpenAI's chat completions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._messages import Message
from ..prompt import Prompt
from ._cache_marks import add_cache_marks
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
from ._models import OpenAITraits, openai_traits


def to_openai(
    prompt: Prompt,
    variables: Mapping[str, object] | None = None,
    *,
    messages: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Request:
    """A prompt as a request to OpenAI's chat completions, or to a server that speaks them. It is what the service would send.

        client.chat.completions.create(**to_openai(prompt, {"name": "Ada"}))

    Args:
        messages: go behind the prompt's own.
        model: instead of the prompt's, as the client that sends the request calls it. Needed for a fallback, which has none.
        parameters: replace those of the prompt by name.

    Raises:
        VariablesError: naming the variables that are missing or don't fit.
        UnsupportedError: naming the field that OpenAI has no place for.
    """
    return openai_request(call_of(prompt, variables, messages, model, parameters, ("openai", "openai-compatible")))


def openai_request(call: Call) -> Request:
    is_openai = call.provider == "openai"
    traits = openai_traits(call.model) if is_openai else OpenAITraits()
    sent = [
        each
        for index, message in enumerate(call.messages)
        for each in _messages_of(message, is_openai, traits, f"messages.{index}.content")
    ]
    fields = {"model": call.model, "messages": sent, **_tool_fields(call), **_parameters(call, is_openai, traits)}
    if not is_openai:
        add_cache_marks(fields, call.messages, call.tools)
    return call.request(fields, "openai" if is_openai else "openai-compatible")


def _messages_of(message: Message, is_openai: bool, traits: OpenAITraits, path: str) -> list[dict[str, Any]]:
    role, content = message["role"], message["content"]
    named = given(name=message.get("name"))
    if role == "system":
        return [{"role": "developer" if traits.reasons else "system", "content": text_of(content), **named}]
    if role == "tool":
        return [{"role": role, "tool_call_id": part["id"], "content": as_text(part["output"])} for part in content]
    parts = parts_of(content)
    if role == "user":
        if len(parts) == 1 and parts[0]["type"] == "text":
            return [{"role": role, "content": parts[0]["text"], **named}]
        made = [
            _file_part(part, is_openai, f"{path}.{index}", index)
            if part["type"] == "file"
            else {"type": "text", "text": part["text"]}
            for index, part in enumerate(parts)
        ]
        return [{"role": role, "content": made, **named}]
    for index, part in enumerate(parts):
        if part["type"] == "file":
            raise UnsupportedError(f"{path}.{index}", "OpenAI does not accept files in assistant messages")
    calls = [
        {
            "id": part["id"],
            "type": "function",
            "function": {"name": part["name"], "arguments": as_text(part["input"])},
        }
        for part in parts
        if part["type"] == "tool_call"
    ]
    text = text_of(content)
    reasoning = () if is_openai else ("reasoning_content", "reasoning_details")
    others = {**named, **given(**{name: message.get(name) for name in reasoning})}
    if not calls:
        return [{"role": role, "content": text, **others}]
    return [{"role": role, "content": text or None, "tool_calls": calls, **others}]


_AUDIO = {"audio/wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}


def _file_part(file: Mapping[str, Any], is_openai: bool, path: str, index: int) -> dict[str, Any]:
    media_type, data, url = file["media_type"], file.get("data"), file.get("url")
    kind = media_type.split("/")[0]
    if kind == "image" or (kind == "video" and not is_openai):
        address = url or f"data:{type_of(file, path)};base64,{data}"
        return {"type": f"{kind}_url", f"{kind}_url": {"url": address}}
    is_text = kind == "text" and not is_openai
    if media_type not in _AUDIO and media_type != "application/pdf" and not is_text:
        raise UnsupportedError(f"{path}.media_type", f"OpenAI does not accept {media_type}")
    if data is None:
        raise UnsupportedError(f"{path}.url", f"OpenAI accepts {media_type} only as data")
    if media_type in _AUDIO:
        return {"type": "input_audio", "input_audio": {"data": data, "format": _AUDIO[media_type]}}
    if is_text:
        return {"type": "text", "text": decoded(data)}
    name = file.get("filename") or (f"part-{index}.pdf" if is_openai else "document.pdf")
    return {"type": "file", "file": {"filename": name, "file_data": f"data:application/pdf;base64,{data}"}}


def _tool_fields(call: Call) -> dict[str, Any]:
    if not call.tools:
        return {}
    choice = call.tool_choice
    return {
        "tools": [openai_tool(tool) for tool in call.tools],
        **given(tool_choice={"type": "function", "function": choice} if isinstance(choice, dict) else choice),
        **({"parallel_tool_calls": False} if call.is_one_tool_at_a_time else {}),
    }


def openai_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    about = given(description=tool.get("description"), strict=tool.get("strict"))
    return {"type": "function", "function": {"name": tool["name"], **about, "parameters": tool["input_schema"]}}


def _parameters(call: Call, is_openai: bool, traits: OpenAITraits) -> dict[str, Any]:
    parameters = call.parameters
    effort = parameters.get("reasoning_effort")
    if effort is None and traits.tools_unreasoned and call.tools:
        effort = "none"
    if is_openai:
        if traits.reasons and not (traits.samples_unreasoned and effort == "none"):
            call.refuse(["temperature", "top_p"], "this model does not support it while it reasons")
        if traits.reasons:
            call.refuse(["frequency_penalty", "presence_penalty"], "this model does not support it")
        if traits.searches:
            call.refuse(["temperature"], "this model does not support it")
    names = ["temperature", "top_p", "seed", "frequency_penalty", "presence_penalty", "verbosity"]
    # OpenAI has no top_k, and the response means the same without it.
    fields = {name: parameters.get(name) for name in [*names, *([] if is_openai else ["top_k"])]}
    fields["max_completion_tokens" if traits.reasons else "max_tokens"] = parameters.get("max_tokens")
    return given(
        **fields,
        stop=stops_of(parameters),
        response_format=_response_format(parameters.get("response_format") or {}),
        reasoning_effort=effort,
    )


def _response_format(response_format: Mapping[str, Any]) -> dict[str, Any] | None:
    type_ = response_format.get("type")
    if type_ == "json_object":
        return {"type": type_}
    if type_ != "json_schema":
        return None
    return {"type": type_, "json_schema": {"strict": True, "name": "response", **response_format["json_schema"]}}
