"""The server: a listening socket, and uvicorn with limits."""

from __future__ import annotations

import errno
import socket

import uvicorn
from starlette.types import ASGIApp

from mixsearch.errors import Option, SearchError
from mixsearch.web.settings import Limits

_BACKLOG = 256
# For answers that are being sent when the server stops.
_SHUTDOWN_SECONDS = 3


def listen(host: str, port: int | None, first_port: int = 8421, n_ports: int = 20) -> socket.socket:
    """Return a socket that is bound to a port; without one, to the first port that is free."""
    ports = range(first_port, first_port + n_ports) if port is None else [port]
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for each in ports:
        try:
            return socket.create_server((host, each), family=family, backlog=_BACKLOG)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or port is not None:
                raise SearchError(
                    "Cannot listen on {host}, port {port}: {reason}. Choose another {argument}, or omit it.",
                    code="cannot_listen",
                    host=host,
                    port=each,
                    reason=error.strerror,
                    argument=Option("port"),
                ) from error
    raise SearchError(
        "The ports {first} to {last} are all in use. Choose one with {argument}.",
        code="ports_in_use",
        first=ports[0],
        last=ports[-1],
        argument=Option("port"),
    )


def make_url(listener: socket.socket, host: str) -> str:
    """Return the address of the server for a browser."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def make_server(app: ASGIApp, limits: Limits) -> uvicorn.Server:
    """Return a server with limits of connections; `run(sockets=[...])` starts it.

    Parameters
    ----------
    app : ASGI app
        From `make_app`.
    limits : Limits
        `max_connections`.

    Returns
    -------
    uvicorn.Server

    Examples
    --------
    >>> from mixsearch.web import Limits, make_app, make_server
    >>> server = make_server(make_app({}), Limits(timeout=5))
    >>> server.started
    False
    """
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http="h11",
            ws="none",
            loop="asyncio",
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            backlog=_BACKLOG,
            limit_concurrency=limits.max_connections,
            timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
            h11_max_incomplete_event_size=32 << 10,  # of the request line and the headers, in bytes
        )
    )
