"""Data frames, Series, lists and generators are read as files with the same columns are."""

import datetime
import itertools
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from mixsearch.errors import ArgumentError, SearchError
from mixsearch.index import IndexOptions, build_index, open_index
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


def with_categories(frame):
    return frame.assign(shop=frame["shop"].astype("category"))


FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with categories": lambda: with_categories(pd.DataFrame(COLUMNS)),
    "pandas by index": lambda: pd.DataFrame(COLUMNS).set_index("key"),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars with categories": lambda: pl.DataFrame(COLUMNS).with_columns(pl.col("shop").cast(pl.Categorical)),
    "polars, lazy": lambda: pl.DataFrame(COLUMNS).lazy(),
    "arrow": lambda: pa.table(COLUMNS),
    "arrow in batches": lambda: pa.table(COLUMNS).to_reader(max_chunksize=1),
    "mapping": lambda: COLUMNS,
}
STRINGS = {
    "pandas": lambda: pd.Series(TEXTS),
    "pandas with NaN": lambda: pd.Series(TEXTS, dtype=object).fillna(np.nan),
    "polars": lambda: pl.Series(TEXTS),
    "arrow": lambda: pa.array(TEXTS),
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
        rows = np.concatenate([chunk.rows for chunk in chunks])
        names = None if chunks[0].names is None else [name for chunk in chunks for name in chunk.names]
        kept = None if chunks[0].columns is None else pa.Table.from_batches([chunk.columns for chunk in chunks])
        return corpus, corpus.to_counts().toarray(), rows, names, kept


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_in_memory_is_read_as_its_file(kind, lines):
    expected, counts, rows, names, kept = read(lines)
    corpus, own_counts, own_rows, own_names, own_kept = read(FRAMES[kind]())
    assert corpus.vocabulary == expected.vocabulary
    assert (own_counts == counts).all()
    assert own_rows.tolist() == rows.tolist() == [0, 1, 2, 3]
    assert own_names == names
    assert own_kept.to_pydict() == kept.to_pydict()
    assert [str(field.type) for field in own_kept.schema] == ["date32[day]", "string", "int64"]


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
    assert str(note) == "1 of 4 documents has no text, and is left out."


def test_missing_texts_of_files_are_counted_too(lines, tmp_path):
    pl.read_parquet(lines).select("review", "key").write_ndjson(tmp_path / "reviews.jsonl")
    for path in (lines, tmp_path / "reviews.jsonl"):
        assert read(path, CorpusOptions(text="review", **EVERY_WORD))[0].n_missing == 1


def test_an_empty_text_is_not_a_missing_one():
    assert read(["", "two words"], CorpusOptions(**EVERY_WORD))[0].n_missing == 0


def test_strings_that_name_files_are_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("some texts.txt").write_text("one document\nanother document\n", encoding="utf-8")
    options = CorpusOptions(**EVERY_WORD, format="lines")
    for source in (["some texts.txt"], ["some t*.txt"], [Path("some texts.txt")]):
        assert read(source, options)[0].n_documents == 2
    with pytest.raises(SearchError, match="No file 'reviews.csv'"):
        read_corpus(["reviews.csv"])


def test_a_column_that_a_table_lacks_is_named():
    with pytest.raises(
        SearchError, match="No column 'reviews' in 'the table'. Its columns are: review, key.*'review'?"
    ):
        read_corpus(pd.DataFrame(COLUMNS), CorpusOptions(text="reviews"))


def test_texts_have_no_columns():
    with pytest.raises(ArgumentError, match="id is 'key', but 'the texts' is plain text without columns"):
        read_corpus(pd.Series(TEXTS), CorpusOptions(id="key"))


@pytest.mark.parametrize("empty", [[], pd.DataFrame({"review": []}, dtype=str), pl.DataFrame({"review": []}), iter(())])
def test_nothing_is_an_error(empty):
    with pytest.raises(SearchError) as caught:
        read_corpus(empty, CorpusOptions(**EVERY_WORD))
    assert caught.value.code in ("no_documents", "no_files", "unclear_text_column")


def test_values_of_several_types_become_text_and_names_that_are_repeated_differ():
    frame = pd.DataFrame([["good sushi", 1, {"a": 1}], ["bad rice", "two", None]])
    frame.columns = ["text", 7, 7]
    *_, kept = read(frame, CorpusOptions(text="text", keep=["7", "7 (2)"], **EVERY_WORD))
    assert kept.to_pydict() == {"7": ["1", "two"], "7 (2)": ['{"a": 1}', None]}


def test_a_generator_is_never_held_in_memory():
    text = " ".join(map(str, ["word"] * 2000))
    n = 3000
    tracemalloc.start()
    try:
        texts = (f"{text} {letter}" for letter, _ in zip(itertools.cycle(["good", "bad"]), range(n), strict=False))
        with read_corpus(texts, CorpusOptions(memory=4_000_000, n_jobs=1, keep_texts=False, **EVERY_WORD)) as corpus:
            assert corpus.n_documents == n
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * len(text) / 2


def planted(n=240, seed=0):
    """Texts about three things, with one missing, and their shops."""
    rng = np.random.default_rng(seed)
    words = [[f"{thing}{letter}" for letter in "abcdefgh"] for thing in ("sushi", "pizza", "taxi")]
    texts = [" ".join(rng.choice(words[i % 3], 12)) for i in range(n)]
    texts[4] = None
    return pd.DataFrame({"text": texts, "key": [f"doc {i}" for i in range(n)], "shop": ["x", "y"] * (n // 2)})


def test_an_index_of_a_data_frame_answers_with_its_rows_and_columns(tmp_path):
    built = build_index(planted(), tmp_path / "r.index", IndexOptions(n_components=3), CorpusOptions(id="key"))
    assert (built.n_documents, built.n_short, built.n_missing) == (239, 1, 1)
    assert "missing_texts" in [note.code for note in built.notes]
    index = open_index(tmp_path / "r.index")
    rows = [row for row, _ in index.search("pizzaa").documents(5)]
    assert all(row % 3 == 1 for row in rows)
    assert [document.name for document in index.documents(rows)] == [f"doc {row}" for row in rows]
    assert index.columns.names == ["row", "id", "shop"]


def test_a_cluster_reads_files_only(tmp_path):
    with pytest.raises(ArgumentError, match="not what this process holds in memory.*leave out scheduler"):
        build_index(planted(), tmp_path / "r.index", scheduler="local")
