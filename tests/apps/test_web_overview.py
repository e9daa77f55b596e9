"""Overviews, groups, filters and reports over HTTP agree with the library."""

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
    within = get(client, "/topic", q="sushi", where="shop = 'Oslo'", within=True)
    assert within["weight"] < get(client, "/topic", q="sushi", where="shop = 'Oslo'")["weight"]


def test_groups_are_those_of_the_library(client, index):
    found = index.group(["sushi", "judge"], over="year", where="shop = 'Rome'")
    params = {"topic": ["q=sushi", "q=judge"], "over": "year", "where": "shop = 'Rome'"}
    answer = get(client, "/topic/groups", **params)
    assert [topic["hint"] for topic in answer["topics"]] == ["sushi", "judge"]
    shares = [group["share"] for topic in answer["topics"] for group in topic["groups"]]
    assert shares == pytest.approx([group.share for topic in found.topics for group in topic.groups])
    rows = list(csv.DictReader(io.StringIO(get(client, "/topic/groups.csv", **params))))
    assert [float(row["share"]) for row in rows] == pytest.approx(shares)
    assert get(client, "/topic/groups", topic="q=sushi", over="date", every="month")["every"] == "month"
    assert get(client, "/topic/groups", topic="q=sushi", over="year", every=5)["kind"] == "range"
    assert get(client, "/topic/groups", topic="q=sushi", by="shop")["kind"] == "category"


def test_a_map_has_the_topics_of_words(client):
    mapped = get(client, "/overview", words=["sushi", "judge", "xyz"])
    assert sorted(topic["words"] for topic in mapped["topics"]) == [["judge"], ["sushi"]]
    assert [each["word"] for each in mapped["skipped"]] == ["xyz"]
    assert len(get(client, "/overview", n=6, by="frequent")["topics"]) >= 1


def test_a_report_is_one_file(client):
    answer = client.get("/api/indexes/dated/report.html", params={"topic": ["q=sushi", "q=judge&narrower=1"]})
    assert answer.status_code == 200
    assert 'filename="dated-report-sushi-judge.html"' in answer.headers["content-disposition"]
    assert answer.text.startswith("<!DOCTYPE html>")
    assert "<script" not in answer.text


@pytest.mark.parametrize(
    ("path", "params", "code"),
    [
        ("/topic", {"q": "judge", "where": "yeer > 3"}, "unknown_column"),
        ("/topic/groups", {"topic": "q=judge"}, "one_column_needed"),
        ("/topic/groups", {"topic": "q=judge&narrower=nine", "over": "year"}, "bad_argument"),
        ("/report.html", {"topic": "q=zzz"}, "unknown_word"),
    ],
)
def test_mistakes_are_errors_with_a_code(client, path, params, code):
    assert get(client, path, 422, **params)["error"]["code"] == code
