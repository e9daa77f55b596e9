"""Columns beside the text: which are found, that they stay beside their documents, and that their types do not
depend on where the chunks are cut.
"""

import json
from datetime import date, datetime

import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.every_word import every_word

from mixsearch.text import CorpusOptions, read_corpus
from mixsearch.text.read import inspect_columns

# The smallest chunks that there are.
SMALL = {"memory": 1}
N_ROWS = 3000


def make_rows(n_rows=N_ROWS):
    return [
        {
            "review_id": f"r{i}",
            "review": f"text {i} " + "word " * 30,
            "title": f"Title of the review number {i}",
            "url": f"https://example.org/{i}",
            "day": date(2024, 1 + i % 12, 1 + i % 28),
            "shop": ("Oslo", "Rome", None)[i % 3],
            "stars": 1 + i % 5,
            "price": None if i % 7 == 0 else i / 4,
            "returned": i % 2 == 0,
            "comment": f"another text {i}",
        }
        for i in range(n_rows)
    ]


def write_rows(path, rows):
    names = list(rows[0])
    if path.suffix == ".parquet":
        parquet.write_table(pa.Table.from_pylist(rows), path, row_group_size=500)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
    else:
        lines = [",".join("" if row[name] is None else str(row[name]) for name in names) for row in rows]
        path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return path


def read_kept(source, **options):
    """Return the texts, the kept columns, and the number of chunks."""
    with read_corpus(source, every_word(**{**SMALL, **options})) as corpus:
        chunks = list(corpus.chunks())
        assert all(chunk.columns.height == len(chunk.texts) for chunk in chunks)
        return [text for chunk in chunks for text in chunk.texts], corpus.columns, len(chunks)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_columns_stay_beside_their_documents_with_their_types(tmp_path, name):
    rows = make_rows()
    keep = ["day", "shop", "stars", "price", "returned", "title"]
    texts, table, n_chunks = read_kept(write_rows(tmp_path / name, rows), text="review", id="review_id", keep=keep)
    assert n_chunks > 2
    assert [text.split()[1] for text in texts] == [str(i) for i in range(N_ROWS)]
    assert table.to_dicts() == [{column: row[column] for column in keep} for row in rows]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_short_columns_are_kept_and_a_unique_one_is_the_name(tmp_path, name):
    rows = [row | {"comment": "long " * 70} for row in make_rows()]
    path = write_rows(tmp_path / name, rows)
    roles = {each.name: (each.role, each.is_kept) for each in inspect_columns(path, CorpusOptions(text="review"))}
    assert roles == {
        "review_id": ("id", False),
        "review": ("text", False),
        "title": ("title", True),
        "url": ("link", True),
        "day": ("date", True),
        "shop": ("category", True),
        "stars": ("number", True),
        "price": ("number", True),
        "returned": ("category", True),
        "comment": (None, False),
    }
    with read_corpus(path, every_word(text="review")) as corpus:
        assert corpus.columns.columns == ["title", "url", "day", "shop", "stars", "price", "returned"]
        assert [name for chunk in corpus.chunks() for name in chunk.names] == [row["review_id"] for row in rows]
        (left_out,) = [note for note in corpus.notes if note.code == "columns_not_kept"]
        assert left_out.fields["columns"] == "comment"
    with read_corpus(path, every_word(text="review", keep=["day"])) as corpus:
        assert corpus.columns.columns == ["day"]
        assert not corpus.notes


def test_a_title_that_is_repeated_is_no_name_and_lists_of_one_element_are_unwrapped(tmp_path):
    frame = pl.DataFrame(
        {"text": ["one a", "two b"], "title": ["x", "x"], "tag": [["a"], None], "tags": [["a", "b"], []]}
    )
    with read_corpus(frame, every_word(text="text")) as corpus:
        assert next(corpus.chunks()).names is None
        assert corpus.columns.to_dict(as_series=False) == {
            "title": ["x", "x"],
            "tag": ["a", None],
            "tags": ['["a", "b"]', "[]"],
        }


def test_a_type_needs_the_values_of_all_chunks(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{'word ' * 40},{i},{i},2024-01-02,{i % 2}" for i in range(2000)]
    lines.append("last,x,0.5,2024-01-02 10:30,")
    path.write_text("text,a,b,c,d\n" + "\n".join(lines) + "\n")
    _, table, n_chunks = read_kept(path, text="text", keep=["a", "b", "c", "d"])
    assert n_chunks > 2
    assert table.dtypes == [pl.String, pl.Float64, pl.Datetime("us"), pl.Int64]
    assert table.slice(2000).to_dicts() == [{"a": "x", "b": 0.5, "c": datetime(2024, 1, 2, 10, 30), "d": None}]


def test_numbers_of_names_stay_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,postcode,long\none,01234,12345678901234567890\ntwo,56789,1\n")
    _, table, _ = read_kept(path, text="text", keep=["postcode", "long"])
    assert table.to_dict(as_series=False) == {"postcode": ["01234", "56789"], "long": ["12345678901234567890", "1"]}


def test_values_of_different_kinds_become_text_and_nested_ones_json(tmp_path):
    path = tmp_path / "a.jsonl"
    records = [
        {"text": "one", "a": 1, "b": {"c": [1, 2]}},
        {"text": "two", "a": "x", "b": None},
        {"text": "three", "a": 10**30},
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    _, table, _ = read_kept(path, text="text", keep=["a", "b"])
    assert table.to_dict(as_series=False) == {
        "a": ["1", "x", str(10**30)],
        "b": ['{"c": [1, 2]}', None, None],
    }
