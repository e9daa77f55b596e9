"""Tables over HTTP: rows, points and members of a planted table; files; what is rejected."""

import csv
import io

import numpy as np
import pytest
from starlette.testclient import TestClient

from mixsearch.web import Access, Limits, make_app
from mixsearch.web.processes import start_fork_server

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    start_fork_server()
    limits = Limits(timeout=60)
    with TestClient(make_app({}, limits=limits, access=Access(files=True)), base_url="http://localhost") as client:
        yield client


def bring(client, columns, name="planted.csv"):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    answer = client.post("/api/files", params={"name": name}, content=text.getvalue().encode())
    assert answer.status_code == 201, answer.text
    return answer.json()["file"]


def ask(client, table, what="", **parameters):
    answer = client.get(f"/api/tables/{table}{what}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client, table, what, status, code, **parameters):
    answer = client.get(f"/api/tables/{table}{what}", params=parameters)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text


@pytest.fixture(scope="module")
def clouds(client):
    """Two clouds of 60 and 90 rows, far apart in two columns; the others are noise, a date, a category and an id."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], [60, 90])
    columns = {
        "width": rng.normal(size=150) + 8 * kind,
        "height": rng.normal(size=150) - 8 * kind,
        "day": [f"2024-01-{1 + row % 28:02}" for row in range(150)],
        "city": ["Rome", "Oslo", ""] * 50,
        "id": [f"r{row}" for row in range(150)],
    }
    return bring(client, columns)


def test_a_table_shows_its_columns(client, clouds):
    info = ask(client, clouds)
    kinds = {each["name"]: (each["kind"], each["n_missing"]) for each in info["columns"]}
    assert (info["name"], info["n_rows"]) == ("planted.csv", 150)
    assert kinds["width"] == ("number", 0)
    assert kinds["day"] == ("date", 0)
    assert kinds["city"] == ("category", 50)


def test_points_are_the_values_of_two_columns(client, clouds):
    points = ask(client, clouds, "/points", x="width", y="day")
    assert points["rows"] == list(range(150))
    assert max(points["x"][:60]) < min(points["x"][60:])
    assert points["y"][1] - points["y"][0] == 1
    refused(client, clouds, "/points", 422, "nothing_to_plot", x="width", y="city")
    refused(client, clouds, "/points", 422, "unknown_column", x="width", y="nothing")


def test_rows_come_a_page_at_a_time_filtered_and_sorted(client, clouds):
    first = ask(client, clouds, "/rows", n_rows=100)
    rest = ask(client, clouds, "/rows", n_rows=100, skip=100)
    assert [each["row"] for each in first["rows"] + rest["rows"]] == list(range(150))
    values = [each["values"] for each in first["rows"] + rest["rows"]]
    widest = ask(client, clouds, "/rows", sort_by="width", descending=True, n_rows=3)["rows"]
    assert [each["values"]["width"] for each in widest] == sorted((each["width"] for each in values), reverse=True)[:3]
    romans = ask(client, clouds, "/rows", where='city = "Rome" and width > 4')
    assert romans["n_matching"] == sum(each["city"] == "Rome" and each["width"] > 4 for each in values)
    assert {each["values"]["city"] for each in romans["rows"]} == {"Rome"}
    assert ask(client, clouds, "/rows", where="width > 1000") == {"n_matching": 0, "rows": []}
    cities = [each["values"]["city"] for each in ask(client, clouds, "/rows", sort_by="city", skip=100)["rows"]]
    assert cities == [None] * 50


def test_rows_are_sorted_by_likeness_or_those_that_are_named(client, clouds):
    question = {"examples": [3, 8, 17, 29, 40, 51], "columns": ["width", "height"]}
    alike = ask(client, clouds, "/rows", **question)["rows"]
    memberships = [each["membership"] for each in alike]
    assert memberships == sorted(memberships, reverse=True)
    assert max(each["row"] for each in alike) < 60
    named = ask(client, clouds, "/rows", **question, rows=[70, 8, 9])["rows"]
    assert [each["row"] for each in named] == [70, 8, 9]
    assert named[1]["membership"] == 1


def test_judged_rows_estimate_how_many_are_members(client, clouds):
    question = {"examples": [3, 8, 17, 29, 40, 51], "columns": ["width", "height"]}

    def post(judgements):
        return client.post(f"/api/tables/{clouds}/audit", params=question, json={"judgements": judgements}).json()

    first = post({})
    assert (first["audit"], len(first["next"])) == (None, 10)
    audit = post({str(row): row < 60 for row in first["next"]})["audit"]
    assert audit["n_judged"] == 10
    assert audit["n_members"]["low"] <= 60 <= audit["n_members"]["high"]


def test_examples_find_their_cloud(client, clouds):
    question = {"examples": [3, 8, 17, 29, 40, 51], "not_examples": [100], "columns": ["width", "height"]}
    found = ask(client, clouds, "/members", **question)
    is_member = np.array(found["is_member"])
    assert is_member[:60].mean() > 0.3
    assert not is_member[60:].any()
    assert [each["membership"] for each in found["answer"]["examples"]] == [1] * 6
    assert 25 <= found["answer"]["n_members"] <= 80


def test_the_labelled_table_has_all_columns_and_three_more(client, clouds):
    answer = client.get(
        f"/api/tables/{clouds}/members.csv", params={"examples": [3, 17], "columns": ["width", "height"]}
    )
    assert "UTF-8''planted-members.csv" in answer.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert list(rows[0]) == ["width", "height", "day", "city", "id", "score", "membership", "is_member"]
    assert [rows[3]["id"], rows[3]["is_member"]] == ["r3", "true"]


def test_the_example_is_always_there(client):
    assert ask(client, "example")["n_rows"] == 178
    assert ask(client, "example", "/members", examples=[3, 8])["answer"]["n_table_rows"] == 178
    assert ask(client, "example", "/rows", skip=2)["rows"][0]["values"]["alcohol"] == 13.16


def test_what_cannot_be_answered_is_a_code(client, clouds):
    refused(client, "nothing", "", 410, "gone")
    refused(client, clouds, "/members", 422, "row_out_of_range", examples=[150])
    refused(client, clouds, "/members", 422, "bad_argument")
    refused(client, clouds, "/rows", 422, "row_out_of_range", examples=[150])
    refused(client, clouds, "/rows", 422, "unknown_column", sort_by="nothing")
    refused(client, clouds, "/rows", 422, "filter_syntax", where="width >> 3")
