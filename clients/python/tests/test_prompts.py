from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import threading
from typing import Any

import httpx
import pytest
from support import API_KEY, BASE_URL, Proxy, call, until

from pms_client import AsyncPms, Pms, Prompt
from pms_client.errors import (
    InsufficientScopeError,
    InvalidRequestError,
    NotFoundError,
    PromptArchivedError,
    ServiceUnreachableError,
    UnauthorizedError,
    VariablesError,
    VersionConflictError,
)

# In seconds; stale at the next request.
STALE = 1e-9


def make(name: str, template: str = "Greet {{ name }}.", **more: Any) -> Any:
    return call("POST", "/prompts", {"name": name, "template": template, "model": "sandbox/echo", **more})


class Requests:
    """Counts requests to the service."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.bodies: list[Any] = []

    def __call__(self, request: httpx.Request) -> None:
        self.paths.append(f"{request.method} {request.url.path}")
        self.bodies.append(json.loads(request.content) if request.content else None)

    def client(self) -> httpx.Client:
        return httpx.Client(event_hooks={"request": [self]})


def test_get_is_given_from_the_cache(name: str) -> None:
    make(name)
    requests = Requests()
    pms = Pms(BASE_URL, API_KEY, http_client=requests.client())
    prompt = pms.prompts.get(name)
    assert prompt.compile(name="Ada") == "Greet Ada."
    assert prompt.compile_messages(name="Ada") == [{"role": "user", "content": "Greet Ada."}]
    assert (prompt.name, prompt.version, prompt.variables, prompt.is_fallback) == (name, 1, ["name"], False)
    for _ in range(1000):
        assert pms.prompts.get(name) is prompt
    assert len(requests.paths) == 1
    assert pms.prompts.metrics.hits == 1000
    assert pms.prompts.metrics.misses == 1


def test_labels_and_versions_are_entries_of_their_own(pms: Pms, name: str) -> None:
    make(name, "one")
    make(name, "two")
    pms.prompts.set_label(name, "production", 1)
    assert pms.prompts.get(name).compile() == "two"
    assert pms.prompts.get(name, label="production").compile() == "one"
    assert pms.prompts.get(name, version=1).compile() == "one"
    assert pms.prompts.get(name, label="latest").version == 2
    assert pms.prompts.metrics.size == 4


def test_compiles_what_the_service_sends(pms: Pms, name: str) -> None:
    make(f"{name}/end", "!")
    make(f"{name}/tone", "Be {{ tone }}{{> " + f"{name}/end" + " }}")
    call("PUT", f"/prompts/{name}/tone/labels/production", {"version": 1})
    messages = [
        {"role": "system", "content": "{{> " + f"{name}/tone@production" + " }} \\{{ x }}"},
        {"placeholder": "history"},
        {"role": "user", "content": [{"type": "text", "text": "{{ data }}"}]},
    ]
    call("POST", "/prompts", {"name": name, "messages": messages, "model": "sandbox/echo"})
    variables: dict[str, Any] = {
        "tone": "kind",
        "history": [{"role": "user", "content": "{{ data }}"}, {"role": "assistant", "content": "Yes?"}],
        "data": {"b": [1.0, 1e21, 0.1], "1": True, "text": 'ü \u2028 "'},
    }
    prompt = pms.prompts.get(name)
    assert prompt.variables == ["tone", "history", "data"]
    execution = pms.execute(name, variables)
    assert prompt.compile(variables) == execution.model_dump(mode="json", exclude_unset=True)["input"]
    with pytest.raises(VariablesError) as local:
        prompt.compile(history=[])
    with pytest.raises(InvalidRequestError) as remote:
        pms.execute(name, {"history": []})
    assert [detail.path for detail in local.value.details] == [detail.path for detail in remote.value.details]
    assert [tuple(detail) for detail in local.value.details] == [tuple(detail) for detail in remote.value.details]


def test_messages_are_appended_as_the_service_does(pms: Pms, name: str) -> None:
    make(name)
    more = [{"role": "assistant", "content": "Hi {{ name }}."}, {"role": "user", "content": "Again."}]
    sent = pms.execute(name, {"name": "Ada"}, messages=more).model_dump(mode="json", exclude_unset=True)["input"]
    assert pms.prompts.get(name).compile({"name": "Ada"}, more) == sent
    result = {"type": "tool_result", "id": "of no call", "output": "x"}
    wrong = [{"role": "tool", "content": [result]}]
    with pytest.raises(VariablesError) as local:
        pms.prompts.get(name).compile({"name": "Ada"}, wrong)
    with pytest.raises(InvalidRequestError) as remote:
        pms.execute(name, {"name": "Ada"}, messages=wrong)
    assert [detail.path for detail in local.value.details] == [detail.path for detail in remote.value.details]


def test_requests_of_a_busy_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 gets per minute of 100 prompts, with a simulated clock."""
    clock = [0.0]
    requests: list[float] = []

    def respond(request: httpx.Request) -> httpx.Response:
        requests.append(clock[0])
        asked = json.loads(request.content)["prompts"]
        new = {"version": 1, "template": "x"}
        data = [
            {"name": one["name"], "unchanged": True}
            if "known_version" in one
            else {"name": one["name"], "prompt": {"name": one["name"], **new}, "includes": {}, "includes_hash": None}
            for one in asked
        ]
        return httpx.Response(200, json={"data": data})

    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("pms_client._sync.prompts._now", lambda: clock[0])
    monkeypatch.setattr("pms_client._runtime.Background.start", lambda self, work: work())
    pms = Pms("http://pms.test", "key", http_client=httpx.Client(transport=httpx.MockTransport(respond)))
    names = random.Random(1)
    for _ in range(50_000):
        clock[0] += 60 / 10_000
        pms.prompts.get(f"p/{names.randrange(100)}")
    by_minute = [sum(minute * 60 <= at < minute * 60 + 60 for at in requests) for minute in range(5)]
    assert by_minute[0] == 100
    assert max(by_minute[1:]) <= 3


def test_stale_prompts_are_given_and_refreshed_together(name: str) -> None:
    names = [f"{name}/{index}" for index in range(30)]
    for one in names:
        make(one, "old")
    requests = Requests()
    pms = Pms(BASE_URL, API_KEY, http_client=requests.client())
    for one in names:
        pms.prompts.get(one)
    make(names[3], "new")
    requests.paths.clear()
    requests.bodies.clear()
    # All of them were used and have expired: one request asks for changes.
    for entry in pms.prompts._cache._entries.values():
        entry.was_used = True
        entry.checked_at -= 61
    assert pms.prompts.get(names[3]).compile() == "old"
    until("the new version", lambda: pms.prompts.get(names[3]).compile() == "new")
    assert requests.paths == ["POST /v1/prompts/resolve"]
    assert [one["known_version"] for one in requests.bodies[0]["prompts"]] == [1] * 30
    for one in names:
        pms.prompts.get(one)
    assert len(requests.paths) == 1
    assert pms.prompts.metrics.stale_hits >= 1


def test_what_is_included_is_refreshed_too(pms: Pms, name: str) -> None:
    make(f"{name}/tone", "kind")
    call("PUT", f"/prompts/{name}/tone/labels/live", {"version": 1})
    make(name, "Be {{> " + f"{name}/tone@live" + " }}.")
    assert pms.prompts.get(name, ttl=STALE).compile() == "Be kind."
    make(f"{name}/tone", "short")
    call("PUT", f"/prompts/{name}/tone/labels/live", {"version": 2})
    until("the new include", lambda: pms.prompts.get(name, ttl=STALE).compile() == "Be short.")
    assert pms.prompts.get(name).version == 1
    make(f"{name}/tone", "clear")
    call("PUT", f"/prompts/{name}/tone/labels/live", {"version": 3})
    assert pms.prompts.get(name, ttl=0).compile() == "Be clear."


def test_a_request_that_is_wrong_has_no_fallback(pms: Pms, name: str) -> None:
    with pytest.raises(InvalidRequestError):
        pms.prompts.get("no/such//name", fallback="Hi")
    make(f"{name}/tone", "kind")
    make(name, "Be {{> " + f"{name}/tone" + " }}.")
    call("DELETE", f"/prompts/{name}/tone")
    with pytest.raises(InvalidRequestError, match="tone"):
        pms.prompts.get(name)


def test_a_prompt_that_is_gone_leaves_the_cache(pms: Pms, name: str) -> None:
    make(name)
    call("PUT", f"/prompts/{name}/labels/production", {"version": 1})
    assert pms.prompts.get(name, label="production", ttl=STALE).version == 1
    call("DELETE", f"/prompts/{name}/labels/production")

    def is_gone() -> bool:
        try:
            pms.prompts.get(name, label="production", ttl=STALE)
        except NotFoundError as error:
            assert error.code == "not_found"
            return True
        return False

    until("the eviction", is_gone)
    assert pms.prompts.metrics.evictions == 1
    assert pms.prompts.get(name, label="production", fallback="Hi").is_fallback


def test_the_cache_has_a_largest_size(name: str) -> None:
    for index in range(3):
        make(f"{name}/{index}")
    pms = Pms(BASE_URL, API_KEY, max_prompts=2)
    for index in (0, 1, 0, 2):
        pms.prompts.get(f"{name}/{index}")
    assert pms.prompts.metrics.size == 2
    assert pms.prompts.metrics.evictions == 1
    misses = pms.prompts.metrics.misses
    pms.prompts.get(f"{name}/0")
    assert pms.prompts.metrics.misses == misses
    pms.prompts.get(f"{name}/1")
    assert pms.prompts.metrics.misses == misses + 1


def test_many_threads_fetch_once(name: str) -> None:
    make(name)
    requests = Requests()
    pms = Pms(BASE_URL, API_KEY, http_client=requests.client())
    start = threading.Barrier(16)
    seen: list[Prompt] = []

    def get() -> None:
        start.wait()
        seen.append(pms.prompts.get(name))

    threads = [threading.Thread(target=get) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 16
    assert len(requests.paths) == 1


def test_many_tasks_fetch_once_and_refresh_in_the_background(name: str) -> None:
    make(name, "old")

    async def main() -> None:
        paths: list[str] = []

        async def count(request: httpx.Request) -> None:
            paths.append(request.url.path)

        http = httpx.AsyncClient(event_hooks={"request": [count]})
        async with AsyncPms(BASE_URL, API_KEY, http_client=http) as pms:
            prompts = await asyncio.gather(*(pms.prompts.get(name) for _ in range(16)))
            assert len(set(map(id, prompts))) == 1
            assert len(paths) == 1
            await pms.prompts.update(name, template="new")
            paths.clear()
            stale = await pms.prompts.get(name, ttl=STALE)
            assert stale.compile() == "old"
            while (await pms.prompts.get(name, ttl=60)).compile() != "new":
                await asyncio.sleep(0.01)
            assert paths == ["/v1/prompts/resolve"]
        await http.aclose()

    asyncio.run(main())


def test_a_dump_starts_the_next_program_without_the_service(pms: Pms, name: str) -> None:
    make(f"{name}/tone", "kind")
    make(name, "Be {{> " + f"{name}/tone" + " }}, {{ name }}.")
    pms.prompts.get(name)
    dump = pms.prompts.dump()
    assert API_KEY not in dump
    away = Pms("http://127.0.0.1:9", API_KEY)
    assert away.prompts.load(dump) == 1
    assert away.prompts.get(name).compile(name="Ada") == "Be kind, Ada."
    assert away.prompts.metrics.requests == 0
    for no_dump in ("", "{}", "[]", '{"format": 2, "prompts": []}', '{"format": 1, "prompts": [{}]}', "null"):
        with pytest.raises(ValueError, match="not a dump"):
            away.prompts.load(no_dump)


def test_the_service_away_at_the_start(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with Pms("http://127.0.0.1:9", API_KEY, max_retries=0) as pms:
        with pytest.raises(ServiceUnreachableError, match=r"http://127\.0\.0\.1:9/v1 can't be reached"):
            pms.prompts.get(name)
        with caplog.at_level(logging.WARNING, "pms_client"):
            prompt = pms.prompts.get(name, fallback="Hello {{ name }}.")
        assert prompt.is_fallback
        assert prompt.version is None
        assert prompt.compile(name="Ada") == "Hello Ada."
        chat = pms.prompts.get(name, fallback=[{"role": "user", "content": "Hello {{ name }}."}])
        assert chat.compile(name="Ada") == [{"role": "user", "content": "Hello Ada."}]
        whole = pms.prompts.get(name, fallback={"template": "Hello.", "model": "sandbox/echo", "config": {"a": 1}})
        assert (whole.model, whole.config) == ("sandbox/echo", {"a": 1})
        # They don't each cause a request.
        assert pms.prompts.metrics.requests == 1
        assert pms.prompts.metrics.fallbacks == 3


def test_the_service_away_later(through_proxy: Proxy, name: str, caplog: pytest.LogCaptureFixture) -> None:
    make(name, "old")
    with Pms(through_proxy.url, API_KEY, max_retries=0) as pms:
        assert pms.prompts.get(name).compile() == "old"
        through_proxy.go_away()
        with caplog.at_level(logging.WARNING, "pms_client"):
            assert pms.prompts.get(name, ttl=STALE).compile() == "old"
            until("the failed refresh", lambda: pms.prompts.metrics.failed_requests == 1)
            until("the warning", lambda: "stay in use" in caplog.text)
        with pytest.raises(ServiceUnreachableError):
            pms.prompts.get(name, ttl=0)
        requests = pms.prompts.metrics.requests
        for _ in range(100):
            assert pms.prompts.get(name, ttl=STALE, fallback="no").compile() == "old"
        assert pms.prompts.metrics.requests == requests
        with pytest.raises(ServiceUnreachableError):
            pms.prompts.get(f"{name}/other")
        make(name, "new")
        through_proxy.come_back()
        pms.prompts._cache.succeeded()
        until("the new version", lambda: pms.prompts.get(name, ttl=STALE).compile() == "new")


def test_a_key_that_is_revoked_in_between(pms: Pms, name: str) -> None:
    make(name, "Hello.")
    key = call("POST", "/api-keys", {"name": "of a test", "scopes": ["read"]})
    reader = Pms(BASE_URL, key["key"])
    assert reader.prompts.get(name).compile() == "Hello."
    with pytest.raises(InsufficientScopeError):
        reader.prompts.update(name, template="No.")
    call("DELETE", f"/api-keys/{key['id']}")
    # Cached prompts stay in use; others cause an error with a clear message.
    assert reader.prompts.get(name, ttl=STALE).compile() == "Hello."
    until("the refused refresh", lambda: reader.prompts.metrics.failed_requests == 1)
    assert reader.prompts.get(name, ttl=STALE).compile() == "Hello."
    with pytest.raises(UnauthorizedError) as caught:
        reader.prompts.get(f"{name}/other")
    assert caught.value.status == 401
    assert caught.value.request_id
    assert reader.prompts.get(f"{name}/other", fallback="Hi").compile() == "Hi"


def test_after_a_fork_prompts_are_refreshed(pms: Pms, name: str) -> None:
    make(name, "old")
    pms.prompts.get(name, ttl=STALE)
    pms.prompts.get(name, ttl=STALE)
    until("the refresh", lambda: pms.prompts.metrics.requests >= 2)
    make(name, "new")
    child = os.fork()
    if child == 0:
        try:
            until("the new version", lambda: pms.prompts.get(name, ttl=STALE).compile() == "new")
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_operations(pms: Pms, name: str) -> None:
    first = pms.prompts.create(name, template="one", model="sandbox/echo", config={"team": "x"})
    assert (first.version, first.config) == (1, {"team": "x"})
    assert pms.prompts.create(name, template="two", model="sandbox/echo", idempotency_key=name).version == 2
    assert pms.prompts.create(name, template="two", model="sandbox/echo", idempotency_key=name).version == 2
    third = pms.prompts.update(name, messages=[{"role": "user", "content": "three"}], config=None)
    assert (third.version, third.template, third.config) == (3, None, None)
    with pytest.raises(VersionConflictError):
        pms.prompts.update(name, template="late", base_version=2)
    assert [one.version for one in pms.prompts.versions(name, limit=1)] == [3, 2, 1]
    assert [one.name for one in pms.prompts.list(group="python", q=name, limit=1)] == [name]
    assert pms.prompts.diff(name, from_=1, to=2).changes[0].path == "template"
    assert pms.prompts.set_label(name, "production", 2).labels == ["production"]
    assert pms.prompts.fetch(name, label="production").version == 2
    (listed,) = pms.prompts.list(q=name)
    assert [(one.label, one.version) for one in listed.all_labels] == [("production", 2)]
    assert list(pms.prompts.list(includes=name)) == []
    assert pms.prompts.remove_label(name, "production").labels == []
    assert pms.prompts.archive(name).archived
    with pytest.raises(PromptArchivedError):
        pms.prompts.update(name, template="four")
    assert not pms.prompts.restore(name).archived
    with pytest.raises(NotFoundError):
        pms.prompts.fetch(name, version=9)
