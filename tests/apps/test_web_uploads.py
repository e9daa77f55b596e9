"""Files with texts over HTTP: upload, indexing with progress, search; and what is rejected."""

import gzip
import json
import threading
import time

import pytest
from starlette.testclient import TestClient
from tests.served_corpus import draw_texts

from mixsearch.errors import SearchError
from mixsearch.web import Access, Limits, make_app
from mixsearch.web.processes import start_fork_server

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


def await_end(client, build):
    while build["status"] == "running":
        time.sleep(0.05)
        build = client.get(f"/api/builds/{build['build']}").json()
    return build


def build_index_of(client, file, **options):
    answer = client.post("/api/indexes", json={"file": file["file"], **options})
    assert answer.status_code == 202, answer.text
    return await_end(client, answer.json())


def find_code(answer):
    return answer.status_code, answer.json()["error"]["code"]


def test_a_file_becomes_an_index_under_its_name(client, monkeypatch):
    file = upload(client)
    assert {each["name"]: each["role"] for each in file["columns"]} == {"review": "text", "stars": "number"}
    build = build_index_of(client, file)
    assert (build["status"], build["index"]) == ("done", "my-reviews")
    assert "text_column_guessed" in {each["code"] for each in build["warnings"]}
    assert client.get("/api/indexes/my-reviews/topic?q=sushi").json()["words"][0]["word"] == "sushi"
    assert build_index_of(client, file, text=["review"])["index"] == "my-reviews-2"
    monkeypatch.setattr("mixsearch.web.builds.MAX_BUILT", 2)
    assert find_code(client.post("/api/indexes", json={"file": file["file"]})) == (422, "too_many_indexes")


def test_a_packed_file_is_read_and_an_error_names_it_without_a_path(client):
    table = "first,second\n" + "".join(f"{text},x{row}\n" for row, text in enumerate(draw_texts()))
    file = upload(client, gzip.compress(table.encode(errors="replace")), "reviews.csv.gz")
    build = build_index_of(client, file, text=["first"], name="food")
    assert (build["status"], build["index"]) == ("done", "food")
    failed = build_index_of(client, file, text=["third"])
    assert (failed["status"], failed["error"]["code"]) == ("failed", "column_missing")
    assert failed["error"]["fields"]["file"] == "reviews.csv.gz"


def test_a_build_can_be_cancelled_and_leaves_nothing(client):
    build = client.post("/api/indexes", json={"file": upload(client, make_reviews(3000))["file"]}).json()
    stopped = client.delete(f"/api/builds/{build['build']}")
    assert stopped.status_code == 200
    assert await_end(client, stopped.json())["status"] == "cancelled"
    assert client.get("/api/indexes").json()["indexes"] == []


def test_one_index_is_built_at_a_time(client, monkeypatch):
    file, may_end = upload(client)["file"], threading.Event()

    def wait(*_, **__):
        may_end.wait()
        raise SearchError("No index.", code="no_index")

    monkeypatch.setattr("mixsearch.web.builds.call_in_process", wait)
    first = client.post("/api/indexes", json={"file": file}).json()
    assert find_code(client.post("/api/indexes", json={"file": file})) == (503, "busy")
    may_end.set()
    assert await_end(client, first)["error"]["code"] == "no_index"
    assert find_code(client.get("/api/builds/nothing")) == (410, "gone")


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
