from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel

from .._call import Call, Model, Patience, parsed, read, telling
from .._runtime import async_sleep
from ..errors import PmsError, ServiceUnreachableError, UnexpectedResponseError, error_of

Item = TypeVar("Item", bound=BaseModel)

USER_AGENT = "pms-client-python/1.0.0"
CONNECT_SECONDS = 5.0


class AsyncTransport:
    """Sends calls, and sends them again where that may help and does no harm."""

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
        base_url = (base_url or os.environ.get("PMS_BASE_URL", "")).rstrip("/")
        api_key = api_key or os.environ.get("PMS_API_KEY", "")
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("Give base_url, or set PMS_BASE_URL: the address of the service, http://127.0.0.1:3000.")
        if not api_key:
            raise ValueError("Give api_key, or set PMS_API_KEY: a key of the service.")
        self.base_url = base_url if base_url.endswith("/v1") else f"{base_url}/v1"
        self._headers = {"Authorization": f"Bearer {api_key}", "User-Agent": USER_AGENT}
        self._timeout = timeout
        self._retry_for = retry_for
        self._max_retries = max_retries
        self._owns_http = http_client is None
        self._http = http_client or httpx.AsyncClient()
        self._process = os.getpid()

    async def send(self, call: Call, *, max_retries: int | None = None) -> httpx.Response:
        """
        Raises:
            ApiError: where the service refuses it, in the end.
            ServiceUnreachableError: where no response comes.
        """
        patience = self.patience(max_retries)
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
                error, cause = self._unreachable(caught), caught
            wait = patience.seconds_after(call, error, cause)
            if wait is None:
                raise telling(error, call) from cause
            await async_sleep(wait)

    def patience(self, max_retries: int | None = None) -> Patience:
        """How long one call is sent again. Default of `max_retries`: that of the client."""
        return Patience(self._retry_for, self._max_retries if max_retries is None else max_retries)

    @asynccontextmanager
    async def open(self, call: Call) -> AsyncIterator[httpx.Response]:
        """A response whose body is read as it comes. Nothing is repeated.

        Raises:
            ApiError: where the service refuses it.
            ServiceUnreachableError: where no response comes, or the connection breaks while the body is read.
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
                    f"{response.request.url.path} gave no list of {item.__name__}."
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
            # The connections are those of the process that this one was forked from.
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
        return ServiceUnreachableError(f"The service at {self.base_url} {what}: {str(error) or type(error).__name__}")
