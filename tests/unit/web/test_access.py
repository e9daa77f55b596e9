"""Access: the right host, the same site, the right token."""

import asyncio

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from mixsearch import SearchError
from mixsearch.web import Access, make_app
from mixsearch.web.middleware import SECURITY_HEADERS, AccessMiddleware

TOKEN = "a secret of some length"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def client(access=None, host="127.0.0.1"):
    return TestClient(make_app({}, access=access), base_url=f"http://{host}", follow_redirects=False)


def code(response):
    return response.json()["error"]["code"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8421", "localhost", "LOCALHOST:1", "page.localhost", "[::1]:80", "10.0.0.7"]
)
def test_addresses_and_localhost_are_answered(host):
    assert client().get("/api/health", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "[::1", "a b"]
)
def test_names_that_anyone_can_point_here_are_not(host):
    refused = client().get("/api/health", headers={"host": host})
    assert refused.status_code == 421
    assert code(refused) == "wrong_host"
    assert "--allow-host" in refused.json()["error"]["message"]


def test_a_name_can_be_allowed():
    access = Access(hosts=("search.example",))
    assert client(access).get("/api/health", headers={"host": "Search.example:80"}).status_code == 200
    assert client(access).get("/api/health", headers={"host": "other.example"}).status_code == 421


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_other_sites_get_nothing(site):
    for path in ("/api/health", "/static/main.js", "/"):
        assert code(client().get(path, headers={"sec-fetch-site": site})) == "forbidden"


def test_other_sites_may_link_to_the_pages_only():
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    for page in ("/", "/overview", "/compare", "/segment"):
        assert client().get(page, headers=link).status_code == 200
    assert code(client().get("/api/health", headers=link)) == "forbidden"
    assert code(client().post("/", headers=link)) == "forbidden"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:9", "http://127.0.0.1.evil.example", "http://["]
)
def test_another_origin_is_refused(origin):
    assert code(client().post("/api/pictures", headers={"origin": origin})) == "forbidden"


def test_the_own_origin_is_not():
    assert (
        client().get("/api/health", headers={"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}).is_success
    )


@pytest.mark.parametrize("path", ["/", "/api/health", "/static/sign-in.html", "/nothing", "/api/indexes/none/topic"])
def test_every_answer_says_what_a_page_may_do(path):
    headers = client().get(path).headers
    for name, value in SECURITY_HEADERS.items():
        assert headers[name] == value
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "http" not in headers["Content-Security-Policy"]


def test_without_the_token_there_is_a_form_and_nothing_else():
    visitor = client(Access(token=TOKEN))
    for page in ("/", "/overview", "/segment"):
        asked = visitor.get(page)
        assert asked.status_code == 401
        assert '<form method="post">' in asked.text
    for path in ("/api/health", "/api/openapi.json", "/api/indexes"):
        assert code(visitor.get(path)) == "unauthorized"
    assert code(visitor.post("/api/pictures", content=b"x")) == "unauthorized"
    assert visitor.get("/static/style.css").status_code == 200


@pytest.mark.parametrize("shown", ["Bearer wrong", "Bearer", "", f"Basic {TOKEN}", "Bearer ключ".encode()])
def test_a_wrong_token_is_refused(shown):
    assert client(Access(token=TOKEN)).get("/api/health", headers={"Authorization": shown}).status_code == 401


def test_a_wrong_token_is_slowed_and_a_missing_one_is_not(monkeypatch):
    waited = []

    async def delay(_, address):
        waited.append(address)

    monkeypatch.setattr("mixsearch.web.middleware.wrong_tokens.WrongTokens.delay", delay)
    visitor = client(Access(token=TOKEN))
    visitor.get("/api/health")
    visitor.get("/")
    visitor.get("/api/health", headers=BEARER)
    assert waited == []
    visitor.get("/api/health", headers={"Authorization": "Bearer wrong"})
    visitor.get("/", params={"token": "wrong"})
    visitor.post("/", data={"token": "wrong"})
    assert waited == ["testclient"] * 3


def test_the_token_opens_as_a_header():
    assert client(Access(token=TOKEN)).get("/api/health", headers=BEARER).status_code == 200


def test_a_link_with_the_token_leaves_a_cookie_and_no_token_in_the_address():
    visitor = client(Access(token=TOKEN))
    sent = visitor.get("/overview", params={"words": "a b", "token": TOKEN})
    assert sent.status_code == 303
    assert sent.headers["location"] == "./overview?words=a+b"
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
    assert visitor.post("/compare?topic=q%3Da", data={"token": TOKEN}).headers["location"] == "./compare?topic=q%3Da"
    assert visitor.get("/api/health").status_code == 200


def test_the_form_is_small():
    assert code(client(Access(token=TOKEN)).post("/", content=b"token=" + b"x" * 10_000)) == "too_large"


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


def test_a_form_that_does_not_arrive_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("mixsearch.web.middleware.access._FORM_SECONDS", 0.05)
    sent = []

    async def never():
        await asyncio.sleep(60)

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [(b"host", b"localhost")]}
    asyncio.run(AccessMiddleware(None, Access(token=TOKEN))(scope, never, send))
    assert sent[0]["status"] == 503
    assert b'"too_slow"' in sent[1]["body"]


def test_a_token_that_no_header_can_carry_is_refused():
    with pytest.raises(SearchError, match="printable ASCII"):
        Access(token="ключ-доступа")


def test_an_app_may_be_mounted_under_a_prefix():
    around = Starlette()
    around.mount("/search", make_app({}, access=Access(token=TOKEN)))
    visitor = TestClient(around, base_url="http://127.0.0.1", follow_redirects=False)
    assert visitor.get("/search/static/style.css").status_code == 200
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert visitor.get("/search/overview", headers=link).status_code == 401
    assert visitor.get("/search/overview", params={"token": TOKEN}).headers["location"] == "./overview"
    assert visitor.get("/search/api/health").status_code == 200
