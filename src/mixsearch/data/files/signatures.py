"""The formats of files, their names, and the bytes that they begin with."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

Format = Literal[
    "jsonl", "json", "csv", "tsv", "parquet", "arrow", "excel", "sqlite",
    "lines", "files", "npz",
]  # fmt: skip
FORMATS: tuple[Format, ...] = (
    "jsonl", "json", "csv", "tsv", "parquet", "arrow", "excel", "sqlite",
    "lines", "files", "npz",
)  # fmt: skip
FORMAT_BY_SUFFIX: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".npz": "npz",
}
# Formats of bytes, which no text file begins like.
BINARY_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite", "npz")
NAMES: dict[Format, str] = {
    "jsonl": "JSON lines",
    "json": "JSON",
    "csv": "CSV",
    "tsv": "TSV",
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "excel": "an Excel workbook",
    "sqlite": "an SQLite database",
    "lines": "lines of text",
    "files": "text",
    "npz": "a NumPy archive",
}


class Start(NamedTuple):
    """Bytes at an offset, and the format of files that have them there."""

    offset: int
    data: bytes
    format: Format


STARTS = (
    Start(0, b"PAR1", "parquet"),
    Start(0, b"ARROW1", "arrow"),
    Start(0, b"FEA1", "arrow"),
    Start(0, b"SQLite format 3\x00", "sqlite"),
)
# An Arrow stream begins with a message: a mark, its length and a table of Flatbuffers.
ARROW_STREAM = re.compile(rb"\xff\xff\xff\xff[\x00-\xff]{2}[\x00-\x0f]\x00[\x08-\x20]\x00\x00\x00", re.DOTALL)

_EXTRACT = "extract its text first, for example with `pandoc`"
UNPACK = "unpack it first"
# Files that hold no table or text that can be read: offset, first bytes, what they are, what to do.
OTHER_STARTS = (
    (0, b"%PDF", "a PDF document", "extract its text first, for example with `pdftotext`"),
    (0, b"{\\rtf", "an RTF document", _EXTRACT),
    (0, b"\xd0\xcf\x11\xe0", "an old Office file (.xls, .doc)", "save it as .xlsx or as text"),
    (0, b"PK\x03\x04", "a ZIP archive", UNPACK),
    (0, b"PK\x05\x06", "an empty ZIP archive", "name another file"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", UNPACK),
    (0, b"Rar!", "a RAR archive", UNPACK),
    (257, b"ustar", "a tar archive", UNPACK),
    (0, b"\x89PNG", "a PNG image", "name a text or a table"),
    (0, b"\xff\xd8\xff", "a JPEG image", "name a text or a table"),
    (0, b"GIF8", "a GIF image", "name a text or a table"),
    (0, b"\x89HDF", "an HDF5 file", "save the table as Parquet or CSV"),
    (8, b"DUCK", "a DuckDB database", "save the table as Parquet or CSV"),
    (0, b"%%MatrixMarket", "a Matrix Market file", "save the counts with scipy.sparse.save_npz"),
    (0, b"\x93NUMPY", "a NumPy array", "save the table as Parquet or CSV"),
    (0, b"ORC", "an ORC file", "save the table as Parquet or CSV"),
    (0, b"Obj\x01", "an Avro file", "save the table as Parquet or CSV"),
    (0, b"\x80\x03", "a Python pickle", "save the table as Parquet or CSV"),
    (0, b"\x80\x04", "a Python pickle", "save the table as Parquet or CSV"),
    (0, b"\x80\x05", "a Python pickle", "save the table as Parquet or CSV"),
    (0, b"\x7fELF", "a program", "name a text or a table"),
    (0, b"MZ\x90", "a program", "name a text or a table"),
    (0, b"ID3", "an audio file", "name a text or a table"),
    (0, b"RIFF", "an audio, video or image file", "name a text or a table"),
)
# Files in ZIP archives, by an entry or the beginning of one.
ARCHIVES: tuple[tuple[str, Format | None, str, str], ...] = (
    ("xl/workbook.xml", "excel", "", ""),
    ("xl/workbook.bin", None, "a binary Excel workbook (.xlsb)", "save it as .xlsx"),
    ("word/", None, "a Word document", _EXTRACT),
    ("ppt/", None, "a PowerPoint presentation", _EXTRACT),
    ("content.xml", None, "an OpenDocument file", "save it as .xlsx, .csv or text"),
    ("META-INF/container.xml", None, "an EPUB book", _EXTRACT),
)
