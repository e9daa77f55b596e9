"""An answer is no longer computed when nobody waits for it."""

import asyncio

import pytest

from mixsearch.web.middleware import TimeoutMiddleware
from mixsearch.web.middleware.connections import ABORT
from mixsearch.web.middleware.timeout import PART_BYTES
from mixsearch.web.settings import Limits

SCOPE = {"type": "http", "path": "/api/x", "method": "GET", "headers": []}


def ask(app, messages, scope=SCOPE):
    """Run an app in the middleware with the client's messages, and return the messages sent to the client."""
    sent, queue = [], list(messages)

    async def receive():
        if not queue:
            await asyncio.sleep(60)
        return queue.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(asyncio.wait_for(TimeoutMiddleware(app, Limits(timeout=30))(scope, receive, send), 60))
    return sent


def test_a_client_that_leaves_cancels_the_work():
    ended = []

    async def app(scope, receive, send):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    assert ask(app, [{"type": "http.request", "body": b""}, {"type": "http.disconnect"}]) == []
    assert ended == ["cancelled"]


def test_what_comes_after_a_complete_answer_is_not_cancelled():
    done = []

    async def app(scope, receive, send):
        assert (await receive())["type"] == "http.request"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})
        await asyncio.sleep(0.05)
        done.append("in the background")

    sent = ask(app, [{"type": "http.request", "body": b""}, {"type": "http.disconnect"}])
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert done == ["in the background"]


def test_a_body_reaches_the_app():
    async def app(scope, receive, send):
        body = (await receive())["body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    scope = {**SCOPE, "method": "POST", "headers": [(b"content-length", b"3")]}
    assert ask(app, [{"type": "http.request", "body": b"abc"}], scope)[1]["body"] == b"abc"


def test_an_answer_is_sent_as_fast_as_it_is_read():
    body = bytes(range(256)) * 1000

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    start, *parts = ask(app, [{"type": "http.request", "body": b""}])
    assert start["type"] == "http.response.start"
    assert b"".join(part["body"] for part in parts) == body
    assert max(len(part["body"]) for part in parts) <= PART_BYTES
    assert [part.get("more_body", False) for part in parts] == [True] * (len(parts) - 1) + [False]


@pytest.mark.parametrize("n_read", [0, 1, 3])
def test_a_connection_ends_however_little_of_an_answer_is_unread_at_the_limit(n_read):
    aborted, sent, requests = [], [], [{"type": "http.request", "body": b""}]

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(3 * PART_BYTES)})

    async def receive():
        if not requests:
            await asyncio.Event().wait()
        return requests.pop()

    async def send(message):
        if len(sent) == n_read:
            await asyncio.Event().wait()  # the client never reads
        sent.append(message)

    async def answer():
        scope = {**SCOPE, ABORT: lambda: aborted.append("aborted")}
        await TimeoutMiddleware(app, Limits(timeout=0.05))(scope, receive, send)

    asyncio.run(answer())
    assert aborted == ["aborted"]
    assert len(sent) == n_read
