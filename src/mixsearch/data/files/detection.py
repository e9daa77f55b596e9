"""The format of a file: by its first bytes, and by its name where these leave a choice."""

from __future__ import annotations

import csv
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mixsearch.data.files.location import File, get_stored
from mixsearch.data.files.signatures import (
    ARCHIVES,
    ARROW_STREAM,
    BINARY_FORMATS,
    FORMAT_BY_SUFFIX,
    NAMES,
    OTHER_STARTS,
    STARTS,
    UNPACK,
    Format,
)
from mixsearch.data.files.streams import (
    COMPRESSION_SUFFIXES,
    UTF16_BOMS,
    find_compression,
    make_unreadable_error,
    open_file,
    strip_compression_suffix,
)
from mixsearch.errors import BinaryFileError, Option, SearchWarning

_SAME_NAMES = ({"json", "jsonl"}, {"csv", "tsv"})

_N_HEAD_BYTES = 1 << 13
# Lines by which a header is told from a text: a value in quotes may have several.
_N_HEADER_LINES = 20
# Of random bytes, a tenth are control characters that no text has; one that slipped into a text is no reason.
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_MIN_CONTROLS, _CONTROLS_SHARE = 4, 0.01
_DELIMITERS = ",;\t|"
# Usual names of a column of texts.
TEXT_NAMES = ("text", "body", "content", "abstract", "review", "description", "message")


@dataclass(frozen=True)
class Detected:
    """The format of a file; None for plain text of no known structure."""

    format: Format | None
    note: SearchWarning | None = None


def guess_by_name(file: File) -> Format | None:
    """Return the format that the name of a file indicates; None if it indicates none."""
    return FORMAT_BY_SUFFIX.get(Path(strip_compression_suffix(file)).suffix.lower())


def detect_format(file: File, *, may_be_records: bool = True) -> Detected:
    """Detect the format of a file by its first bytes, with a note if its name indicates another."""
    head, compression = _read_head(file)
    by_name = guess_by_name(file)
    found = _detect_binary(head, file)
    if found is None:
        found = _detect_text(head, by_name, file, may_be_records=may_be_records)
    elif compression is not None and found in BINARY_FORMATS:
        raise _refuse(file, f"{NAMES[found]} compressed with {compression}", "decompress it first")
    is_raw = compression is None and file.suffix.lower() in COMPRESSION_SUFFIXES
    return _describe(file, found, by_name, is_raw=is_raw)


def refuse_binary(file: File) -> None:
    """Raise if a file that is to be read as text is binary."""
    head, _ = _read_head(file)
    found = _detect_binary(head, file)
    if found in BINARY_FORMATS:
        raise _refuse(file, NAMES[found], "leave out {argument}, or name a text", argument=Option("format"))


def guess_delimiter(header: str) -> str:
    """Return the most frequent of comma, semicolon, tab and bar in the header of a CSV."""
    return max(_DELIMITERS, key=header.count)


def detect_stream(head: bytes, columns: Sequence[str]) -> Format:
    """Detect the format of standard input by its first bytes and the columns that the caller names.

    It is CSV if its first line has one of these columns, or, if none is named, a usual name of a column of texts beside
    other columns, above rows of as many values. What is neither JSON nor CSV is lines of text.
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    if start.startswith((b'["', b"[{")):
        return "json"
    whole, _, rest = start.rpartition(b"\n")
    lines = (whole or rest).decode("utf-8", errors="replace").splitlines()
    delimiter = guess_delimiter(lines[0]) if lines else ","
    try:
        rows = list(csv.reader(lines[:_N_HEADER_LINES], delimiter=delimiter))
    except csv.Error:
        return "lines"
    names = [name.strip() for name in rows[0]] if rows else []
    if columns:
        is_header = not set(columns).isdisjoint(names)
    else:
        is_header = len(names) > 1 and any(name.lower() in TEXT_NAMES for name in names)
        is_header = is_header and all(len(row) == len(names) for row in rows[1:2] if row)
    return "csv" if is_header else "lines"


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


def _describe(file: File, found: Format | None, by_name: Format | None, *, is_raw: bool) -> Detected:
    """Return a format, with a note if the name indicates another, or a compression that the file does not have."""
    is_expected = found == by_name or any({found, by_name} <= same for same in _SAME_NAMES)
    is_plain = found is None or (by_name is None and found in BINARY_FORMATS)
    if (is_expected or is_plain) and not is_raw:
        return Detected(found)
    note = SearchWarning(
        "{file!r} is read as {format}, since that is what it holds, although its name ends in {suffix!r}.",
        code="format_by_content",
        file=str(file),
        format=NAMES[found] if found is not None else "plain text",
        suffix=file.suffix,
    )
    return Detected(found, note)


def _detect_binary(head: bytes, file: File) -> Format | None:
    """Return the format of a file that no text begins like; None for text. Raise for other binary files."""
    for start in STARTS:
        if head[start.offset :].startswith(start.data):
            return start.format
    if ARROW_STREAM.match(head):
        return "arrow"
    if head.startswith(b"PK\x03\x04"):
        return _detect_archive(file)
    for offset, data, kind, advice in OTHER_STARTS:
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
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise make_unreadable_error(file, error) from error
    for entry, format, kind, advice in ARCHIVES:
        if any(name.startswith(entry) for name in names):
            if format is None:
                raise _refuse(file, kind, advice)
            return format
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    raise _refuse(file, "a ZIP archive", UNPACK)


def _detect_text(head: bytes, by_name: Format | None, file: File, *, may_be_records: bool) -> Format | None:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if by_name is None:
        is_json = may_be_records and _begins_with_value(start, dict) and b"\n" in start
        return "jsonl" if is_json else None
    if not start:
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
