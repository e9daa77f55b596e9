"""Valid files of every format that the commands read, and crafted ones that lie about what they hold."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

N_ROWS = 60
_INDEX = ("index", "-o", "out.index", "--overwrite", "-k", "2", "--min-df", "1")
_TABLE = ("find", "--examples", "0,3,6")
_TEXTS = (_INDEX,)
_TABLES = (_INDEX, _TABLE)
# The commands that read a file, by its suffix.
COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    ".csv": _TABLES, ".tsv": _TABLES, ".jsonl": _TABLES, ".json": _TABLES, ".parquet": _TABLES, ".arrow": _TABLES,
    ".feather": _TABLES, ".xlsx": _TABLES, ".sqlite": _TABLES, ".txt": _TEXTS,
    ".png": (("segment", "--seed", "3,3", "--seed", "12,12", "-o", "out.png"),),
    ".jpg": (("segment", "--seed", "3,3", "--seed", "12,12", "-o", "out.png"),),
}  # fmt: skip


def make_rows() -> list[dict[str, object]]:
    """Return rows with a text of one of three topics, numbers, a category and a date."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, object]] = []
    for i in range(N_ROWS):
        theme = ("sushi", "train", "music")[i % 3]
        text = " ".join(f"{theme}{j}" for j in rng.integers(8, size=12))
        date = f"2024-0{i % 9 + 1}-11"
        rows.append({"text": text, "stars": i % 5, "price": float(rng.normal(i % 3, 0.1)), "shop": theme, "date": date})
    return rows


def write_valid_files(folder: Path) -> list[Path]:
    """Write the same rows in every format, counts, and two pictures."""
    import openpyxl
    import pyarrow as pa
    from PIL import Image
    from pyarrow import csv, feather, ipc, parquet

    rows = make_rows()
    table = pa.Table.from_pylist(rows)
    csv.write_csv(table, folder / "a.csv")
    csv.write_csv(table, folder / "a.tsv", csv.WriteOptions(delimiter="\t"))
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "a.json").write_text(json.dumps(rows))
    (folder / "a.txt").write_text("".join(f"{row['text']}\n" for row in rows))
    parquet.write_table(table, folder / "a.parquet")
    parquet.write_table(table, folder / "b.parquet", compression="none", use_dictionary=False)
    feather.write_feather(table, folder / "a.feather")
    with ipc.new_file(folder / "a.arrow", table.schema) as arrow_file:
        arrow_file.write_table(table)
    with ipc.new_stream(folder / "b.arrow", table.schema) as stream:
        stream.write_table(table)
    book = openpyxl.Workbook()
    for values in ([*rows[0]], *([*row.values()] for row in rows)):
        book.active.append(values)
    book.save(folder / "a.xlsx")
    with sqlite3.connect(folder / "a.sqlite") as database:
        database.execute("CREATE TABLE t (text TEXT, stars INT, price REAL, shop TEXT, date TEXT)")
        database.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [tuple(row.values()) for row in rows])
    database.close()
    data = (folder / "a.csv").read_bytes()
    (folder / "a.csv.gz").write_bytes(gzip.compress(data))
    (folder / "a.jsonl.zst").write_bytes(pa.Codec("zstd").compress((folder / "a.jsonl").read_bytes(), asbytes=True))
    pixels = np.random.default_rng(0).integers(256, size=(24, 24, 3), dtype=np.uint8)
    pixels[:, 12:] //= 4
    Image.fromarray(pixels).save(folder / "a.png")
    Image.fromarray(pixels).save(folder / "a.jpg")
    return sorted(path for path in folder.iterdir() if path.is_file() and path.stem != "log")


def _index(name: str, *options: str) -> list[str]:
    return ["index", name, *_INDEX[1:], *options]


def _find(name: str) -> list[str]:
    return ["find", name, *_TABLE[1:]]


def _texts(name: str, data: bytes, *options: str, find: bool = False) -> Callable[[Path], list[str]]:
    """Return how to write a file of these bytes."""

    def write(folder: Path) -> list[str]:
        (folder / name).write_bytes(data)
        return _find(name) if find else _index(name, *options)

    return write


_GOOD = b"".join(json.dumps(row).encode() + b"\n" for row in make_rows())
_CSV = b"text,stars\n" + b"".join(f"{row['text']},{row['stars']}\n".encode() for row in make_rows())
_DEEP = b'{"text": "sushi1 rice", "x": ' + b"[" * 900 + b"]" * 900 + b"}\n"
_DEEPER = b'{"text": "sushi1 rice", "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
_LONG_NUMBER = b'{"text": "sushi1 rice", "n": ' + b"9" * 5000 + b"}\n"


def _bomb(name: str, line: bytes, n_bytes: int, *, find: bool = False) -> Callable[[Path], list[str]]:
    """Return how to write an archive that grows a thousandfold."""

    def write(folder: Path) -> list[str]:
        chunk = line * max(1, (1 << 20) // len(line))
        (folder / name).write_bytes(gzip.compress(chunk) * (n_bytes // len(chunk)))
        return _find(name) if find else _index(name)

    return write


def _parquet(make: Callable[[], object], *, find: bool = False) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        from pyarrow import parquet

        parquet.write_table(make(), folder / "bad.parquet")
        return _find("bad.parquet") if find else _index("bad.parquet", "--text", "text")

    return write


def _invalid_utf8() -> object:
    import pyarrow as pa

    texts = [str(row["text"]).encode() for row in make_rows()]
    texts[7] = b"sushi1 \xff\xfe rice"
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int32)
    array = pa.Array.from_buffers(pa.string(), N_ROWS, [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))])
    return pa.table({"text": array, "stars": list(range(N_ROWS))})


def _repeated_text() -> object:
    """Return a column of one long text, stored once and meant 500 times."""
    import pyarrow as pa

    words = "sushi1 rice fish " * 6000
    return pa.table({"text": pa.DictionaryArray.from_arrays(np.zeros(500, np.int32), pa.array([words]))})


def _folder_name(folder: Path) -> list[str]:
    corpus = folder / "odd"
    corpus.mkdir(exist_ok=True)
    for i, row in enumerate(make_rows()):
        path = os.fsencode(corpus) + (b"/caf\xe9%d.txt" % i)
        with open(path, "w") as file:
            file.write(str(row["text"]))
    return _index("odd")


def _unreadable_folder(folder: Path) -> list[str]:
    corpus = folder / "closed"
    (corpus / "inner").mkdir(parents=True, exist_ok=True)
    for i, row in enumerate(make_rows()):
        (corpus / f"{i}.txt").write_text(str(row["text"]))
    (corpus / "inner").chmod(0)
    return _index("closed")


def _odd_file_name(folder: Path) -> list[str]:
    with open(os.fsencode(folder) + b"/caf\xe9.csv", "wb") as file:
        file.write(_CSV)
    return _index(os.fsdecode(b"caf\xe9.csv"))


def _zipped_sheet(folder: Path) -> list[str]:
    """Write a workbook whose sheet unpacks to a thousand times its size."""
    with (
        zipfile.ZipFile(folder / "a.xlsx") as whole,
        zipfile.ZipFile(folder / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for name in whole.namelist():
            data = whole.read(name)
            if name.endswith("sheet1.xml"):
                cell = b'<c t="inlineStr"><is><t>' + b"a" * (1 << 29) + b"</t></is></c>"
                data = data.replace(b"</row>", cell + b"</row>", 1)
            bomb.writestr(name, data)
    return _index("bomb.xlsx")


CRAFTED: dict[str, Callable[[Path], list[str]]] = {
    "nested 900 deep": _texts("deep.jsonl", _GOOD + _DEEP),
    "nested 900 deep, table": _texts("deep.jsonl", _GOOD + _DEEP, find=True),
    "nested 900 deep, array": _texts("deep.json", b"[" + _DEEP.strip() + b"," + _DEEP.strip() + b"]"),
    "text nested 900 deep": _texts("deep2.jsonl", _GOOD + b'{"text": ' + b"[" * 900 + b"]" * 900 + b"}\n"),
    "nested 100,000 deep": _texts("deeper.jsonl", _GOOD + _DEEPER),
    "nested 100,000 deep, table": _texts("deeper.jsonl", _GOOD + _DEEPER, find=True),
    "integer of 5,000 digits": _texts("digits.jsonl", _GOOD + _LONG_NUMBER),
    "integer of 5,000 digits, table": _texts("digits.jsonl", _GOOD + _LONG_NUMBER, find=True),
    "integer of 5,000 digits, array": _texts("digits.json", b"[" + _LONG_NUMBER.strip() + b"]"),
    "integer of 5,000 digits, array, table": _texts("digits.json", b"[" + _LONG_NUMBER.strip() + b"]", find=True),
    "integer of 5,000 digits in CSV": _texts("digits.csv", _CSV + b"sushi1 rice," + b"9" * 5000 + b"\n"),
    "integer of 5,000 digits in CSV, table": _texts("digits.csv", _CSV + b"sushi1," + b"9" * 5000 + b"\n", find=True),
    "stray quote in a CSV header": _texts("quote.csv", b'te"xt,"stars\n' + _CSV),
    "stray quote in a CSV header, table": _texts("quote.csv", b'te"xt,"stars\n' + _CSV, find=True),
    "quote that never closes": _texts("open.csv", _CSV + b'"sushi1,' + _CSV * 3000),
    "quote that never closes, table": _texts("open.csv", _CSV + b'"sushi1,' + _CSV * 3000, find=True),
    "carriage returns alone": _texts("cr.csv", _CSV.replace(b"\n", b"\r")),
    "NUL in CSV": _texts("nul.csv", _CSV + b"sushi1\x00rice,3\n"),
    "NUL in CSV, table": _texts("nul.csv", _CSV + b"sushi1\x00rice,3\n", find=True),
    "lone surrogates": _texts("surrogate.jsonl", _GOOD + b'{"text": "\\ud800 sushi1 rice", "shop": "\\udfff"}\n'),
    "lone surrogate in a name": _texts("surrogate2.jsonl", b'{"text": "sushi1 rice", "\\ud800": 1}\n' * 60),
    "lone surrogate in a name, table": _texts("surrogate2.jsonl", b'{"text": "s", "\\ud800": 1}\n' * 60, find=True),
    "line of 40 MB": _texts("line.txt", b"sushi1 rice fish " * 2_400_000 + b"\n"),
    "line of 40 MB of JSON": _texts("line.jsonl", b'{"text": "' + b"sushi1 rice fish " * 2_400_000 + b'"}\n'),
    "value of 40 MB in CSV": _texts("value.csv", _CSV + b'"' + b"sushi1 rice fish\n" * 2_400_000 + b'",1\n'),
    "value of 40 MB in a JSON array": _texts("line.json", b'[{"text": "' + b"sushi1 rice fish " * 2_400_000 + b'"}]'),
    "array of JSON that never ends": _texts("endless.json", b"[" + b'{"text": "' + b"a" * 40_000_000),
    "gz of zeros": _bomb("zeros.txt.gz", b"\0", 1 << 30),
    "gz of one letter": _bomb("letters.txt.gz", b"a", 1 << 30),
    "gz of short lines": _bomb("lines.txt.gz", b"sushi1 rice fish\n", 1 << 30),
    "gz of blank lines of JSON": _bomb("blank.jsonl.gz", b"\n", 1 << 30),
    "gz of CSV": _bomb("bomb.csv.gz", b"a,b\n", 1 << 30),
    "gz of CSV, table": _bomb("bomb.csv.gz", b"a,b\n", 1 << 30, find=True),
    "gz of JSON, table": _bomb("bomb.jsonl.gz", b'{"a": 1}\n', 1 << 30, find=True),
    "workbook that grows a thousandfold": _zipped_sheet,
    "Parquet with invalid UTF-8": _parquet(_invalid_utf8),
    "Parquet with invalid UTF-8, table": _parquet(_invalid_utf8, find=True),
    "Parquet that repeats a long text": _parquet(_repeated_text),
    "names that are no UTF-8": _folder_name,
    "file name that is no UTF-8": _odd_file_name,
    "folder that cannot be listed": _unreadable_folder,
    "empty file": _texts("empty.csv", b""),
    "empty file, table": _texts("empty.csv", b"", find=True),
    "only a header": _texts("header.csv", b"text,stars\n"),
    "only blanks": _texts("blanks.txt", b" \n" * 1000),
    "PNG of 10^10 pixels": lambda folder: _write_png(folder),
}


def _write_png(folder: Path) -> list[str]:
    """Write a picture whose header promises a hundred thousand rows and columns."""
    import struct
    import zlib

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    data = zlib.compress(bytes(1 << 20))
    (folder / "huge.png").write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )
    return ["segment", "huge.png", "--seed", "3,3", "--seed", "12,12", "-o", "out.png"]
