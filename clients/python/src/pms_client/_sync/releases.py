# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

import time
from collections.abc import Iterator

from typing_extensions import Unpack

from .._call import change, create, read
from .._lazy import models
from .._runtime import sleep
from ..errors import WaitTimeoutError
from ..types import ReleaseFields, ReleaseStatus
from .operations import ReleasesOperations
from .transport import Transport

ENDED = ("succeeded", "rolled_back", "rejected", "failed", "superseded", "canceled")


class Releases(ReleasesOperations):
    """Gradual rollouts of versions to labels."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def start(
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
        return self._transport.fetch(models.Release, call)

    def wait(self, release_id: str, *, timeout: float | None = None, interval: float = 5.0) -> models.Release:
        """Waits until a release ends.

        Args:
            timeout: seconds. Default: no limit.
            interval: seconds between polls.

        Raises:
            WaitTimeoutError: if it is still running after the timeout.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            release = self.get(release_id)
            if release.status in ENDED:
                return release
            if deadline is not None and time.monotonic() >= deadline:
                raise WaitTimeoutError(f"The release {release_id} is still {release.status}.")
            sleep(interval)

    def get(self, release_id: str) -> models.Release:
        return self._transport.fetch(models.Release, read("releases", release_id))

    def list(
        self,
        *,
        prompt_name: str | None = None,
        label: str | None = None,
        status: ReleaseStatus | None = None,
        limit: int | None = None,
    ) -> Iterator[models.Release]:
        """All releases, newest first, page by page (`limit` is the page size)."""
        return self._transport.pages(
            models.Release, "releases", prompt_name=prompt_name, label=label, status=status, limit=limit
        )

    def approve(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return self._control(release_id, "approve", comment)

    def reject(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return self._control(release_id, "reject", comment)

    def pause(self, release_id: str, *, comment: str | None = None) -> models.Release:
        """Traffic shares stay unchanged and checks stop until the release is resumed."""
        return self._control(release_id, "pause", comment)

    def resume(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return self._control(release_id, "resume", comment)

    def promote(self, release_id: str, *, comment: str | None = None) -> models.Release:
        """Moves the label to the candidate now, skipping the remaining steps."""
        return self._control(release_id, "promote", comment)

    def rollback(self, release_id: str, *, comment: str | None = None) -> models.Release:
        """Gives all callers the stable version again immediately."""
        return self._control(release_id, "rollback", comment)

    def cancel(self, release_id: str, *, comment: str | None = None) -> models.Release:
        return self._control(release_id, "cancel", comment)

    def _control(self, release_id: str, action: str, comment: str | None) -> models.Release:
        # Repeating it changes nothing.
        body = {} if comment is None else {"comment": comment}
        call = change("POST", "releases", release_id, action, body=body, is_repeatable=True)
        return self._transport.fetch(models.Release, call)
