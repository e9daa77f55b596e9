"""The format of a file: by its first bytes, and by its name where these leave a choice."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from mixsearch.data.files.location import File, get_stored
from mixsearch.data.files.streams import (
    COMPRESSION_SUFFIXES,
    UTF16_BOMS,
    find_compression,
    make_unreadable_error,
    open_file,
    strip_compression_suffix,
)
from mixsearch.errors import BinaryFileError, Option, SearchWarning

Format = Literal[
    "jsonl", "json", "csv", "tsv", "parquet", "arrow", "excel", "sqlite", "duckdb",
    "lines", "files", "docword", "mtx", "npz",
]  # fmt: skip
FORMATS: tuple[Format, ...] = (
    "jsonl", "json", "csv", "tsv", "parquet", "arrow", "excel", "sqlite", "duckdb",
    "lines", "files", "docword", "mtx", "npz",
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
    ".duckdb": "duckdb",
    ".mtx": "mtx",
    ".npz": "npz",
}
# Formats of bytes, which no text file begins like.
BINARY_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite", "duckdb", "npz")
NAMES: dict[Format, str] = {
    "jsonl": "JSON lines",
    "json": "JSON",
    "csv": "CSV",
    "tsv": "TSV",
    "parquet": "a Parquet file",
    "arrow": "an Arrow file",
    "excel": "an Excel workbook",
    "sqlite": "an SQLite database",
    "duckdb": "a DuckDB database",
    "lines": "lines of text",
    "files": "text",
    "docword": "a UCI bag of words",
    "mtx": "a Matrix Market file",
    "npz": "a NumPy archive",
}
_SAME_NAMES = ({"json", "jsonl"}, {"csv", "tsv"})

_N_HEAD_BYTES = 1 << 13
# Of random bytes, a tenth are control characters that no text has; one that slipped into a text is no reason.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_MIN_CONTROLS, _CONTROLS_SHARE = 4, 0.01
_DELIMITERS = ",;\t|"


class _Start(NamedTuple):
    offset: int
    data: bytes
    format: Format


_STARTS = (
    _Start(0, b"PAR1", "parquet"),
    _Start(0, b"ARROW1", "arrow"),
    _Start(0, b"FEA1", "arrow"),
    _Start(0, b"SQLite format 3\x00", "sqlite"),
    _Start(8, b"DUCK", "duckdb"),
    _Start(0, b"%%MatrixMarket", "mtx"),
)
# An Arrow stream begins with a message: a mark, its length and a table of Flatbuffers.
_ARROW_STREAM = re.compile(rb"\xff\xff\xff\xff[\x00-\xff]{2}[\x00-\x0f]\x00[\x08-\x20]\x00\x00\x00", re.DOTALL)

_EXTRACT = "extract its text first, for example with `pandoc`"
_UNPACK = "unpack it first"
# Files that hold no table or text for us: offset, first bytes, what they are, what to do.
_REFUSED = (
    (0, b"%PDF", "a PDF document", "extract its text first, for example with `pdftotext`"),
    (0, b"{\\rtf", "an RTF document", _EXTRACT),
    (0, b"\xd0\xcf\x11\xe0", "an old Office file (.xls, .doc)", "save it as .xlsx or as text"),
    (0, b"PK\x03\x04", "a ZIP archive", _UNPACK),
    (0, b"PK\x05\x06", "an empty ZIP archive", "name another file"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", _UNPACK),
    (0, b"Rar!", "a RAR archive", _UNPACK),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\x89PNG", "a PNG image", "name a text or a table"),
    (0, b"\xff\xd8\xff", "a JPEG image", "name a text or a table"),
    (0, b"GIF8", "a GIF image", "name a text or a table"),
    (0, b"\x89HDF", "an HDF5 file", "save the table as Parquet or CSV"),
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
_ARCHIVES: tuple[tuple[str, Format | None, str, str], ...] = (
    ("xl/workbook.xml", "excel", "", ""),
    ("xl/workbook.bin", None, "a binary Excel workbook (.xlsb)", "save it as .xlsx"),
    ("word/", None, "a Word document", _EXTRACT),
    ("ppt/", None, "a PowerPoint presentation", _EXTRACT),
    ("content.xml", None, "an OpenDocument file", "save it as .xlsx, .csv or text"),
    ("META-INF/container.xml", None, "an EPUB book", _EXTRACT),
)


@dataclass(frozen=True)
class Detected:
    """The format of a file; None for plain text of no known structure."""

    format: Format | None
    note: SearchWarning | None = None


def guess_by_name(file: File) -> Format | None:
    """Return the format that the name of a file stands for; None if for none."""
    name = strip_compression_suffix(file).lower()
    return "docword" if name.startswith("docword.") else FORMAT_BY_SUFFIX.get(Path(name).suffix)


def detect_format(file: File, *, may_be_records: bool = True) -> Detected:
    """Return the format of a file by what it begins with, with a note if its name stands for another.

    Parameters
    ----------
    file : File
        The file.
    may_be_records : bool
        Whether a text that its name does not call a table may be JSON. In a folder of texts, one that begins with a
        brace is a text as the others are.

    Returns
    -------
    Detected
        The format, and a note.

    Raises
    ------
    BinaryFileError
        If the file is binary and of no format that can be read.
    """
    head, compression = _read_head(file)
    by_name = guess_by_name(file)
    found = _detect_binary(head, file)
    if found is None:
        return _describe(file, _detect_text(head, by_name, file, may_be_records=may_be_records), by_name)
    if compression is not None and found in BINARY_FORMATS:
        raise _refuse(file, f"{NAMES[found]} compressed with {compression}", "decompress it first")
    return _describe(file, found, by_name)


def refuse_binary(file: File) -> None:
    """Raise if a file that is to be read as text is binary."""
    head, _ = _read_head(file)
    found = _detect_binary(head, file)
    if found in BINARY_FORMATS:
        raise _refuse(file, NAMES[found], "leave out {argument}, or name a text", argument=Option("format"))


def guess_delimiter(header: str) -> str:
    """Return the most frequent of comma, semicolon, tab and bar in the header of a CSV."""
    return max(_DELIMITERS, key=header.count)


def _read_head(file: File) -> tuple[bytes, str | None]:
    """Return the first bytes of a file, decompressed, and its compression."""
    try:
        with file.open("rb") as raw:
            head = raw.read(_N_HEAD_BYTES)
    except OSError as error:
        raise make_unreadable_error(file, error) from error
    compression = find_compression(head)
    if compression is None:
        return head, None
    with open_file(file) as stream:
        return stream.read(_N_HEAD_BYTES), compression


def _describe(file: File, found: Format | None, by_name: Format | None) -> Detected:
    """Return a format with a note if the name stands for another."""
    is_expected = found == by_name or by_name == "docword" or any({found, by_name} <= same for same in _SAME_NAMES)
    is_plain = found is None or (by_name is None and found in BINARY_FORMATS)
    compression = COMPRESSION_SUFFIXES.get(file.suffix.lower())
    if (is_expected or is_plain) and not (compression and _is_raw(file)):
        return Detected("docword" if by_name == "docword" else found)
    note = SearchWarning(
        "{file!r} is read as {format}, since that is what it holds, although its name ends in {suffix!r}.",
        code="format_by_content",
        file=str(file),
        format=NAMES[found] if found is not None else "plain text",
        suffix=file.suffix,
    )
    return Detected("docword" if by_name == "docword" else found, note)


def _is_raw(file: File) -> bool:
    with file.open("rb") as raw:
        return find_compression(raw.read(_N_HEAD_BYTES)) is None


def _detect_binary(head: bytes, file: File) -> Format | None:
    """Return the format of a file that no text begins like; None for text. Raise for other binary files."""
    for start in _STARTS:
        if head[start.offset :].startswith(start.data):
            return start.format
    if _ARROW_STREAM.match(head):
        return "arrow"
    if head.startswith(b"PK\x03\x04"):
        return _detect_archive(file)
    for offset, data, kind, advice in _REFUSED:
        # The first letters of a few are words; of these files, other bytes are no letters.
        if head[offset:].startswith(data) and (not data.isalnum() or _count_controls(head)):
            raise _refuse(file, kind, advice)
    if is_binary(head):
        if head.count(b"\x00") >= len(head) // 3:
            raise _refuse(file, "UTF-16 or UTF-32", "convert it with `iconv -f utf-16 -t utf-8`")
        raise _refuse(file, "binary data, not text", "name a text or a table of a format that can be read")
    return None


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file are those of no text in any encoding that keeps ASCII."""
    if head.startswith(UTF16_BOMS):
        return False
    return _count_controls(head) >= max(_MIN_CONTROLS, _CONTROLS_SHARE * len(head))


def _count_controls(head: bytes) -> int:
    return len(head) - len(head.translate(None, _CONTROLS))


def _detect_archive(file: File) -> Format:
    try:
        with file.open("rb") as raw, zipfile.ZipFile(raw) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError) as error:
        raise make_unreadable_error(file, error) from error
    for entry, format, kind, advice in _ARCHIVES:
        if any(name.startswith(entry) for name in names):
            if format is None:
                raise _refuse(file, kind, advice)
            return format
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    raise _refuse(file, "a ZIP archive", _UNPACK)


def _detect_text(head: bytes, by_name: Format | None, file: File, *, may_be_records: bool) -> Format | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if by_name is None:
        is_json = may_be_records and _begins_with_value(start, dict) and b"\n" in start
        return "jsonl" if is_json else None
    if by_name in ("docword", "mtx") or not start:
        return by_name
    if start.startswith(b"{"):
        # One object over several lines, as an editor shows it.
        is_spread = by_name != "jsonl" and not _begins_with_value(start, dict) and re.match(rb'\{\s*["}]', start)
        is_line = by_name in ("json", "jsonl") or _begins_with_value(start, dict)
        return "json" if is_spread and by_name == "json" else "jsonl" if is_line else _trust(by_name, file)
    if start.startswith(b"[") and (by_name == "json" or re.match(rb'\[\s*[\]{"]', start)):
        return "json"
    if by_name in ("csv", "tsv"):
        return by_name
    if _is_delimited(start) and not _begins_with_value(start, str | list):
        return "csv"
    return "jsonl" if by_name == "json" else _trust(by_name, file)


def _trust(by_name: Format, file: File) -> Format:
    """Return the format of a name that a text can have."""
    if by_name in BINARY_FORMATS and by_name != "npz":
        raise make_unreadable_error(file, "it holds plain text", NAMES[by_name])
    return by_name


def _begins_with_value(start: bytes, kind: Any) -> bool:
    """Return whether the first line is a value of JSON of a kind."""
    line, end, _ = start.partition(b"\n")
    if not end and len(start) >= _N_HEAD_BYTES // 2:
        return kind is dict and re.match(rb'\{\s*"', line) is not None  # too long to see its end
    try:
        return isinstance(json.loads(line), kind)
    except (ValueError, RecursionError):
        return False


def _is_delimited(start: bytes) -> bool:
    """Return whether the first lines have the same number of a delimiter."""
    lines = start.decode("utf-8", errors="replace").splitlines()[:2]
    delimiter = guess_delimiter(lines[0])
    counts = {line.count(delimiter) for line in lines}
    return len(lines) == 2 and len(counts) == 1 and counts != {0}


def _refuse(file: File, kind: str, advice: str, **fields: Any) -> BinaryFileError:
    return BinaryFileError(
        "{file!r} looks like {kind}: " + advice + ".", file=str(get_stored(file)), kind=kind, **fields
    )
