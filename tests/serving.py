"""A server in a thread, at a port that is free."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import ASGIApp

from mixsearch.web import Limits, address_of, listen, make_server


@contextmanager
def serving(app: ASGIApp, limits: Limits | None = None) -> Iterator[str]:
    """Where the app is served, http://127.0.0.1:... without a slash."""
    server, listener = make_server(app, limits or Limits()), listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield address_of(listener, "127.0.0.1").rstrip("/")
    finally:
        server.should_exit = True
        thread.join(20)
        assert not thread.is_alive(), "the server did not stop"
