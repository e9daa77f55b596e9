"""A server in its own thread, and direct requests to its API."""

from __future__ import annotations

import json
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin

import uvicorn

from mixsearch.topics import TopicIndex
from mixsearch.web.app import make_app
from mixsearch.web.server import listen, make_server, make_url
from mixsearch.web.settings import Access, Limits

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Serving:
    """A running server and its address."""

    address: str
    server: uvicorn.Server
    thread: threading.Thread

    def get(self, path: str, **parameters: Any) -> Any:
        """Return the JSON at an address of the API."""
        return json.loads(self.read(path, **parameters))

    def read(self, path: str, **parameters: Any) -> bytes:
        """Return the bytes at an address."""
        query = urlencode(parameters, doseq=True)
        with urllib.request.urlopen(urljoin(self.address, f"{path}?{query}"), timeout=120) as answer:
            return bytes(answer.read())

    def stop(self) -> None:
        """Stop the server."""
        self.server.should_exit = True
        self.thread.join(timeout=120)
        assert not self.thread.is_alive(), "the server did not stop"


@contextmanager
def serve(
    indexes: Mapping[str, TopicIndex], access: Access | None = None, limits: Limits | None = None
) -> Iterator[Serving]:
    """Serve indexes on a free port until the end."""
    limits = limits or Limits(timeout=120)
    server = make_server(make_app(indexes, limits=limits, access=access))
    with listen(HOST, 0) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        serving = Serving(make_url(listener, HOST), server, thread)
        try:
            yield serving
        finally:
            serving.stop()
