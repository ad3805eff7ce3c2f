"""Rules for a list of messages, checked before it reaches a provider."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

Message = dict[str, Any]
"""A message in API format: `{"role": …, "content": …}`."""

MAX_MESSAGES = 200
MAX_PARTS = 100
MAX_FILE_BYTES = 20 * 1024 * 1024

_PARTS_OF = {
    "system": ("text",),
    "user": ("text", "file"),
    "assistant": ("text", "file", "tool_call"),
    "tool": ("tool_result",),
}
_FIELDS_OF_MESSAGE = {
    "system": ("role", "content", "name"),
    "user": ("role", "content", "name"),
    "assistant": ("role", "content", "name", "reasoning_content", "reasoning_details"),
    "tool": ("role", "content"),
}
_FIELDS_OF = {
    "text": {"type", "text", "cache_control"},
    "file": {"type", "media_type", "filename", "data", "url", "cache_control"},
    "tool_call": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "id", "name", "output", "cache_control"},
}
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_MEDIA_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9.+*_-]+")
_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Fault(NamedTuple):
    """A problem and its path: in dot notation, relative to the variable."""

    path: str
    message: str


def message_faults(value: object, path: str) -> list[Fault]:
    """The problems within a list of messages: the first one of each message."""
    if not isinstance(value, list):
        return [Fault(path, "must be a list of messages")]
    if len(value) > MAX_MESSAGES:
        return [Fault(path, f"must have at most {MAX_MESSAGES} messages")]
    faults = (_message_fault(message, f"{path}.{index}") for index, message in enumerate(value))
    return [fault for fault in faults if fault is not None]


def file_fault(value: object, path: str) -> Fault | None:
    """The problems of a file given for a variable."""
    if not isinstance(value, dict):
        return Fault(path, "must be an object with one of data and url")
    for name in value:
        if name not in ("media_type", "filename", "data", "url"):
            return Fault(f"{path}.{name}", "is not a field of a file")
    return _file_fields_fault(value, path)


def _message_fault(message: object, path: str) -> Fault | None:
    if not isinstance(message, dict):
        return Fault(path, "must be a message: an object with role and content")
    role = message.get("role")
    if not isinstance(role, str) or role not in _PARTS_OF:
        return Fault(f"{path}.role", "must be system, user, assistant or tool")
    types = _PARTS_OF[role]
    for name in message:
        if name not in _FIELDS_OF_MESSAGE.get(role, ()):
            return Fault(f"{path}.{name}", "is not a field of a message")
        if name == "reasoning_details":
            details = message[name]
            if not isinstance(details, list) or not all(isinstance(each, dict) for each in details):
                return Fault(f"{path}.{name}", "must be a list of objects")
        elif name not in ("role", "content") and not (isinstance(message[name], str) and message[name]):
            return Fault(f"{path}.{name}", "must be a string that is not empty")
    content = message.get("content")
    path = f"{path}.content"
    if isinstance(content, str):
        return None if role != "tool" else Fault(path, "must be a list of tool_result parts")
    if not isinstance(content, list) or not 1 <= len(content) <= MAX_PARTS:
        return Fault(path, f"must be a string or a list of 1 to {MAX_PARTS} parts")
    for index, part in enumerate(content):
        fault = _part_fault(part, types, f"{path}.{index}")
        if fault is not None:
            return fault
    return None


def _part_fault(part: object, types: Sequence[str], path: str) -> Fault | None:
    if not isinstance(part, dict):
        return Fault(path, "must be a part: an object with a type")
    type_ = part.get("type")
    if not isinstance(type_, str) or type_ not in types:
        return Fault(f"{path}.type", f"must be {' or '.join(types)}")
    for name in part:
        if name not in _FIELDS_OF[type_]:
            return Fault(f"{path}.{name}", f"is not a field of a {type_} part")
    if "cache_control" in part and not _is_cache_control(part["cache_control"]):
        return Fault(f"{path}.cache_control", 'must be {"type": "ephemeral"}, with "5m" or "1h" as its ttl')
    if type_ == "text":
        return None if isinstance(part.get("text"), str) else Fault(f"{path}.text", "must be a string")
    if type_ == "file":
        if "media_type" not in part:
            return Fault(f"{path}.media_type", "is missing")
        return _file_fields_fault(part, path)
    if not isinstance(part.get("id"), str) or not 1 <= len(part["id"]) <= 200:
        return Fault(f"{path}.id", "must be a string of 1 to 200 characters")
    if not isinstance(part.get("name"), str) or not _TOOL_NAME.fullmatch(part["name"]):
        return Fault(f"{path}.name", 'must be 1–64 letters, digits, "_" or "-"')
    given = "input" if type_ == "tool_call" else "output"
    return None if given in part else Fault(f"{path}.{given}", "is required: any JSON")


def _is_cache_control(value: object) -> bool:
    return value in ({"type": "ephemeral"}, {"type": "ephemeral", "ttl": "5m"}, {"type": "ephemeral", "ttl": "1h"})


def _file_fields_fault(file: dict[str, Any], path: str) -> Fault | None:
    media_type, filename = file.get("media_type"), file.get("filename")
    if "media_type" in file and not (isinstance(media_type, str) and _MEDIA_TYPE.fullmatch(media_type)):
        return Fault(f"{path}.media_type", 'must be a media type such as "image/png"')
    if "filename" in file and not (isinstance(filename, str) and 1 <= len(filename) <= 255):
        return Fault(f"{path}.filename", "must be a string of 1 to 255 characters")
    if ("data" in file) == ("url" in file):
        return Fault(path, "must have one of data and url")
    if "data" in file:
        data = file["data"]
        if not (isinstance(data, str) and data and len(data) % 4 == 0 and _BASE64.fullmatch(data)):
            return Fault(f"{path}.data", "must be base64")
        if len(data) // 4 * 3 > MAX_FILE_BYTES + 2:
            return Fault(f"{path}.data", f"must be at most {MAX_FILE_BYTES} bytes")
        return None
    return None if _is_https(file["url"]) else Fault(f"{path}.url", "must be an https address without credentials")


def _is_https(url: object) -> bool:
    if not isinstance(url, str):
        return False
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and parts.username is None and parts.password is None


def order_fault(messages: Sequence[Message]) -> tuple[int, str] | None:
    """The first problem between messages that every provider rejects: tool results without calls, calls without results, only
    system messages.
    """
    open_calls: dict[str, str] = {}
    calls_at = 0
    has_others = False
    for index, message in enumerate(messages):
        role, content = message["role"], message["content"]
        has_others = has_others or role != "system"
        if role == "tool":
            for part in content:
                called = open_calls.pop(part["id"], None)
                if called is None:
                    return index, f'has the tool_result "{part["id"]}", but no tool_call with this id is open before it'
                if called != part["name"]:
                    return index, (
                        f'has the tool_result "{part["id"]}" of "{part["name"]}", '
                        f'but the tool_call with this id is of "{called}"'
                    )
            continue
        for call_id in open_calls:
            return index, f'comes before the tool_result of the tool_call "{call_id}"'
        calls_at = index
        for part in content if isinstance(content, list) else []:
            if part["type"] != "tool_call":
                continue
            if part["id"] in open_calls:
                return index, f'has two tool_calls with the id "{part["id"]}"'
            open_calls[part["id"]] = part["name"]
    for call_id in open_calls:
        return calls_at, f'has the tool_call "{call_id}", whose tool_result is missing behind it'
    if not has_others:
        return max(0, len(messages) - 1), "must be followed by a message that is not a system message"
    return None
