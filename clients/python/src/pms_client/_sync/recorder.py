# Made from _async by scripts/generate.py: do not edit.
from __future__ import annotations

import json
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from .._call import Call
from .._json import plain
from .._recording import id_at
from .._rollout import DecidedBy
from .._runtime import Signal, at_exit, sleep, spawn
from ..errors import ApiError, InvalidRequestError, InvalidRunError, PayloadTooLargeError, PmsError, QueueFullError
from .transport import Transport

OnDrop: TypeAlias = Callable[[Sequence[Mapping[str, Any]], PmsError], object]

_BATCH_RUNS = 500
_BATCH_BYTES = 1024 * 1024
_LOOK_SECONDS = 0.02
_EXIT_SECONDS = 5.0
_AT_FAULT = re.compile(r"records\.(\d+)(\.|$)")


@dataclass(frozen=True, slots=True)
class _Waiting:
    run: Mapping[str, Any]
    content: bytes
    at: float


class Recorder:
    """Sends runs in batches in the background."""

    def __init__(
        self,
        transport: Transport,
        *,
        max_runs: int,
        max_bytes: int,
        flush_after: float,
        retry_for: float,
        on_drop: OnDrop | None,
    ) -> None:
        self._transport = transport
        self._max_runs = max_runs
        self._max_bytes = max_bytes
        self._flush_after = flush_after
        self._retry_for = retry_for
        self._on_drop = on_drop
        self._is_at_exit = False
        self._reset()

    def record(self, run: Mapping[str, Any]) -> str:
        given = {"id": id_at(run.get("started_at")), **run}
        try:
            # A fallback has no version of the service.
            sent = {name: value for name, value in given.items() if value or name != "prompt_version"}
            release = sent.get("release")
            if isinstance(release, DecidedBy):
                sent["release"] = asdict(release)
            content = json.dumps(plain(sent), ensure_ascii=False, separators=(",", ":")).encode()
            self._add(_Waiting(given, content, time.monotonic()))
        except (TypeError, ValueError) as error:
            self._drop([given], InvalidRunError(str(error)))
        except QueueFullError as error:
            self._drop([given], error)
        return str(given["id"])

    def flush(self, timeout: float | None = None) -> bool:
        """Sends the waiting runs.

        Args:
            timeout: seconds. Default: until each run is recorded or dropped.

        Returns:
            Whether each is.
        """
        until = None if timeout is None else time.monotonic() + timeout
        with self._lock:
            target = self._added
            self._wake.set()
        while self._settled < target and self._process == os.getpid():
            if until is not None and time.monotonic() >= until:
                return False
            with self._lock:
                # The task ended with its event loop, but its runs are still waiting.
                self._start()
            self._wake.set()
            sleep(_LOOK_SECONDS)
        return True

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[_Waiting] = deque()
        self._runs = 0
        self._bytes = 0
        self._added = 0
        self._settled = 0
        self._is_running = False
        self._wake = Signal()
        self._process = os.getpid()

    def _add(self, each: _Waiting) -> None:
        if self._process != os.getpid():
            # After a fork, the parent's threads do not exist here, and the parent sends its own waiting runs.
            self._reset()
        with self._lock:
            if self._runs >= self._max_runs or self._bytes + len(each.content) > self._max_bytes:
                raise QueueFullError("Too many runs are waiting to be recorded.")
            self._waiting.append(each)
            self._runs += 1
            self._bytes += len(each.content)
            self._added += 1
            self._start()
            if len(self._waiting) >= _BATCH_RUNS or self._bytes >= _BATCH_BYTES:
                self._wake.set()

    def _start(self) -> None:
        if self._is_running or not self._waiting:
            return
        self._wake = Signal()
        try:
            spawn(self._work)
        except RuntimeError:
            # There is no event loop, or no thread anymore: `flush` may find one.
            return
        self._is_running = True
        if not self._is_at_exit:
            at_exit(self.flush, _EXIT_SECONDS)
            self._is_at_exit = True

    def _work(self) -> None:
        batch: list[_Waiting] = []
        is_done = False
        try:
            while True:
                self._wake.wait(self._flush_after)
                self._wake.clear()
                while batch := self._take():
                    self._send(batch)
                    self._settle(batch)
                    batch = []
                with self._lock:
                    if not self._waiting:
                        self._is_running = False
                        is_done = True
                        return
        finally:
            if not is_done:
                # It was canceled together with its event loop.
                with self._lock:
                    self._waiting.extendleft(reversed(batch))
                    self._is_running = False

    def _take(self) -> list[_Waiting]:
        batch: list[_Waiting] = []
        size = 0
        with self._lock:
            while self._waiting and len(batch) < _BATCH_RUNS:
                size += len(self._waiting[0].content)
                if batch and size > _BATCH_BYTES:
                    break
                batch.append(self._waiting.popleft())
        return batch

    def _settle(self, batch: Sequence[_Waiting]) -> None:
        with self._lock:
            self._settled += len(batch)
            self._runs -= len(batch)
            self._bytes -= sum(len(each.content) for each in batch)

    def _send(self, batch: Sequence[_Waiting]) -> None:
        """If runs of a batch are invalid, sends the others again."""
        content = b'{"records":[' + b",".join(each.content for each in batch) + b"]}"
        headers = {"Content-Type": "application/json"}
        # Batches that waited through an outage are tried only once: otherwise each would wait as long again.
        max_retries = 0 if time.monotonic() - batch[-1].at > self._retry_for else None
        try:
            # The ids of the runs show what was stored before.
            self._transport.send(
                Call("POST", "/executions/record", content=content, headers=headers, is_repeatable=True),
                max_retries=max_retries,
            )
        except Exception as caught:
            error = caught if isinstance(caught, PmsError) else InvalidRunError(str(caught))
            details = error.details if isinstance(error, ApiError) else []
            found = [match for detail in details if (match := _AT_FAULT.match(detail.path))]
            faults = {int(match[1]) for match in found}
            half = (len(batch) + 1) // 2
            if faults:
                self._drop([each.run for index, each in enumerate(batch) if index in faults], error)
                rest = [each for index, each in enumerate(batch) if index not in faults]
                if rest:
                    self._send(rest)
            elif half < len(batch) and isinstance(error, (InvalidRequestError, PayloadTooLargeError)):
                self._send(batch[:half])
                self._send(batch[half:])
            else:
                self._drop([each.run for each in batch], error)

    def _drop(self, runs: Sequence[Mapping[str, Any]], error: PmsError) -> None:
        if self._on_drop is None:
            return
        try:
            self._on_drop(runs, error)
        except Exception:
            # An error in the program's callback must not affect the next run.
            return
