"""An index that changes while it is served is reopened, without a failed request."""

import json
import os
import shutil

from starlette.testclient import TestClient
from tests.served_corpus import draw_texts, open_made

from mixsearch.topics import add_documents
from mixsearch.web import make_app
from mixsearch.web.indexes import ServedIndex, get_newest


def write_more(folder, n=30):
    path = folder / "more.jsonl"
    texts = draw_texts(n, seed=9)[1:]
    path.write_text("\n".join(json.dumps({"name": f"new{i}", "text": text}) for i, text in enumerate(texts)))
    return path


def test_a_row_of_an_older_answer_is_no_document_of_another_state(tmp_path):
    app = make_app({"texts": open_made(tmp_path)})
    with TestClient(app, base_url="http://localhost") as client:
        tag = client.get("/api/indexes/texts/topic", params={"q": "sushi"}).headers["ETag"]
        for route in ROUTES:
            answer = client.get(f"/api/indexes/texts{route}", headers={"If-Match": tag})
            assert (answer.status_code, answer.headers["ETag"]) == (200, tag), route
        for same in (f"W/{tag}", f'"other", {tag}', "*"):
            assert client.get("/api/indexes/texts/documents/3", headers={"If-Match": same}).status_code == 200
        add_documents(app.state.indexes["texts"].index.path, write_more(tmp_path))
        for route in ROUTES:
            answer = client.get(f"/api/indexes/texts{route}", headers={"If-Match": tag})
            assert (answer.status_code, answer.json()["error"]["code"]) == (412, "index_changed"), route
        assert client.get("/api/indexes/texts/documents/3").headers["ETag"] not in (None, tag)


def test_an_index_that_is_gone_is_served_as_it_was(tmp_path):
    served = ServedIndex("texts", open_made(tmp_path))
    moved = shutil.move(served.index.path, tmp_path / "elsewhere")
    assert get_newest({"texts": served}, "texts") is served
    assert "Nothing is stored" in (served.problem or "")
    assert served.index.search("sushi").documents(1)
    shutil.move(moved, served.index.path)
    assert get_newest({"texts": served}, "texts") is served
    assert served.problem is None


ROUTES = [
    "/topic?q=rice",
    "/words?prefix=s",
    "/documents/3",
    "/overview",
    "/map",
]


def test_an_index_that_is_cut_in_place_ends_no_server_and_is_served_again_once_restored(tmp_path):
    app = make_app({"texts": open_made(tmp_path)})
    served = app.state.indexes["texts"]
    files = {path: path.read_bytes() for path in served.index.path.glob("data-*/**/*") if path.is_file()}
    for path in files:
        os.truncate(path, 0)
    with TestClient(app, base_url="http://localhost") as client:
        for route in ROUTES:
            answer = client.get(f"/api/indexes/texts{route}")
            assert (answer.status_code, answer.json()["error"]["code"]) == (500, "folder_damaged"), route
        (listed,) = client.get("/api/indexes").json()["indexes"]
        assert listed["n_documents"] == served.index.n_documents
        assert client.get("/api/health").json()["status"] == "degraded"
        for path, data in files.items():
            path.write_bytes(data)
        assert client.get("/api/health").json()["status"] == "ok"
        for route in ROUTES:
            assert client.get(f"/api/indexes/texts{route}").status_code == 200, route
