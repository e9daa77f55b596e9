"""`mixsearch export`."""

import polars as pl
import pytest
from mixsearch.index import IndexOptions, build_index
from tests.unit.index.planted_reviews import make_reviews
from typer.testing import CliRunner

from mixsearch.cli.app import app
from mixsearch.text import CorpusOptions


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("label") / "r.index"
    build_index(make_reviews(), path, IndexOptions(n_components=3), CorpusOptions(text="text", id="key"))
    return path


def run(*arguments, code=0, **options):
    result = CliRunner().invoke(app, list(map(str, arguments)), **options)
    assert result.exit_code == code, result.output
    return result


def test_the_documents_are_written_with_or_without_texts(index, tmp_path):
    run("export", index, "-o", tmp_path / "documents.parquet")
    run("export", index, "--no-text", "-o", tmp_path / "documents.csv")
    frame, without = pl.read_parquet(tmp_path / "documents.parquet"), pl.read_csv(tmp_path / "documents.csv")
    assert frame.columns == [*without.columns, "text"]
    assert frame["text"].to_list() == make_reviews()["text"].tolist()


def test_hints_become_columns(index, tmp_path):
    hints = tmp_path / "hints.txt"
    hints.write_text("# things\nfood: sushi rice\ntaxi\n", encoding="utf-8")
    result = run("export", index, "--hints", hints, "-o", tmp_path / "labelled.parquet")
    assert "240 documents" in result.stderr
    frame = pl.read_parquet(tmp_path / "labelled.parquet")
    assert frame.columns[-6:] == ["food", "food about", "food verdict", "taxi", "taxi about", "taxi verdict"]
    assert frame.filter(pl.col("food about"))["row"].to_list() == list(range(0, 240, 3))
    assert "text" not in frame.columns


def test_a_bad_topic_does_not_stop_the_others(index, tmp_path):
    result = run(
        "export", index, "--topics", "sushi,xyzzy", "--topics", "taxi", "--text", "-o", tmp_path / "a.csv", code=1
    )
    assert "xyzzy: " in result.stderr
    assert {"text", "sushi about", "taxi about"} <= set(pl.read_csv(tmp_path / "a.csv").columns)
    run("export", index, "--topics", "xyzzy", "-o", tmp_path / "b.csv", code=1)
    run("export", index, "--topics", "sushi", "--hints", tmp_path / "x", "-o", tmp_path / "b.csv", code=2)
    assert not (tmp_path / "b.csv").exists()
