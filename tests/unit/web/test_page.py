"""What the page's scripts and the server must agree on."""

import re
from pathlib import PurePosixPath

import pytest
from starlette.testclient import TestClient

from mixsearch.web import make_app
from mixsearch.web.settings import STATIC_FILES

MODULES = {file.relative_to(STATIC_FILES).as_posix(): file.read_text() for file in STATIC_FILES.rglob("*.js")}


@pytest.fixture(scope="module")
def client():
    return TestClient(make_app({}), base_url="http://localhost")


def list_imports(name):
    """The modules that a module imports, and those that it loads when they are needed."""
    folder = PurePosixPath(name).parent
    for kind, address in re.findall(r'(from |import\()"(\.{1,2}/[^"]+)"', MODULES[name]):
        parts = []
        for part in (folder / address).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        yield kind.strip(), "/".join(parts)


def test_imports_of_modules_point_one_way():
    """A view imports itself and shared modules, shared modules import no view, and only the shell imports views."""
    imports = [(name, target) for name in MODULES for _, target in list_imports(name)]
    assert [each for each in imports if each[1] not in MODULES] == []
    folder_of = {name: PurePosixPath(name).parts[0] for name in MODULES if "/" in name}
    allowed = {name: ("shared", folder) for name, folder in folder_of.items()}
    assert [
        (name, target) for name, target in imports if name in allowed and folder_of.get(target) not in allowed[name]
    ] == []


def test_files_are_compressed_and_not_sent_again(client):
    packed = client.get("/static/main.js", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.headers["content-type"].startswith("text/javascript")
    assert packed.headers["cache-control"] == "no-cache"
    assert packed.content == (STATIC_FILES / "main.js").read_bytes()
    again = client.get("/static/main.js", headers={"if-none-match": packed.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["%2e%2e/app.py", "", "none.js", "%00", "a%00.js", "x" * 300, "a/" * 3000])
def test_no_other_file_is_sent(client, path):
    answer = client.get(f"/static/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(("path", "up"), [("/nothing", "./"), ("/a/b/<script>", "../../")])
def test_an_unknown_address_is_a_page_for_people_and_an_error_for_programs(client, path, up):
    page = client.get(path, headers={"accept": "text/html,*/*"})
    assert page.status_code == 404
    assert f'href="{up}static/style.css"' in page.text
    assert f'href="{up}segment"' in page.text
    assert "<script>" not in page.text.replace('<script src="', "")
    assert client.get(path).json()["error"]["code"] == "not_found"
    assert client.get("/api/nothing", headers={"accept": "text/html"}).json()["error"]["code"] == "not_found"
