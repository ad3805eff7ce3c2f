from __future__ import annotations

import time
from collections.abc import AsyncIterator

from typing_extensions import Unpack

from .._call import change, create, read
from .._lazy import models
from .._runtime import async_sleep
from ..errors import WaitTimeoutError
from ..types import ReleaseFields, ReleaseStatus
from .operations import AsyncReleasesOperations
from .transport import AsyncTransport

ENDED = ("succeeded", "rolled_back", "rejected", "failed", "superseded", "canceled")


class AsyncReleases(AsyncReleasesOperations):
    """Gradual rollouts of versions to labels."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def start(
        self,
        prompt_name: str,
        label: str,
        version: int,
        *,
        idempotency_key: str | None = None,
        **fields: Unpack[ReleaseFields],
    ) -> models.Release:
        """Starts a release, without waiting for it: see `wait`."""
        body = {"prompt_name": prompt_name, "label": label, "version": version, **fields}
        call = create("releases", body=body, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.Release, call)

    async def wait(self, release_id: str, *, timeout: float | None = None, interval: float = 5.0) -> models.Release:
        """Waits until a release ends.

        Args:
            timeout: seconds. Default: no limit.
            interval: seconds between polls.

        Raises:
            WaitTimeoutError: if it is still running after the timeout.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            release = await self.get(release_id)
            if release.status in ENDED:
                return release
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeoutError(f"The release {release_id} is still {release.status}.")
            await async_sleep(interval)

    async def get(self, release_id: str) -> models.Release:
        return await self._transport.fetch(models.Release, read("releases", release_id))

    def list(
        self,
        *,
        prompt_name: str | None = None,
        label: str | None = None,
        status: ReleaseStatus | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[models.Release]:
        """All releases, newest first, page by page (`limit` is the page size)."""
        return self._transport.pages(
            models.Release, "releases", prompt_name=prompt_name, label=label, status=status, limit=limit
        )

    async def approve(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return await self._control(release_id, "approve", comment)

    async def reject(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return await self._control(release_id, "reject", comment)

    async def pause(self, release_id: str, *, comment: str | None = None) -> models.Release:
        """Traffic shares stay unchanged and checks stop until the release is resumed."""
        return await self._control(release_id, "pause", comment)

    async def resume(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return await self._control(release_id, "resume", comment)

    async def promote(self, release_id: str, *, comment: str | None = None) -> models.Release:
        """Moves the label to the candidate now, skipping the remaining steps."""
        return await self._control(release_id, "promote", comment)

    async def rollback(self, release_id: str, *, comment: str | None = None) -> models.Release:
        """Gives all callers the stable version again immediately."""
        return await self._control(release_id, "rollback", comment)

    async def cancel(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return await self._control(release_id, "cancel", comment)

    async def _control(self, release_id: str, action: str, comment: str | None) -> models.Release:
        # Repeating it changes nothing.
        body = {} if comment is None else {"comment": comment}
        call = change("POST", "releases", release_id, action, body=body, is_repeatable=True)
        return await self._transport.fetch(models.Release, call)
