"""Selects the candidate of a release for the same keys as the service, computed locally."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_BUCKETS = 10_000
"""Shares are measured in hundredths of a percent."""


@dataclass(frozen=True, slots=True)
class DecidedBy:
    """The release that selected the version, as in an execution record."""

    id: str
    arm: Literal["stable", "candidate"]
    keyed: bool
    """Whether a `rollout_key` selected it. Otherwise it was random."""


def is_candidate(salt: str, percent: float, key: str) -> bool:
    digest = hashlib.sha256(f"{salt}:{key}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % _BUCKETS < round(percent * (_BUCKETS / 100))


def decide(release: Mapping[str, Any], key: str | None) -> DecidedBy:
    """
    Args:
        key: None for a random choice.
    """
    is_it = is_candidate(release["salt"], release["percent"], str(uuid.uuid4()) if key is None else key)
    return DecidedBy(release["id"], "candidate" if is_it else "stable", key is not None)
