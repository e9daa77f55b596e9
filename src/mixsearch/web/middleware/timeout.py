"""Limits of requests: time, size, and number of connections."""

from __future__ import annotations

import asyncio

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mixsearch.web.errors import APIError, make_error_response
from mixsearch.web.settings import FILES, UPLOADS, Limits

# A file with texts may be 20 times as large as a picture.
_FILE_TIMES = 10


def make_protocol(limits: Limits) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with a time limit for headers and a limit of connections.

    Parameters
    ----------
    limits : Limits
        `timeout` and `max_connections`.

    Returns
    -------
    type
        A subclass of `H11Protocol`.
    """

    class LimitedProtocol(H11Protocol):
        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.max_connections:
                transport.close()
            self.update_deadline()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.update_deadline()

        def connection_lost(self, exc: Exception | None) -> None:
            self.cancel_deadline()
            super().connection_lost(exc)

        def update_deadline(self) -> None:
            """Set a deadline while headers are missing. Further bytes do not move it."""
            is_answered = getattr(self.cycle, "response_complete", False)  # no cycle before the first request
            if self.conn.their_state is not h11.IDLE and not is_answered:
                self.cancel_deadline()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(limits.timeout, self.transport.abort)

        def cancel_deadline(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return LimitedProtocol


class TimeoutMiddleware:
    """Limit the size of requests and the time until they are answered.

    Parameters
    ----------
    app : ASGI app
        The app that answers.
    limits : Limits
        `timeout`, `max_body`, `max_upload` and `max_file`.
    """

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes, seconds = self._find_limits(scope["path"])
        exchange = Exchange(scope, receive, send, max_bytes)
        try:
            async with asyncio.timeout(seconds):
                await self._app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            return
        except TimeoutError:
            error = APIError("too_slow", "No answer within {seconds:g} seconds. Request less.", seconds=seconds)
            await exchange.fail(error)

    def _find_limits(self, path: str) -> tuple[int, float]:
        """Return the largest number of bytes, and of seconds."""
        limits = self._limits
        if path.endswith(FILES):
            return limits.max_file, _FILE_TIMES * limits.timeout
        return limits.max_upload if path.endswith(UPLOADS) else limits.max_body, limits.timeout


class Exchange:
    """One request and its answer, and how far both have come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, max_bytes: int) -> None:
        self._scope, self._receive, self._send, self._max_bytes = scope, receive, send, max_bytes
        headers = Headers(scope=scope)
        self._is_read = "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"
        self._n_bytes = 0
        self._has_begun = self._is_over = False

    async def receive(self) -> Message:
        """Return the next part of the request."""
        message = await self._receive()
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
        self._has_begun = True
        if message["type"] == "http.response.start" and not self._is_read:
            MutableHeaders(scope=message)["Connection"] = "close"
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def fail(self, error: APIError) -> None:
        """Answer with an error; if an answer has begun, break it off."""
        if self._is_over:
            return  # a background task took too long
        if self._has_begun:
            raise error
        await make_error_response(error)(self._scope, self.receive, self.send)
