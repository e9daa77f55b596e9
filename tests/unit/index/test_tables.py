"""Documents of an index as tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.coded import raises
from tests.unit.index.planted_reviews import ORDER, make_reviews

from mixsearch.index import (
    IndexOptions,
    Query,
    answer_queries,
    build_index,
    label_documents,
    list_documents,
    open_index,
)
from mixsearch.table import write_table
from mixsearch.text import CorpusOptions

KEPT = ["title", "url", "date", "shop", "stars", "is_new"]


@pytest.fixture(scope="module")
def reviews():
    frame = make_reviews()
    frame.loc[5, "text"] = None
    return frame


@pytest.fixture(scope="module")
def index(reviews, tmp_path_factory):
    path = tmp_path_factory.mktemp("frames") / "r.index"
    build_index(reviews, path, IndexOptions(n_components=3), CorpusOptions(text="text", id="key"))
    return open_index(path)


@pytest.fixture(scope="module")
def plain(reviews, tmp_path_factory):
    """An index of texts alone: no names, no columns."""
    path = tmp_path_factory.mktemp("frames") / "plain.index"
    build_index(reviews["text"], path, IndexOptions(n_components=3))
    return open_index(path)


def answer(index, *words):
    return answer_queries(index, [Query(word, words={word: 1.0}) for word in words])


def test_documents_without_names_and_columns_have_rows(plain):
    assert [frame.columns for frame in list_documents(plain)] == [["row", "text"]]


@pytest.mark.parametrize("suffix", ["parquet", "csv", "xlsx"])
def test_exported_documents_are_those_of_the_input(index, reviews, tmp_path, suffix):
    path = tmp_path / f"documents.{suffix}"
    write_table(list_documents(index), path)
    readers = {"parquet": pd.read_parquet, "jsonl": lambda file: pd.read_json(file, lines=True), "xlsx": pd.read_excel}
    frame = readers.get(suffix, pd.read_csv)(path)
    assert list(frame.columns) == ["row", "id", *KEPT, "text"]
    expected = reviews.drop(5)
    assert (frame["row"] == expected.index).all()
    assert (frame["id"].to_numpy() == expected["key"].to_numpy()).all()
    assert (pd.to_datetime(frame["date"]).to_numpy() == expected["date"].to_numpy()).all()
    for name in ("title", "url", "shop", "stars", "is_new", "text"):
        assert (frame[name].to_numpy() == expected[name].to_numpy()).all(), name


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_labelled_documents_are_read_by_polars(index, reviews, tmp_path, suffix):
    path = tmp_path / f"labelled.{suffix}"
    outcomes = answer(index, *ORDER)
    write_table(label_documents(index, outcomes), path)
    frame = (pl.read_parquet if suffix == "parquet" else pl.read_csv)(path)
    labels = [name for thing in ORDER for name in (thing, f"{thing} about", f"{thing} verdict")]
    assert frame.columns == ["row", "id", *KEPT, *labels]
    for position, (thing, outcome) in enumerate(zip(ORDER, outcomes, strict=True)):
        about = frame[f"{thing} about"].to_numpy()
        assert (about == (frame["row"].to_numpy() % 3 == position)).all()
        assert (about == (frame[thing].to_numpy() >= 0.25)).all()
        assert set(frame[f"{thing} verdict"].cast(pl.String)) == {outcome.answer.verdict_code}
    counted = frame.filter(pl.col("taxi about")).group_by("shop").len().sort("shop").rows()
    expected = reviews.drop(5).query("index % 3 == 1").groupby("shop").size()
    assert counted == list(expected.items())


def test_labels_of_repeated_names_differ_and_errors_are_left_out(index):
    outcomes = answer(index, "taxi", "taxi", "xyzzy")
    names = next(label_documents(index, outcomes, text=True)).columns
    assert names[-7:] == [
        "text", "taxi", "taxi about", "taxi verdict", "taxi (2)", "taxi about (2)", "taxi verdict (2)",
    ]  # fmt: skip
    with raises("no_topics"):
        label_documents(index, answer(index, "xyzzy"))


def test_chunks_of_documents_do_not_change_the_table(index, monkeypatch):
    whole = pl.concat(label_documents(index, answer(index, *ORDER), text=True))
    monkeypatch.setattr("mixsearch.index.tables.CHUNK_ROWS", 17)
    parts = pl.concat(label_documents(index, answer(index, *ORDER), text=True))
    assert parts.drop(ORDER).equals(whole.drop(ORDER))
    np.testing.assert_allclose(parts.select(ORDER), whole.select(ORDER), atol=1e-12)
