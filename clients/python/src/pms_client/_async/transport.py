from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel

from .._access import checked_key, checked_url, refuse_bad_header
from .._call import Call, Model, Patience, parsed, read, telling
from .._runtime import async_sleep
from ..errors import PmsError, ServiceUnreachableError, UnexpectedResponseError, error_of

Item = TypeVar("Item", bound=BaseModel)

USER_AGENT = "pms-client-python/1.0.0"
CONNECT_SECONDS = 5.0


class AsyncTransport:
    """Sends calls, with retries if useful and safe."""

    def __init__(
        self,
        base_url: str | None,
        api_key: str | None,
        *,
        timeout: float,
        retry_for: float,
        max_retries: int | None,
        http_client: httpx.AsyncClient | None,
    ) -> None:
        self.base_url = checked_url(base_url or os.environ.get("PMS_BASE_URL", ""))
        key = checked_key(api_key or os.environ.get("PMS_API_KEY", ""))
        self._headers = {"Authorization": f"Bearer {key}", "User-Agent": USER_AGENT}
        self._timeout = timeout
        self._retry_for = retry_for
        self._max_retries = max_retries
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient()
        self._process = os.getpid()

    async def send(
        self,
        call: Call,
        *,
        max_retries: int | None = None,
        retry_for: float = math.inf,
        on_first_retry: Callable[[PmsError], None] | None = None,
    ) -> httpx.Response:
        """
        Args:
            retry_for: seconds, if longer than the client's.
            on_first_retry: called before the first retry with the reason.

        Raises:
            ApiError: if the service rejects it, after any retries.
            ServiceUnreachableError: if there is no response.
            ValueError: if a header has invalid characters.
        """
        patience = self.patience(max_retries, retry_for)
        while True:
            error: PmsError
            cause: Exception | None = None
            try:
                request = self._request(call)
                response = await self._http.send(request)
                if response.is_success:
                    return response
                error = error_of(response)
            except httpx.TransportError as caught:
                refuse_bad_header(caught)
                error, cause = self._unreachable(caught), caught
            wait = patience.seconds_after(call, error, cause)
            if wait is None:
                raise telling(error, call) from cause
            if on_first_retry is not None:
                on_first_retry(error)
                on_first_retry = None
            await async_sleep(wait)

    def patience(self, max_retries: int | None = None, retry_for: float = math.inf) -> Patience:
        """How long one call is retried. Default of `max_retries`: the client's."""
        return Patience(min(retry_for, self._retry_for), self._max_retries if max_retries is None else max_retries)

    @asynccontextmanager
    async def open(self, call: Call) -> AsyncIterator[httpx.Response]:
        """A response whose body is read as a stream. Nothing is retried.

        Raises:
            ApiError: if the service rejects it.
            ServiceUnreachableError: if there is no response, or the connection breaks while the body is read.
        """
        try:
            request = self._request(call)
            response = await self._http.send(request, stream=True)
            try:
                if not response.is_success:
                    await response.aread()
                    raise telling(error_of(response), call)
                yield response
            finally:
                await response.aclose()
        except httpx.TransportError as caught:
            refuse_bad_header(caught)
            raise telling(self._unreachable(caught), call) from caught

    async def fetch(self, model: type[Model], call: Call) -> Model:
        return parsed(model, await self.send(call))

    async def pages(self, item: type[Item], *segments: str, **params: object) -> AsyncIterator[Item]:
        """Every item of a list, page by page. Only a null `next_cursor` means the end: any page may be empty."""
        cursor: str | None = None
        while True:
            response = await self.send(read(*segments, **params, cursor=cursor))
            page: Any = response.json()
            try:
                items = [item.model_validate(one) for one in page["data"]]
                cursor = page["next_cursor"]
            except (KeyError, TypeError, ValueError) as error:
                raise UnexpectedResponseError(
                    f"{response.request.url.path} did not return a list of {item.__name__}."
                ) from error
            for one in items:
                yield one
            if cursor is None:
                return

    async def aclose(self) -> None:
        if self._owns_http:
            await self._http.aclose()

    def _request(self, call: Call) -> httpx.Request:
        if self._process != os.getpid() and self._owns_http:
            # After a fork, the connections belong to the parent process.
            self._http = httpx.AsyncClient()
            self._process = os.getpid()
        return self._http.build_request(
            call.method,
            self.base_url + call.path,
            params=dict(call.params) or None,
            json=call.body,
            content=call.content,
            headers={**self._headers, **call.headers},
            timeout=httpx.Timeout(call.timeout or self._timeout, connect=CONNECT_SECONDS),
        )

    def _unreachable(self, error: httpx.TransportError) -> ServiceUnreachableError:
        what = "did not respond in time" if isinstance(error, httpx.TimeoutException) else "can't be reached"
        # OpenSSL's own messages are meant for its developers.
        if any(
            words in str(error) for words in ("WRONG_VERSION_NUMBER", "PACKET_LENGTH_TOO_LONG", "RECORD_LAYER_FAILURE")
        ):
            return ServiceUnreachableError(
                f"The service at {self.base_url} does not speak TLS at this address: use http:// in the base_url."
            )
        return ServiceUnreachableError(f"The service at {self.base_url} {what}: {str(error) or type(error).__name__}")
