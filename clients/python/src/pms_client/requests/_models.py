"""What models support."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, slots=True)
class OpenAITraits:
    """An OpenAI model in chat completions."""

    reasons: bool = False
    """`developer` instead of `system`, `max_completion_tokens` instead of `max_tokens`, no sampling parameters while reasoning."""
    samples_unreasoned: bool = False
    """Sampling parameters are supported if reasoning is off."""
    tools_unreasoned: bool = False
    """Tools are rejected with reasoning, which is on by default."""
    searches: bool = False
    """Does not support a temperature."""


_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?(?:-(.+))?")
_SAMPLING_GPT_6 = ("gpt-6.1-terra", "gpt-6-luna", "gpt-6-sol")


def openai_traits(model: str) -> OpenAITraits:
    match = _GPT.fullmatch(model)
    major, minor, variant = match.groups() if match else ("0", None, None)
    gpt, point = int(major), int(minor or 0)
    return OpenAITraits(
        reasons=bool(re.match(r"o\d+(-|$)", model))
        or (gpt >= 5 and not (minor is None and (variant or "").startswith("chat"))),
        samples_unreasoned=(gpt == 5 and point >= 1) or model in _SAMPLING_GPT_6,
        tools_unreasoned=gpt == 5 and point >= 6,
        searches=bool(re.match(r"gpt-4o-(mini-)?search-preview", model)),
    )


@dataclass(frozen=True, slots=True)
class AnthropicTraits:
    """An Anthropic model."""

    max_tokens: int = 4_096
    """Default maximum tokens of a response, and the upper limit if the model is known."""
    is_known: bool = True
    has_formats: bool = False
    """JSON with a schema and strict tools. Otherwise JSON is requested through a tool."""
    adapts: bool = False
    """Chooses its amount of thinking from an effort. Otherwise it needs a token budget."""
    samples: bool = True
    has_xhigh: bool = False
    unthinking: Literal["disabled", "between_tools", "low_effort"] = "disabled"
    """The setting that turns thinking off."""
    takes_forced_tools: bool = True


_OLD = AnthropicTraits()
_CURRENT = AnthropicTraits(max_tokens=128_000, has_formats=True, adapts=True)
_NEW = replace(_CURRENT, samples=False, has_xhigh=True)

# The first match counts.
_RULES = (
    (r"claude-sonnet-5-5", replace(_NEW, unthinking="between_tools", takes_forced_tools=False)),
    (r"claude-(opus-5-5|fable-5-[12])", replace(_NEW, unthinking="low_effort", takes_forced_tools=False)),
    (r"claude-(haiku-5-5|opus-5|opus-4-[78]|sonnet-5)", _NEW),
    (r"claude-fable-5", replace(_NEW, unthinking="low_effort")),
    (r"claude-(sonnet|opus)-4-6", _CURRENT),
    (r"claude-(sonnet|opus|haiku)-4-5", replace(_OLD, max_tokens=64_000, has_formats=True)),
    (r"claude-opus-4-1", replace(_OLD, max_tokens=32_000, has_formats=True)),
    (r"claude-sonnet-4[-@]", replace(_OLD, max_tokens=64_000)),
    (r"claude-opus-4[-@]", replace(_OLD, max_tokens=32_000)),
    (r"claude-3-haiku", _OLD),
    (r"claude-(instant(-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))", replace(_OLD, is_known=False)),
    (r"claude-", replace(_NEW, is_known=False)),
)


def anthropic_traits(model: str) -> AnthropicTraits:
    unknown = replace(_OLD, is_known=False)
    return next((traits for names, traits in _RULES if re.search(names, model)), unknown)
