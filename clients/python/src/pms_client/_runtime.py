"""What differs between the clients with and without `async`: locks, waiting, and background work."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Coroutine

async_sleep = asyncio.sleep
sleep = time.sleep
AsyncLock = asyncio.Lock
Lock = threading.Lock


class AsyncBackground:
    """Background work, one task at a time, in the event loop that starts it."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    def start(self, work: Callable[[], Coroutine[None, None, None]]) -> None:
        """Does nothing while previous work is running."""
        task = self._task
        # A task whose event loop has ended never completes.
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            self._task = asyncio.get_running_loop().create_task(work())

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is not None and not task.done() and task.get_loop() is asyncio.get_running_loop():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class Background:
    """Background work, one task at a time, in a daemon thread."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, work: Callable[[], None]) -> None:
        """Does nothing while previous work is running."""
        with self._starting:
            # After a fork, the parent's threads do not exist.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=work, name="pms-client", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=1)


_tasks: set[asyncio.Task[None]] = set()


def async_spawn(work: Callable[[], Coroutine[None, None, None]]) -> None:
    """Starts work in the event loop of the caller."""
    task = asyncio.get_running_loop().create_task(work())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


def spawn(work: Callable[[], None]) -> None:
    """Starts work in a thread that does not keep the process alive."""
    threading.Thread(target=work, name="pms-client", daemon=True).start()


def async_at_exit(finish: Callable[[float], object], timeout: float) -> None:
    """Nothing can be awaited when the process ends, because the event loop has already ended."""


def at_exit(finish: Callable[[float], object], timeout: float) -> None:
    """Calls `finish(timeout)` when the process ends."""
    # A client that is gone by then has nothing to finish.
    reference = weakref.WeakMethod(finish)

    def finish_if_there() -> None:
        method = reference()
        if method is not None:
            method(timeout)

    atexit.register(finish_if_there)


class AsyncSignal:
    """Wakes a waiter of the same event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    async def wait(self, timeout: float) -> None:
        """Waits until it is set, or for a number of seconds."""
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), timeout)


class Signal:
    """Wakes a waiter of another thread."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    def wait(self, timeout: float) -> None:
        """Waits until it is set, or for a number of seconds."""
        self._event.wait(timeout)
