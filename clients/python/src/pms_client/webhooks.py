"""Verifies the requests of webhooks.

event = verify(request.get_data(), request.headers, secret)
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import SignatureError

__all__ = ["DEFAULT_TOLERANCE_SECONDS", "SignatureError", "is_body_signed", "verify"]

DEFAULT_TOLERANCE_SECONDS = 300

_PREFIX = "whsec_"
_PADDED_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


def verify(
    body: bytes,
    headers: Mapping[str, str],
    secret: str | Iterable[str],
    *,
    tolerance_seconds: float = DEFAULT_TOLERANCE_SECONDS,
    now: float | None = None,
) -> dict[str, Any]:
    """Verifies a request by `webhook-signature`, which covers the body, the event's id and the time.

    Args:
        body: the bytes as received; JSON that was parsed and printed again has another signature.
        headers: of the request, in any case. Keep `webhook-id` of events that you have done: one may come twice.
        secret: that of the webhook. Several are tried where the receiver knows more than one.
        tolerance_seconds: how far `webhook-timestamp` may be off. Default: five minutes.
        now: Unix seconds. Default: the time of this machine.

    Returns:
        The body, parsed: `event`, `data` and `timestamp`.

    Raises:
        SignatureError: where it is not signed so, was changed, or is too old. Respond with 401.
    """
    given = {name.lower(): value for name, value in headers.items()}
    event_id = given.get("webhook-id", "")
    timestamp = given.get("webhook-timestamp", "")
    if not event_id or "webhook-signature" not in given:
        raise SignatureError("The request has no webhook-id or no webhook-signature.")
    if not _TIMESTAMP.fullmatch(timestamp):
        raise SignatureError("The request has no webhook-timestamp in Unix seconds.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance_seconds:
        raise SignatureError(f"The webhook-timestamp is more than {tolerance_seconds:g} seconds off.")
    signed = f"{event_id}.{timestamp}.".encode() + body
    expected = [_standard_signature(signed, one) for one in _secrets_of(secret)]
    signatures = given["webhook-signature"].split(" ")
    if not _any_equal(signatures, expected):
        raise SignatureError("No signature of the request is that of this secret.")
    try:
        event = json.loads(body)
    except ValueError as error:
        raise SignatureError("The body is signed, but it is no JSON.") from error
    if not isinstance(event, dict):
        raise SignatureError("The body is signed, but it is no event.")
    return event


def is_body_signed(body: bytes, headers: Mapping[str, str], secret: str | Iterable[str]) -> bool:
    """Whether `X-Signature`, or `X-Signature-Previous`, is right. It covers only the body: use `verify` against replays."""
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
    # No early end: how long it takes says nothing.
    return any([hmac.compare_digest(one.encode(), other) for one in given for other in wanted])


def _standard_signature(signed: bytes, secret: str) -> str:
    digest = hmac.new(_standard_key(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(digest).decode()}"


def _standard_key(secret: str) -> bytes:
    """What the libraries for Standard Webhooks make of a secret that is padded base64, with or without `whsec_`; else its
    own bytes."""
    encoded = secret.removeprefix(_PREFIX)
    return base64.b64decode(encoded) if _PADDED_BASE64.fullmatch(encoded) else secret.encode()
