"""Topics over HTTP: the JSON that the page shows agrees with the library."""

import csv
import io
import json
import threading

import pytest
from mixsearch.index import AnswerOptions, Query, answer_queries
from starlette.testclient import TestClient
from tests.closeness import assert_close
from tests.served_corpus import SUBJECTS, draw_texts, open_made

from mixsearch import __version__
from mixsearch.web import Limits, make_app

FOOD, LAW = SUBJECTS["food"], SUBJECTS["law"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def client(index):
    app = make_app({"texts": index, "again": index}, limits=Limits(timeout=120))
    with TestClient(app, base_url="http://localhost") as client:
        yield client


def get_json(client, path, status=200, **params):
    answer = client.get(f"/api/indexes/texts{path}", params=params)
    assert answer.status_code == status, answer.text
    return answer.json()


def search(index, words, narrower=0.0, **options):
    query = Query(" ".join(words), words=words, narrower=narrower)
    (outcome,) = answer_queries(index, [query], AnswerOptions(**{"n_words": 15, "n_documents": 10, **options}))
    return json.loads(json.dumps(outcome.as_dict()))


def test_the_server_tells_its_version_its_limits_and_its_indexes(client, index):
    health = client.get("/api/health").json()
    assert (health["status"], health["version"], health["indexes"]) == ("ok", __version__, ["texts", "again"])
    settings = client.get("/api/settings").json()
    assert settings["max_upload"] == Limits().max_upload
    (first, second) = client.get("/api/indexes").json()["indexes"]
    assert first == {**second, "name": "texts"} == get_json(client, "")
    assert (first["n_documents"], first["n_words"]) == (index.n_documents, len(index.vocabulary))
    assert set(first["distinctive_words"]) <= set(index.vocabulary)


def test_openapi_describes_every_operation_and_every_field(client):
    described = client.get("/api/openapi.json").json()
    operations = [each for path in described["paths"].values() for each in path.values()]
    assert all(operation["description"] for operation in operations)
    answer = described["components"]["schemas"]["Answer"]
    assert set(answer["properties"]) == set(get_json(client, "/topic", q="sushi"))
    assert [name for name, each in answer["properties"].items() if not each.get("description")] == []
    parameters = [parameter for operation in operations for parameter in operation.get("parameters", [])]
    assert [parameter["name"] for parameter in parameters if not parameter.get("description")] == []


def test_a_topic_is_what_the_library_finds(client, index):
    assert_close(get_json(client, "/topic", q="sushi"), search(index, {"sushi": 1.0}))
    options = {"n_words": 4, "n_documents": 2, "words_by": "probability", "errors": True, "narrower": -1}
    wanted = search(index, {"sushi": 1.0, "court": -2.0}, **options)
    assert_close(get_json(client, "/topic", q="sushi -court^2", **options), {**wanted, "hint": "sushi -court^2"})


def test_documents_and_texts_are_hints_too(client):
    like = get_json(client, "/topic", documents=[0, 3], n_words=5)
    assert {word["word"] for word in like["words"]} & set(FOOD)
    answer = client.post("/api/indexes/texts/topic", params={"n_words": 5}, json={"text": [" ".join(LAW)]}).json()
    assert {word["word"] for word in answer["words"]} <= set(LAW)
    marked = get_json(client, "/topic", q="sushi", documents=[0], not_documents=[3], n_documents=50)
    assert 3 not in [each["row"] for each in marked["documents"]]


def test_words_are_completed_as_one_types(client):
    assert get_json(client, "/topic", q="sushi cou", complete=True)["hint"] == "sushi court"
    words = get_json(client, "/words", prefix="c", n=3)["words"]
    assert all(each["word"].startswith("c") and each["n_documents"] > 0 for each in words)
    assert get_json(client, "/words", prefix="zz") == {"words": []}


def test_documents_go_on_page_by_page_and_come_as_text(client, index):
    whole = search(index, {"sushi": 1.0}, n_documents=20)["documents"]
    pages = [get_json(client, "/topic/documents", q="sushi", skip_documents=start) for start in (0, 10)]
    assert_close([document for page in pages for document in page["documents"]], whole)
    last = get_json(client, "/topic/documents", q="sushi", skip_documents=index.n_documents - 3)
    assert (len(last["documents"]), last["more"]) == (3, False)
    document = get_json(client, "/documents/0")
    assert document["text"] == draw_texts()[0].replace("\ud83c", "\ufffd")
    assert (document["name"], document["is_cut"]) == ("d0 <b>", False)


def test_a_long_document_is_cut(client, monkeypatch):
    monkeypatch.setattr("mixsearch.web.routes.topics.MAX_TEXT", 10)
    document = get_json(client, "/documents/2")
    assert document["is_cut"]
    assert len(document["text"]) == 10


def test_a_table_has_what_the_answer_has_and_no_formula(client):
    answer = client.get("/api/indexes/texts/topic.csv", params={"q": "-court sushi"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert 'filename="texts-topic--court-sushi.csv"' in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert {row["hint"] for row in rows} == {"'-court sushi"}
    words = [(row["item"], float(row["value"])) for row in rows if row["kind"] == "word"]
    found = get_json(client, "/topic", q="-court sushi")["words"]
    assert words == [(word["word"], word["probability"]) for word in found]


def test_a_map_of_documents_is_binary_numbers(client, index):
    body = client.get("/api/indexes/texts/overview/documents", params={"words": ["sushi", "court"]}).content
    n = int.from_bytes(body[:4], "little")
    assert n == index.n_documents
    assert len(body) == 4 + n * (4 + 2 + 2 + 1)
    assert set(body[-n:]) <= {0, 1, 255}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("indexes/texts/topic?q=sushy", 422, "unknown_word"),
        ("indexes/texts/topic?q=sushi&narrower=5", 422, "bad_argument"),
        ("indexes/texts/topic?q=sushi&colour=red", 422, "bad_argument"),
        ("indexes/texts/documents/999999", 404, "not_found"),
        ("indexes/other/topic?q=sushi", 404, "not_found"),
        ("nothing", 404, "not_found"),
    ],
)
def test_errors_have_one_shape(client, path, status, code):
    answer = client.get(f"/api/{path}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert set(answer.json()["error"]) == {"code", "message", "fields", "word", "suggestions"}


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 422, "bad_argument"),
        (b"\xff\xfe", 422, "bad_argument"),
        (b'{"text": ["' + b"a" * 3000 + b'"]}', 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_read_is_an_error(index, body, status, code):
    app = make_app({"texts": index}, limits=Limits(max_body=2000))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.post("/api/indexes/texts/topic", content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_an_error_that_nobody_foresaw_tells_nothing_of_the_inside(index, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr("mixsearch.index.TopicIndex.find", fail)
    with TestClient(make_app({"texts": index}), base_url="http://localhost", raise_server_exceptions=False) as client:
        answer = client.get("/api/indexes/texts/topic?q=sushi")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal")
    assert "secret" not in answer.text


def test_a_question_that_takes_too_long_is_given_up(index, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr("mixsearch.index.TopicIndex.find", lambda *_: go_on.wait())
    app = make_app({"texts": index}, limits=Limits(timeout=0.2))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get("/api/indexes/texts/topic?q=sushi")
        go_on.set()
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "too_slow")
