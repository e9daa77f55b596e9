"""Limits of requests: their time and their size."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mixsearch.web.errors import APIError, make_error_response
from mixsearch.web.security import add_headers
from mixsearch.web.settings import FILES, UPLOADS, Limits

# A file with texts may be 20 times as large as a picture.
_FILE_TIMES = 10


class LimitsMiddleware:
    """Limit the size of requests and the time until they are answered."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes, seconds = self._find_limits(scope["path"])
        exchange = _Exchange(scope, receive, send, max_bytes)
        try:
            async with asyncio.timeout(seconds):
                await exchange.run(self._app)
        except ClientDisconnect:
            return
        except TimeoutError:
            if not exchange.has_begun:  # else the server closes the connection
                error = APIError("too_slow", "No answer within {seconds:g} seconds. Request less.", seconds=seconds)
                await make_error_response(error)(scope, receive, add_headers(exchange.send))

    def _find_limits(self, path: str) -> tuple[int, float]:
        """Return the largest number of bytes, and of seconds."""
        limits = self._limits
        if path.endswith(FILES):
            return limits.max_file, _FILE_TIMES * limits.timeout
        return limits.max_upload if path.endswith(UPLOADS) else limits.max_body, limits.timeout


class _Exchange:
    """One request and its answer, and how far both have come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self._scope, self._receive, self._send, self._max_bytes = scope, receive, send, max_bytes
        headers = Headers(scope=scope)
        self._is_read = "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"
        self._n_bytes = 0
        self._first: Message | None = None
        self._is_over = False
        self.has_begun = False

    async def run(self, app: ASGIApp) -> None:
        """Run an app, and cancel its work if the client disconnects before the answer."""
        if not self._is_read:
            await app(self._scope, self.receive, self.send)
            return
        # The one message of a request without a body, which the app may still ask for.
        self._first = await self._receive()
        work = asyncio.ensure_future(app(self._scope, self.receive, self.send))
        leave = asyncio.ensure_future(self._receive())
        try:
            await asyncio.wait({work, leave}, return_when=asyncio.FIRST_COMPLETED)
            if work.done() or self._is_over:
                await work
        finally:
            for task in (work, leave):
                task.cancel()

    async def receive(self) -> Message:
        """Return the next part of the request."""
        message, self._first = self._first or await self._receive(), None
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > self._max_bytes:
            raise APIError(
                "too_large", "The request is larger than the limit of {max_bytes:,} bytes.", max_bytes=self._max_bytes
            )
        self._is_read = self._is_read or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send the next part of the answer.

        An answer to a half-read request closes the connection: the rest would be taken for the next request.
        """
        self.has_begun = True
        if message["type"] == "http.response.start" and not self._is_read:
            MutableHeaders(scope=message)["Connection"] = "close"
        await self._send(message)
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
