# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

import builtins
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal
from weakref import WeakValueDictionary

from typing_extensions import Unpack

from .._cache import CacheMetrics, Entry, Key, PromptCache
from .._call import change, create, read
from .._lazy import models
from .._resolve import MAX_RESOLVED, Resolved, read_resolved, resolve_call
from .._rollout import decide
from .._runtime import Background, Lock
from ..errors import InvalidRequestError, NotFoundError, PmsError, UnexpectedResponseError
from ..prompt import Fallback, Prompt
from ..types import PromptFields
from .operations import PromptsOperations
from .transport import Transport

_log = logging.getLogger("pms_client")
_now = time.monotonic


class Prompts(PromptsOperations):
    """Prompts for programs, from a cache, and the operations of the API."""

    def __init__(self, transport: Transport, *, ttl: float, max_prompts: int, timeout: float) -> None:
        self._transport = transport
        self._ttl = ttl
        self._timeout = timeout
        self._cache = PromptCache(max_prompts)
        self._refreshing = Background()
        self._fetching: WeakValueDictionary[Key, Lock] = WeakValueDictionary()

    def get(
        self,
        name: str,
        *,
        label: str | None = None,
        version: int | None = None,
        rollout_key: str | None = None,
        fallback: Fallback | None = None,
        ttl: float | None = None,
    ) -> Prompt:
        """Returns a prompt to fill in, from the cache if possible. Without a label or a version, the latest version.

        A prompt older than `ttl` is returned immediately, and refreshed in the background together with all others that are due.
        While the service can't be reached, the cache is used regardless of its age.

        Args:
            rollout_key: selects between the versions of a release running on the label, such as the id of a user or
                conversation: the same key gets the same version. Default: random each time.
            fallback: returned if the cache has nothing, and the service can't be reached, rejects the key, or does not have the
                prompt. With a fallback, the service is tried once, followed by a pause if it does not respond.
            ttl: seconds; 0 always waits for the service. Default: the client's.

        Raises:
            NotFoundError: if the service does not have the prompt, and there is no fallback.
            InvalidRequestError: if the request is wrong: an invalid name, or an include that can't be resolved.
            PmsError: if it can't be fetched, and there is no fallback; after the client's `prompt_timeout` for temporary
                errors.
        """
        stable = self._get((name, label, version), fallback, ttl)
        release = stable.content.get("release")
        return stable if release is None else self._decide(stable, release, rollout_key)

    def _decide(self, stable: Prompt, release: Mapping[str, Any], rollout_key: str | None) -> Prompt:
        """The candidate, if the key gets it. A version never changes, so it is fetched once."""
        decided = decide(release, rollout_key)
        version = release["candidate_version"]
        if decided.arm == "stable" or version == stable.version:
            return stable.decided_by(decided)
        try:
            candidate = self._get((stable.name, None, version), None, None)
        except PmsError as error:
            _log.warning(
                "The candidate of the prompt %s can't be had, the stable version is used: %s", stable.name, error
            )
            return stable.decided_by(replace(decided, arm="stable"))
        return candidate.decided_by(decided)

    def _get(self, key: Key, fallback: Fallback | None, ttl: float | None) -> Prompt:
        cache = self._cache
        entry = cache.find(key)
        if entry is None or ttl == 0:
            return self._get_missing(key, fallback, self._ttl if ttl is None else ttl)
        cache.hits += 1
        entry.was_used = True
        if ttl is not None:
            entry.ttl = ttl
        if _now() - entry.checked_at >= entry.ttl:
            cache.stale_hits += 1
            entry.is_stale = True
            if not cache.is_paused():
                self._refreshing.start(self._refresh)
        return entry.prompt

    @property
    def metrics(self) -> CacheMetrics:
        return self._cache.metrics

    def dump(self) -> str:
        """The cache as JSON, for the next start of the program. It contains prompts, but no keys."""
        return self._cache.dump()

    def load(self, dump: str) -> int:
        """Fills the cache from a `dump`. Its age is preserved, so prompts are refreshed when used.

        Returns:
            The number of prompts.

        Raises:
            ValueError: if it is not a dump.
        """
        return self._cache.load(dump)

    def clear(self) -> None:
        """Empties the cache."""
        self._cache.clear()

    def fetch(self, name: str, *, label: str | None = None, version: int | None = None) -> models.Prompt:
        """The current record of a version, bypassing the cache."""
        return self._transport.fetch(models.Prompt, read("prompts", name, label=label, version=version))

    def create(self, name: str, *, idempotency_key: str | None = None, **fields: Unpack[PromptFields]) -> models.Prompt:
        """Creates a prompt, or the next version of an existing one."""
        call = create("prompts", body={"name": name, **fields}, idempotency_key=idempotency_key)
        return self._transport.fetch(models.Prompt, call)

    def update(self, name: str, **fields: Unpack[PromptFields]) -> models.Prompt:
        """Creates the next version of a prompt; omitted fields keep their value."""
        return self._transport.fetch(models.Prompt, change("PUT", "prompts", name, body=fields))

    def list(
        self,
        *,
        group: str | None = None,
        q: str | None = None,
        model: str | None = None,
        label: str | None = None,
        includes: str | None = None,
        archived: Literal["true", "false", "all"] | None = None,
        sort: str | None = None,
        limit: int | None = None,
    ) -> Iterator[models.ListedPrompt]:
        """All prompts, page by page (`limit` is the page size)."""
        return self._transport.pages(
            models.ListedPrompt,
            "prompts",
            group=group,
            q=q,
            model=model,
            label=label,
            includes=includes,
            archived=archived,
            sort=sort,
            limit=limit,
        )

    def versions(self, name: str, *, limit: int | None = None) -> Iterator[models.Prompt]:
        """The versions of a prompt, newest first."""
        return self._transport.pages(models.Prompt, "prompts", name, "versions", limit=limit)

    def diff(self, name: str, *, from_: int | None = None, to: int | None = None) -> models.VersionDiff:
        """The differences between two versions. Default: the latest and the one before."""
        return self._transport.fetch(models.VersionDiff, read("prompts", name, "diff", from_=from_, to=to))

    def set_label(self, name: str, label: str, version: int) -> models.Prompt:
        """Points a label at a version."""
        call = change("PUT", "prompts", name, "labels", label, body={"version": version}, is_repeatable=True)
        return self._transport.fetch(models.Prompt, call)

    def remove_label(self, name: str, label: str) -> models.Prompt:
        return self._transport.fetch(models.Prompt, change("DELETE", "prompts", name, "labels", label))

    def archive(self, name: str) -> models.Prompt:
        """An archived prompt can be read, but not changed or run."""
        return self._transport.fetch(models.Prompt, change("DELETE", "prompts", name, is_repeatable=True))

    def restore(self, name: str) -> models.Prompt:
        """Restores an archived prompt."""
        call = change("POST", "prompts", name, "restore", is_repeatable=True)
        return self._transport.fetch(models.Prompt, call)

    def close(self) -> None:
        self._refreshing.stop()

    def _get_missing(self, key: Key, fallback: Fallback | None, ttl: float) -> Prompt:
        cache = self._cache
        cache.misses += 1
        if fallback is not None and (cache.is_paused() or cache.is_known_missing(key)):
            return self._fall_back(key, fallback)
        with self._fetching.setdefault(key, Lock()):
            # Another caller may have fetched it in the meantime, or failed to.
            entry = cache.find(key)
            if entry is not None and ttl != 0:
                return entry.prompt
            if fallback is not None and (cache.is_paused() or cache.is_known_missing(key)):
                return self._fall_back(key, fallback)
            try:
                return self._fetch_one(key, ttl, max_retries=None if fallback is None else 0)
            except InvalidRequestError:
                raise
            except PmsError as error:
                # A missing prompt says nothing about others.
                if not isinstance(error, NotFoundError):
                    cache.failed(error)
                if fallback is None:
                    raise
                _log.warning("The fallback of the prompt %s is used: %s", key[0], error)
                return self._fall_back(key, fallback)

    def _fall_back(self, key: Key, fallback: Fallback) -> Prompt:
        self._cache.fallbacks += 1
        return Prompt.of_fallback(key[0], fallback)

    def _fetch_one(self, key: Key, ttl: float, max_retries: int | None) -> Prompt:
        (resolved,) = self._resolve([(key, None)], max_retries)
        if isinstance(resolved.error, NotFoundError):
            self._cache.evict(key)
        if resolved.error is not None:
            raise resolved.error
        if resolved.prompt is None:
            raise UnexpectedResponseError(f"The service returned nothing for the prompt {key[0]}.")
        self._cache.store(key, resolved.prompt, ttl)
        return resolved.prompt

    def _refresh(self) -> None:
        """Refreshes all due prompts with one request."""
        try:
            due = self._cache.due()
            for start in range(0, len(due), MAX_RESOLVED):
                some: Sequence[tuple[Key, Entry]] = due[start : start + MAX_RESOLVED]
                while some:
                    some = self._refresh_some(some)
        except PmsError as error:
            self._cache.failed(error)
            _log.warning("Prompts can't be refreshed, those in the cache stay in use: %s", error)
        except Exception as error:
            self._cache.failed(PmsError(str(error)))
            _log.exception("Prompts can't be refreshed, those in the cache stay in use.")

    def _refresh_some(self, due: Sequence[tuple[Key, Entry]]) -> Sequence[tuple[Key, Entry]]:
        """
        Returns:
            Those for which the response had no room.
        """
        resolved = self._resolve([(key, entry.prompt) for key, entry in due], 0)
        left_out: builtins.list[tuple[Key, Entry]] = []
        for (key, entry), one in zip(due, resolved, strict=True):
            if one.prompt is not None:
                self._cache.store(key, one.prompt, entry.ttl)
            elif one.state == "left_out":
                left_out.append((key, entry))
            elif isinstance(one.error, NotFoundError):
                _log.warning("The prompt %s leaves the cache: %s", key[0], one.error)
                self._cache.evict(key)
            else:
                if one.error is not None:
                    _log.warning(
                        "The prompt %s can't be refreshed, that in the cache stays in use: %s", key[0], one.error
                    )
                self._cache.keep(key, entry, entry.prompt.content.get("release") if one.error else one.release)
        # The first one is never left out.
        return left_out if len(left_out) < len(due) else []

    def _resolve(self, wanted: Sequence[tuple[Key, Prompt | None]], max_retries: int | None) -> Sequence[Resolved]:
        self._cache.requests += 1
        response = self._transport.send(
            resolve_call(wanted, self._timeout),
            max_retries=max_retries,
            retry_for=self._timeout,
            on_first_retry=lambda error: _log.warning("Prompts can't be fetched, trying again: %s", error),
        )
        self._cache.succeeded()
        return read_resolved(response, len(wanted))
