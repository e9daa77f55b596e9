"""`mixsearch label` and `mixsearch export`."""

import pandas as pd
import polars as pl
import pytest
from tests.unit.index.planted_reviews import make_reviews
from typer.testing import CliRunner

from mixsearch.cli.app import app
from mixsearch.index import IndexOptions, build_index
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


def test_hints_become_columns(index, tmp_path):
    hints = tmp_path / "hints.txt"
    hints.write_text("# things\nfood: sushi rice\ntaxi\n", encoding="utf-8")
    result = run("label", index, "--hints", hints, "-o", tmp_path / "labelled.parquet")
    assert "240 documents" in result.stderr
    frame = pl.read_parquet(tmp_path / "labelled.parquet")
    assert frame.columns[-6:] == ["food", "food about", "food verdict", "taxi", "taxi about", "taxi verdict"]
    assert frame.filter(pl.col("food about"))["row"].to_list() == list(range(0, 240, 3))


def test_words_are_hints_each_and_the_text_is_there_if_asked_for(index, tmp_path):
    run("label", index, "sushi", "taxi", "--text", "-o", tmp_path / "labelled.xlsx")
    frame = pd.read_excel(tmp_path / "labelled.xlsx")
    assert {"text", "sushi about", "taxi about"} <= set(frame.columns)
    assert frame["text"].tolist() == make_reviews()["text"].tolist()


def test_a_bad_hint_does_not_stop_the_others(index, tmp_path):
    result = run("label", index, "sushi", "xyzzy", "-o", tmp_path / "a.csv", code=1)
    assert "xyzzy: " in result.stderr
    assert "sushi about" in pd.read_csv(tmp_path / "a.csv").columns
    assert "No topic was found" in run("label", index, "xyzzy", "-o", tmp_path / "b.csv", code=1).stderr
    assert not (tmp_path / "b.csv").exists()


def test_hints_are_needed_and_the_format_is_known(index, tmp_path):
    run("label", index, "-o", tmp_path / "a.csv", code=2)
    run("label", index, "sushi", "--hints", tmp_path / "x", "-o", tmp_path / "a.csv", code=2)
    result = run("label", index, "sushi", "-o", tmp_path / "a.docx", code=1)
    assert ".parquet" in result.stderr


def test_export_has_the_documents(index, tmp_path):
    run("export", index, "-o", tmp_path / "documents.parquet")
    run("export", index, "--no-text", "-o", tmp_path / "documents.csv")
    frame, without = pl.read_parquet(tmp_path / "documents.parquet"), pl.read_csv(tmp_path / "documents.csv")
    assert frame.columns == [*without.columns, "text"]
    assert frame["text"].to_list() == make_reviews()["text"].tolist()
    run("export", tmp_path / "none", "-o", tmp_path / "a.csv", code=1)
    assert not (tmp_path / "a.csv").exists()
