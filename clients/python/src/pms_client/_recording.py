"""Ids of runs that a program records."""

from __future__ import annotations

import os
import time
import uuid
from datetime import datetime


def id_at(time_of_start: object) -> str:
    """An execution id with a time prefix (UUID version 7): a repeated run is stored once."""
    random = int.from_bytes(os.urandom(10), "big")
    number = (_milliseconds(time_of_start) & (2**48 - 1)) << 80 | random
    number = number & ~(0xF << 76) | 0x7 << 76
    number = number & ~(0x3 << 62) | 0x2 << 62
    return f"exec_{uuid.UUID(int=number)}"


def _milliseconds(value: object) -> int:
    try:
        # Python 3.10 does not parse the Z.
        at = datetime.fromisoformat(value.replace("Z", "+00:00")) if isinstance(value, str) else value
        if isinstance(at, datetime):
            return int(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        # The service reports the problem.
        pass
    return time.time_ns() // 1_000_000
