"""A prompt as programs use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from ._compile import CompiledPrompt
from ._json import plain
from ._messages import Message
from ._rollout import DecidedBy

Fallback: TypeAlias = "str | Sequence[Mapping[str, Any]] | Mapping[str, Any]"
"""What is used where the service can't give a prompt: a template, messages, or an object with the fields of a prompt."""


class Prompt:
    """One version of a prompt, ready to be filled in. It does not change: ask `prompts.get` again for what is current."""

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
        """All fields, as `GET /prompts/{name}` gives them. Leave them as they are: the prompt is shared."""
        self.includes = includes or {}
        """What its texts include, at any depth, by the reference in the text."""
        self.includes_hash = includes_hash
        """Tells apart what its texts include, in its versions. None where they include nothing."""
        self.is_fallback = is_fallback
        """Whether it is the caller's own, because the service could not give one."""
        self.release = release
        """The release of its label that decided that it is given: keep it beside the run. None: none did."""

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
        """The same version, where another release runs on its label."""
        if self.content.get("release") == release:
            return self
        content = {name: value for name, value in self.content.items() if name != "release"}
        if release is not None:
            content["release"] = release
        return Prompt(content, self.includes, includes_hash=self.includes_hash)

    def decided_by(self, release: DecidedBy) -> Prompt:
        """The same version, given by a release."""
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
        """What the team keeps with the prompt. The service never reads it."""
        return self.content.get("config") or {}

    @property
    def labels(self) -> list[str]:
        return self.content.get("labels") or []

    @property
    def variables(self) -> list[str]:
        """Names of all that `compile` must or may be given."""
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
            appended: messages that go behind the prompt's own. Those of a template become a list then.

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
