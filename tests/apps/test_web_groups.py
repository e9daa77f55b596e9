"""Filters, columns, groups and changes over HTTP agree with the library."""

import csv
import io

import pytest
from starlette.testclient import TestClient
from tests.dated_corpus import draw_rows, open_made

from mixsearch.web import Limits, make_app

ROWS = draw_rows()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return open_made(tmp_path_factory.mktemp("dated"))


@pytest.fixture(scope="module")
def client(index):
    with TestClient(make_app({"dated": index}, limits=Limits(timeout=120)), base_url="http://localhost") as client:
        yield client


def get(client, path, status=200, **params):
    answer = client.get(f"/api/indexes/dated{path}", params=params)
    assert answer.status_code == status, answer.text
    return answer.json() if answer.headers["content-type"].startswith("application/json") else answer.text


def test_a_filter_narrows_the_documents_of_a_topic(client):
    answer = get(client, "/topic", q="judge", where="year <= 2016", n_documents=20)
    assert answer["n_matching"] == sum(row["year"] <= 2016 for row in ROWS)
    for document in answer["documents"]:
        row = ROWS[document["row"]]
        assert row["year"] <= 2016
        assert (document["title"], document["link"]) == (row["title"], row["url"])
        assert document["columns"] == {name: row[name] for name in document["columns"]}
    page = get(client, "/topic/documents", q="judge", where="year <= 2016", skip_documents=5, n_documents=5)
    assert [each["row"] for each in page["documents"]] == [each["row"] for each in answer["documents"][5:10]]
    assert get(client, "/topic", q="judge")["n_matching"] is None


def test_a_search_within_differs_from_a_filter(client):
    within = get(client, "/topic", q="sushi", where="shop = 'Oslo'", within=True)
    narrowed = get(client, "/topic", q="sushi", where="shop = 'Oslo'")
    assert within["weight"] < narrowed["weight"]


def test_a_document_comes_with_its_columns(client):
    document = get(client, "/documents/3")
    assert document["title"] == ROWS[3]["title"]
    assert document["columns"]["date"] == ROWS[3]["date"]


def test_groups_are_those_of_the_library(client, index):
    found = index.group(["sushi", "judge"], over="year", where="shop = 'Rome'")
    params = {"topic": ["q=sushi", "q=judge"], "over": "year", "where": "shop = 'Rome'"}
    answer = get(client, "/topic/groups", **params)
    assert [topic["hint"] for topic in answer["topics"]] == ["sushi", "judge"]
    shares = [group["share"] for topic in answer["topics"] for group in topic["groups"]]
    assert shares == pytest.approx([group.share for topic in found.topics for group in topic.groups])
    rows = list(csv.DictReader(io.StringIO(get(client, "/topic/groups.csv", **params))))
    assert [float(row["share"]) for row in rows] == pytest.approx(shares)
    months = get(client, "/topic/groups", topic="q=sushi", over="date", every="month")
    assert months["every"] == "month"
    assert get(client, "/topic/groups", topic="q=sushi", over="year", every=5)["kind"] == "range"
    assert get(client, "/topic/groups", topic="q=sushi", by="shop")["kind"] == "category"


@pytest.mark.parametrize(
    ("path", "params", "code"),
    [
        ("/topic", {"q": "judge", "where": "yeer > 3"}, "unknown_column"),
        ("/topic", {"q": "judge", "where": "__import__('os')"}, "filter_syntax"),
        ("/topic", {"q": "judge", "where": "year > 3000"}, "filter_matches_nothing"),
        ("/topic", {"q": "judge", "within": True}, "no_filter"),
        ("/topic/groups", {"topic": "q=judge"}, "one_column_needed"),
        ("/topic/groups", {"topic": "q=judge", "over": "shop"}, "not_ordered"),
        ("/topic/groups", {"topic": "q=qqqqq", "over": "year"}, "unknown_word"),
    ],
)
def test_mistakes_are_one_coded_sentence(client, path, params, code):
    error = get(client, path, 422, **params)["error"]
    assert error["code"] == code
    assert error["message"].endswith((".", "?"))
