"""Marks of a provider's cache (`cache_control`) in message parts and tools. They change the cost of a call, not its meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._messages import Message


def mark_of(marked: Mapping[str, Any]) -> dict[str, Any]:
    return {"cache_control": marked["cache_control"]} if "cache_control" in marked else {}


def last_mark(message: Message) -> dict[str, Any]:
    marks = [mark_of(part) for part in _parts(message) if "cache_control" in part]
    return marks[-1] if marks else {}


def _parts(message: Message) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else []


def with_marks_up_to(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], most: int
) -> tuple[list[Message], list[dict[str, Any]]]:
    """Limits the number of marks. A later one caches everything before it, so the first are dropped: those of tools, then those
    of messages.
    """
    marked = [*tools, *(part for message in messages for part in _parts(message))]
    left = sum("cache_control" in each for each in marked) - most

    def unmarked(each: Mapping[str, Any]) -> dict[str, Any]:
        nonlocal left
        if left <= 0 or "cache_control" not in each:
            return dict(each)
        left -= 1
        return {name: value for name, value in each.items() if name != "cache_control"}

    fitted_tools = [unmarked(tool) for tool in tools]
    fitted = [
        {**message, "content": [unmarked(part) for part in message["content"]]}
        if isinstance(message["content"], list)
        else message
        for message in messages
    ]
    return fitted, fitted_tools


def texts_up_to_marks(message: Message) -> list[dict[str, Any]]:
    """The texts of a message, joined up to each mark: a cached part ends with a text."""
    if isinstance(message["content"], str):
        return [{"text": message["content"]}]
    texts: list[dict[str, Any]] = []
    text = ""
    for part in message["content"]:
        text += part["text"]
        if "cache_control" in part:
            texts.append({"text": text, **mark_of(part)})
            text = ""
    return texts if texts and not text else [*texts, {"text": text}]


def add_cache_marks(body: dict[str, Any], messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> None:
    """Adds the marks to a body of chat completions in the form of servers that support them: in content parts, and in tools."""
    for sent, tool in zip(body.get("tools", ()), tools, strict=True):
        sent.update(mark_of(tool))
    # Each message is sent as one, except for tool results.
    parts: list[list[dict[str, Any]]] = []
    for message in messages:
        parts += [[part] for part in message["content"]] if message["role"] == "tool" else [_parts(message)]
    for sent, given in zip(body["messages"], parts, strict=True):
        calls = [part for part in given if part["type"] == "tool_call"]
        others = [part for part in given if part["type"] != "tool_call"]
        for call, part in zip(sent.get("tool_calls", ()), calls, strict=True):
            call.update(mark_of(part))
        if not any("cache_control" in part for part in others):
            continue
        if isinstance(sent["content"], list):
            for sent_part, part in zip(sent["content"], others, strict=True):
                sent_part.update(mark_of(part))
        else:
            sent["content"] = [
                {"type": "text", "text": part.get("text", sent["content"]), **mark_of(part)} for part in others
            ]
