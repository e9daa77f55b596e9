"""How long a server waits for a client, and how much it takes from one."""

from __future__ import annotations

import asyncio

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from mixsearch.web.failures import Refused, failure, told_of
from mixsearch.web.settings import Limits

UPLOADS = "/api/pictures"


def patient_protocol(limits: Limits) -> type[H11Protocol]:
    """The HTTP of uvicorn, with an end to waiting for a request, and to the number of connections."""

    class PatientProtocol(H11Protocol):
        deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > limits.most_connections:
                transport.close()
            self.watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self.calm_down()
            super().connection_lost(exc)

        def watch(self) -> None:
            """Bytes that trickle in do not put off the end, nor those after an answer to half a request."""
            is_answered = getattr(self.cycle, "response_complete", False)  # there is none before the first request
            if self.conn.their_state is not h11.IDLE and not is_answered:
                self.calm_down()
            elif self.deadline is None:
                self.deadline = self.loop.call_later(limits.seconds, self.transport.abort)

        def calm_down(self) -> None:
            if self.deadline is not None:
                self.deadline.cancel()
                self.deadline = None

    return PatientProtocol


class Patience:
    """An app whose requests are of bounded size, and end in a bounded time."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_upload = scope["path"].endswith(UPLOADS)
        talk = Talk(scope, receive, send, self._limits.most_upload if is_upload else self._limits.most_body)
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, talk.receive, talk.send)
        except ClientDisconnect:
            return  # nobody is there to be told
        except TimeoutError:
            seconds = f"{self._limits.seconds:g} seconds"
            await talk.give_up(Refused("too_slow", f"No answer was ready within {seconds}. Ask for less."))


class Talk:
    """One request and its answer, as far as they have come."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, most: int) -> None:
        self._scope, self._receive, self._send, self._most = scope, receive, send, most
        headers = Headers(scope=scope)
        self._is_read = "transfer-encoding" not in headers and headers.get("content-length", "0") == "0"
        self._n_bytes = 0
        self._has_begun = self._is_over = False

    async def receive(self) -> Message:
        """A part of the request."""
        message = await self._receive()
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > self._most:
            raise Refused("too_large", f"The request has more than {self._most:,} bytes, the most taken. Send less.")
        self._is_read = self._is_read or not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """A part of the answer. One to half a request is the last: the other half would be taken for the next one."""
        self._has_begun = True
        if message["type"] == "http.response.start" and not self._is_read:
            MutableHeaders(scope=message)["Connection"] = "close"
        self._is_over = message["type"] == "http.response.body" and not message.get("more_body", False)
        await self._send(message)

    async def give_up(self, error: Refused) -> None:
        """Say why there is no answer; where one has begun, breaking it off says so."""
        if self._is_over:
            return  # what took too long came after the answer
        if self._has_begun:
            raise error
        await failure(told_of(error))(self._scope, self.receive, self.send)
