"""Topics over HTTP: the JSON that the page shows agrees with the library."""

import csv
import io
import json
import re
import threading
from urllib.parse import urlencode

import pytest
from starlette.testclient import TestClient
from tests.closeness import assert_close
from tests.served_corpus import SCRIPT, SUBJECTS, draw_texts, open_made

from mixsearch import __version__
from mixsearch.core.separation import verdict_by_confidence
from mixsearch.index import AnswerOptions, Query, answer_queries
from mixsearch.web import Limits, make_app
from mixsearch.web.routes.topics import make_query
from mixsearch.web.schemas import parse_topic_request

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


def refused(client, path, status, code, **params):
    error = get_json(client, path, status, **params)["error"]
    assert error["code"] == code
    assert set(error) == {"code", "message", "fields", "word", "suggestions"}
    return error


def asked(index, words, narrower=0.0, **options):
    query = Query(" ".join(words), words=words, narrower=narrower)
    (outcome,) = answer_queries(index, [query], AnswerOptions(**{"n_words": 15, "n_documents": 10, **options}))
    return json.loads(json.dumps(outcome.as_dict()))


def test_health_tells_the_version_and_the_indexes(client):
    health = client.get("/api/health").json()
    assert health["status"] == "ok"
    assert health["version"] == __version__
    assert health["indexes"] == ["texts", "again"]
    assert health["uptime"] >= 0


def test_settings_are_the_limits_that_the_server_keeps(client):
    settings = client.get("/api/settings").json()
    assert settings["max_upload"] == Limits().max_upload
    for name, value in (("max_query_length", "x" * (settings["max_query_length"] + 1)), ("max_words", "w " * 65)):
        assert settings[name] in (1000, 64)
        assert client.get("/api/indexes/texts/topic", params={"q": value}).status_code == 422
    too_many = [("topic", "q=sushi")] * (settings["max_compared"] + 1)
    assert client.get("/api/indexes/texts/compare", params=too_many).status_code == 422
    assert client.get("/api/indexes/texts/overview", params={"n": settings["max_map_words"] + 1}).status_code == 422
    assert client.get(f"/api/pictures/{settings['example_image']}").status_code == 200


def test_openapi_speaks_plainly_and_describes_every_operation(client):
    described = client.get("/api/openapi.json").json()
    coined = re.compile(
        r"told|refused|failure|talk|shelf|lane|room|gate|patience|brought|asking|question", re.IGNORECASE
    )
    operations = [each for path in described["paths"].values() for each in path.values()]
    names = [*described["components"]["schemas"], *(operation["operationId"] for operation in operations)]
    assert [name for name in names if coined.search(name)] == []
    assert {"find_topic", "compare", "map_corpus", "segment_image"} <= set(names)
    assert all(operation["description"] for operation in operations)
    answer = described["components"]["schemas"]["Answer"]
    assert not re.search("Attributes|Parameters", answer["description"])
    assert set(answer["properties"]) == set(get_json(client, "/topic", q="sushi"))
    assert [name for name, each in answer["properties"].items() if not each.get("description")] == []
    parameters = [parameter for operation in operations for parameter in operation.get("parameters", [])]
    assert [parameter["name"] for parameter in parameters if not parameter.get("description")] == []


def test_every_index_is_described(client, index):
    (first, second) = client.get("/api/indexes").json()["indexes"]
    assert first == {**second, "name": "texts"} == client.get("/api/indexes/texts").json()
    assert first["n_documents"] == index.n_documents
    assert first["n_words"] == len(index.vocabulary)
    assert first["has_texts"]
    assert first["has_names"]
    assert set(first["distinctive_words"]) <= set(index.vocabulary)


def test_a_topic_is_what_the_library_finds(client, index):
    assert_close(get_json(client, "/topic", q="sushi"), asked(index, {"sushi": 1.0}))
    both = get_json(
        client, "/topic", q="sushi -court^2", narrower=-1, n_words=4, n_documents=2, words_by="probability", errors=True
    )
    wanted = asked(
        index,
        {"sushi": 1.0, "court": -2.0},
        n_words=4,
        n_documents=2,
        words_by="probability",
        errors=True,
        narrower=-1.0,
    )
    assert_close(both, {**wanted, "hint": "sushi -court^2"})


@pytest.mark.parametrize("merge", ["true", "false", "auto"])
def test_near_copies_have_fewer_votes_if_it_is_asked_for(client, merge):
    request = parse_topic_request(f"q=sushi&merge_copies={merge}")
    assert make_query(request).merge_copies == {"true": True, "false": False}.get(merge, "auto")
    assert get_json(client, "/topic", q="sushi", merge_copies=merge)["words"]


def test_confidence_and_verdict_come_with_every_answer(client):
    answer = get_json(client, "/topic", q="sushi")
    assert 0 <= answer["confidence"] <= 1
    assert (answer["verdict_code"], answer["verdict"]) == verdict_by_confidence(answer["confidence"])


def test_another_reading_of_a_hint_leads_there_and_back(client):
    first = get_json(client, "/topic", q="sushi")
    other = first["alternatives"][0]
    shown = get_json(client, "/topic", q="sushi", alternative=other["rank"])
    assert shown["alternative"] == other["rank"]
    assert [word["word"] for word in shown["words"]][:6] == other["words"]
    back = shown["alternatives"][0]
    assert back["rank"] == 0
    assert back["words"] == [word["word"] for word in first["words"]][:6]
    error = refused(client, "/topic", 422, "no_such_alternative", q="sushi", alternative=99)
    assert error["fields"]["alternative"] == 99


def test_documents_and_texts_are_hints_too(client):
    like = get_json(client, "/topic", documents=[0, 3], n_words=5)
    assert {word["word"] for word in like["words"]} & set(FOOD)
    answer = client.post("/api/indexes/texts/topic", params={"n_words": 5}, json={"text": [" ".join(LAW)]}).json()
    assert {word["word"] for word in answer["words"]} <= set(LAW)
    marked = get_json(client, "/topic", q="sushi", documents=[0], not_documents=[3], n_documents=50)
    assert {word["word"] for word in marked["words"]} & set(FOOD)
    assert 3 not in [each["row"] for each in marked["documents"]]
    refused(client, "/topic", 422, "contradicting_documents", q="sushi", documents=[0], not_documents=[0])
    refused(client, "/topic", 422, "one_hint_needed", not_documents=[3])
    error = client.post("/api/indexes/texts/topic", params={"q": "sushi"}, json={"text": ["a"]}).json()["error"]
    assert "got words and text" in error["message"]


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        ("sus", "sushi"),
        ("SUS", "sushi"),
        ("sushi cou", "sushi court"),
        ("sushi -cou", "sushi -court"),
        ("sushi -", "sushi"),
        ("sushi court^", "sushi court"),
        ('"sushi ri', '"sushi rice"'),
        ("sushi ", "sushi"),
        ("sushi rice*", "sushi rice*"),
    ],
)
def test_a_last_word_is_finished_as_one_types(client, typed, searched):
    assert get_json(client, "/topic", q=typed, complete=True)["hint"] == searched


def test_a_word_that_nothing_begins_with_is_unknown_while_one_types(client):
    assert refused(client, "/topic", 422, "unknown_word", q="sushj", complete=True)["suggestions"] == ["sushi"]


def test_completions_are_the_words_that_begin_so_the_most_frequent_first(client, index):
    words = get_json(client, "/words", prefix="c", n=3)["words"]
    holding = dict(zip(index.vocabulary, index.topics._family.document_frequency.tolist(), strict=True))
    wanted = sorted((word for word in holding if word.startswith("c")), key=lambda word: -holding[word])[:3]
    assert [each["word"] for each in words] == wanted
    assert [each["n_documents"] for each in words] == [holding[word] for word in wanted]
    assert get_json(client, "/words", prefix="zz") == {"words": []}
    telling = get_json(client, "/words", n=12)["words"]
    assert [each["word"] for each in telling] == client.get("/api/indexes/texts").json()["distinctive_words"]
    assert [each["n_documents"] for each in telling] == [holding[each["word"]] for each in telling]


def test_an_unknown_word_comes_with_suggestions(client, index):
    error = refused(client, "/topic", 422, "unknown_word", q="sushy")
    assert error["word"] == error["fields"]["word"] == "sushy"
    assert error["fields"]["n_words"] == len(index.vocabulary)
    assert error["suggestions"] == ["sushi"]
    assert error["message"].startswith("'sushy' is not among the")
    skipped = get_json(client, "/topic", q="sushi courtt")
    (missing,) = skipped["skipped"]
    assert {**missing, "message": ""} == {
        "word": "courtt",
        "suggestions": ["court"],
        "code": "unknown_word",
        "message": "",
    }
    assert "'courtt' is not among the" in missing["message"]
    assert "Skipped: 'courtt'" in skipped["warnings"][0]["message"]


def test_typical_documents_go_on_page_by_page(client, index):
    whole = asked(index, {"sushi": 1.0}, n_documents=30)["documents"]
    pages = [
        get_json(client, "/topic/documents", q="sushi", skip_documents=start, n_documents=10) for start in (0, 10, 20)
    ]
    assert_close([document for page in pages for document in page["documents"]], whole)
    assert all(page["more"] for page in pages)
    last = get_json(client, "/topic/documents", q="sushi", skip_documents=index.n_documents - 3, n_documents=10)
    assert not last["more"]
    assert len(last["documents"]) == 3
    assert get_json(client, "/topic/documents", q="sushi", skip_documents=1000)["documents"] == []


def test_a_document_comes_whole_and_as_text(client):
    document = get_json(client, "/documents/0")
    assert document["text"] == draw_texts()[0].replace("\ud83c", "\ufffd")
    assert document["text"].startswith(SCRIPT)
    assert document["name"] == "d0 <b>"
    assert not document["is_cut"]
    answer = client.get("/api/indexes/texts/documents/0")
    assert answer.headers["content-type"] == "application/json"
    refused(client, "/documents/999999", 404, "not_found")


def test_a_long_document_is_cut(client, monkeypatch):
    monkeypatch.setattr("mixsearch.web.routes.topics.MAX_TEXT", 10)
    document = get_json(client, "/documents/2")
    assert document["is_cut"]
    assert len(document["text"]) == 10


def test_a_table_has_what_the_answer_has(client):
    answer = client.get("/api/indexes/texts/topic.csv", params={"q": "sushi"})
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == (
        "attachment; filename=\"texts-topic-sushi.csv\"; filename*=UTF-8''texts-topic-sushi.csv"
    )
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    words = [(row["item"], float(row["value"])) for row in rows if row["kind"] == "word"]
    assert words == [(word["word"], word["probability"]) for word in get_json(client, "/topic", q="sushi")["words"]]


def compare(client, *questions, form="", status=200):
    params = [("topic", urlencode(question)) for question in questions]
    answer = client.get(f"/api/indexes/texts/compare{form}", params=params)
    assert answer.status_code == status, answer.text
    return answer


def test_topics_side_by_side_are_those_asked_for_one_by_one(client, index):
    questions = [{"q": "sushi"}, {"q": "zzz"}, {"q": "court", "narrower": -1}]
    both = compare(client, *questions).json()
    assert_close(both["topics"][0], get_json(client, "/topic", **questions[0]))
    assert_close(both["topics"][2], get_json(client, "/topic", **questions[2]))
    assert both["topics"][1]["error"]["code"] == "unknown_word"
    found = [index.search("sushi"), index.search("court", n_components="enough", narrower=-1)]
    shared = sum(min(p, q) for p, q in zip(*(topic.probabilities.tolist() for topic in found), strict=True))
    assert both["overlaps"][0][2] == pytest.approx(shared, abs=1e-6) == both["overlaps"][2][0]
    assert both["overlaps"][0][0] == pytest.approx(1)
    assert both["overlaps"][1] == [None] * 3
    rows = list(csv.DictReader(io.StringIO(compare(client, *questions, form=".csv").text)))
    assert {row["hint"] for row in rows} == {"sushi", "zzz", "court"}


@pytest.mark.parametrize("question", [{"q": "sushi", "narrower": "nine"}, {"colour": "red"}, {}])
def test_what_is_wrong_with_one_of_several_is_said(client, question):
    assert compare(client, {"q": "sushi"}, question, status=422).json()["error"]["message"]


def test_a_cell_of_a_table_is_never_a_formula(client):
    rows = list(csv.DictReader(io.StringIO(client.get("/api/indexes/texts/topic.csv?q=-court+sushi").text)))
    assert {row["hint"] for row in rows} == {"'-court sushi"}


def test_many_fields_in_one_of_several_are_no_trouble(client):
    many = "&".join(f"documents={row}" for row in range(150))
    assert client.get("/api/indexes/texts/compare", params={"topic": many}).status_code == 422


def test_a_map_has_a_topic_for_each_subject(client):
    mapped = get_json(client, "/overview", words=["sushi", "rice", "goal", "court", "xyz"])
    assert sorted(sorted(topic["words"]) for topic in mapped["topics"]) == [["court"], ["goal"], ["rice", "sushi"]]
    assert [each["word"] for each in mapped["skipped"]] == ["xyz"]
    assert len(get_json(client, "/overview", n=6, by="frequent")["topics"]) >= 1


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "got none"),
        ({"q": ""}, "The list of words is empty"),
        ({"q": "-"}, "names no word"),
        ({"q": '"sushi'}, "is not closed"),
        ({"q": "sushi^big"}, "is not a weight"),
        ({"q": "sushi^nan"}, "must be finite"),
        ({"q": " ".join(f"w{i}" for i in range(65))}, "at most 64 words, got 65"),
        ({"documents": 10**9}, "is not a document"),
        ({"q": "sushi", "narrower": 5}, "narrower: Input should be less than or equal to 4, got '5'."),
        ({"q": "sushi", "n_words": "many"}, "n_words: Input should be a valid integer"),
        ({"q": "sushi", "colour": "red"}, "colour: Extra inputs are not permitted, got 'red'."),
        ({"q": "x" * 1001}, "q: String should have at most 1000 characters"),
        ({"q": "sushi", "words_by": "luck"}, "words_by: Input should be 'typical' or 'probability'"),
        ({"q": "sushi", "n_components": 99}, "n_components"),
    ],
)
def test_what_is_wrong_with_a_question_is_said(client, params, said):
    error = get_json(client, "/topic", 422, **params)["error"]
    assert said in error["message"]


def test_there_is_no_other_index(client):
    error = client.get("/api/indexes/other/topic?q=sushi").json()["error"]
    assert error == {
        "code": "not_found",
        "message": "There is no index 'other'. The server has texts, again.",
        "fields": {"name": "other", "known": "texts, again", "indexes": ["texts", "again"]},
        "word": None,
        "suggestions": [],
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/nothing", 404, "not_found"),
        ("GET", "/static/nothing.js", 404, "not_found"),
        ("GET", "/static/../app.py", 404, "not_found"),
        ("GET", "/static/%2e%2e/app.py", 404, "not_found"),
        ("DELETE", "/api/health", 405, "method_not_allowed"),
        ("PUT", "/api/indexes/texts/topic", 405, "method_not_allowed"),
    ],
)
def test_errors_of_the_server_have_the_same_shape(client, method, path, status, code):
    answer = client.request(method, path)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code
    assert set(answer.json()["error"]) == {"code", "message", "fields", "word", "suggestions"}


def test_an_error_that_nobody_foresaw_tells_nothing_of_the_inside(index, monkeypatch):
    def fail(*_):
        raise RuntimeError("secret")

    monkeypatch.setattr("mixsearch.index.TopicIndex.find", fail)
    with TestClient(make_app({"texts": index}), base_url="http://localhost", raise_server_exceptions=False) as client:
        answer = client.get("/api/indexes/texts/topic?q=sushi")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 422, "JSON"),
        (b'{"text": []}', 422, "at least 1 item"),
        (b'{"text": "a"}', 422, "valid list"),
        (b'{"text": ["a"], "more": 1}', 422, "Extra inputs"),
        (b'{"text": ["zzz qqq"]}', 422, "words"),
        (b'{"text": ["' + b"a" * 3000 + b'"]}', 413, "limit of 2,000 bytes"),
        (b"\xff\xfe", 422, "JSON"),
    ],
)
def test_what_is_wrong_with_a_body_is_said(index, body, status, said):
    app = make_app({"texts": index}, limits=Limits(max_body=2000))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.post("/api/indexes/texts/topic", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status, answer.text
    assert said in answer.json()["error"]["message"]


def test_a_question_that_takes_too_long_is_given_up(index, monkeypatch):
    go_on = threading.Event()
    monkeypatch.setattr("mixsearch.index.TopicIndex.find", lambda *_: go_on.wait(20))
    app = make_app({"texts": index}, limits=Limits(timeout=0.2))
    with TestClient(app, base_url="http://localhost") as client:
        answer = client.get("/api/indexes/texts/topic?q=sushi")
        go_on.set()
    assert answer.status_code == 503
    assert answer.json()["error"]["message"] == "No answer within 0.2 seconds. Request less."


def test_without_an_index_there_are_pictures(tmp_path):
    with TestClient(make_app({}), base_url="http://localhost") as client:
        assert client.get("/api/indexes").json() == {"indexes": []}
        assert client.get("/api/pictures/example.png").status_code == 200
        assert "started without an index" in client.get("/api/indexes/a").json()["error"]["message"]


def test_topics_are_taken_along_as_one_file(client):
    answer = client.get("/api/indexes/texts/report.html", params={"topic": ["q=sushi", "q=court&narrower=1"]})
    assert answer.status_code == 200
    assert 'filename="texts-report-sushi-court.html"' in answer.headers["content-disposition"]
    assert answer.text.startswith("<!DOCTYPE html>")
    assert "sushi" in answer.text
    assert "<script" not in answer.text
    refused = client.get("/api/indexes/texts/report.html", params={"topic": "q=zzz"})
    assert refused.json()["error"]["code"] == "unknown_word"
