"""The guard: the right host, the same site, the right token; limits of time and size."""

import asyncio
import json
import os
import stat

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.coded import raises

from mixsearch.web import Access, make_app
from mixsearch.web.security import SECURITY_HEADERS, Guard, keep_token
from mixsearch.web.settings import Limits

TOKEN = "a secret of some length"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def client(access=None, host="127.0.0.1"):
    return TestClient(make_app({}, access=access), base_url=f"http://{host}", follow_redirects=False)


def code(response):
    return response.json()["error"]["code"]


@pytest.mark.parametrize("host", ["127.0.0.1:8421", "LOCALHOST:1", "page.localhost", "[::1]:80"])
def test_addresses_and_localhost_are_answered(host):
    assert client().get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1"])
def test_names_that_anyone_can_point_here_are_not(host):
    refused = client().get("/api/health", headers={"host": host})
    assert refused.status_code == 421
    assert code(refused) == "wrong_host"


def test_a_name_can_be_allowed():
    access = Access(hosts=("search.example",))
    assert client(access).get("/api/health", headers={"host": "Search.example:80"}).status_code == 200
    assert client(access).get("/api/health", headers={"host": "other.example"}).status_code == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_get_nothing(site):
    for path in ("/api/health", "/static/page.js", "/"):
        assert code(client().get(path, headers={"sec-fetch-site": site})) == "forbidden"


def test_other_sites_may_link_to_the_pages_only():
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    for page in ("/", "/table", "/segment"):
        assert client().get(page, headers=link).status_code == 200
    assert code(client().get("/api/health", headers=link)) == "forbidden"
    assert code(client().post("/", headers=link)) == "forbidden"


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1.evil.example", "http://["])
def test_only_the_own_origin_is_answered(origin):
    assert code(client().post("/api/files", headers={"origin": origin})) == "forbidden"
    ours = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
    assert client().get("/api/health", headers=ours).is_success


@pytest.mark.parametrize("path", ["/", "/api/health", "/static/page.js", "/nothing"])
def test_every_answer_says_what_a_page_may_do(path):
    headers = client().get(path).headers
    for name, value in SECURITY_HEADERS.items():
        assert headers[name] == value
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "http" not in headers["Content-Security-Policy"]


def test_without_the_token_there_is_a_form_and_nothing_else():
    visitor = client(Access(token=TOKEN))
    for page in ("/", "/table", "/segment"):
        asked = visitor.get(page)
        assert asked.status_code == 401
        assert '<form method="post">' in asked.text
    for path in ("/api/health", "/api/openapi.json", "/api/indexes"):
        assert code(visitor.get(path)) == "unauthorized"
    assert code(visitor.post("/api/files", content=b"x")) == "unauthorized"
    assert visitor.get("/static/page.css").status_code == 200


@pytest.mark.parametrize("shown", ["Bearer wrong", "Bearer", "", f"Basic {TOKEN}", "Bearer ключ".encode()])
def test_only_the_token_opens(shown):
    assert client(Access(token=TOKEN)).get("/api/health", headers=BEARER).status_code == 200
    assert client(Access(token=TOKEN)).get("/api/health", headers={"Authorization": shown}).status_code == 401


def test_a_link_with_the_token_leaves_a_cookie_and_no_token_in_the_address():
    visitor = client(Access(token=TOKEN))
    sent = visitor.get("/table", params={"words": "a b", "token": TOKEN})
    assert sent.status_code == 303
    assert sent.headers["location"] == "./table?words=a+b"
    cookie = sent.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert visitor.get("/api/health").status_code == 200


def test_a_ticket_signs_in_once():
    app = make_app({}, access=Access(token=TOKEN, ticket="for the browser"))
    first, second = (TestClient(app, base_url="http://localhost", follow_redirects=False) for _ in range(2))
    for _ in range(2):  # again, as a browser that restores its tabs does
        assert first.get("/", params={"token": "for the browser"}).status_code == 303
    assert first.get("/api/health").status_code == 200
    assert second.get("/", params={"token": "for the browser"}).status_code == 401
    assert second.get("/api/health").status_code == 401
    assert second.get("/api/health", headers={"Authorization": "Bearer for the browser"}).status_code == 401
    assert second.get("/", params={"token": TOKEN}).status_code == 303


def test_the_form_takes_the_token():
    visitor = client(Access(token=TOKEN))
    assert visitor.post("/", data={"token": "wrong"}).status_code == 401
    assert visitor.get("/api/health").status_code == 401
    assert visitor.post("/table?words=a", data={"token": TOKEN}).headers["location"] == "./table?words=a"
    assert visitor.get("/api/health").status_code == 200


def test_a_link_cannot_lead_elsewhere():
    sent = client(Access(token=TOKEN)).get("//evil.example/", params={"token": TOKEN})
    assert "evil" not in sent.headers.get("location", "")


def test_the_cookie_does_not_tell_the_token_and_works_after_a_restart():
    sent = client(Access(token=TOKEN)).get(f"/?token={TOKEN}")
    (session,) = sent.cookies.values()
    assert TOKEN not in session
    for token, status in ((TOKEN, 200), ("another token", 401)):
        again = client(Access(token=token))
        again.cookies = sent.cookies
        assert again.get("/api/health").status_code == status
    assert (
        client(Access(token=TOKEN)).get("/api/health", headers={"Authorization": f"Bearer {session}"}).status_code
        == 401
    )


def test_two_servers_on_one_machine_have_their_own_cookies():
    names = {
        TestClient(
            make_app({}, access=Access(token=TOKEN)), base_url=f"http://127.0.0.1:{port}", follow_redirects=False
        )
        .get("/", params={"token": TOKEN})
        .headers["set-cookie"]
        .partition("=")[0]
        for port in (8421, 8422)
    }
    assert len(names) == 2


def test_a_token_that_no_header_can_carry_is_refused():
    with raises("bad_token"):
        Access(token="ключ-доступа")


def test_an_app_may_be_mounted_under_a_prefix():
    around = Starlette()
    around.mount("/search", make_app({}, access=Access(token=TOKEN)))
    visitor = TestClient(around, base_url="http://127.0.0.1", follow_redirects=False)
    assert visitor.get("/search/static/page.css").status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert visitor.get("/search/table", headers=link).status_code == 401
    assert visitor.get("/search/table", params={"token": TOKEN}).headers["location"] == "./table"
    assert visitor.get("/search/api/health").status_code == 200


def test_a_token_is_kept_beside_the_index_for_its_owner_alone(tmp_path):
    token = keep_token(tmp_path / "reviews.index")
    file = tmp_path / "reviews.index.token"
    assert len(token) > 20
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keep_token(tmp_path / "reviews.index") == token
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.skipif(os.name == "nt", reason="files have no such modes")
def test_a_token_that_others_could_read_or_that_is_none_is_replaced(tmp_path):
    token, file = keep_token(tmp_path / "reviews.index"), tmp_path / "reviews.index.token"
    file.chmod(0o644)
    another = keep_token(tmp_path / "reviews.index")
    assert another != token
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.write_bytes(b"\xff\x00")
    assert keep_token(tmp_path / "reviews.index") not in (token, another)


def test_where_nothing_can_be_written_the_token_is_for_one_run(tmp_path):
    tokens = {keep_token(tmp_path / "missing" / "reviews.index") for _ in range(2)}
    assert len(tokens) == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_a_token_is_not_read_from_a_pipe_or_through_a_link(tmp_path, kind):
    file = tmp_path / "a.index.token"
    if kind == "pipe":
        os.mkfifo(file, 0o600)
    else:
        secret = tmp_path / "secret"
        secret.write_text("something else that is private\n")
        secret.chmod(0o600)
        file.symlink_to(secret)
    assert "something" not in keep_token(tmp_path / "a.index")


# ---- Time and size ----

HOST = (b"host", b"localhost")
SCOPE = {"type": "http", "path": "/api/x", "method": "GET", "query_string": b"", "headers": [HOST]}


def ask(app, messages, scope=SCOPE, **limits):
    """Run an app in the middleware with the client's messages, and return the messages sent to the client."""
    sent, queue = [], list(messages)

    async def receive():
        if not queue:
            await asyncio.Event().wait()
        return queue.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(app, Access(), Limits(**{"timeout": 60, **limits}))(scope, receive, send))
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
    scope = {**SCOPE, "method": "POST", "headers": [HOST, (b"content-length", b"3")]}
    assert ask(echo, [{"type": "http.request", "body": b"abc"}], scope)[1]["body"] == b"abc"


def test_a_body_is_counted_as_it_comes():
    scope = {**SCOPE, "method": "POST", "headers": [HOST, (b"transfer-encoding", b"chunked")]}
    parts = [{"type": "http.request", "body": bytes(6), "more_body": True}] * 2
    with raises("too_large", max_bytes=10):
        ask(echo, parts, scope | {"path": "/api/files"}, max_file=10)


def test_what_does_not_come_in_time_is_answered_with_a_code_and_closes_the_connection():
    scope = {**SCOPE, "method": "POST", "headers": [HOST, (b"content-length", b"3")]}
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
