"""Errors. Each code of the API has its own class; all of them are a `PmsError`."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx


class ErrorDetail(NamedTuple):
    """An invalid field: `path` in dot notation (`variables.name`), and what to change."""

    path: str
    message: str


class PmsError(Exception):
    """The base class of all errors of this package."""

    idempotency_key: str | None = None
    """The key that the request was sent with. Repeating the request with it returns what it has created, instead of creating it
    twice.
    """
    execution_id: str | None = None
    """The execution of the request, `exec_…`, if its id was known. It continues without this client."""


class ServiceUnreachableError(PmsError):
    """No response: no connection, a broken connection, or a timeout."""


class UnexpectedResponseError(PmsError):
    """The response is not as this version of the package expects: a proxy changed it, or the service is newer."""


class VariablesError(PmsError, ValueError):
    """Variables that can't fill the prompt: `details` says which, and why."""

    def __init__(self, details: list[ErrorDetail]) -> None:
        super().__init__("; ".join(f"{detail.path}: {detail.message}" for detail in details))
        self.details = details


class SignatureError(PmsError):
    """A webhook request is not signed with this secret, was modified, or is too old."""


class QueueFullError(PmsError):
    """A run is not recorded because too many are waiting: `max_recorded_runs`, `max_recorded_bytes`."""


class InvalidRunError(PmsError):
    """A run is not recorded because it can't be converted to JSON."""


class WaitTimeoutError(PmsError, TimeoutError):
    """The resource is still in progress after the timeout."""


class StreamInterruptedError(PmsError):
    """A stream ended repeatedly before the execution did. The execution continues: read it, or stream it again."""


class ApiError(PmsError):
    """The service rejected the request. Decide by the class or by `code`, never by the message."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None = None,
        details: list[ErrorDetail] | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        """None if the response is not the service's own, for example a proxy's."""
        self.details = details or []
        self.request_id = request_id
        """The `X-Request-Id`, which is also in the service's logs."""
        self.retry_after = retry_after
        """Seconds after which the request may succeed, if the service provides them."""


class InvalidRequestError(ApiError):
    """`invalid_request`: `details` names the invalid fields."""


class PayloadTooLargeError(ApiError):
    """`payload_too_large`"""


class PromptArchivedError(ApiError):
    """`prompt_archived`: it can be read, but not changed or run."""


class VersionConflictError(ApiError):
    """`version_conflict`: someone else has created a version since `base_version`."""


class IdempotencyKeyReusedError(ApiError):
    """`idempotency_key_reused`: the key was already used with another path or body."""


class InvalidStateError(ApiError):
    """`invalid_state`: not possible in the current state of the resource. `authorization_pending`, `slow_down`, `denied`,
    `expired`: the state of a device authorization (`POST /device/token`).
    """


class UnauthorizedError(ApiError):
    """`unauthorized`: no key, or a malformed, unknown, revoked or expired one."""


class InsufficientScopeError(ApiError):
    """`insufficient_scope`: the key does not allow this operation."""


class NotFoundError(ApiError):
    """`not_found`: it does not exist in the workspace of the key."""


class RateLimitedError(ApiError):
    """`rate_limited`: `retry_after` says when to try again."""


class QuotaExceededError(ApiError):
    """`quota_exceeded`: the message names the quota."""


class InternalError(ApiError):
    """`internal_error`"""


class TemporarilyUnavailableError(ApiError):
    """`temporarily_unavailable`: the service's database or Temporal is unreachable."""


_BY_CODE: dict[str, type[ApiError]] = {
    "invalid_request": InvalidRequestError,
    "payload_too_large": PayloadTooLargeError,
    "prompt_archived": PromptArchivedError,
    "version_conflict": VersionConflictError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "invalid_state": InvalidStateError,
    "authorization_pending": InvalidStateError,
    "slow_down": InvalidStateError,
    "denied": InvalidStateError,
    "expired": InvalidStateError,
    "unauthorized": UnauthorizedError,
    "insufficient_scope": InsufficientScopeError,
    "not_found": NotFoundError,
    "rate_limited": RateLimitedError,
    "quota_exceeded": QuotaExceededError,
    "internal_error": InternalError,
    "temporarily_unavailable": TemporarilyUnavailableError,
}


def error_with_code(code: str | None, message: str, **facts: Any) -> ApiError:
    """The error of a code in its class."""
    return _BY_CODE.get(code or "", ApiError)(message, code=code, **facts)


# Errors of OTLP have gRPC codes, so the status determines the code.
_CODES_OF_OTLP = {400: "invalid_request", 401: "unauthorized", 429: "rate_limited", 503: "temporarily_unavailable"}


def error_of(response: httpx.Response) -> ApiError:
    """Converts an error response whose body has been read."""
    try:
        body: Any = response.json()
        is_otlp = isinstance(body.get("code"), int) and response.status_code in _CODES_OF_OTLP
        error: Any = {**body, "code": _CODES_OF_OTLP[response.status_code], "details": []} if is_otlp else body["error"]
        code, message = str(error["code"]), str(error["message"])
        details = [ErrorDetail(str(one["path"]), str(one["message"])) for one in error.get("details") or []]
    except (AttributeError, ValueError, KeyError, TypeError):
        code, details = None, []
        message = f"HTTP {response.status_code} from {response.request.url.host}: {response.text[:200]}"
    return error_with_code(
        code,
        message,
        status=response.status_code,
        details=details,
        request_id=response.headers.get("X-Request-Id"),
        retry_after=retry_after_of(response),
    )


def retry_after_of(response: httpx.Response) -> float | None:
    """The seconds of `Retry-After`, if present. The service never sends a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None
