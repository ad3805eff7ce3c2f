"""LlamaIndex's `OpenAI`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..prompt import Prompt
from ._call import About, UnsupportedError
from ._openai import to_openai
from ._runs import from_openai_answer


@dataclass(frozen=True, slots=True)
class LlamaIndexRequest:
    """A prompt for `OpenAI` of LlamaIndex."""

    messages: list[Any]
    """LlamaIndex `ChatMessage` objects."""
    options: dict[str, Any]
    """Options of `OpenAI`: the prompt's model and its parameters."""
    about: About


def to_llama_index(
    prompt: Prompt,
    variables: Mapping[str, object] | None = None,
    *,
    messages: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> LlamaIndexRequest:
    """A prompt for `OpenAI` of LlamaIndex (`llama-index-llms-openai`), which must be installed. What that sends is what the service would
    send.

        request = to_llama_index(prompt, {"name": "Ada"})
        response = OpenAI(**request.options).chat(request.messages)

    Args:
        messages: go behind the prompt's own.
        model: instead of the prompt's, as the provider calls it. Needed for a fallback, which has none.
        parameters: replace those of the prompt by name.

    Raises:
        VariablesError: naming the variables that are missing or don't fit.
        UnsupportedError: naming the field that there is no place for.
        ModuleNotFoundError: LlamaIndex is not installed.
    """
    request = to_openai(prompt, variables, messages=messages, model=model, parameters=parameters)
    made = [_message_of(message, index) for index, message in enumerate(request["messages"])]
    # It would rename or drop some fields, and always sends its own temperature.
    body = {name: value for name, value in request.items() if name not in ("model", "messages")}
    extra = {"temperature": import_module("openai").NOT_GIVEN, "extra_body": body}
    return LlamaIndexRequest(made, {"model": request["model"], "additional_kwargs": extra}, request.about)


def _message_of(message: Mapping[str, Any], index: int) -> Any:
    types = import_module("llama_index.core.llms")
    content = message.get("content")
    kwargs = {name: message[name] for name in ("tool_calls", "tool_call_id") if name in message}
    if isinstance(content, list):
        content = [_block_of(part, types, f"messages.{index}.content.{at}") for at, part in enumerate(content)]
    return types.ChatMessage(role=message["role"], content=content, additional_kwargs=kwargs)


def _block_of(part: Mapping[str, Any], types: Any, path: str) -> Any:
    if part["type"] == "text":
        return types.TextBlock(text=part["text"])
    if part["type"] == "image_url":
        return types.ImageBlock(url=part["image_url"]["url"], detail=part["image_url"].get("detail"))
    if part["type"] != "file":
        raise UnsupportedError(path, "LlamaIndex does not support it")
    head, _, data = part["file"]["file_data"].partition(";base64,")
    media_type = head.removeprefix("data:")
    return types.DocumentBlock(data=data.encode(), title=part["file"].get("filename"), document_mimetype=media_type)


def from_llama_index(response: Any, request: LlamaIndexRequest) -> dict[str, Any]:
    """The run of a request and the response that `OpenAI` of LlamaIndex gave for it.

    pms.record(**from_llama_index(response, request))
    """
    return from_openai_answer(response.raw, request.about)
