"""The server: a socket, uvicorn on it, and an end to all waiting."""

from __future__ import annotations

import errno
import socket

import uvicorn
from starlette.types import ASGIApp

from mixsearch.errors import SearchError
from mixsearch.web.patience import patient_protocol
from mixsearch.web.settings import Limits

_BACKLOG = 256
_KEEP_ALIVE_SECONDS = 5
# The longest line of a request with its headers, in bytes.
_MOST_HEADERS = 32 << 10
# For answers that are under way when the server is asked to stop.
_FAREWELL_SECONDS = 3


def listen(host: str, port: int | None, first: int = 8421, n_tries: int = 20) -> socket.socket:
    """A socket that takes connections.

    Parameters
    ----------
    host : str
        A name or an address of this machine.
    port : int, optional
        0 for any that is free. By default the first free one of some.
    first, n_tries : int
        Which these are.
    """
    for each in [port] if port is not None else range(first, first + n_tries):
        try:
            return _bind(host, each)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or port is not None:
                raise SearchError(
                    f"Cannot listen at {host}, port {each}: {error.strerror}. Choose another --port, or leave it out."
                ) from error
    raise SearchError(f"The ports {first} to {first + n_tries - 1} are all in use. Choose one with --port.")


def _bind(host: str, port: int) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError:
        listener.close()
        raise
    return listener


def address_of(listener: socket.socket, host: str) -> str:
    """Where a browser finds the server."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"


def make_server(app: ASGIApp, limits: Limits) -> uvicorn.Server:
    """A server that gives no client more time or room than the limits allow; `run(sockets=[...])` starts it."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=patient_protocol(limits),
            ws="none",
            loop="asyncio",
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=_FAREWELL_SECONDS,
            h11_max_incomplete_event_size=_MOST_HEADERS,
        )
    )
