"""One table in every format that is read."""

import json
import sqlite3
from datetime import date

import openpyxl
import pyarrow as pa
from pyarrow import csv, feather, parquet

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
