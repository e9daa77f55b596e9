"""How long a server waits for a client, and how much it takes from one."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
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
            """Bytes that trickle in do not put off the end; a request that is whole does."""
            if self.conn.their_state is not h11.IDLE:
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
        answer = Answer(send)
        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, self._bounded(scope, receive), answer.send)
        except TimeoutError:
            seconds = f"{self._limits.seconds:g} seconds"
            await answer.give_up(scope, Refused("too_slow", f"No answer was ready within {seconds}. Ask for less."))

    def _bounded(self, scope: Scope, receive: Receive) -> Receive:
        most = self._limits.most_upload if scope["path"].rstrip("/").endswith(UPLOADS) else self._limits.most_body
        found = 0

        async def bounded() -> Message:
            nonlocal found
            message = await receive()
            found += len(message.get("body", b""))
            if found > most:
                raise Refused("too_large", f"The request has more than {most:,} bytes, the most taken. Send less.")
            return message

        return bounded


class Answer:
    """What is sent to a client, and whether it has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False

    async def send(self, message: Message) -> None:
        """Pass a part on."""
        self._has_begun = True
        await self._send(message)

    async def give_up(self, scope: Scope, error: Refused) -> None:
        """Say why there is no answer; where one has begun, breaking it off says so."""
        if self._has_begun:
            raise error
        response = failure(told_of(error))
        response.headers["Connection"] = "close"
        await response(scope, _nothing, self._send)


async def _nothing() -> Any:
    return {"type": "http.disconnect"}
