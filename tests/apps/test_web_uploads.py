"""Files with texts over HTTP: upload, indexing with progress, search, removal; and what is rejected."""

import gzip
import json
import threading
import time

import pytest
from starlette.testclient import TestClient
from tests.served_corpus import draw_texts

from mixsearch.web import Access, Limits, make_app
from mixsearch.web.builds import Builder
from mixsearch.web.processes import start_fork_server

pytestmark = pytest.mark.slow

LIMITS = Limits(decode_timeout=60, timeout=60, max_file=2_000_000)


@pytest.fixture(scope="module", autouse=True)
def _ready():
    start_fork_server()


@pytest.fixture
def client():
    with TestClient(make_app({}, limits=LIMITS, access=Access(files=True)), base_url="http://localhost") as client:
        yield client


def reviews(n=240):
    lines = (json.dumps({"review": text, "stars": row % 5}) for row, text in enumerate(draw_texts(n)))
    return "\n".join(lines).encode()


def bring(client, body=None, name="my reviews.jsonl"):
    answer = client.post("/api/files", params={"name": name}, content=reviews() if body is None else body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def await_end(client, build):
    end = time.monotonic() + 120
    while build["status"] == "running" and time.monotonic() < end:
        time.sleep(0.05)
        build = client.get(f"/api/builds/{build['build']}").json()
    return build


def build_index_of(client, file, **options):
    answer = client.post("/api/indexes", json={"file": file["file"], **options})
    assert answer.status_code == 202, answer.text
    return await_end(client, answer.json())


def refused(answer, status, code):
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert error["code"] == code
    return error["message"]


def test_a_file_shows_its_columns_and_becomes_an_index_under_its_name(client):
    file = bring(client)
    assert {each["name"]: each["role"] for each in file["columns"]} == {"review": "text", "stars": "number"}
    build = build_index_of(client, file)
    assert (build["status"], build["index"]) == ("done", "my-reviews")
    assert "text_column_guessed" in {each["code"] for each in build["warnings"]}
    assert client.get("/api/indexes/my-reviews/topic?q=sushi").json()["words"][0]["word"] == "sushi"
    assert client.get("/api/indexes").json()["indexes"][0]["n_documents"] > 200
    again = build_index_of(client, file, text=["review"])
    assert again["index"] == "my-reviews-2"


def test_a_packed_file_is_read_and_a_text_column_can_be_chosen(client):
    table = "first,second\n" + "".join(
        f"{text.encode(errors='replace').decode()},x{row}\n" for row, text in enumerate(draw_texts())
    )
    file = bring(client, gzip.compress(table.encode(errors="replace")), "reviews.csv.gz")
    build = build_index_of(client, file, text=["first"], name="food")
    assert (build["status"], build["index"]) == ("done", "food")
    failed = build_index_of(client, file, text=["third"])
    assert (failed["status"], failed["error"]["code"]) == ("failed", "column_missing")
    assert "'reviews.csv.gz'" in failed["error"]["message"]  # and no path of the server


def test_a_build_can_be_cancelled_and_leaves_nothing(client):
    build = client.post("/api/indexes", json={"file": bring(client, reviews(3000))["file"]}).json()
    stopped = client.delete(f"/api/builds/{build['build']}")
    assert stopped.status_code == 200
    assert await_end(client, stopped.json())["status"] == "cancelled"
    assert client.get("/api/indexes").json()["indexes"] == []


def test_one_index_is_built_at_a_time(client, monkeypatch):
    file = bring(client)
    may_end = threading.Event()
    monkeypatch.setattr(Builder, "_build", lambda *_: [] if may_end.wait(60) else None)
    first = client.post("/api/indexes", json={"file": file["file"]}).json()
    assert "Another index" in refused(client.post("/api/indexes", json={"file": file["file"]}), 503, "busy")
    assert refused(client.delete(f"/api/files/{file['file']}"), 503, "busy")
    may_end.set()
    assert await_end(client, first)["status"] == "failed"  # the folder is empty
    assert client.delete(f"/api/files/{file['file']}").status_code == 204
    refused(client.get(f"/api/files/{file['file']}"), 410, "gone")


def test_only_built_indexes_are_removed_and_so_many_are_kept(client):
    file = bring(client)
    with TestClient(
        make_app({}, limits=Limits(decode_timeout=60, max_built=1), access=Access(files=True)),
        base_url="http://localhost",
    ) as other:
        build_index_of(other, bring(other))
        answer = other.post("/api/indexes", json={"file": bring(other)["file"]})
        assert "as many as it keeps" in refused(answer, 422, "too_many_indexes")
        assert other.delete("/api/indexes/my-reviews").status_code == 204
        refused(other.get("/api/indexes/my-reviews/topic?q=sushi"), 404, "not_found")
    refused(client.delete("/api/indexes/texts"), 403, "forbidden")
    assert client.get(f"/api/files/{file['file']}").json()["name"] == "my-reviews.jsonl"


@pytest.mark.parametrize(
    ("name", "body", "code"),
    [
        ("photo.exe", b"MZ", "unknown_format"),
        ("reviews", b"a,b", "unknown_format"),
        ("empty.csv", b"", None),
        ("broken.parquet", b"PAR1 and nothing", None),
        ("broken.xlsx", b"PK\x03\x04 and nothing", None),
        ("broken.csv.gz", b"\x1f\x8b and nothing", None),
    ],
)
def test_what_cannot_be_read_is_a_sentence_without_a_path(client, name, body, code):
    answer = client.post("/api/files", params={"name": name}, content=body)
    assert answer.status_code == 422, answer.text
    error = answer.json()["error"]
    assert code in (None, error["code"])
    assert error["message"].endswith(".")
    assert "/tmp" not in error["message"]
    assert "mixsearch-" not in error["message"]


def test_a_file_that_is_too_large_is_refused(client):
    refused(client.post("/api/files", params={"name": "a.csv"}, content=bytes(2_000_001)), 413, "too_large")


def test_the_oldest_files_make_room():
    app = make_app({}, limits=Limits(decode_timeout=60, max_stored_files=60_000), access=Access(files=True))
    with TestClient(app, base_url="http://localhost") as client:
        first, second = bring(client, reviews(300)), bring(client, reviews(300))
        refused(client.get(f"/api/files/{first['file']}"), 410, "gone")
        assert client.get(f"/api/files/{second['file']}").status_code == 200


def test_a_server_for_others_without_a_token_accepts_no_files():
    with TestClient(make_app({}), base_url="http://localhost") as client:
        assert client.get("/api/settings").json()["accepts_files"] is False
        message = refused(client.post("/api/files", params={"name": "a.csv"}, content=b"a,b\n1,2\n"), 403, "forbidden")
        assert "--token" in message
