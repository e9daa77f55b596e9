"""An answer is no longer computed when nobody waits for it."""

import asyncio

from mixsearch.web.middleware import TimeoutMiddleware
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
