"""Concurrent work on items: in one event loop with `async`, otherwise in threads."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def async_call(function: Callable[..., Any], *arguments: object) -> Any:
    """Calls a sync or async function."""
    value = function(*arguments)
    return await value if inspect.isawaitable(value) else value


def call(function: Callable[..., Any], *arguments: object) -> Any:
    """
    Raises:
        TypeError: for an async function.
    """
    value = function(*arguments)
    if inspect.iscoroutine(value):
        value.close()
        raise TypeError("async functions require AsyncPms")
    return value


async def async_in_batches(
    items: AsyncIterator[Item], work: Callable[[Item], Awaitable[Result]], concurrency: int
) -> AsyncGenerator[list[Result], None]:
    """Yields completed results: immediately if the reader is waiting, together if it is busy. It ends when the reader leaves."""
    under_way: set[asyncio.Future[Result]] = set()
    is_over = False
    try:
        while True:
            while not is_over and len(under_way) < concurrency:
                try:
                    under_way.add(asyncio.ensure_future(work(await anext(items))))
                except StopAsyncIteration:
                    is_over = True
            if not under_way:
                return
            done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            yield [one.result() for one in done]
    finally:
        for one in under_way:
            one.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


def in_batches(
    items: Iterator[Item], work: Callable[[Item], Result], concurrency: int
) -> Generator[list[Result], None, None]:
    """The same in threads. When the reader leaves, they finish their current items."""
    under_way: set[Future[Result]] = set()
    is_over = False
    executor = ThreadPoolExecutor(concurrency, thread_name_prefix="pms-evaluate")
    try:
        while True:
            while not is_over and len(under_way) < concurrency:
                try:
                    under_way.add(executor.submit(work, next(items)))
                except StopIteration:
                    is_over = True
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield [one.result() for one in done]
    finally:
        executor.shutdown(wait=False, cancel_futures=True)
