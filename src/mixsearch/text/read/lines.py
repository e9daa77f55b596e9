"""Documents on lines: JSON or plain text, and files that are documents themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

from mixsearch.errors import SearchError
from mixsearch.text.read.columns import Columns, as_text, join_texts
from mixsearch.text.read.documents import Documents, Load, Reading, file_name, gather, repair
from mixsearch.text.read.files import File, name_within, size_of
from mixsearch.text.read.sources import Progress, Sources, open_bytes

_BOM = b"\xef\xbb\xbf"
_WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")
# Records looked at to find the columns.
_FIRST_RECORDS = 100


def read_jsonl(path: File | None, reading: Reading, span: range | None = None) -> Iterator[Load]:
    """One JSON object, or string, on each line; with a span of bytes, on the lines that begin within it."""
    # In the middle of a file, a column that was found at its start may be missing for a while.
    columns = reading.columns if span is not None and span.start > 0 else None
    for first_line, data in _whole_lines(path, reading, span):
        decode = partial(_decode_lines, data, reading.options.encoding, path, first_line)
        if columns is None or not columns.texts:
            columns = _find_columns(decode(), path, reading)
        yield partial(_load_jsonl, decode, columns, path)


def read_lines(path: File | None, reading: Reading, span: range | None = None) -> Iterator[Load]:
    """One text on each line; with a span of bytes, on the lines that begin within it."""
    for first_line, data in _whole_lines(path, reading, span):
        yield partial(_load_lines, partial(_decode_lines, data, reading.options.encoding, path, first_line), path)


def read_files(sources: Sources, reading: Reading) -> Iterator[Load]:
    """One text in each file, named by its path."""
    sized = ((path, size_of(path) or 0) for path in sources.paths)
    for paths in gather(sized, reading.options.block_bytes):
        yield partial(_load_files, paths, sources.root, reading)


def decode(data: bytes, encoding: str, path: File | None, first_line: int = 1) -> str:
    """The bytes as text, or an error that names the line."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise SearchError(
            f"Found the byte 0x{data[error.start]:02x} in line {line:,} of {file_name(path)}, which is no {encoding}: "
            "pass the encoding of the file, such as encoding='cp1252', or mend the line."
        ) from error


def without_bom(data: bytes, path: File | None) -> bytes:
    """The start of a file without the mark that says it is UTF-8."""
    if data.startswith(_WIDE_BOMS):
        raise SearchError(
            f"Found UTF-16 in {file_name(path)}, needed UTF-8: convert it with `iconv -f utf-16 -t utf-8`."
        )
    return data.removeprefix(_BOM)


def _whole_lines(path: File | None, reading: Reading, span: range | None) -> Iterator[tuple[int, bytes]]:
    """Blocks of whole lines, each with the number of its first line."""
    size = reading.options.block_bytes
    with open_bytes(path, reading.progress, span) as file:
        line, rest = 1, [without_bom(file.read(size), path)]
        while data := file.read(size):
            cut = data.rfind(b"\n") + 1
            if cut == 0:
                rest.append(data)
                continue
            block = b"".join([*rest, data[:cut]])
            yield line, block
            line, rest = line + block.count(b"\n"), [data[cut:]]
        if block := b"".join(rest):
            yield line, block


def _decode_lines(data: bytes, encoding: str, path: File | None, first_line: int) -> list[tuple[int, str]]:
    """Lines with their numbers; only line feeds end a line, which JSON may not hold."""
    lines = decode(data, encoding, path, first_line).split("\n")
    if not lines[-1]:
        lines.pop()
    return [(first_line + i, line.removesuffix("\r")) for i, line in enumerate(lines)]


def _find_columns(lines: list[tuple[int, str]], path: File | None, reading: Reading) -> Columns:
    records = [_parse(text, line, path) for line, text in lines[:_FIRST_RECORDS] if text.strip()]
    tables = [record for record in records if isinstance(record, dict)]
    if not tables:
        return reading.columns or Columns((), None)
    names = list(dict.fromkeys(name for record in tables for name in record))
    strings = [name for name in names if any(isinstance(record.get(name), str) for record in tables)]
    return reading.settle_columns(names, strings, path)


def _load_jsonl(decode_lines: Any, columns: Columns, path: File | None) -> Documents:
    # A blank line, as at the end of many files, is no document.
    lines = [(line, text) for line, text in decode_lines() if text and not text.isspace()]
    records = [_parse(text, line, path) for line, text in lines]
    numbers = [line for line, _ in lines]
    if not columns.texts and any(isinstance(record, dict) for record in records):
        raise SearchError(f"Found both strings and objects in {file_name(path)}, needed the same on every line.")
    texts = [repair(_text_of(record, columns)) for record in records]
    names = None
    if columns.id is not None:
        names = [repair(as_text(record.get(columns.id) if isinstance(record, dict) else None)) for record in records]
    return Documents(texts, names, partial(_line_place, numbers, path))


def _text_of(record: Any, columns: Columns) -> str:
    return join_texts([record.get(name) for name in columns.texts]) if isinstance(record, dict) else as_text(record)


def _parse(text: str, line: int, path: File | None) -> Any:
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        what = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise SearchError(
            f"Found broken JSON in line {line:,} of {file_name(path)} ({what}): {text[:60]!r}. Needed one JSON object "
            "on each line; `jq -c '.[]'` makes such lines of a JSON array."
        ) from error
    if not isinstance(record, dict | str):
        raise SearchError(
            f"Found {text[:60]!r} in line {line:,} of {file_name(path)}, needed a JSON object or a string on each "
            "line; `jq -c '.[]'` makes such lines of a JSON array."
        )
    return record


def _load_lines(decode_lines: Any, path: File | None) -> Documents:
    lines = decode_lines()
    return Documents([text for _, text in lines], None, partial(_line_place, [line for line, _ in lines], path))


def _load_files(paths: list[File], root: File | None, reading: Reading) -> Documents:
    texts = [_load_file(path, reading) for path in paths]
    names = [name_within(path, root) for path in paths]
    return Documents(texts, names, lambda i: f"the file {str(paths[i])!r}")


def _load_file(path: File, reading: Reading) -> str:
    progress = Progress()
    with open_bytes(path, progress) as file:
        data = without_bom(file.read(), path)
    reading.progress.add(progress.done)
    return decode(data, reading.options.encoding, path).replace("\r\n", "\n")


def _line_place(lines: list[int], path: File | None, i: int) -> str:
    return f"line {lines[i]:,} of {file_name(path)}"
