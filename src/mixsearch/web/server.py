"""The server: a listening socket, and uvicorn with limits."""

from __future__ import annotations

import errno
import socket

import uvicorn
from starlette.types import ASGIApp

from mixsearch.errors import Option, SearchError

PORT = 8421
# For answers that are being sent when the server stops.
_SHUTDOWN_SECONDS = 3


def listen(host: str, port: int | None, usual_port: int = PORT) -> socket.socket:
    """Return a socket that is bound to a port; without one, to the usual port, or any if that is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, usual_port if port is None else port), family=family)
    except OSError as error:
        if port is None and error.errno == errno.EADDRINUSE:
            return listen(host, 0)
        raise SearchError(
            "Cannot listen on {host}, port {port}: {reason}. Choose another {argument}, or omit it.",
            code="cannot_listen",
            host=host,
            port=usual_port if port is None else port,
            reason=error.strerror,
            argument=Option("port"),
        ) from error


def make_url(listener: socket.socket, host: str) -> str:
    """Return the address of the server for a browser."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def make_server(app: ASGIApp) -> uvicorn.Server:
    """Return a server; `run(sockets=[...])` starts it."""
    return uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=_SHUTDOWN_SECONDS))
