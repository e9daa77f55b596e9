"""Columns beside the text: which are found, that they stay beside their documents, and that their types do not
depend on where the chunks are cut.
"""

import json
import sys
from contextlib import closing
from datetime import date, datetime

import pyarrow as pa
import pytest
from pyarrow import parquet

from mixsearch.data.files.sources import find_sources
from mixsearch.data.files.types import ColumnTypes, find_column_types
from mixsearch.errors import ArgumentError, SearchError
from mixsearch.text import CorpusOptions, inspect_columns
from mixsearch.text.read.documents import ReadState
from mixsearch.text.read.formats import read_documents

# The smallest chunks that there are.
SMALL = {"memory": 1, "n_jobs": 1}
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


def read_chunks(source, **options):
    state = ReadState(CorpusOptions(**{**SMALL, **options}))
    with closing(read_documents(find_sources(source, None), state)) as loaders:
        chunks = [load() for load in loaders]
    return state, chunks


def read_kept(source, **options):
    """Return the texts, and the kept columns of all chunks as one table."""
    _, chunks = read_chunks(source, **options)
    types = ColumnTypes({})
    for chunk in chunks:
        assert chunk.columns.num_rows == len(chunk.texts)
        types = types.merge(find_column_types(chunk.columns))
    table = pa.Table.from_batches([types.convert(chunk.columns) for chunk in chunks])
    return [text for chunk in chunks for text in chunk.texts], table, len(chunks)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_columns_stay_beside_their_documents_with_their_types(tmp_path, name):
    rows = make_rows()
    keep = ["day", "shop", "stars", "price", "returned", "title"]
    texts, table, n_chunks = read_kept(write_rows(tmp_path / name, rows), text="review", id="review_id", keep=keep)
    assert n_chunks > 2
    assert [text.split()[1] for text in texts] == [str(i) for i in range(N_ROWS)]
    assert table.to_pylist() == [{column: row[column] for column in keep} for row in rows]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_useful_columns_are_found_by_themselves(tmp_path, name):
    path = write_rows(tmp_path / name, make_rows())
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
    state, _ = read_chunks(path, text="review", keep="auto")
    assert state.columns.kept == ("title", "url", "day", "shop", "stars", "price", "returned")
    left_out = next(note for note in state.list_notes() if note.code == "columns_not_kept")
    assert left_out.fields["columns"] == "review_id, comment"
    named, _ = read_chunks(path, text="review", keep=["day"])
    assert not named.list_notes()


def test_a_summary_says_what_the_first_rows_hold(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,year,shop\nGood sushi,2019,Oslo\nBad sushi,2020,\nNo sushi,2021,Rome\n")
    text, year, shop = inspect_columns(path)
    assert (text.role, text.n_rows, text.example) == ("text", 3, "Good sushi")
    assert (year.role, year.kind, year.n_distinct, year.mean_length) == ("date", "int64", 3, 4)
    assert (shop.n_missing, shop.n_distinct) == (1, 2)


def test_columns_are_shown_even_if_the_text_is_unclear(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\nx y,z\nu v,w\n")
    assert [each.name for each in inspect_columns(path)] == ["a", "b"]


def test_plain_text_has_no_columns(tmp_path):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert inspect_columns(tmp_path / "a.txt") == []
    with pytest.raises(ArgumentError, match="plain text without columns"):
        read_chunks(tmp_path / "a.txt", keep=["x"])
    assert read_chunks(tmp_path / "a.txt", keep="auto")[1][0].columns is None


def test_a_type_needs_the_values_of_all_chunks(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{'word ' * 40},{i},{i},2024-01-02,{i % 2}" for i in range(2000)]
    lines.append("last,x,0.5,2024-01-02 10:30,")
    path.write_text("text,a,b,c,d\n" + "\n".join(lines) + "\n")
    _, table, n_chunks = read_kept(path, text="text", keep=["a", "b", "c", "d"])
    assert n_chunks > 2
    assert [str(field.type) for field in table.schema] == ["string", "double", "timestamp[us]", "int64"]
    assert table.slice(2000).to_pylist() == [{"a": "x", "b": 0.5, "c": datetime(2024, 1, 2, 10, 30), "d": None}]


def test_numbers_of_names_stay_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,postcode,long\none,01234,12345678901234567890\ntwo,56789,1\n")
    _, table, _ = read_kept(path, text="text", keep=["postcode", "long"])
    assert table.to_pydict() == {"postcode": ["01234", "56789"], "long": ["12345678901234567890", "1"]}


def test_a_day_that_does_not_exist_leaves_the_column_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,a,b\none,2024-02-30,30/02/2024\ntwo,2024-02-01,13/02/2024\n")
    _, table, _ = read_kept(path, text="text", keep=["a", "b"])
    assert table["a"].to_pylist() == ["2024-02-30", "2024-02-01"]
    assert table["b"].to_pylist() == ["30/02/2024", "13/02/2024"]


def test_values_of_different_kinds_become_text_and_nested_ones_json(tmp_path):
    path = tmp_path / "a.jsonl"
    records = [
        {"text": "one", "a": 1, "b": {"c": [1, 2]}, "d": "\ud800"},
        {"text": "two", "a": "x", "b": None, "d": "ok"},
        {"text": "three", "a": 10**30},
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    _, table, _ = read_kept(path, text="text", keep=["a", "b", "d"])
    assert table.to_pydict() == {
        "a": ["1", "x", str(10**30)],
        "b": ['{"c": [1, 2]}', None, None],
        "d": ["\ufffd", "ok", None],
    }


def test_columns_that_only_some_files_have_are_missing_in_the_others(tmp_path):
    write_rows(tmp_path / "1.csv", make_rows(5))
    (tmp_path / "2.csv").write_text("review,stars\nthe last,9\n")
    _, table, _ = read_kept([tmp_path / "1.csv", tmp_path / "2.csv"], text="review", keep=["stars", "shop"])
    assert table.slice(5).to_pylist() == [{"stars": 9, "shop": None}]


def test_a_column_that_is_not_there_names_those_that_are(tmp_path):
    with pytest.raises(SearchError, match="No column 'starz'.*review_id, review.*Did you mean 'stars'") as caught:
        read_chunks(write_rows(tmp_path / "a.csv", make_rows(3)), text="review", keep=["starz"])
    assert caught.value.code == "column_missing"


def test_a_single_name_is_no_list_of_columns():
    with pytest.raises(ArgumentError, match="keep must be a list of columns, 'auto' or None, got 'stars'"):
        CorpusOptions(keep="stars")


def test_repeated_names_get_a_number(tmp_path):
    (tmp_path / "a.csv").write_text("text,x,x\none,1,2\n")
    _, table, _ = read_kept(tmp_path / "a.csv", text="text", keep=["x (2)"])
    assert table.to_pydict() == {"x (2)": [2]}


def test_without_pyarrow_columns_are_never_dropped_silently(tmp_path, monkeypatch):
    path = write_rows(tmp_path / "a.csv", make_rows(3))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    for keep in ("auto", ["stars"]):
        with pytest.raises(SearchError) as caught:
            read_chunks(path, text="review", keep=keep)
        assert (caught.value.code, caught.value.fields["extra"]) == ("package_missing", "cli")
    assert read_chunks(path, text="review", keep=None)[1][0].columns is None
