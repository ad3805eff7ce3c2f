from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

VECTORS = Path(__file__).resolve().parents[3] / "test" / "vectors"
# Far beyond what a busy machine takes.
PATIENCE_SECONDS = 120.0

BASE_URL = os.environ.get("PMS_BASE_URL", "http://127.0.0.1:3000")
API_KEY = os.environ.get("PMS_API_KEY", "pms_unset")


def vectors(name: str) -> Any:
    """Behavior that the service and its clients share: test/vectors/README.md."""
    return json.loads((VECTORS / f"{name}.json").read_text())


def until(what: str, look: Callable[[], bool]) -> None:
    """Polls until the condition holds."""
    latest = time.monotonic() + PATIENCE_SECONDS
    while not look():
        assert time.monotonic() < latest, f"Waited {PATIENCE_SECONDS} s in vain for {what}."
        time.sleep(0.02)


def call(method: str, path: str, body: object = None, key: str = API_KEY) -> Any:
    """Bypasses the client, to set up what a test needs."""
    response = httpx.request(
        method, f"{BASE_URL}/v1{path}", json=body, headers={"Authorization": f"Bearer {key}"}, timeout=PATIENCE_SECONDS
    )
    assert response.is_success, response.text
    return response.json()


class Proxy:
    """A TCP proxy before the service, without knowledge of the protocol."""

    def __init__(self) -> None:
        target = urlsplit(BASE_URL)
        self._target = (target.hostname or "", target.port or 80)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._sockets: list[socket.socket] = []
        self._is_away = False
        self.connections = 0
        self.cuts_left = 0
        self._cut_at = b""
        self._cut_behind = b""
        threading.Thread(target=self._accept, daemon=True).start()

    def go_away(self) -> None:
        """Ends all connections, and accepts no new ones."""
        self._is_away = True
        self._end_all()

    def come_back(self) -> None:
        self._is_away = False

    def lose(self, what: bytes, times: int = 1) -> None:
        """Loses that many of the next responses that contain this, from there on, with their connections."""
        self._cut_at, self._cut_behind, self.cuts_left = what, b"", times

    def cut_behind_event(self, type_: str, times: int) -> None:
        """Cuts off that many of the next streams after the first event of this type."""
        self._cut_at, self._cut_behind, self.cuts_left = f"event: {type_}\n".encode(), b"\n\n", times

    def close(self) -> None:
        self._server.close()
        self._end_all()

    def _end_all(self) -> None:
        for one in self._sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._server.accept()
            except OSError:
                return
            if self._is_away:
                caller.close()
                continue
            self.connections += 1
            try:
                service = socket.create_connection(self._target)
            except OSError:
                caller.close()
                continue
            self._sockets += [caller, service]
            threading.Thread(target=self._pass, args=(caller, service, False), daemon=True).start()
            threading.Thread(target=self._pass, args=(service, caller, True), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_response: bool) -> None:
        seen = b""
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if is_response and self.cuts_left > 0:
                    sent = len(seen)
                    seen += data
                    at = seen.find(self._cut_at)
                    end = at if at < 0 or not self._cut_behind else seen.find(self._cut_behind, at)
                    if end >= 0:
                        self.cuts_left -= 1
                        sink.sendall(seen[sent : end + len(self._cut_behind)])
                        break
                sink.sendall(data)
        for one in (source, sink):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextlib.contextmanager
def proxy() -> Iterator[Proxy]:
    made = Proxy()
    try:
        yield made
    finally:
        made.close()
