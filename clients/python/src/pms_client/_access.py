"""The service's address and key, checked before anything is sent, because errors of HTTP clients show headers."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit

import httpx


def checked_url(base_url: str) -> str:
    """The base of all paths.

    Raises:
        ValueError: if it is not an http or https URL, or has a user and password, which are not shown.
    """
    base = base_url.strip().rstrip("/")
    url = _parsed(base)
    is_http = url is not None and url.scheme in ("http", "https") and bool(url.hostname) and " " not in base
    if url is None or not is_http or "@" in url.netloc or url.query or url.fragment:
        raise ValueError(
            "The base_url must be an http or https URL without a user, password or query, such as "
            "http://127.0.0.1:3000. Change base_url or PMS_BASE_URL."
        )
    return base if base.endswith("/v1") else f"{base}/v1"


def _parsed(url: str) -> SplitResult | None:
    try:
        parsed = urlsplit(url)
        _ = parsed.port
    except ValueError:
        return None
    return parsed


def checked_key(api_key: str) -> str:
    """The key without surrounding white space, such as the line break of a file.

    Raises:
        ValueError: if it is not a valid header value. It does not show the key.
    """
    key = api_key.strip()
    if not key:
        raise ValueError("The API key is empty. Set api_key or PMS_API_KEY to a key of the service.")
    if re.fullmatch(r"[\x21-\x7e]+", key) is None:
        raise ValueError("The API key has white space or a character that is not ASCII. Copy the key again.")
    return key


def refuse_bad_header(error: httpx.TransportError) -> None:
    """
    Raises:
        ValueError: if the error concerns a header of the request. It does not show the header, unlike the error.
    """
    if isinstance(error, httpx.LocalProtocolError) and "header" in str(error):
        raise ValueError(
            "The request cannot be sent: a header has a line break or another character that no header can hold."
        ) from None
