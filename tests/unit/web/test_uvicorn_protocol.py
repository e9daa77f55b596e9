"""What is used of uvicorn's HTTP protocol, a private class: a release that changes it must fail here first.

The upper bound of uvicorn in pyproject.toml is raised when these tests pass with the new release.
"""

import asyncio

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState


class Wire(asyncio.Transport):
    """A connection that discards everything."""

    def __init__(self):
        super().__init__()
        self.written, self.is_closed = b"", False

    def write(self, data):
        self.written += data

    def close(self):
        self.is_closed = True

    def is_closing(self):
        return self.is_closed

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


async def app(scope, receive, send):
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


class Protocol(H11Protocol):
    """A subclass, as the server gives it to uvicorn."""


def connected():
    config = uvicorn.Config(app, http=Protocol, ws="none", log_config=None, lifespan="off")
    config.load()
    protocol = config.http_protocol_class(config=config, server_state=ServerState(), app_state={})
    protocol.connection_made(Wire())
    return protocol


def run(talk):
    """Return what a coroutine returns."""
    return asyncio.run(talk())


def test_a_class_may_stand_for_the_protocol():
    async def talk():
        return connected()

    assert type(run(talk)) is Protocol


def test_a_new_connection_is_counted_and_has_a_loop_and_a_transport():
    async def talk():
        protocol = connected()
        assert protocol.loop is asyncio.get_running_loop()
        return protocol

    protocol = run(talk)
    assert set(protocol.connections) == {protocol}
    assert isinstance(protocol.transport, Wire)


def test_before_the_first_request_there_is_no_cycle_and_the_client_is_idle():
    async def talk():
        return connected()

    protocol = run(talk)
    assert protocol.cycle is None
    assert isinstance(protocol.conn, h11.Connection)
    assert protocol.conn.their_state is h11.IDLE


def test_half_a_request_leaves_the_client_idle():
    async def talk():
        protocol = connected()
        protocol.data_received(b"GET / HTTP/1.1\r\nHost:")
        return protocol

    protocol = run(talk)
    assert protocol.conn.their_state is h11.IDLE
    assert protocol.cycle is None


def test_a_request_begins_a_cycle_that_says_when_it_is_answered():
    async def talk():
        protocol = connected()
        protocol.data_received(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert protocol.conn.their_state is not h11.IDLE
        assert protocol.cycle.response_complete is False
        await asyncio.gather(*protocol.tasks)
        protocol.timeout_keep_alive_task.cancel()
        return protocol

    protocol = run(talk)
    assert protocol.cycle.response_complete is True
    assert protocol.transport.written.startswith(b"HTTP/1.1 204")


def test_a_lost_connection_is_no_longer_counted():
    async def talk():
        protocol = connected()
        protocol.connection_lost(None)
        return protocol

    assert not run(talk).connections
