"""Data frames, Series, lists and generators are read as files with the same columns are."""

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.coded import raises

from mixsearch.text import CorpusOptions, read_corpus

TEXTS = ["good sushi and rice", None, "bad burger with fries", "good burger"]
DAYS = [datetime.date(2024, 1, day) for day in (1, 2, 3, 4)]
COLUMNS = {
    "review": TEXTS,
    "key": ["a", "b", "c", "d"],
    "day": DAYS,
    "shop": ["x", "y", "x", None],
    "stars": [5, 1, 2, 4],
}
EVERY_WORD = {"min_df": 1, "max_df": 1.0, "stop_words": None, "phrases": False}
OPTIONS = CorpusOptions(text="review", id="key", keep=["day", "shop", "stars"], **EVERY_WORD)


FRAMES = {
    "pandas with categories": lambda: pd.DataFrame(COLUMNS).astype({"shop": "category"}),
    "pandas by index": lambda: pd.DataFrame(COLUMNS).set_index("key"),
    "polars with categories": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("shop").cast(pl.Categorical)),
    "polars, lazy": lambda: pl.DataFrame(COLUMNS).lazy(),
    "arrow in batches": lambda: pa.table(COLUMNS).to_reader(max_chunksize=1),
    "mapping": lambda: COLUMNS,
}
STRINGS = {
    "pandas with NaN": lambda: pd.Series(TEXTS, dtype=object).fillna(np.nan),
    "polars": lambda: pl.Series(TEXTS),
    "arrow in chunks": lambda: pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
    "numpy": lambda: np.array(TEXTS, dtype=object),
    "list": lambda: TEXTS,
    "generator": lambda: (text for text in TEXTS),
}


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "reviews.parquet"
    pl.DataFrame(COLUMNS).write_parquet(path)
    return path


def read(source, options=OPTIONS):
    with read_corpus(source, options) as corpus:
        chunks = list(corpus.chunks())
        names = None if chunks[0].names is None else [name for chunk in chunks for name in chunk.names]
        kept = None if chunks[0].columns is None else pl.concat([chunk.columns for chunk in chunks])
        return corpus, corpus.to_counts().toarray(), names, kept


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_in_memory_is_read_as_its_file(kind, lines):
    expected, counts, names, kept = read(lines)
    corpus, own_counts, own_names, own_kept = read(FRAMES[kind]())
    assert corpus.vocabulary == expected.vocabulary
    assert (own_counts == counts).all()
    assert corpus.n_documents == 4
    assert own_names == names
    assert own_kept.to_dict(as_series=False) == kept.to_dict(as_series=False)
    assert own_kept.dtypes == [pl.Date, pl.String, pl.Int64]


@pytest.mark.parametrize("kind", STRINGS)
def test_texts_in_memory_are_documents_and_missing_ones_are_counted(kind):
    corpus, counts, *_ = read(STRINGS[kind](), CorpusOptions(**EVERY_WORD))
    assert "sushi" in corpus.vocabulary
    assert "nan" not in corpus.vocabulary
    assert "none" not in corpus.vocabulary
    assert counts.sum(axis=1).tolist() == [4, 0, 4, 2]
    assert corpus.n_missing == 1
    [note] = corpus.notes
    assert note.code == "missing_texts"
    assert note.fields == {"n_missing": 1, "n_rows": 4}


def test_strings_that_name_files_are_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("some texts.txt").write_text("one document\nanother document\n", encoding="utf-8")
    options = CorpusOptions(**EVERY_WORD)
    for source in (["some texts.txt"], ["some t*.txt"], [Path("some texts.txt")]):
        assert read(source, options)[0].n_documents == 2
    with raises("file_missing", file="reviews.csv"):
        read_corpus(["reviews.csv"])
