"""Sends each vector of test/vectors/requests.json by a framework, and writes a line of JSON on what came of it.

python send.py langchain|litellm|llama_index, with OPENAI_URL and ANTHROPIC_URL
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from pms_client import Prompt
from pms_client.requests import UnsupportedError

VECTORS = Path(__file__).resolve().parents[4] / "test" / "vectors" / "requests.json"
OPENAI_URL, ANTHROPIC_URL = os.environ["OPENAI_URL"], os.environ["ANTHROPIC_URL"]
# Anthropic's package adds the version itself.
ANTHROPIC_ORIGIN = ANTHROPIC_URL.removesuffix("/v1")
KEY = "test-key"


def by_langchain(prompt: Prompt, variables: Any) -> dict[str, Any]:
    from langchain_anthropic import ChatAnthropic
    from langchain_openai import ChatOpenAI

    from pms_client.requests import from_langchain, to_langchain

    request = to_langchain(prompt, variables)
    if (prompt.model or "").startswith("anthropic/"):
        model: Any = ChatAnthropic(**request.options, api_key=KEY, base_url=ANTHROPIC_ORIGIN, max_retries=0, timeout=60)
    else:
        model = ChatOpenAI(**request.options, api_key=KEY, base_url=OPENAI_URL, max_retries=0)
    return from_langchain(model.invoke(request.messages), request)


def by_litellm(prompt: Prompt, variables: Any) -> dict[str, Any]:
    import litellm

    from pms_client.requests import from_litellm, to_litellm

    request = to_litellm(prompt, variables)
    if request["model"].startswith("anthropic/"):
        given = {**request, "api_base": ANTHROPIC_ORIGIN, "api_key": KEY}
        return from_litellm(asyncio.run(litellm.anthropic.messages.acreate(**given)), request)
    return from_litellm(litellm.completion(**request, api_base=OPENAI_URL, api_key=KEY, num_retries=0), request)


def by_llama_index(prompt: Prompt, variables: Any) -> dict[str, Any]:
    from llama_index.llms.openai import OpenAI

    from pms_client.requests import from_llama_index, to_llama_index

    request = to_llama_index(prompt, variables)
    model = OpenAI(**request.options, api_key=KEY, api_base=OPENAI_URL, max_retries=0)
    return from_llama_index(model.chat(request.messages), request)


def main() -> None:
    send = {"langchain": by_langchain, "litellm": by_litellm, "llama_index": by_llama_index}[sys.argv[1]]
    for vector in json.loads(VECTORS.read_text()):
        line: dict[str, Any] = {"title": vector["title"]}
        try:
            run = send(Prompt({"name": "x", "version": 1, **vector["prompt"]}), vector.get("variables"))
            line["run"] = {name: run.get(name) for name in ("model", "output", "tool_calls", "tokens", "metadata")}
        except UnsupportedError as error:
            line["fault"] = error.details[0].path
        except Exception as error:
            line["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
