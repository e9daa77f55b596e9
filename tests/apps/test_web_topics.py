"""Topics over HTTP: each resource agrees with the library, and errors have codes."""

import csv
import io
import json
import struct
import threading
from itertools import accumulate

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from starlette.testclient import TestClient
from tests.closeness import assert_close
from tests.dated_corpus import YEARS, draw_rows, open_made
from tests.served_corpus import SUBJECTS

from mixsearch import __version__
from mixsearch.topics import describe_topic, list_topics
from mixsearch.web import Limits, make_app

ROWS = draw_rows()
API = "/api/indexes/dated"


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("dated"))


@pytest.fixture(scope="module")
def client(index):
    app = make_app({"dated": index, "again": index}, limits=Limits(timeout=120))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def get(client, path, status=200, **params):
    answer = client.get(f"{API}{path}", params=params or None)
    assert answer.status_code == status, answer.text
    return answer


def get_json(client, path, status=200, **params):
    return get(client, path, status, **params).json()


# ---- The server and its indexes ----


def test_the_server_tells_its_version_its_limits_and_its_indexes(client, index):
    health = client.get("/api/health").json()
    assert (health["status"], health["version"], health["indexes"]) == ("ok", __version__, ["dated", "again"])
    assert client.get("/api/settings").json()["max_file"] == Limits().max_file
    first, second = client.get("/api/indexes").json()["indexes"]
    assert first == {**second, "name": "dated"}
    assert first["n_documents"] == index.n_documents


def test_openapi_describes_every_operation_and_parameter(client):
    described = client.get("/api/openapi.json").json()
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    assert all(operation["description"] for operation in operations)
    parameters = [parameter for operation in operations for parameter in operation.get("parameters", [])]
    assert [parameter["name"] for parameter in parameters if not parameter.get("description")] == []


# ---- A topic ----


def test_a_topic_is_that_of_the_library(client, index):
    answer = get_json(client, "/topic", q="sushi -court", narrower=-1, n_words=4, n_documents=2)
    topic = index.search("sushi -court", narrower=-1)
    assert_close(answer, describe_topic(index, topic, name="sushi -court", n_words=4, n_documents=2))
    assert get(client, "/topic", q="sushi").headers["ETag"] == f'"{index.generation}"'


def test_documents_and_texts_are_hints_too(client):
    food, law = (next(i for i, row in enumerate(ROWS) if f"on {name}" in row["title"]) for name in ("food", "law"))
    words = {word["word"] for word in get_json(client, "/topic", documents=[food])["words"]}
    assert words & {*SUBJECTS["food"]}
    answer = get_json(client, "/topic", text=" ".join(SUBJECTS["law"]), n_words=5)
    assert {word["word"] for word in answer["words"]} <= {*SUBJECTS["law"]}
    marked = get_json(client, "/topic", q="sushi", documents=[food], not_documents=[law], n_documents=100)
    assert law not in [document["row"] for document in marked["documents"]]


def test_documents_are_filtered_and_continue_page_by_page(client, index):
    filtered = get_json(client, "/topic", q="judge", where="year <= 2016", n_documents=20)
    assert filtered["n_documents"] == sum(row["year"] <= 2016 for row in ROWS)
    for document in filtered["documents"]:
        row = ROWS[document["row"]]
        assert row["year"] <= 2016
        assert (document["title"], document["link"]) == (row["title"], row["url"])
        assert document["columns"] == {name: row[name] for name in document["columns"]}
    pages = [get_json(client, "/topic", q="sushi", skip=skip)["documents"] for skip in (0, 10)]
    rows = [document["row"] for page in pages for document in page]
    assert rows == [row for row, _ in index.search("sushi").documents(20)]


def test_all_members_are_a_table_without_formulas(client, index):
    answer = get(client, "/topic.csv", q="-court sushi")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "UTF-8''dated--court-sushi.csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    topic = index.search("-court sushi")
    assert [int(row["row"]) for row in rows[:50]] == [row for row, _ in topic.documents(50)]
    assert sum(float(row["membership"]) for row in rows) == pytest.approx(topic.n_members)


# ---- Words, documents, groups ----


def test_words_are_completed_as_one_types(client):
    assert get_json(client, "/topic", q="sushi cou", complete=True)["hint"] == "sushi court"
    words = get_json(client, "/words", prefix="c", n=3)["words"]
    assert all(word["word"].startswith("c") and word["n_documents"] > 0 for word in words)
    assert get_json(client, "/words", prefix="zz") == {"words": []}


def test_a_document_has_its_text_and_columns(client, index, monkeypatch):
    document = get_json(client, "/documents/3")
    assert (document["text"], document["is_cut"]) == (ROWS[3]["text"], False)
    assert document["columns"]["shop"] == ROWS[3]["shop"]
    monkeypatch.setattr("mixsearch.web.routes.topics.MAX_TEXT", 10)
    with TestClient(make_app({"dated": index}), base_url="http://localhost") as another:
        assert get_json(another, "/documents/3")["text"] == ROWS[3]["text"][:10]


def test_groups_are_those_of_the_library(client, index):
    params = {"topic": ["q=sushi", "q=judge"], "over": "year", "where": "shop = 'Rome'"}
    wanted = index.group(["sushi", "judge"], over="year", where="shop = 'Rome'").to_dict()
    assert_close(get_json(client, "/groups", **params), json.loads(json.dumps(wanted)))


def test_groups_are_periods_ranges_and_pairs_of_two_columns(client):
    assert get_json(client, "/groups", topic="q=sushi", over="date", every="month")["every"] == "month"
    assert get_json(client, "/groups", topic="q=sushi", over="year", every=5)["kind"] == "range"
    both = get_json(client, "/groups", topic="q=sushi", over="year", by="shop")
    (topic,) = both["topics"]
    assert {(group["label"], group["series"]) for group in topic["groups"]} == {
        (str(year), shop) for year in YEARS for shop in ("Rome", "Oslo")
    }
    assert sum(group["n_members"] for group in topic["groups"]) == pytest.approx(topic["n_members"])


# ---- Overview, map, audit, saved searches, the page to share ----


def test_an_overview_lists_the_largest_topics(client, index):
    topics = get_json(client, "/overview", n=3)["topics"]
    assert [topic["hint"] for topic in topics] == [topic.hints[0] for topic in list_topics(index, 30)[:3]]
    assert all(topic["share"] == pytest.approx(topic["n_members"] / index.n_documents) for topic in topics)


def test_a_map_has_a_place_a_row_and_a_membership_per_document(client, index):
    body = get(client, "/map").content
    (n,) = struct.unpack_from("<I", body)
    assert n == index.n_documents
    rows = list(accumulate(struct.unpack_from(f"<{n}I", body, 4)))
    assert rows == index.corpus.rows.tolist()
    kept = index.path.with_name(f"{index.path.name}.map")
    assert kept.read_bytes() == f"{__version__} {index.generation}\n".encode() + body
    bits = get(client, "/map/topics", topic="q=sushi").content
    assert get(client, "/map/topics", topic=["q=sushi", "q=sushi"]).content == 2 * bits
    members = np.unpackbits(np.frombuffer(bits, np.uint8), count=n, bitorder="little")
    assert_array_equal(members, index.search("sushi").membership() >= 0.5)
    labels = json.loads(body[4 + 8 * n :])
    assert labels
    assert all(0 <= label["x"] <= 1 and 0 <= label["y"] <= 1 for label in labels)


def test_judged_documents_estimate_the_answer(client):
    def post(judgements):
        body = {"judgements": judgements, "n": 10}
        return client.post(f"{API}/audit", params={"q": "sushi"}, json=body).json()

    first = post({})
    assert (first["audit"], len(first["next"])) == (None, 10)
    second = post({str(row): "on food" in ROWS[row]["title"] for row in first["next"]})
    assert second["audit"]["n_judged"] == 10
    assert not {*first["next"]} & {*second["next"]}


def test_saved_searches_are_kept_beside_the_index(client, index):
    assert get_json(client, "/saved") == {"saved": []}
    saved = {"saved": [{"name": "Fish", "state": "?t=q%3Dsushi"}]}
    assert client.put(f"{API}/saved", json=saved).status_code == 204
    assert get_json(client, "/saved") == saved
    assert client.put(f"{API}/saved", json={"saved": saved["saved"] * 201}).status_code == 422
    index.path.with_name(f"{index.path.name}.saved.json").write_text("nonsense")
    assert get_json(client, "/saved") == {"saved": []}


def test_a_page_to_share_has_its_data_inside(client, tmp_path, monkeypatch):
    for name in ("page.css", "page.js"):  # what they do is tested in a browser
        (tmp_path / name).write_text("")
    monkeypatch.setattr("mixsearch.report.STATIC_FILES", tmp_path)
    answer = get(client, "/share.html", state="?t=q%3Dsushi&t=q%3Djudge%26narrower%3D1&by=shop")
    assert "UTF-8''dated.html" in answer.headers["content-disposition"]
    assert "default-src 'none'" in answer.text
    assert '"q=judge&narrower=1"' in answer.text


# ---- Errors ----


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/topic?q=sushy", 422, "unknown_word"),
        ("/topic?q=sushi&narrower=5", 422, "bad_argument"),
        ("/topic?q=sushi&colour=red", 422, "bad_argument"),
        ("/topic?q=judge&where=yeer > 3", 422, "unknown_column"),
        ("/topic?documents=99999", 422, "unknown_row"),
        ("/topic.csv?q=sushy", 422, "unknown_word"),
        ("/documents/999999", 404, "not_found"),
        ("/groups?topic=q=judge", 422, "one_column_needed"),
        ("/groups?topic=q=judge%26narrower=nine&over=year", 422, "bad_argument"),
        ("/groups?topic=q=judge&over=shop", 422, "not_ordered"),
        ("/overview?n=0", 422, "bad_argument"),
        ("/map/topics?topic=q=sushy", 422, "unknown_word"),
        ("/share.html?state=?t=q%3Dzzz", 422, "unknown_word"),
        ("/share.html?state=", 422, "no_hints"),
        ("x/topic?q=sushi", 404, "not_found"),
        ("/nothing", 404, "not_found"),
    ],
)
def test_errors_have_one_shape(client, path, status, code):
    error = get_json(client, path, status)["error"]
    assert error["code"] == code
    assert {"code", "message", "fields"} <= {*error}


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b'{"judgements": {"3": "perhaps"}}'])
def test_a_body_that_cannot_be_read_is_an_error(client, body):
    answer = client.post(f"{API}/audit?q=sushi", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_argument")


def test_an_unexpected_error_reveals_nothing(index, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("secret")

    monkeypatch.setattr("mixsearch.topics.TopicIndex.search", fail)
    with TestClient(make_app({"dated": index}), base_url="http://localhost", raise_server_exceptions=False) as client:
        answer = client.get(f"{API}/topic?q=sushi")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "secret" not in answer.text


def test_a_search_that_takes_too_long_is_stopped(index, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr("mixsearch.topics.TopicIndex.search", lambda *_, **__: go_on.wait())
    app = make_app({"dated": index}, limits=Limits(timeout=0.2))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get(f"{API}/topic?q=sushi")
        go_on.set()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_slow")
