"""The guard: the right host, the same site, the right token."""

import os
import stat

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from tests.coded import raises

from mixsearch.web import Access, make_app
from mixsearch.web.security import SECURITY_HEADERS, keep_token

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


def test_without_the_token_there_is_a_sentence_and_nothing_else():
    visitor = client(Access(token=TOKEN))
    for page in ("/", "/table", "/segment", "/?token=wrong"):
        asked = visitor.get(page)
        assert asked.status_code == 401
        assert "Open the link printed in your terminal." in asked.text
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
