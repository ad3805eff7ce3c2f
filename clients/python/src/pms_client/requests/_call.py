"""A filled prompt with everything sent to a model."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from typing import Any

from .._json import JsonValue, compact, plain
from .._messages import Message
from ..errors import ErrorDetail, PmsError
from ..prompt import Prompt


class UnsupportedError(PmsError, ValueError):
    """The prompt can't be sent because the provider does not support part of it. The service rejects the same calls. `details`
    names the field, relative to the prompt: `parameters.seed`, `messages.2.content.0`.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.details = [ErrorDetail(path, message)]


@dataclass(frozen=True, slots=True)
class About:
    """The information about a request that `record` needs."""

    prompt: Prompt
    variables: JsonValue
    input: str | list[Message]
    model: str
    """`provider/model`"""
    started_at: datetime
    json_tool: str | None = None
    """The tool through which a JSON response is requested."""


class Request(dict[str, Any]):
    """The keyword arguments of a provider's own client: `create(**request)`. Unlike a copy, it knows its prompt."""

    def __init__(self, fields: Mapping[str, Any], about: About) -> None:
        super().__init__(fields)
        self.about = about


@dataclass(frozen=True, slots=True)
class Call:
    provider: str | None
    """None if the caller has named an unknown model."""
    model: str
    """The provider's name for it."""
    messages: list[Message]
    tools: list[dict[str, Any]]
    tool_choice: Any
    parameters: dict[str, Any]
    about: About

    @property
    def is_one_tool_at_a_time(self) -> bool:
        """Whether the model must call at most one tool per response. Every provider allows several by default."""
        return self.parameters.get("parallel_tool_calls") is False and bool(self.tools) and self.tool_choice != "none"

    @property
    def schema(self) -> dict[str, Any] | None:
        """The response format."""
        response_format = self.parameters.get("response_format") or {}
        return response_format["json_schema"]["schema"] if response_format.get("type") == "json_schema" else None

    def refuse(self, names: Iterable[str], message: str) -> None:
        """Raises UnsupportedError for the first of these parameters that is set."""
        for name in names:
            if self.parameters.get(name) is not None:
                raise UnsupportedError(f"parameters.{name}", message)

    def request(self, fields: Mapping[str, Any], provider: str, json_tool: str | None = None) -> Request:
        """Applies the options in the provider's own names over everything else."""
        options = (self.parameters.get("provider_options") or {}).get(provider) or {}
        return Request(merged(fields, options), replace(self.about, json_tool=json_tool))


_BARE_NAMES = (
    ("openai", re.compile(r"(gpt-|chatgpt-|o[134](-|$)|ft:(gpt|o[134]))")),
    ("anthropic", re.compile(r"claude-")),
    ("google", re.compile(r"gemini-")),
    ("mistral", re.compile(r"(mistral|ministral|magistral|devstral|pixtral|codestral|open-mi[sx]tral)-")),
)
_PROVIDERS = ("openai", "anthropic", "google", "mistral", "openai-compatible", "sandbox")


def resolve(name: str) -> tuple[str | None, str]:
    """The provider of a model, if the service knows it, and its name there."""
    prefix, slash, rest = name.partition("/")
    if slash and prefix in _PROVIDERS:
        return prefix, rest
    return next((provider for provider, names in _BARE_NAMES if names.match(name)), None), name


def provider_of(prompt: Prompt, model: str | None) -> str | None:
    """The provider of a model; None if unknown."""
    return resolve(model or prompt.model or "")[0]


def call_of(
    prompt: Prompt,
    variables: Mapping[str, object] | None,
    messages: Sequence[Mapping[str, Any]],
    model: str | None,
    parameters: Mapping[str, Any] | None,
    speaks: Sequence[str],
) -> Call:
    """
    Args:
        speaks: providers that the client supports; the first of them is assumed for an unknown model.
    """
    name = model or prompt.model
    if name is None:
        raise UnsupportedError("model", "is unknown, because the prompt is a fallback: pass one")
    provider, own = resolve(name)
    if provider is not None and provider not in speaks and model is None:
        raise UnsupportedError(
            "model", f"{name} is not a model of {' or '.join(speaks)}: pass the client's own name of a model"
        )
    is_known = provider in speaks
    given = dict(variables or {})
    filled = prompt.compile(given, messages)
    choice = prompt.content.get("tool_choice")
    if not prompt.tools and choice not in (None, "auto", "none"):
        raise UnsupportedError("tool_choice", "requires a tool, but there are no tools")
    full = f"{speaks[0]}/{name}" if provider is None and "/" not in name else f"{provider}/{own}" if provider else name
    return Call(
        provider if is_known else None,
        # A gateway's own model names also contain slashes.
        own if is_known else name,
        [{"role": "user", "content": filled}] if isinstance(filled, str) else filled,
        prompt.tools,
        choice,
        {**prompt.parameters, **(parameters or {})},
        About(prompt, plain(given), filled, full, datetime.now(timezone.utc)),
    )


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Merges objects recursively; any other value replaces the old one."""
    result = dict(base)
    for name, value in over.items():
        there = result.get(name)
        result[name] = merged(there, value) if isinstance(there, dict) and isinstance(value, dict) else value
    return result


def given(**fields: Any) -> dict[str, Any]:
    """Only the values that are set."""
    return {name: value for name, value in fields.items() if value is not None}


def parts_of(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def text_of(content: str | list[dict[str, Any]]) -> str:
    return "".join(part["text"] for part in parts_of(content) if part["type"] == "text")


def as_text(value: JsonValue) -> str:
    """A string unchanged, anything else as JSON."""
    return value if isinstance(value, str) else compact(value)


def stops_of(parameters: Mapping[str, Any]) -> list[str] | None:
    stop = parameters.get("stop")
    return [stop] if isinstance(stop, str) else stop


def decoded(data: str) -> str:
    """A text file's text."""
    return base64.b64decode(data).decode("utf-8", "replace")


_SIGNATURES = (
    ("iVBORw0KGg", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
)


def type_of(file: Mapping[str, Any], path: str) -> str:
    """The media type of a file, detected from its bytes if declared as `image/*`."""
    declared = str(file["media_type"])
    if not declared.endswith("/*"):
        return declared
    if declared == "image/*":
        for start, media_type in _SIGNATURES:
            if file["data"].startswith(start):
                return media_type
    raise UnsupportedError(f"{path}.media_type", f"must be more specific than {declared}")
