"""Compression of answers to other computers: on this one, it would only take time."""

from __future__ import annotations

import ipaddress

from starlette.middleware.gzip import GZipMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

_MIN_BYTES = 1000
_LEVEL = 4


class CompressionMiddleware:
    """Compress answers to other computers.

    Parameters
    ----------
    app : ASGI app
        The app that answers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._compressed = GZipMiddleware(app, minimum_size=_MIN_BYTES, compresslevel=_LEVEL)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await (self._compressed if _is_remote(scope) else self._app)(scope, receive, send)


def _is_remote(scope: Scope) -> bool:
    client = scope.get("client")
    try:
        return client is not None and not ipaddress.ip_address(client[0]).is_loopback
    except ValueError:  # a test, or a socket in the file system
        return False
