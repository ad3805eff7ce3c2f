"""What can go wrong. Each code of the API has a class of its own; all of them are a `PmsError`."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx


class ErrorDetail(NamedTuple):
    """One field at fault: `path` in dot notation (`variables.name`), and what to change."""

    path: str
    message: str


class PmsError(Exception):
    """Every error of this package."""

    idempotency_key: str | None = None
    """The key that the request was sent with. The same request with it finds what it has created, instead of doing it twice."""
    execution_id: str | None = None
    """The execution that the request was about, `exec_…`, where its id was known. It goes on without this client."""


class ServiceUnreachableError(PmsError):
    """No response came: no connection, a connection that broke, or a time-out."""


class UnexpectedResponseError(PmsError):
    """The response is not what this version of the package knows: something between changed it, or the service is newer."""


class VariablesError(PmsError, ValueError):
    """Variables that can't fill the prompt: `details` says which, and why."""

    def __init__(self, details: list[ErrorDetail]) -> None:
        super().__init__("; ".join(f"{detail.path}: {detail.message}" for detail in details))
        self.details = details


class SignatureError(PmsError):
    """A webhook's request is not signed with this secret, was changed, or is too old."""


class QueueFullError(PmsError):
    """A run is not recorded, since too many wait: `max_recorded_runs`, `max_recorded_bytes`."""


class InvalidRunError(PmsError):
    """A run is not recorded, since no JSON can be made of it."""


class WaitTimeoutError(PmsError, TimeoutError):
    """What was waited for goes on beyond the time-out."""


class StreamInterruptedError(PmsError):
    """A stream ended again and again before the execution did. The execution goes on: read it, or stream it again."""


class ApiError(PmsError):
    """The service refused the request. Decide by the class or by `code`, never by the message."""

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
        """None where the response is not the service's own, such as that of a proxy."""
        self.details = details or []
        self.request_id = request_id
        """The `X-Request-Id`, which is also in the service's logs."""
        self.retry_after = retry_after
        """Seconds after which the request may succeed, where the service says so."""


class InvalidRequestError(ApiError):
    """`invalid_request`: `details` names the fields at fault."""


class PayloadTooLargeError(ApiError):
    """`payload_too_large`"""


class PromptArchivedError(ApiError):
    """`prompt_archived`: it can be read, but not changed or run."""


class VersionConflictError(ApiError):
    """`version_conflict`: someone else has made a version since `base_version`."""


class IdempotencyKeyReusedError(ApiError):
    """`idempotency_key_reused`: the key was sent before, with another path or body."""


class InvalidStateError(ApiError):
    """`invalid_state`: not possible in the state that the resource is in.

    `authorization_pending`, `slow_down`, `denied`, `expired`: what becomes of a program that asks for a key (`POST /device/token`).
    """


class UnauthorizedError(ApiError):
    """`unauthorized`: no key, or one that is malformed, unknown, revoked or expired."""


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
    """An error of the class that its code has."""
    return _BY_CODE.get(code or "", ApiError)(message, code=code, **facts)


def error_of(response: httpx.Response) -> ApiError:
    """The error that a response is, whose body has been read."""
    try:
        error: Any = response.json()["error"]
        code, message = str(error["code"]), str(error["message"])
        details = [ErrorDetail(str(one["path"]), str(one["message"])) for one in error.get("details") or []]
    except (ValueError, KeyError, TypeError):
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
    """The seconds of `Retry-After`, where the response has some. The service never sends a date."""
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None
