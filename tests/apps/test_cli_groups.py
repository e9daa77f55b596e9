"""Filters, and topics over time and by group, on the command line."""

import csv
import io
import json

import pytest
from mixsearch.index import open_index
from tests.apps.cli_corpus import invoke
from tests.dated_corpus import YEARS, draw_rows, make_index

ROWS = draw_rows()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("dated"))


def run(*arguments, code=0, **more):
    result = invoke(*arguments, **more)
    assert result.exit_code == code, result.output
    return result


def test_documents_are_listed_with_their_titles_and_dates(path):
    lines = run("topic", path, "judge", "--where", "year = 2017", "--n-documents", "3").stdout.splitlines()
    documents = [line.split(maxsplit=2) for line in lines if line.startswith("document")]
    assert len(documents) == 3
    for _, row, rest in documents:
        planted = ROWS[int(row)]
        assert planted["year"] == 2017
        assert rest.startswith(f"{planted['title']} (2017")
    n_matching = sum(row["year"] == 2017 for row in ROWS)
    assert f"filter      year = 2017: {n_matching} documents match" in lines


def test_every_word_is_a_topic_of_its_own_over_time(path):
    found = open_index(path).group(["sushi", "judge"], over="year")
    printed = json.loads(run("topic", path, "sushi", "judge", "--over", "year", "--json").stdout)
    assert [topic["hint"] for topic in printed["topics"]] == ["sushi", "judge"]
    shares = [group["share"] for topic in printed["topics"] for group in topic["groups"]]
    assert shares == pytest.approx([group.share for topic in found.topics for group in topic.groups])
    rows = list(csv.DictReader(io.StringIO(run("topic", path, "sushi", "judge", "--over", "year", "--csv").stdout)))
    assert [float(row["share"]) for row in rows] == pytest.approx(shares)
    lines = run("topic", path, "sushi", "judge", "--over", "year").stdout.splitlines()
    labels = [line.split()[0] for line in lines if line[:4].isdigit()]
    assert labels == [*map(str, YEARS), *map(str, YEARS)]


def test_groups_are_shown_by_a_column_and_drawn(path, tmp_path):
    result = run("topic", path, "sushi", "--by", "shop", "--plot", tmp_path / "shops.svg")
    assert {line.split()[0] for line in result.stdout.splitlines()[2:]} == {"Rome", "Oslo"}
    assert "<svg" in (tmp_path / "shops.svg").read_text()
    run("topic", path, "sushi", "--over", "date", "--every", "month", "--plot", tmp_path / "months.png")
    assert (tmp_path / "months.png").read_bytes().startswith(b"\x89PNG")
    widths = run("topic", path, "sushi", "--over", "year", "--every", "5").stdout
    assert "2015 to <2020" in widths


@pytest.mark.parametrize(
    ("options", "code", "fields"),
    [
        (("--over", "yeer"), "unknown_column", {"column": "yeer", "suggestion": "year"}),
        (("--within",), "no_filter", {"argument": "within", "filter": "where"}),
    ],
)
def test_an_error_has_a_code_and_fields(path, options, code, fields):
    error = json.loads(run("topic", path, "sushi", *options, "--json", code=1).stdout)["error"]
    assert error["code"] == code
    assert fields.items() <= error["fields"].items()


@pytest.mark.parametrize(
    ("options", "named"), [(("--over", "year", "--by", "shop"), "--by"), (("--every", "month"), "--every")]
)
def test_a_wrong_command_ends_with_code_2(path, options, named):
    assert named in run("topic", path, "sushi", *options, code=2, COLUMNS="300").stderr
