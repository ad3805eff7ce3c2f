"""Verifies the requests of webhooks, whose class tells what `data` is.

event = verify(request.get_data(), request.headers, secret)
if isinstance(event, ExecutionCompleted):
    print(event.data.cost, event.timestamp)
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

from pydantic import BaseModel, ConfigDict, ValidationError

from . import models
from ._time import UtcDatetime
from .errors import SignatureError

__all__ = [
    "DEFAULT_TOLERANCE_SECONDS",
    "EvaluationCompleted",
    "EvaluationRegressed",
    "ExecutionCompleted",
    "ExecutionFailed",
    "ImprovementCompleted",
    "ImprovementFailed",
    "MonitorEvent",
    "PromptEvent",
    "ReleaseEvent",
    "SignatureError",
    "UnknownEvent",
    "WebhookEvent",
    "is_body_signed",
    "verify",
]

DEFAULT_TOLERANCE_SECONDS = 300

_PREFIX = "whsec_"
_PADDED_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class _Event(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    timestamp: UtcDatetime
    """When it happened."""


class PromptEvent(_Event):
    event: Literal["prompt.created", "prompt.updated"]
    data: models.PromptEventData


class ExecutionCompleted(_Event):
    event: Literal["execution.completed"]
    data: models.ExecutionCompletedData


class ExecutionFailed(_Event):
    event: Literal["execution.failed"]
    data: models.ExecutionFailedData


class EvaluationCompleted(_Event):
    event: Literal["evaluation.completed"]
    data: models.EvaluationCompletedData


class EvaluationRegressed(_Event):
    event: Literal["evaluation.regression"]
    data: models.EvaluationRegressionData


class ReleaseEvent(_Event):
    event: Literal[
        "release.started",
        "release.awaiting_approval",
        "release.promoted",
        "release.rolled_back",
        "release.finished",
    ]
    data: models.ReleaseEventData


class ImprovementCompleted(_Event):
    event: Literal["improvement.completed"]
    data: models.ImprovementCompletedData


class ImprovementFailed(_Event):
    event: Literal["improvement.failed"]
    data: models.ImprovementFailedData


class MonitorEvent(_Event):
    event: Literal["monitor.alerted", "monitor.recovered"]
    data: models.MonitorEventData


class TraceEvent(_Event):
    event: Literal["trace.completed"]
    data: models.TraceEventData


class UnknownEvent(_Event):
    """An event of a newer service."""

    event: str
    data: dict[str, Any]


_KNOWN = (
    PromptEvent,
    ExecutionCompleted,
    ExecutionFailed,
    EvaluationCompleted,
    EvaluationRegressed,
    ReleaseEvent,
    ImprovementCompleted,
    ImprovementFailed,
    MonitorEvent,
    TraceEvent,
)
WebhookEvent: TypeAlias = (
    PromptEvent
    | ExecutionCompleted
    | ExecutionFailed
    | EvaluationCompleted
    | EvaluationRegressed
    | ReleaseEvent
    | ImprovementCompleted
    | ImprovementFailed
    | MonitorEvent
    | TraceEvent
    | UnknownEvent
)
"""The body of a request: `event`, `data` and `timestamp`."""

_BY_NAME: dict[str, type[WebhookEvent]] = {
    name: kind for kind in _KNOWN for name in get_args(kind.model_fields["event"].annotation)
}


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    now: float | None = None,
) -> WebhookEvent:
    """Verifies a request by `webhook-signature`, which covers the body, the event's id and the time.

    Args:
        body: the bytes as received; JSON that was parsed and serialized again has another signature.
        headers: of the request, in any case. Store the `webhook-id` of processed events: an event may arrive twice.
        secret: the webhook's. Several are tried if the receiver knows more than one.
        tolerance_seconds: how far `webhook-timestamp` may be off. Default: five minutes.
        now: Unix seconds. Default: the time of this machine.

    Returns:
        The parsed body: its class determines `data`. An event unknown to this version is an `UnknownEvent`.

    Raises:
        SignatureError: if the signature is invalid, the request was modified, or it is too old. Respond with 401.
    """
    given = {name.lower(): value for name, value in headers.items()}
    event_id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    if not event_id or "webhook-signature" not in given:
        raise SignatureError("The headers webhook-id and webhook-signature are required.")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise SignatureError("The header webhook-timestamp must be seconds since 1970.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise SignatureError(
            f"The webhook-timestamp is more than {tolerance_seconds:g} s from now: check the clock of this machine."
        )
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = [_standard_signature(signed, one) for one in _secrets_of(secret)]
    signatures = given["webhook-signature"].split(" ")
    if not _any_equal(signatures, expected):
        raise SignatureError("No signature of the request is valid: check that the secret belongs to the webhook.")
    try:
        unknown = UnknownEvent.model_validate_json(body)
        known = _BY_NAME.get(unknown.event)
        return unknown if known is None else known.model_validate_json(body)
    except ValidationError as error:
        raise SignatureError(f"The body is signed, but it is not an event that this version knows: {error}") from error


def is_body_signed(body: bytes, headers: Mapping[str, str], secret: str | Iterable[str]) -> bool:
    """Whether `X-Signature`, or `X-Signature-Previous`, is valid. It covers only the body: use `verify` against replays."""
    given = {name.lower(): value for name, value in headers.items()}
    signatures = [given[name] for name in ("x-signature", "x-signature-previous") if name in given]
    expected = [
        "sha256=" + hmac.new(one.encode(), body, hashlib.sha256).hexdigest().lower() for one in _secrets_of(secret)
    ]
    return _any_equal(signatures, expected)


def _secrets_of(secret: str | Iterable[str]) -> list[str]:
    secrets = [secret] if isinstance(secret, str) else list(secret)
    if not secrets or not all(secrets):
        raise ValueError("The secret of the webhook is empty.")
    return secrets


def _any_equal(given: Iterable[str], expected: Iterable[str]) -> bool:
    wanted = [one.encode() for one in expected]
    # Compares all, so that the duration reveals nothing.
    return any([hmac.compare_digest(one.encode(), other) for one in given for other in wanted])


def _standard_signature(signed: bytes, secret: str) -> str:
    digest = hmac.new(_standard_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _standard_key(secret: str) -> bytes:
    """The key from a secret as the libraries for Standard Webhooks derive it, if it is padded base64, with or without `whsec_`;
    otherwise its own bytes.
    """
    encoded = secret.removeprefix(_PREFIX)
    return base64.b64decode(encoded) if _PADDED_BASE64.fullmatch(encoded) else secret.encode()
