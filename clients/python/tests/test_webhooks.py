from __future__ import annotations

import json
import threading
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pms_client import Pms, webhooks
from pms_client.errors import SignatureError


def test_a_request_of_the_service_is_verified(pms: Pms) -> None:
    received: list[tuple[bytes, dict[str, str]]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((body, dict(self.headers.items())))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        webhook = pms.webhooks.create(f"http://127.0.0.1:{server.server_port}/hooks", events=["prompt.created"])
        assert pms.webhooks.test(webhook.id).status == "delivered"
        rotated = pms.webhooks.rotate_secret(webhook.id)
        assert pms.webhooks.test(webhook.id, event="evaluation.completed").status == "delivered"
        server.shutdown()
    assert len(list(pms.webhooks.deliveries(webhook.id, limit=1))) == 2

    (body, headers), (body_then, headers_then) = received
    event = webhooks.verify(body, headers, webhook.secret)
    assert isinstance(event, webhooks.PromptEvent)
    assert event.event == "prompt.created"
    assert event.timestamp.utcoffset() == timedelta(0)
    assert event.model_dump(mode="json") == json.loads(body)
    assert webhooks.is_body_signed(body, headers, webhook.secret)
    for secret in (webhook.secret, rotated.secret):
        assert isinstance(webhooks.verify(body_then, headers_then, secret), webhooks.EvaluationCompleted)
    with pytest.raises(SignatureError, match="No signature"):
        webhooks.verify(body, headers, rotated.secret)
    with pytest.raises(ValueError, match="empty"):
        webhooks.verify(body, headers, "")
    assert pms.webhooks.update(webhook.id, description="x").description == "x"
    assert pms.webhooks.disable(webhook.id).status == "disabled"
    assert pms.webhooks.enable(webhook.id).status == "enabled"
    assert [one.id for one in pms.webhooks.list() if one.id == webhook.id] == [webhook.id]
    assert pms.webhooks.delete(webhook.id).id == webhook.id
