"""Limits of connections: how many, how many of one address, and for how long those that neither send nor read."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from mixsearch.web.middleware.places import Places
from mixsearch.web.rare_log import RareLog, RareWarnings
from mixsearch.web.settings import Limits

# Under this key of a scope is a function that ends the connection at once.
ABORT = "mixsearch.abort"
# Looks at a connection within the time in which an answer must be read.
_N_LOOKS = 4

_logger = logging.getLogger(__name__)
# Below that of uvicorn, which warns of every request that is no HTTP, as of whoever scans ports.
_server_log = logging.getLogger("uvicorn.error.requests")
_server_log.setLevel(logging.WARNING)
_server_log.addFilter(RareWarnings())


def make_protocol(limits: Limits) -> type[H11Protocol]:
    """Return uvicorn's HTTP protocol with limits of connections.

    Parameters
    ----------
    limits : Limits
        `timeout`, `max_connections` and `max_per_address`.

    Returns
    -------
    type
        A subclass of `H11Protocol`.
    """
    places: Places[LimitedProtocol] = Places(limits)
    refused, unread = RareLog(_logger), RareLog(_logger)

    class LimitedProtocol(H11Protocol):
        deadline: asyncio.TimerHandle | None = None
        look: asyncio.TimerHandle | None = None
        n_looks = 0

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            self.app = self.add_abort(self.app)
            self.logger = _server_log

        def add_abort(self, app: Any) -> Any:
            """Allow an app to abort a connection: closing it would wait for a client that does not read."""

            async def with_abort(scope: Any, receive: Any, send: Any) -> None:
                await app({**scope, ABORT: self.abort}, receive, send)

            return with_abort

        @property
        def address(self) -> str:
            return self.client[0] if self.client else ""

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            ended = places.take(self.address, self)
            if ended is not None:
                refused.warn("Connections were refused, as of %s: there are too many.", ended.address or "a client")
                ended.transport.abort()
            if ended is self:
                return
            self.update_deadline()
            self.watch_buffer()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self.update_deadline()

        def connection_lost(self, exc: Exception | None) -> None:
            places.give_back(self)
            self.cancel_deadline()
            if self.look is not None:
                self.look.cancel()
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

        def watch_buffer(self) -> None:
            """End a connection whose answers are not read, also after it was closed: that waits for the client."""
            self.n_looks = self.n_looks + 1 if self.transport.get_write_buffer_size() else 0
            if self.n_looks > _N_LOOKS:
                self.abort()
            else:
                self.look = self.loop.call_later(limits.timeout / _N_LOOKS, self.watch_buffer)

        def abort(self) -> None:
            """End the connection of a client that does not read."""
            unread.warn("A connection of %s was ended: it did not read its answer in time.", self.address or "a client")
            self.transport.abort()

    return LimitedProtocol
