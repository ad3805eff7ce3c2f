"""What is asked of the service, and when it is asked again."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from ._json import plain
from .errors import ApiError, PmsError, QuotaExceededError, RateLimitedError, UnexpectedResponseError

Model = TypeVar("Model", bound=BaseModel)

MAX_WAIT_SECONDS = 60.0
_FIRST_WAIT_SECONDS = 0.5
_LONGEST_WAIT_SECONDS = 8.0
_IDEMPOTENCY_KEY = "Idempotency-Key"


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    """Below `/v1`; its segments are quoted."""
    params: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """JSON; None: no body."""
    content: bytes | None = None
    """In place of JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float | None = None
    """Seconds without a byte. Default: the client's."""
    is_repeatable: bool = False
    """Whether it may be sent again where nobody knows whether it was done."""


def path_of(*segments: str) -> str:
    """A path in which each segment is quoted. A `/` in the name of a prompt is part of its segment."""
    return "".join(f"/{quote(segment, safe='')}" for segment in segments)


def params_of(**params: object) -> dict[str, str]:
    """Parameters as they are sent; those that are None are left out."""
    return {name.rstrip("_"): _text_of(value) for name, value in params.items() if value is not None}


def _text_of(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, datetime) else str(value)


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
    """A POST that is done once, however often it is sent: it gets an `Idempotency-Key`, unless the caller has one."""
    key = {_IDEMPOTENCY_KEY: idempotency_key or str(uuid.uuid4())}
    body = {} if body is None else plain(body)
    return Call(
        "POST", path_of(*segments), body=body, headers={**(headers or {}), **key}, timeout=timeout, is_repeatable=True
    )


def seconds_to_wait(call: Call, failures: int, error: PmsError, cause: BaseException | None) -> float | None:
    """How long to wait before a call is sent again, no less than `Retry-After`. None: it is not.

    Args:
        failures: how often it has failed, from 1.
        cause: of httpx, where no response came.
    """
    retry_after = 0.0
    if isinstance(error, ApiError):
        is_refused = isinstance(error, RateLimitedError)
        is_passing = is_refused or (error.status >= 500 and call.is_repeatable)
        if not is_passing or isinstance(error, QuotaExceededError):
            return None
        retry_after = error.retry_after or 0.0
        if retry_after > MAX_WAIT_SECONDS:
            return None
    elif not call.is_repeatable and not isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout)):
        return None
    backoff = min(_LONGEST_WAIT_SECONDS, _FIRST_WAIT_SECONDS * 2.0 ** (failures - 1))
    return max(retry_after, backoff * random.uniform(0.5, 1))


def parsed(model: type[Model], response: httpx.Response) -> Model:
    """
    Raises:
        UnexpectedResponseError: where the response is not such a record.
    """
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnexpectedResponseError(
            f"{response.request.method} {response.request.url.path} gave no {model.__name__} that this version of "
            f"pms-client knows ({where or 'the body'}: {error.errors()[0]['msg']}). Is there a newer one?"
        ) from error
