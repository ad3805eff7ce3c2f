from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from support import API_KEY

from pms_client import ApiError, AsyncPms, Pms, _call
from pms_client._sync import client as sync_client
from pms_client._sync import transport as sync_transport
from pms_client.errors import (
    InternalError,
    InvalidRequestError,
    QuotaExceededError,
    RateLimitedError,
    ServiceUnreachableError,
    TemporarilyUnavailableError,
    UnexpectedResponseError,
)

TIME = "2026-03-01T12:00:00.000Z"
DATASET = {
    **{"name": "x", "version": 1, "examples_total": 1, "hash": "x", "description": None},
    **{"created_at": TIME, "updated_at": TIME, "version_created_at": TIME},
}


def sample(path: str) -> Any:
    """The response of a POST in the OpenAPI document."""
    api = json.loads((Path(__file__).resolve().parents[3] / "openapi.json").read_text())
    content = api["paths"][path]["post"]["responses"]["201"]["content"]["application/json"]
    [example] = content["examples"].values()
    # Those that several operations share stand once.
    return (
        api["components"]["examples"][example["$ref"].rsplit("/", 1)[-1]]["value"]
        if "$ref" in example
        else example["value"]
    )


def refusal(status: int, code: str, retry_after: int | None = None) -> httpx.Response:
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return httpx.Response(status, json={"error": {"code": code, "message": "No."}}, headers=headers)


class Service:
    """Sends these responses in order; records the requests, and the client's waits in between."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *responses: httpx.Response | Exception, **options: Any) -> None:
        self._responses = list(responses)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []
        self._now = 1_000.0
        monkeypatch.setattr(sync_transport, "sleep", self._sleep)
        monkeypatch.setattr(_call, "time", SimpleNamespace(monotonic=lambda: self._now))
        http = httpx.Client(transport=httpx.MockTransport(self._respond))
        self.pms = Pms("http://pms.test", "key", http_client=http, **options)

    def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self._now += seconds

    def _respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self._responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return response


def test_retry_after_is_kept_to(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = refusal(429, "rate_limited", 7)
    service = Service(monkeypatch, limited, limited, httpx.Response(200, json={"a": 1}))
    assert service.pms.request("PUT", "/prompts/x", body={}) == {"a": 1}
    assert service.waits == [7.0, 7.0]


def test_retry_after_that_is_too_long_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch, refusal(429, "rate_limited", 3600))
    with pytest.raises(RateLimitedError) as caught:
        service.pms.request("GET", "/usage")
    assert caught.value.retry_after == 3600
    assert service.waits == []


@pytest.mark.skipif("PMS_LIMITED_BASE_URL" not in os.environ, reason="no service with a low limit")
def test_the_limit_of_a_service(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    def stop(seconds: float) -> None:
        waits.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr(sync_transport, "sleep", stop)
    with Pms(os.environ["PMS_LIMITED_BASE_URL"], API_KEY) as pms, pytest.raises(KeyboardInterrupt):
        for _ in range(100):
            pms.usage()
    assert 1 <= waits[0] <= 60


def test_a_key_makes_a_post_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    away = refusal(500, "temporarily_unavailable", 5)
    service = Service(monkeypatch, away, httpx.ReadError("reset"), refusal(404, "not_found"))
    with pytest.raises(ApiError):
        service.pms.execute("x", {"a": 1})
    keys = {request.headers["Idempotency-Key"] for request in service.requests}
    assert len(service.requests) == 3
    assert len(keys) == 1
    assert len({request.content for request in service.requests}) == 1
    assert service.waits[0] == 5.0
    assert 0 < service.waits[1] <= 8


@pytest.mark.parametrize(
    "failure",
    [
        refusal(500, "temporarily_unavailable", 5),
        refusal(500, "internal_error"),
        httpx.ReadError("reset"),
        httpx.ReadTimeout(""),
    ],
)
def test_what_may_have_been_done_is_not_repeated_without_a_key(monkeypatch: pytest.MonkeyPatch, failure: Any) -> None:
    service = Service(monkeypatch, failure)
    with pytest.raises((InternalError, TemporarilyUnavailableError, ServiceUnreachableError)):
        service.pms.prompts.update("x", template="y")
    assert len(service.requests) == 1


@pytest.mark.parametrize("status", [429, 503])
def test_spans_are_sent_again(monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    away = httpx.Response(status, json={"code": 14, "message": "Try later."}, headers={"Retry-After": "3"})
    service = Service(monkeypatch, away, httpx.ReadError("reset"), httpx.Response(200, json={}))
    service.pms.traces.ingest(resourceSpans=[])
    assert len({request.content for request in service.requests}) == 1
    assert service.waits[0] == 3.0
    assert len(service.waits) == 2


def test_refused_spans_are_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch, httpx.Response(400, json={"code": 3, "message": "resourceSpans: is no list"}))
    with pytest.raises(InvalidRequestError, match="resourceSpans: is no list"):
        service.pms.traces.ingest(resourceSpans=[])
    assert service.waits == []


def test_what_was_never_sent_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch, httpx.ConnectError("refused"), httpx.Response(200, json=DATASET))
    assert service.pms.datasets.upload("x", [{"variables": {}}]).version == 1
    assert [request.content for request in service.requests] == [b'{"variables":{}}\n'] * 2


def test_quotas_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch, refusal(429, "quota_exceeded"))
    with pytest.raises(QuotaExceededError):
        service.pms.request("GET", "/usage")


def test_it_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch, *[httpx.ConnectTimeout("") for _ in range(100)])
    with pytest.raises(ServiceUnreachableError, match="did not respond in time"):
        service.pms.request("GET", "/usage")
    assert sum(service.waits) == pytest.approx(120)
    assert max(service.waits) <= 8


def test_how_often_and_how_long_is_the_callers(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[tuple[dict[str, Any], int]] = [({"retry_for": 0}, 1), ({"max_retries": 2}, 3), ({"retry_for": 1.0}, 3)]
    for options, requests in tries:
        refused = [httpx.ConnectError("refused") for _ in range(9)]
        service = Service(monkeypatch, *refused, **options)
        with pytest.raises(ServiceUnreachableError):
            service.pms.request("GET", "/usage")
        assert requests - 1 <= len(service.requests) <= requests + 1, options


def test_errors_have_the_key_and_the_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    gone = [httpx.ConnectError("refused") for _ in range(100)]
    service = Service(monkeypatch, *gone)
    with pytest.raises(ServiceUnreachableError) as caught:
        service.pms.execute("x", {"a": 1})
    assert caught.value.idempotency_key == service.requests[0].headers["Idempotency-Key"]
    assert caught.value.execution_id is None

    begun = {**sample("/executions"), "status": "running"}
    service = Service(monkeypatch, httpx.Response(201, json=begun), *gone)
    monkeypatch.setattr(sync_client, "sleep", lambda _: None)
    with pytest.raises(ServiceUnreachableError) as caught:
        service.pms.execute("x", {"a": 1}, idempotency_key="mine")
    assert (caught.value.idempotency_key, caught.value.execution_id) == ("mine", begun["id"])


def test_responses_that_are_not_the_services_own(monkeypatch: pytest.MonkeyPatch) -> None:
    bad_gateway = httpx.Response(502, text="<h1>Bad Gateway</h1>")
    service = Service(
        monkeypatch, bad_gateway, httpx.Response(200, text="Welcome!"), httpx.Response(301), max_retries=0
    )
    with pytest.raises(ApiError, match=r"HTTP 502 from pms\.test: <h1>Bad Gateway") as caught:
        service.pms.executions.get("x")
    assert caught.value.code is None
    with pytest.raises(UnexpectedResponseError, match=r"GET /v1/executions/x did not return an? Execution"):
        service.pms.executions.get("x")
    with pytest.raises(ApiError, match="HTTP 301"):
        service.pms.executions.get("x")


def test_an_unknown_code_and_fields_at_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"code": "new_code", "message": "No.", "details": [{"path": "a.b", "message": "is wrong"}]}
    service = Service(monkeypatch, httpx.Response(400, json={"error": error}, headers={"X-Request-Id": "r-1"}))
    with pytest.raises(ApiError) as caught:
        service.pms.request("POST", "/things", body={})
    assert (caught.value.code, caught.value.request_id) == ("new_code", "r-1")
    assert caught.value.details == [("a.b", "is wrong")]


def test_names_are_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch, refusal(404, "not_found"))
    with pytest.raises(ApiError):
        service.pms.prompts.fetch("a/b?c#d", label="x y")
    assert service.requests[0].url.raw_path == b"/v1/prompts/a%2Fb%3Fc%23d?label=x+y"
    assert service.requests[0].headers["Authorization"] == "Bearer key"


def test_what_is_no_json_is_refused_here(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(monkeypatch)
    for value in (object(), {1: 2}, float("nan"), b"bytes"):
        with pytest.raises(TypeError):
            service.pms.execute("x", {"a": value})
    assert service.requests == []


SECRET = "pms_secret_0123456789"


def test_a_key_is_sent_without_the_white_space_around_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def respond(request: httpx.Request) -> httpx.Response:
        sent.append(request.headers["Authorization"])
        return httpx.Response(200, json={})

    def client() -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(respond))

    Pms("http://pms.test/v1/ ", f" {SECRET}\r\n", http_client=client()).request("GET", "/me")
    monkeypatch.setenv("PMS_API_KEY", f"{SECRET}\n")
    monkeypatch.setenv("PMS_BASE_URL", "http://pms.test\n")
    Pms(http_client=client()).request("GET", "/me")
    assert sent == [f"Bearer {SECRET}"] * 2


@pytest.mark.parametrize("key", [f"{SECRET}\n{SECRET}", f"{SECRET} x", f"“{SECRET}”", f"{SECRET}\0x", f"{SECRET}é"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(key: str) -> None:
    for make in (Pms, AsyncPms):
        with pytest.raises(ValueError, match="Copy the key again") as caught:
            make("http://pms.test", key)
        # Not the lines of this test, which the traceback quotes.
        assert SECRET not in str(caught.value) + repr(caught.value.__dict__) + repr(caught.value.__cause__)
        assert caught.value.__context__ is None


@pytest.mark.parametrize("key", [" \n", "\t"])
def test_an_empty_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="The API key is empty"):
        Pms("http://pms.test", key)


@pytest.mark.parametrize(
    "url",
    ["localhost:3000", "prompts.example.com", "//x", "ftp://x", "http://", "http://a b", "http://x:port", "http://x?y"],
)
def test_a_base_url_that_is_not_a_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="must be an http or https URL"):
        Pms(url, SECRET)


def test_a_password_in_the_base_url_is_not_shown() -> None:
    with pytest.raises(ValueError, match="without a user, password") as caught:
        Pms("https://me:hunter2@pms.test", SECRET)
    assert "hunter2" not in str(caught.value)


def test_a_header_that_cannot_be_sent_is_the_callers_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with (
            Pms(f"http://127.0.0.1:{server.getsockname()[1]}", SECRET) as pms,
            pytest.raises(ValueError, match="no header can hold") as caught,
        ):
            pms.request("GET", "/me", headers={"X-Other": f"{SECRET}\n"})
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__suppress_context__


@pytest.mark.skipif("PMS_BASE_URL" not in os.environ, reason="no service")
def test_https_to_a_service_without_tls_is_said_in_words() -> None:
    with (
        Pms(os.environ["PMS_BASE_URL"].replace("http:", "https:"), API_KEY, retry_for=0) as pms,
        pytest.raises(ServiceUnreachableError, match="does not speak TLS at this address: use http://") as caught,
    ):
        pms.request("GET", "/me")
    assert "SSL" not in str(caught.value)


def test_a_prompt_without_a_fallback_is_given_up_after_seconds(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    service = Service(monkeypatch, *[httpx.ConnectError("refused") for _ in range(100)])
    with pytest.raises(ServiceUnreachableError, match="refused"):
        service.pms.prompts.get("x")
    assert sum(service.waits) == pytest.approx(5)
    assert {request.extensions["timeout"]["read"] for request in service.requests} == {5.0}
    [line] = caplog.messages
    assert line.startswith("Prompts can't be fetched, trying again: The service at http://pms.test/v1 can't be reached")

    longer = Service(monkeypatch, *[httpx.ConnectError("refused") for _ in range(100)], prompt_timeout=20, retry_for=10)
    with pytest.raises(ServiceUnreachableError):
        longer.pms.prompts.get("x")
    assert sum(longer.waits) == pytest.approx(10)
