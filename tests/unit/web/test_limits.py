"""Limits of time and size; an answer is no longer computed when nobody waits for it."""

import asyncio
import json

from tests.coded import raises

from mixsearch.web.limits import LimitsMiddleware
from mixsearch.web.settings import Limits

SCOPE = {"type": "http", "path": "/api/x", "method": "GET", "headers": []}


def ask(app, messages, scope=SCOPE, **limits):
    """Run an app in the middleware with the client's messages, and return the messages sent to the client."""
    sent, queue = [], list(messages)

    async def receive():
        if not queue:
            await asyncio.Event().wait()
        return queue.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(LimitsMiddleware(app, Limits(**{"timeout": 60, **limits}))(scope, receive, send))
    return sent


def test_a_client_that_leaves_cancels_the_work():
    ended = []

    async def app(scope, receive, send):
        try:
            await asyncio.Event().wait()
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
        await asyncio.sleep(0)
        done.append("in the background")

    sent = ask(app, [{"type": "http.request", "body": b""}, {"type": "http.disconnect"}])
    assert [each["type"] for each in sent] == ["http.response.start", "http.response.body"]
    assert done == ["in the background"]


async def echo(scope, receive, send):
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message["body"], message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


def test_a_body_reaches_the_app():
    scope = {**SCOPE, "method": "POST", "headers": [(b"content-length", b"3")]}
    assert ask(echo, [{"type": "http.request", "body": b"abc"}], scope)[1]["body"] == b"abc"


def test_a_body_is_counted_as_it_comes():
    scope = {**SCOPE, "method": "POST", "headers": [(b"transfer-encoding", b"chunked")]}
    parts = [{"type": "http.request", "body": bytes(6), "more_body": True}] * 2
    with raises("too_large", max_bytes=10):
        ask(echo, parts, scope, max_body=10)


def test_what_does_not_come_in_time_is_answered_with_a_code_and_closes_the_connection():
    scope = {**SCOPE, "method": "POST", "headers": [(b"content-length", b"3")]}
    start, body = ask(echo, [], scope, timeout=0.01)
    headers = dict(start["headers"])
    assert start["status"] == 503
    assert headers[b"connection"] == b"close"
    assert b"content-security-policy" in headers
    assert json.loads(body["body"])["error"]["code"] == "too_slow"


def test_an_answer_that_has_begun_is_broken_off_at_the_limit():
    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await asyncio.Event().wait()

    assert [each["status"] for each in ask(app, [{"type": "http.request", "body": b""}], timeout=0.01)] == [200]
