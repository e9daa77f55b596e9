"""Files with texts over HTTP: upload, indexing with progress, search; and what is rejected."""

import gzip
import json
import threading
import time
from contextlib import ExitStack

import httpx
import pytest
from starlette.testclient import TestClient
from tests.served_corpus import draw_texts
from tests.serving import serve

from mixsearch.web import Access, Limits, make_app
from mixsearch.web.processes import CancelledError, start_fork_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def _ready():
    start_fork_server()


@pytest.fixture
def client():
    limits = Limits(timeout=600, max_file=2_000_000)
    with TestClient(make_app({}, limits=limits, access=Access(files=True)), base_url="http://localhost") as client:
        yield client


def make_reviews(n=240):
    lines = (json.dumps({"review": text, "stars": row % 5}) for row, text in enumerate(draw_texts(n)))
    return "\n".join(lines).encode()


def upload(client, body=None, name="my reviews.jsonl"):
    answer = client.post("/api/files", params={"name": name}, content=make_reviews() if body is None else body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def build_index_of(client, file, **options):
    """Return the events of a build."""
    answer = client.post("/api/indexes", json={"file": file["file"], **options})
    assert answer.status_code == 200, answer.text
    return [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]


def find_code(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_a_file_becomes_an_index_under_its_name(client):
    file = upload(client)
    assert {each["name"]: each["role"] for each in file["columns"]} == {"review": "text", "stars": "number"}
    *steps, built = build_index_of(client, file)
    assert built["index"] == "my-reviews"
    assert {"step", "done", "total", "unit"} == {*steps[0]}
    assert "text_column_guessed" in {each["code"] for each in built["warnings"]}
    assert client.get("/api/indexes/my-reviews/topic?q=sushi").json()["words"][0]["word"] == "sushi"
    assert build_index_of(client, file, text=["review"])[-1]["index"] == "my-reviews-2"
    assert find_code(client.post("/api/indexes", json={"file": "nothing"})) == (410, "gone")


def test_a_packed_file_is_read_and_an_error_names_it_without_a_path(client):
    table = "first,second\n" + "".join(f"{text},x{row}\n" for row, text in enumerate(draw_texts()))
    file = upload(client, gzip.compress(table.encode(errors="replace")), "reviews.csv.gz")
    assert build_index_of(client, file, text=["first"], name="food")[-1]["index"] == "food"
    error = build_index_of(client, file, text=["third"])[-1]["error"]
    assert (error["code"], error["fields"]["file"]) == ("column_missing", "reviews.csv.gz")


def test_one_index_is_built_at_a_time_and_ends_when_its_client_leaves(monkeypatch):
    ended = threading.Event()

    def wait(*_, on_progress, is_cancelled):
        on_progress("reading", 0, None, "bytes")
        while not is_cancelled():
            time.sleep(0.01)
        ended.set()
        raise CancelledError

    with ExitStack() as stack:
        server = stack.enter_context(serve({}, Access(files=True)))
        monkeypatch.setattr("mixsearch.web.builds.call_in_process", wait)
        monkeypatch.setattr("mixsearch.web.uploads.call_in_process", lambda *_: {"columns": []})
        client = stack.enter_context(httpx.Client(base_url=server.address, timeout=120))
        file = client.post("api/files", params={"name": "a.csv"}, content=b"a\n1\n").json()["file"]
        with client.stream("POST", "api/indexes", json={"file": file}) as first:
            events = first.iter_lines()
            assert "reading" in next(events)
            assert find_code(client.post("api/indexes", json={"file": file})) == (503, "busy")
        assert ended.wait(60)
        assert server.get("api/indexes") == {"indexes": []}


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("photo.exe", b"MZ", 422),
        ("broken.parquet", b"PAR1 and nothing", 422),
        ("broken.csv.gz", b"\x1f\x8b and nothing", 422),
        ("a.csv", bytes(2_000_001), 413),
    ],
)
def test_what_cannot_be_read_is_a_sentence_without_a_path(client, name, body, status):
    answer = client.post("/api/files", params={"name": name}, content=body)
    assert answer.status_code == status, answer.text
    assert "mixsearch-" not in answer.json()["error"]["message"]


def test_a_server_for_others_without_a_token_accepts_no_files():
    with TestClient(make_app({}), base_url="http://localhost") as client:
        assert client.get("/api/settings").json()["accepts_files"] is False
        answer = client.post("/api/files", params={"name": "a.csv"}, content=b"a,b\n1,2\n")
        assert find_code(answer) == (403, "forbidden")
