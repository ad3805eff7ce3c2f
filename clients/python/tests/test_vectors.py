from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from httpx_sse import EventSource
from pydantic import RootModel
from support import vectors

from pms_client import Pms, Prompt, webhooks
from pms_client._rollout import is_candidate
from pms_client._scorers import BUILT_IN
from pms_client._sync.transport import Transport
from pms_client._template import includes_in
from pms_client.errors import SignatureError, VariablesError
from pms_client.events import Transcript, event_of
from pms_client.models import OpenExample

ENDS = ("execution.completed", "execution.failed", "execution.canceled")
PROMPTS = [vector for name in ("templates", "values", "messages", "includes") for vector in vectors(name)]


def title(vector: Any) -> str:
    return str(vector["title"])


@pytest.mark.parametrize("vector", PROMPTS, ids=title)
def test_prompt(vector: Any) -> None:
    prompt = Prompt({"name": "x", **vector["prompt"]}, vector.get("includes"))
    if "names" in vector:
        assert prompt.variables == vector["names"]
    if "refs" in vector:
        texts = [vector["prompt"].get("template") or ""]
        for entry in vector["prompt"].get("messages") or []:
            content = entry.get("content", "")
            texts += [content] if isinstance(content, str) else [part.get("text", "") for part in content]
        assert list(dict.fromkeys(ref for text in texts for ref in includes_in(text))) == vector["refs"]
    if "faults" in vector:
        with pytest.raises(VariablesError) as caught:
            prompt.compile(vector["variables"])
        assert [detail.path for detail in caught.value.details] == vector["faults"]
    else:
        assert prompt.compile(vector["variables"]) == vector["input"]


@pytest.mark.parametrize("vector", vectors("signatures")["received"], ids=title)
def test_signature(vector: Any) -> None:
    body = vector["body"].encode()
    headers, secret, now = vector["headers"], vector["secret"], vector["now"]
    if vector["verified"]:
        if "event" not in json.loads(body):
            with pytest.raises(SignatureError, match="not an event"):
                webhooks.verify(body, headers, secret, now=now)
            return
        event = webhooks.verify(body, headers, secret, now=now)
        assert event.model_dump(mode="json") == json.loads(body)
        assert webhooks.verify(body, headers, ["another-one-of-24-letters", secret], now=now) == event
    else:
        with pytest.raises(SignatureError):
            webhooks.verify(body, headers, secret, now=now)
    assert webhooks.is_body_signed(body, headers, secret) == vector["x_signature"]


@pytest.mark.parametrize("vector", vectors("cursors")["lists"], ids=title)
def test_list(vector: Any) -> None:
    requests: list[dict[str, str]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(dict(request.url.params))
        return httpx.Response(200, json=vector["pages"][len(requests) - 1])

    http = httpx.Client(transport=httpx.MockTransport(respond))
    transport = Transport("http://pms.test", "key", timeout=1, retry_for=0, max_retries=0, http_client=http)
    items = transport.pages(RootModel[Any], "things", **vector["query"])
    assert [item.root for item in items] == vector["items"]
    assert requests == vector["requests"]


@pytest.mark.parametrize("vector", vectors("event-streams"), ids=title)
def test_event_stream(vector: Any) -> None:
    class Chunks(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for chunk in vector["chunks"]:
                yield chunk.encode()

    response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, stream=Chunks())
    sent = [event for event in EventSource(response).iter_sse() if event.data]
    assert [{"id": event.id, "event": event.event, "data": event.json()} for event in sent] == vector["events"]
    assert sent[-1].id == vector["last_id"]
    # The records of executions in these vectors have few fields.
    transcript = Transcript()
    for event in sent:
        if not event.event.startswith("execution.") or event.event == "execution.restarted":
            transcript.add(event_of(event.event, event.json()))
    assert transcript.text == vector["text"]
    assert (sent[-1].event in ENDS) == vector["is_complete"]


def test_address_and_key_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PMS_BASE_URL", raising=False)
    monkeypatch.delenv("PMS_API_KEY", raising=False)
    with pytest.raises(ValueError, match="PMS_BASE_URL"):
        Pms()
    with pytest.raises(ValueError, match="PMS_API_KEY"):
        Pms("http://127.0.0.1:3000")
    monkeypatch.setenv("PMS_BASE_URL", "http://127.0.0.1:3000")
    monkeypatch.setenv("PMS_API_KEY", "pms_x")
    Pms().close()


@pytest.mark.parametrize("vector", vectors("rollouts")["decisions"], ids=title)
def test_rollout(vector: Any) -> None:
    arm = "candidate" if is_candidate(vector["salt"], vector["percent"], vector["key"]) else "stable"
    assert arm == vector["arm"]


@pytest.mark.parametrize("vector", vectors("rollouts")["shares"], ids=lambda vector: f"{vector['percent']}%")
def test_share(vector: Any) -> None:
    keys = (f"user-{n}" for n in range(vector["keys"]))
    assert sum(is_candidate(vector["salt"], vector["percent"], key) for key in keys) == vector["candidates"]


@pytest.mark.parametrize("vector", vectors("scores"), ids=title)
def test_score(vector: Any) -> None:
    given = {"expected": vector["expected"]} if "expected" in vector else {}
    example = OpenExample(seq=0, example_id="x", variables={}, **given)
    assert BUILT_IN[vector["score"]](vector["output"], example).score == vector["value"]
