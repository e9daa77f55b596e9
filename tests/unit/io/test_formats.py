"""Every format is read the same way as texts and as tables."""

import gzip
import json
import sqlite3
from datetime import date

import openpyxl
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from tests.coded import raises
from tests.every_word import every_word

from mixsearch.errors import collect_warnings
from mixsearch.table import read_table
from mixsearch.text import read_corpus

TABLE = pa.table(
    {
        "id": ["a", "b", "c"],
        "review": ["Good sushi", 'Bad "ramen",\ncold tea', None],
        "stars": [5, 1, None],
        "price": [10.5, 7.25, 3.0],
        "day": [date(2024, 1, 2), date(2024, 2, 3), date(2024, 3, 4)],
    }
)
ROWS = TABLE.to_pylist()


def write_csv(path, table=TABLE):
    csv.write_csv(table, path)


def write_tsv(path, table=TABLE):
    csv.write_csv(table, path, csv.WriteOptions(delimiter="\t"))


def write_jsonl(path, table=TABLE):
    path.write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))


def write_json(path, table=TABLE):
    path.write_text(json.dumps(table.to_pylist(), default=str, indent=1))


def write_parquet(path, table=TABLE):
    parquet.write_table(table, path)


def write_arrow_file(path, table=TABLE):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)


def write_arrow_stream(path, table=TABLE):
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def write_feather(path, table=TABLE):
    feather.write_feather(table, str(path))


def write_excel(path, table=TABLE):
    book = openpyxl.Workbook()
    book.active.title = "empty"
    sheet = book.create_sheet("reviews")
    sheet.append(table.column_names)
    for row in table.to_pylist():
        sheet.append(list(row.values()))
    book.save(path)


def write_sqlite(path, table=TABLE, names=("reviews",)):
    database = sqlite3.connect(path)
    for name in (each.replace('"', '""') for each in names):
        columns = ", ".join(f'"{column}"' for column in table.column_names)
        database.execute(f'CREATE TABLE "{name}" ({columns})')
        rows = [
            [str(value) if isinstance(value, date) else value for value in row.values()] for row in table.to_pylist()
        ]
        database.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * table.num_columns)})', rows)
    database.commit()
    database.close()


def write_parquet_folder(path, table=TABLE):
    """Write a folder of Parquet files as Spark and Dask do."""
    (path / "data").mkdir(parents=True)
    write_parquet(path / "data" / "train-00000-of-00002.parquet", table.slice(0, 2))
    write_parquet(path / "data" / "train-00001-of-00002.parquet", table.slice(2))
    (path / "_SUCCESS").write_text("")


WRITERS = {
    "a.csv": write_csv,
    "a.tsv": write_tsv,
    "a.jsonl": write_jsonl,
    "a.json": write_json,
    "b.json": write_jsonl,
    "a.parquet": write_parquet,
    "a.arrow": write_arrow_file,
    "b.arrow": write_arrow_stream,
    "a.feather": write_feather,
    "a.xlsx": write_excel,
    "a.sqlite": write_sqlite,
    "partitions": write_parquet_folder,
}
PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(200))
PACKED = gzip.compress(PNG, mtime=0)  # without the time: tests are named by their data


def read_texts(source, **options):
    with read_corpus(source, every_word(**{"text": "review", "id": "id", **options})) as corpus:
        chunks = list(corpus.chunks())
        # A text is null in some formats and empty in others.
        notes = [note.code for note in corpus.notes if note.code != "missing_texts"]
        return [text for chunk in chunks for text in chunk.texts], [n for c in chunks for n in c.names or ()], notes


def read_rows(source, **options):
    with collect_warnings() as warnings:
        table = read_table(source, **options)
    return table, [warning.code for warning in warnings]


def as_days(rows):
    """Dates as text: JSON and Excel have times only."""
    return [{**row, "day": str(row["day"])[:10]} for row in rows]


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_is_read_as_texts_and_as_a_table(tmp_path, name):
    WRITERS[name](tmp_path / name)
    assert read_texts(tmp_path / name) == ([row["review"] or "" for row in ROWS], ["a", "b", "c"], [])
    table, notes = read_rows(tmp_path / name)
    assert as_days(table.to_dicts()) == as_days(ROWS)
    assert [table.schema[column] for column in ("id", "stars", "price")] == [pl.String, pl.Int64, pl.Float64]
    assert table.schema["day"].is_temporal()
    assert notes == []


def test_a_packed_file_needs_no_suffix(tmp_path):
    write_csv(tmp_path / "plain.csv")
    data = (tmp_path / "plain.csv").read_bytes()
    (tmp_path / "a.csv").write_bytes(gzip.compress(data, mtime=0))
    (tmp_path / "b.csv.gz").write_bytes(data)
    for name in ("a.csv", "b.csv.gz"):
        assert read_texts(tmp_path / name)[0] == [row["review"] or "" for row in ROWS]
        assert read_rows(tmp_path / name)[0].height == 3


@pytest.mark.parametrize(
    "data", [PNG, b"PAR1" + bytes(60), "hello world\n".encode("utf-16"), bytes(range(256)) * 4, PACKED]
)
@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_binary_files_are_refused(tmp_path, data, name):
    (tmp_path / name).write_bytes(data)
    for read in (read_table, read_texts):
        with raises("binary_file", file=str(tmp_path / name)):
            read(tmp_path / name)


def test_a_few_control_characters_are_no_binary_data(tmp_path):
    text = "page one\x0cpage two \x02 and \x01 more words " + "word " * 50
    (tmp_path / "a.txt").write_text(text)
    assert read_texts(tmp_path / "a.txt", text=None, id=None)[0] == [text]
    for start in ("ORC is a word", "BZh is none", "RIFF and ID3 too", "[Chorus]"):
        (tmp_path / "a.txt").write_text(start + "\n")
        assert read_texts(tmp_path / "a.txt", text=None, id=None)[0] == [start]


def test_repeated_names_get_a_number(tmp_path):
    name = "a.csv"
    WRITERS[name](tmp_path / name, pa.table([["good sushi"], ["z"], ["ramen"]], names=["review", "id", "review"]))
    assert read_table(tmp_path / name).to_dict(as_series=False) == {
        "review": ["good sushi"],
        "id": ["z"],
        "review (2)": ["ramen"],
    }
    assert read_texts(tmp_path / name, text="review (2)")[:2] == (["ramen"], ["z"])


def test_a_table_of_several_is_named_after_two_colons(tmp_path):
    name = "a.sqlite"
    write_sqlite(tmp_path / name, names=("reviews", 'it\'s "odd"'))
    with raises("unclear_table"):
        read_table(tmp_path / name)
    with raises("table_missing", kind="table", table="x"):
        read_table(f"{tmp_path / name}::x")
    for table in ("reviews", 'it\'s "odd"'):
        assert read_table(f"{tmp_path / name}::{table}").height == 3
        assert read_texts(f"{tmp_path / name}::{table}")[1] == ["a", "b", "c"]
    sources = [f"{tmp_path / name}::reviews", f'{tmp_path / name}::it\'s "odd"']
    assert read_texts(sources)[1] == ["a", "b", "c", "a", "b", "c"]


def test_values_of_sqlite_may_differ_in_type(tmp_path):
    database = sqlite3.connect(tmp_path / "a.sqlite")
    database.execute("CREATE TABLE t (id, review, x, y)")
    rows = [("a", "good sushi", 1, 1), ("b", b"caf\xc3\xa9", "two", 2.5), ("c", None, None, None)]
    database.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
    database.commit()
    database.close()
    table = read_table(tmp_path / "a.sqlite")
    assert table["x"].to_list() == ["1", "two", None]
    assert table["y"].to_list() == [1.0, 2.5, None]
    assert read_texts(tmp_path / "a.sqlite")[0] == ["good sushi", "café", ""]


def test_empty_rows_columns_and_error_values_of_excel_are_missing(tmp_path):
    book = openpyxl.Workbook()
    for row in ([None], ["id", "review", "n", None], ["a", "good sushi", "#N/A", None], [], ["b", "ramen"]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert read_table(tmp_path / "a.xlsx").to_dict(as_series=False) == {
        "id": ["a", "b"],
        "review": ["good sushi", "ramen"],
        "n": [None, None],
    }


def test_files_of_another_format_in_a_folder_are_skipped_and_named(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text(f"good sushi {'{' if i else 'x'}")
    (tmp_path / "3.txt").write_text('{"a": 1}\n{"b": 2}\n')
    (tmp_path / "logo.png").write_bytes(PNG)
    write_sqlite(tmp_path / "notes.db")
    for source in (tmp_path, f"{tmp_path}/*"):
        with read_corpus(source, every_word()) as corpus:
            assert corpus.n_documents == 4
            [note] = [note.fields for note in corpus.notes if note.code == "skipped_files"]
        assert note == {"n_skipped": 2, "n_files": 6, "files": "logo.png, notes.db"}
    with raises("binary_file"):
        read_texts([tmp_path / "0.txt", tmp_path / "logo.png"])
    write_csv(tmp_path / "a.csv")
    with raises("mixed_formats", formats="csv, files"):
        read_texts([tmp_path / "a.csv", tmp_path / "0.txt", tmp_path / "1.txt"])


def test_a_long_array_is_read(tmp_path):
    rows = [{"id": f"r{i}", "review": 'é\\"\n😀 word ' * (i % 40), "n": i} for i in range(9000)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "b.json").write_text(json.dumps(rows, ensure_ascii=False))
    for name in ("a.json", "b.json"):
        assert (tmp_path / name).stat().st_size > 3 << 20
        texts, names, _ = read_texts(tmp_path / name, memory=1)
        assert (texts, names) == ([row["review"] for row in rows], [row["id"] for row in rows])


@pytest.mark.parametrize("name", WRITERS)
def test_no_row_of_many_is_lost(tmp_path, name):
    n_rows = 4500
    table = pa.table({"id": [f"r{i}" for i in range(n_rows)], "review": [f"word{i} " * 20 for i in range(n_rows)]})
    WRITERS[name](tmp_path / name, table)
    texts, names, _ = read_texts(tmp_path / name, memory=1)
    assert (texts, names) == (table["review"].to_pylist(), table["id"].to_pylist())
    assert read_table(tmp_path / name)["id"].to_list() == table["id"].to_pylist()
