"""Requests to the service, and when they are retried."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from ._json import plain
from ._time import text_of
from .errors import ApiError, PmsError, QuotaExceededError, RateLimitedError, UnexpectedResponseError

Model = TypeVar("Model", bound=BaseModel)

_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 8.0
_IDEMPOTENCY_KEY = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    """Relative to `/v1`, with quoted segments."""
    params: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """JSON; None for no body."""
    content: bytes | None = None
    """Replaces JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    """Seconds without a byte. Default: the client's."""
    is_repeatable: bool = False
    """Whether it can be sent again if the outcome is unknown."""
    idempotency_key: str | None = None
    """Additional data for errors: the idempotency key of this request, or of the one that it continues."""

    @property
    def execution_id(self) -> str | None:
        """The execution of the request, if it names one."""
        segments = self.path.split("/")
        return segments[2] if len(segments) > 2 and segments[2].startswith("exec_") else None


def path_of(*segments: str) -> str:
    """A path with quoted segments. A `/` in a prompt name is part of its segment."""
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def params_of(**params: object) -> dict[str, str]:
    """Query parameters without those that are None."""
    return {name.rstrip("_"): _text_of(value) for name, value in params.items() if value is not None}


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return text_of(value) if isinstance(value, datetime) else str(value)


def read(*segments: str, **params: object) -> Call:
    return Call("GET", path_of(*segments), params_of(**params), is_repeatable=True)


def change(method: str, *segments: str, body: object = None, is_repeatable: bool = False) -> Call:
    return Call(method, path_of(*segments), body=None if body is None else plain(body), is_repeatable=is_repeatable)


def create(
    *segments: str,
    body: object = None,
    idempotency_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Call:
    """An idempotent POST: it gets an `Idempotency-Key`, unless the caller has one."""
    key = idempotency_key or str(uuid.uuid4())
    return Call(
        "POST",
        path_of(*segments),
        body={} if body is None else plain(body),
        headers={**(headers or {}), _IDEMPOTENCY_KEY: key},
        timeout=timeout,
        is_repeatable=True,
        idempotency_key=key,
    )


class Patience:
    """How long a failing call is retried, measured from its first failure, because a restarting service is away for a time
    rather than a number of requests.

    Args:
        retry_for: seconds.
        max_retries: maximum number of retries. If None, only the time limits them.
    """

    def __init__(self, retry_for: float, max_retries: int | None) -> None:
        self._retry_for = retry_for
        self._max_retries = max_retries
        self._failures = 0
        self._until = 0.0

    def reset(self) -> None:
        """Call after a success."""
        self._failures = 0

    def seconds_after(self, call: Call, error: PmsError, cause: BaseException | None) -> float | None:
        """The wait before the next attempt, at least `Retry-After`. None to give up.

        Args:
            cause: of httpx, if there was no response.
        """
        retry_after = 0.0
        if isinstance(error, ApiError):
            is_passing = isinstance(error, RateLimitedError) or (error.status >= 500 and call.is_repeatable)
            if not is_passing or isinstance(error, QuotaExceededError):
                return None
            retry_after = error.retry_after or 0.0
        elif not call.is_repeatable and not isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout)):
            return None
        now = time.monotonic()
        if self._failures == 0:
            self._until = now + self._retry_for
        is_enough = self._max_retries is not None and self._failures >= self._max_retries
        if is_enough or now >= self._until or now + retry_after > self._until:
            return None
        backoff = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0**self._failures) * random.uniform(0.5, 1)
        self._failures += 1
        return max(retry_after, min(backoff, self._until - now))


def telling(error: PmsError, call: Call) -> PmsError:
    """The error, with the known data of its call."""
    error.idempotency_key = call.idempotency_key
    error.execution_id = call.execution_id
    return error


def parsed(model: type[Model], response: httpx.Response) -> Model:
    """
    Raises:
        UnexpectedResponseError: if the response is not such a record.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnexpectedResponseError(
            f"{response.request.method} {response.request.url.path} did not return a {model.__name__} that this "
            f"version of pms-client knows ({where or 'the body'}: {error.errors()[0]['msg']}). Is there a newer one?"
        ) from error
