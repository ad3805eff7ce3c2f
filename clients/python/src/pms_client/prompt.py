"""A prompt for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from ._compile import CompiledPrompt
from ._json import plain
from ._messages import Message
from ._rollout import DecidedBy

Fallback: TypeAlias = "str | Sequence[Mapping[str, Any]] | Mapping[str, Any]"
"""Replaces an unavailable prompt: a template, messages, or an object with the fields of a prompt."""


class Prompt:
    """One version of a prompt, ready to be filled in. It is immutable: call `prompts.get` again for the current one."""

    def __init__(
        self,
        content: Mapping[str, Any],
        includes: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        includes_hash: str | None = None,
        is_fallback: bool = False,
        release: DecidedBy | None = None,
    ) -> None:
        self.content = content
        """All fields, as in `GET /prompts/{name}`. Do not modify them: the prompt is shared."""
        self.includes = includes or {}
        """The included texts at any depth, by reference."""
        self.includes_hash = includes_hash
        """Identifies the versions of its includes. None if it includes nothing."""
        self.is_fallback = is_fallback
        """Whether it is the caller's fallback, because the service could not provide one."""
        self.release = release
        """The release of its label that selected this version: record it with the run. None if there was none."""

    @classmethod
    def of_fallback(cls, name: str, fallback: Fallback) -> Prompt:
        if isinstance(fallback, str):
            content: Any = {"template": fallback}
        elif isinstance(fallback, Mapping):
            content = plain(fallback)
        else:
            content = {"messages": plain(list(fallback))}
        return cls({"name": name, **content}, is_fallback=True)

    def with_release(self, release: Mapping[str, Any] | None) -> Prompt:
        """The same version with another release on its label."""
        if self.content.get("release") == release:
            return self
        content = {name: value for name, value in self.content.items() if name != "release"}
        if release is not None:
            content["release"] = release
        return Prompt(content, self.includes, includes_hash=self.includes_hash)

    def decided_by(self, release: DecidedBy) -> Prompt:
        """The same version, selected by a release."""
        prompt = Prompt(self.content, self.includes, includes_hash=self.includes_hash, release=release)
        # Shares the compiled form.
        prompt.__dict__["_compiled"] = self._compiled
        return prompt

    @property
    def name(self) -> str:
        return str(self.content["name"])

    @property
    def version(self) -> int | None:
        """None for a fallback."""
        return self.content.get("version")

    @property
    def template(self) -> str | None:
        return self.content.get("template")

    @property
    def messages(self) -> list[dict[str, Any]] | None:
        return self.content.get("messages")

    @property
    def model(self) -> str | None:
        return self.content.get("model")

    @property
    def parameters(self) -> dict[str, Any]:
        return self.content.get("parameters") or {}

    @property
    def tools(self) -> list[dict[str, Any]]:
        return self.content.get("tools") or []

    @property
    def config(self) -> dict[str, Any]:
        """The team's own data about the prompt. The service never reads it."""
        return self.content.get("config") or {}

    @property
    def labels(self) -> list[str]:
        return self.content.get("labels") or []

    @property
    def variables(self) -> list[str]:
        """Names of all required and optional variables of `compile`."""
        return self._compiled.names

    def compile(
        self,
        variables: Mapping[str, object] | None = None,
        appended: Sequence[Mapping[str, Any]] = (),
        /,
        **named: object,
    ) -> str | list[Message]:
        """Fills the prompt as the service would: a text for a template, messages for messages.

            prompt.compile(name="Ada")

        Args:
            appended: messages that go behind the prompt's own. A template then becomes a list of messages.

        Raises:
            VariablesError: naming the variables that are missing or don't fit.
        """
        return self._compiled.fill({**(variables or {}), **named}, appended)

    def compile_messages(
        self,
        variables: Mapping[str, object] | None = None,
        appended: Sequence[Mapping[str, Any]] = (),
        /,
        **named: object,
    ) -> list[Message]:
        """The same, always as messages: a template is one message of the user.

        Raises:
            VariablesError: naming the variables that are missing or don't fit.
        """
        filled = self.compile(variables, appended, **named)
        return [{"role": "user", "content": filled}] if isinstance(filled, str) else filled

    def __repr__(self) -> str:
        which = "fallback" if self.is_fallback else f"version {self.version}"
        return f"<Prompt {self.name!r}, {which}>"

    @cached_property
    def _compiled(self) -> CompiledPrompt:
        return CompiledPrompt(self.content, self.includes)
