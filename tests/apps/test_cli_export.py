"""`mixsearch export` and `mixsearch report`."""

import polars as pl
import pytest
from tests.apps.cli import invoke
from tests.dated_corpus import draw_rows, make_index

from mixsearch.topics import open_index

ROWS = draw_rows()


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return make_index(tmp_path_factory.mktemp("export"))


@pytest.fixture
def _page(tmp_path, monkeypatch):
    """A page without a script: what it does is tested in a browser."""
    for name in ("page.css", "page.js"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr("mixsearch.report.STATIC_FILES", tmp_path)


def run(*arguments, code=0):
    result = invoke(*arguments)
    assert result.exit_code == code, result.output
    return result


def test_the_documents_are_written_with_their_texts_and_columns(index, tmp_path):
    assert f"{len(ROWS)} documents" in run("export", index, "-o", tmp_path / "documents.parquet").stderr
    frame = pl.read_parquet(tmp_path / "documents.parquet")
    assert {*ROWS[0]} <= {*frame.columns}
    assert frame["text"].to_list() == [row["text"] for row in ROWS]


def test_hints_become_columns_of_membership(index, tmp_path):
    hints, output = tmp_path / "hints.txt", tmp_path / "labelled.parquet"
    hints.write_text("# things\nfood: sushi rice\njudge\n", encoding="utf-8")
    run("export", index, "--hints", hints, "-o", output)
    frame, topic = pl.read_parquet(output), open_index(index).search("judge")
    assert {"food", "judge"} <= set(frame.columns)
    assert frame["judge"].sum() == pytest.approx(topic.n_members)


def test_a_bad_topic_does_not_stop_the_others(index, tmp_path):
    result = run("export", index, "--topics", "sushi,xyzzy", "--topics", "judge", "-o", tmp_path / "a.csv", code=1)
    assert "xyzzy: " in result.stderr
    assert {"sushi", "judge"} <= set(pl.read_csv(tmp_path / "a.csv").columns)
    run("export", index, "--topics", "sushi", "--hints", tmp_path / "x", "-o", tmp_path / "b.csv", code=2)
    assert not (tmp_path / "b.csv").exists()


@pytest.mark.usefixtures("_page")
def test_a_report_is_one_file_and_a_bad_hint_does_not_stop_the_others(index, tmp_path):
    arguments = ("sushi", "xyzzy", "--by", "shop", "--where", "year >= 2020")
    result = run("report", index, *arguments, "-o", tmp_path / "a.html", code=1)
    assert "No document contains 'xyzzy'." in result.stderr
    assert "1 topic" in result.stderr
    assert "<title>dated" in (tmp_path / "a.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("_page")
def test_a_report_that_cannot_be_made_is_an_error(index, tmp_path):
    assert ".html" in run("report", index, "sushi", "-o", tmp_path / "a.pdf", code=1).stderr
    assert "xyzzy" in run("report", index, "xyzzy", "-o", tmp_path / "a.html", code=1).stderr
    run("report", index, "-o", tmp_path / "a.html", code=2)
    assert not (tmp_path / "a.html").exists()
