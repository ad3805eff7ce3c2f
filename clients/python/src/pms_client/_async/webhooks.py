from __future__ import annotations

from collections.abc import AsyncIterator

from typing_extensions import Unpack

from .._call import change, create, read
from .._lazy import models
from ..types import DeliveryStatus, Time, WebhookFields
from .operations import AsyncWebhooksOperations
from .transport import AsyncTransport

_TEST_SECONDS = 30.0


class AsyncWebhooks(AsyncWebhooksOperations):
    """Endpoints that the service calls. `pms_client.webhooks.verify` verifies its requests."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        url: str,
        *,
        secret: str | None = None,
        idempotency_key: str | None = None,
        **fields: Unpack[WebhookFields],
    ) -> models.WebhookWithSecret:
        """Registers an endpoint. Its secret is shown only once."""
        chosen = {} if secret is None else {"secret": secret}
        call = create("webhooks", body={"url": url, **chosen, **fields}, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.WebhookWithSecret, call)

    async def get(self, webhook_id: str) -> models.Webhook:
        return await self._transport.fetch(models.Webhook, read("webhooks", webhook_id))

    def list(self, *, status: str | None = None, limit: int | None = None) -> AsyncIterator[models.Webhook]:
        return self._transport.pages(models.Webhook, "webhooks", status=status, limit=limit)

    async def update(
        self, webhook_id: str, *, url: str | None = None, **fields: Unpack[WebhookFields]
    ) -> models.Webhook:
        """Changes the given fields."""
        moved = {} if url is None else {"url": url}
        call = change("PATCH", "webhooks", webhook_id, body={**moved, **fields}, is_repeatable=True)
        return await self._transport.fetch(models.Webhook, call)

    async def enable(self, webhook_id: str) -> models.Webhook:
        return await self._transport.fetch(models.Webhook, change("POST", "webhooks", webhook_id, "enable"))

    async def disable(self, webhook_id: str) -> models.Webhook:
        return await self._transport.fetch(models.Webhook, change("POST", "webhooks", webhook_id, "disable"))

    async def rotate_secret(
        self, webhook_id: str, *, secret: str | None = None, idempotency_key: str | None = None
    ) -> models.WebhookWithSecret:
        """Creates a new secret. The old one also signs for another 24 hours."""
        body = {} if secret is None else {"secret": secret}
        call = create("webhooks", webhook_id, "rotate-secret", body=body, idempotency_key=idempotency_key)
        return await self._transport.fetch(models.WebhookWithSecret, call)

    async def test(
        self, webhook_id: str, *, event: str | None = None, idempotency_key: str | None = None
    ) -> models.DeliveryWithAttempts:
        """Sends a sample event once."""
        body = {} if event is None else {"event": event}
        call = create("webhooks", webhook_id, "test", body=body, idempotency_key=idempotency_key, timeout=_TEST_SECONDS)
        return await self._transport.fetch(models.DeliveryWithAttempts, call)

    def deliveries(
        self,
        webhook_id: str,
        *,
        status: DeliveryStatus | None = None,
        event: str | None = None,
        since: Time | None = None,
        until: Time | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[models.Delivery]:
        return self._transport.pages(
            models.Delivery,
            "webhooks",
            webhook_id,
            "deliveries",
            status=status,
            event=event,
            since=since,
            until=until,
            limit=limit,
        )

    async def delete(self, webhook_id: str) -> models.Webhook:
        return await self._transport.fetch(models.Webhook, change("DELETE", "webhooks", webhook_id))
