"""LiteLLM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..prompt import Prompt
from ._anthropic import to_anthropic
from ._call import Request, provider_of
from ._openai import to_openai
from ._runs import from_anthropic, from_openai


def to_litellm(
    prompt: Prompt,
    variables: Mapping[str, object] | None = None,
    *,
    messages: Sequence[Mapping[str, Any]] = (),
    model: str | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Request:
    """A prompt for LiteLLM. What that sends is what the service would send.

        litellm.completion(**to_litellm(prompt, {"name": "Ada"}))

    For a model of Anthropic it is a request in Anthropic's form, which LiteLLM passes on unchanged:
    `await litellm.anthropic.messages.acreate(**request)`.

    Args:
        messages: go behind the prompt's own.
        model: instead of the prompt's, as the provider calls it. Needed for a fallback, which has none.
        parameters: replace those of the prompt by name.

    Raises:
        VariablesError: naming the variables that are missing or don't fit.
        UnsupportedError: naming the field that there is no place for.
    """
    if provider_of(prompt, model) == "anthropic":
        native = to_anthropic(prompt, variables, messages=messages, model=model, parameters=parameters)
        return Request({**native, "model": f"anthropic/{native['model']}"}, native.about)
    request = to_openai(prompt, variables, messages=messages, model=model, parameters=parameters)
    # LiteLLM would translate or reject fields that it knows.
    body = {name: value for name, value in request.items() if name not in ("model", "messages")}
    fields = {"model": f"openai/{request['model']}", "messages": request["messages"]}
    return Request({**fields, **({"extra_body": body} if body else {})}, request.about)


def from_litellm(response: Any, request: Request) -> dict[str, Any]:
    """The run of a request and its response of LiteLLM.

    pms.record(**from_litellm(response, request))
    """
    is_anthropic = request["model"].startswith("anthropic/")
    return from_anthropic(response, request) if is_anthropic else from_openai(response, request)
