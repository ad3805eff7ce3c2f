"""The cache of prompts, independent of how they are fetched."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from .errors import ApiError, PmsError
from .prompt import Prompt

_DUMP_FORMAT = 1
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0
MISSING_SECONDS = 10.0
"""How long a 404 is cached if there is a fallback."""


Key: TypeAlias = tuple[str, str | None, int | None]
"""Name, label and version. Without label and version, the latest version."""


@dataclass(slots=True)
class Entry:
    prompt: Prompt
    checked_at: float
    """When the service last confirmed it, by `time.monotonic()`."""
    ttl: float
    """Seconds, as last requested."""
    was_used: bool = False
    """Since the last check."""
    is_stale: bool = False
    """Set by a caller that found it too old."""


@dataclass(frozen=True, slots=True)
class CacheMetrics:
    """Counters since the creation of the client. Threads may lose a few hits."""

    hits: int
    """Returned from the cache, including stale ones."""
    stale_hits: int
    misses: int
    """Not in the cache: fetched, or replaced by a fallback."""
    fallbacks: int
    """Gets that returned the caller's fallback."""
    requests: int
    """Requests to the service, without retries."""
    failed_requests: int
    evictions: int
    """Prompts removed from the cache: it was full, or the service no longer has them."""
    size: int


class PromptCache:
    def __init__(self, max_prompts: int) -> None:
        self._max_prompts = max_prompts
        self._entries: OrderedDict[Key, Entry] = OrderedDict()
        self._missing: dict[Key, float] = {}
        self._failures = 0
        self._paused_until = 0.0
        self.hits = self.stale_hits = self.misses = self.fallbacks = 0
        self.requests = self.failed_requests = self.evictions = 0

    @property
    def metrics(self) -> CacheMetrics:
        return CacheMetrics(
            hits=self.hits,
            stale_hits=self.stale_hits,
            misses=self.misses,
            fallbacks=self.fallbacks,
            requests=self.requests,
            failed_requests=self.failed_requests,
            evictions=self.evictions,
            size=len(self._entries),
        )

    def find(self, key: Key) -> Entry | None:
        entry = self._entries.get(key)
        if entry is not None:
            with suppress(KeyError):  # Another thread may have evicted it.
                self._entries.move_to_end(key)
        return entry

    def store(self, key: Key, prompt: Prompt, ttl: float) -> None:
        self._missing.pop(key, None)
        self._entries[key] = Entry(prompt, time.monotonic(), ttl)
        while len(self._entries) > self._max_prompts:
            try:
                self._entries.popitem(last=False)
            except KeyError:
                return
            self.evictions += 1

    def evict(self, key: Key) -> None:
        """The service does not have the prompt."""
        if self._entries.pop(key, None) is not None:
            self.evictions += 1
        if len(self._missing) >= self._max_prompts:
            self._missing.clear()
        self._missing[key] = time.monotonic() + MISSING_SECONDS

    def clear(self) -> None:
        self._entries.clear()
        self._missing.clear()

    def due(self) -> list[tuple[Key, Entry]]:
        """The prompts to refresh together: stale ones, and used ones that will soon be stale."""
        now = time.monotonic()
        return [
            (key, entry)
            for key, entry in list(self._entries.items())
            if entry.is_stale or (entry.was_used and now - entry.checked_at >= entry.ttl / 2)
        ]

    def keep(self, key: Key, entry: Entry, release: Mapping[str, Any] | None) -> None:
        """The service confirmed the cached version. Its release may have changed."""
        if self._entries.get(key) is entry:
            entry.prompt = entry.prompt.with_release(release)
            entry.checked_at = time.monotonic()
            entry.was_used = entry.is_stale = False

    def succeeded(self) -> None:
        """The service has responded."""
        self._failures = 0
        self._paused_until = 0.0

    def failed(self, error: PmsError) -> None:
        """The service has not responded, or reported a failure. It is not called for a while if there is something to use
        instead.
        """
        self.failed_requests += 1
        self._failures += 1
        pause = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** (self._failures - 1))
        retry_after = error.retry_after if isinstance(error, ApiError) else None
        self._paused_until = time.monotonic() + max(pause, retry_after or 0)

    def is_paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def is_known_missing(self, key: Key) -> bool:
        until = self._missing.get(key)
        return until is not None and time.monotonic() < until

    def dump(self) -> str:
        at = time.time() - time.monotonic()
        prompts = [
            {
                "name": key[0],
                "label": key[1],
                "version": key[2],
                "content": entry.prompt.content,
                "includes": entry.prompt.includes,
                "includes_hash": entry.prompt.includes_hash,
                "ttl": entry.ttl,
                "checked_at": round(at + entry.checked_at, 3),
            }
            for key, entry in list(self._entries.items())
        ]
        return json.dumps({"format": _DUMP_FORMAT, "prompts": prompts}, ensure_ascii=False, separators=(",", ":"))

    def load(self, text: str) -> int:
        try:
            dumped: Any = json.loads(text)
            if dumped["format"] != _DUMP_FORMAT:
                raise ValueError("it has another format")
            loaded = [_loaded(one) for one in dumped["prompts"]]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"This is not a dump of a cache of this version of pms-client: {error}") from error
        for key, entry in loaded:
            known = self._entries.get(key)
            if known is None or known.checked_at < entry.checked_at:
                self.store(key, entry.prompt, entry.ttl)
                self._entries[key].checked_at = entry.checked_at
        return len(loaded)


def _loaded(dumped: Mapping[str, Any]) -> tuple[Key, Entry]:
    key = (dumped["name"], dumped["label"], dumped["version"])
    content = dumped["content"]
    if not isinstance(key[0], str) or not isinstance(content["version"], int):
        raise ValueError("a prompt has no name or no version")
    age = max(0.0, time.time() - float(dumped["checked_at"]))
    prompt = Prompt(content, dumped["includes"], includes_hash=dumped["includes_hash"])
    return key, Entry(prompt, time.monotonic() - age, float(dumped["ttl"]))
