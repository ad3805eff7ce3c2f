"""`POST /prompts/resolve`: many prompts in one request, except what the caller already has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from ._cache import Key
from ._call import Call
from .errors import ApiError, UnexpectedResponseError, error_with_code
from .prompt import Prompt

MAX_RESOLVED = 200


@dataclass(frozen=True, slots=True)
class Resolved:
    """The outcome for one prompt."""

    state: Literal["changed", "unchanged", "left_out", "failed"]
    """`left_out`: the response would have been too large; request it again."""
    prompt: Prompt | None = None
    error: ApiError | None = None
    release: Mapping[str, Any] | None = None
    """With `unchanged`: the release currently running on the label."""


def resolve_call(wanted: Sequence[tuple[Key, Prompt | None]], timeout: float) -> Call:
    """
    Args:
        wanted: the requested prompts, and what the caller has of them.
        timeout: seconds without a byte.
    """
    body = {"prompts": [_wanted(key, known) for key, known in wanted]}
    return Call("POST", "/prompts/resolve", body=body, timeout=timeout, is_repeatable=True)


def read_resolved(response: httpx.Response, count: int) -> list[Resolved]:
    """The outcome of each, in the order of the call."""
    try:
        data = response.json()["data"]
        resolved = [_resolved(one, response.status_code) for one in data]
    except (KeyError, TypeError, ValueError) as error:
        raise UnexpectedResponseError(f"{response.request.url.path} returned no prompts: {error!r}") from error
    if len(resolved) != count:
        raise UnexpectedResponseError(f"{response.request.url.path} returned {len(resolved)} prompts for {count}.")
    return resolved


def _wanted(key: Key, known: Prompt | None) -> dict[str, Any]:
    name, label, version = key
    fields = {
        "name": name,
        "label": label,
        "version": version,
        "known_version": None if known is None else known.version,
        "known_includes": None if known is None else known.includes_hash,
    }
    return {name: value for name, value in fields.items() if value is not None}


def _resolved(one: Mapping[str, Any], status: int) -> Resolved:
    if "prompt" in one:
        content = one["prompt"]
        if not isinstance(content["name"], str) or not isinstance(content["version"], int):
            raise ValueError("a prompt has no name or no version")
        return Resolved("changed", Prompt(content, one["includes"], includes_hash=one["includes_hash"]))
    if one.get("unchanged"):
        return Resolved("unchanged", release=one.get("release"))
    if one.get("left_out"):
        return Resolved("left_out")
    error = one["error"]
    return Resolved("failed", error=error_with_code(error["code"], error["message"], status=status))
