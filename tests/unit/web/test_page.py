"""The pages and their files."""

import re

import pytest
from starlette.testclient import TestClient

from mixsearch.web import make_app
from mixsearch.web.settings import PAGES, STATIC_FILES


@pytest.fixture(scope="module")
def client():
    return TestClient(make_app({}), base_url="http://localhost")


def test_pages_are_there_with_their_files(client):
    for path in PAGES:
        page = client.get(path).text
        files = re.findall(r'(?:src|href)="(static/[^"]+)"', page)
        assert len(files) == 3, path
        assert all(client.get(f"/{file}").status_code == 200 for file in files), path


def test_files_are_compressed_and_not_sent_again(client):
    packed = client.get("/static/page.js", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["content-type"].startswith("text/javascript")
    assert packed.headers["cache-control"] == "no-cache"
    assert packed.content == (STATIC_FILES / "page.js").read_bytes()
    again = client.get("/static/page.js", headers={"if-none-match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["%2e%2e/app.py", "", "none.js", "%00", "a%00.js", "x" * 300, "a/" * 3000])
def test_no_other_file_is_sent(client, path):
    answer = client.get(f"/static/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
