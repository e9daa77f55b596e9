"""`mixsearch report`."""

import openpyxl
import pytest
from mixsearch.index import IndexOptions, build_index
from tests.unit.index.planted_reviews import make_reviews
from typer.testing import CliRunner

from mixsearch.cli.app import app
from mixsearch.text import CorpusOptions


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "r.index"
    build_index(make_reviews(), path, IndexOptions(n_components=3), CorpusOptions(text="text", id="key"))
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def test_a_page_has_the_topics_of_a_file_of_hints(index, tmp_path):
    (tmp_path / "hints.txt").write_text("food: sushi rice\ntaxi\n", encoding="utf-8")
    result = run("report", index, "--hints", tmp_path / "hints.txt", "--title", "My topics", "-o", tmp_path / "a.html")
    assert "2 topics" in result.stderr
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "<h1>My topics</h1>" in page
    assert "By shop" in page
    assert "Over time" in page


def test_columns_are_chosen_and_documents_filtered(index, tmp_path):
    run(
        "report", index, "taxi", "--by", "stars", "--where", "stars >= 3", "--n-documents", 4, "-o", tmp_path / "a.xlsx"
    )
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    assert {row[1] for row in book["Groups"].iter_rows(min_row=2, values_only=True)} == {"stars"}
    assert {row[2] for row in book["Groups"].iter_rows(min_row=2, values_only=True)} == {"3", "4", "5"}
    assert book["Documents"].max_row == 5


def test_a_bad_hint_does_not_stop_the_others_and_a_bad_file_is_named(index, tmp_path):
    result = run("report", index, "taxi", "xyzzy", "-o", tmp_path / "a.html", code=1)
    assert "xyzzy" in result.stderr
    assert "xyzzy" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert ".html" in run("report", index, "taxi", "-o", tmp_path / "a.pdf", code=1).stderr
    run("report", index, "-o", tmp_path / "b.html", code=2)
