"""Times as the service writes them: ISO 8601 in UTC, with milliseconds."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Annotated

from pydantic import AfterValidator, AwareDatetime, PlainSerializer


def _in_utc(time: datetime) -> datetime:
    return time.astimezone(timezone.utc)


def text_of(time: datetime) -> str:
    """
    Raises:
        TypeError: if it has no zone, because the time is then ambiguous.
    """
    if time.utcoffset() is None:
        raise TypeError(f"{time!r} has no zone: datetime.now(timezone.utc) has one")
    digits = "microseconds" if time.microsecond % 1_000 else "milliseconds"
    return _in_utc(time).replace(tzinfo=None).isoformat(timespec=digits) + "Z"


UtcDatetime = Annotated[
    AwareDatetime,
    AfterValidator(_in_utc),
    PlainSerializer(text_of, return_type=str, when_used="json"),
]
"""A `datetime` in UTC; in JSON, the string sent by the service."""
