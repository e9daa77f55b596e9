"""Documents on lines, as JSON or plain text, and files that are one document each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mixsearch.data.files.types import DATES
from mixsearch.errors import Option, SearchError
from mixsearch.text.options import limit_chunk_bytes
from mixsearch.text.read.columns import Columns, build_batch, build_kept, join_texts, replace_surrogates, to_text
from mixsearch.text.read.documents import (
    ChunkLoader,
    DocumentChunk,
    ReadState,
    group_by_size,
    name_file,
)
from mixsearch.text.read.files import File, get_size, name_within
from mixsearch.text.read.sources import Progress, SourceFiles, open_file
from mixsearch.text.read.summary import N_SAMPLE_ROWS

_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
# Records in which the columns are looked for.
_N_FIRST_RECORDS = 100
_MAX_QUOTED = 60
_TO_LINES = "`jq -c '.[]'` converts a JSON array to lines"

# Each line with its number.
NumberedLines = list[tuple[int, str]]


def read_jsonl(path: File | None, state: ReadState, span: range | None = None) -> Iterator[ChunkLoader]:
    """Read one JSON object, or string, from each line; with a span of bytes, from the lines that begin within it."""
    # In the middle of a file, a column that was found at its start may be missing for a while.
    columns = state.columns if span is not None and span.start > 0 else None
    for first_line, data in _read_whole_lines(path, state, span):
        decode_lines = partial(_decode_lines, data, state.options.encoding, path, first_line)
        if columns is None or not columns.texts:
            columns = _find_columns(decode_lines(), path, state)
        yield partial(_load_jsonl, decode_lines, columns, path)


def read_lines(path: File | None, state: ReadState, span: range | None = None) -> Iterator[ChunkLoader]:
    """Read one text from each line; with a span of bytes, from the lines that begin within it."""
    for first_line, data in _read_whole_lines(path, state, span):
        yield partial(_load_lines, partial(_decode_lines, data, state.options.encoding, path, first_line), path)


def read_files(sources: SourceFiles, state: ReadState) -> Iterator[ChunkLoader]:
    """Read one text from each file, named by its path."""
    sized = ((path, get_size(path) or 0) for path in sources.paths)
    for paths in group_by_size(sized, limit_chunk_bytes(state.options)):
        yield partial(_load_files, paths, sources.root, state)


def decode(data: bytes, encoding: str, path: File | None, first_line: int = 1) -> str:
    """Decode bytes; an error names the line."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise SearchError(
            "Byte 0x{byte:02x} in line {line:,} of {file!r} is not valid {encoding}. Set {argument} to that of the "
            "file, such as 'cp1252', or correct the line.",
            code="wrong_encoding",
            byte=data[error.start],
            line=first_line + data.count(b"\n", 0, error.start),
            file=name_file(path),
            encoding=encoding,
            argument=Option("encoding"),
        ) from error


def strip_bom(data: bytes, path: File | None) -> bytes:
    """Return the start of a file without the byte order mark of UTF-8."""
    if data.startswith(_UTF16_BOMS):
        raise SearchError(
            "{file!r} is UTF-16, but UTF-8 is needed. Convert it with `iconv -f utf-16 -t utf-8`.",
            code="wrong_encoding",
            file=name_file(path),
        )
    return data.removeprefix(_BOM)


def _read_whole_lines(path: File | None, state: ReadState, span: range | None) -> Iterator[tuple[int, bytes]]:
    """Yield chunks of whole lines, each with the number of its first line."""
    size = limit_chunk_bytes(state.options)
    with open_file(path, state.progress, span) as file:
        line, rest = 1, [strip_bom(file.read(size), path)]
        while data := file.read(size):
            cut = data.rfind(b"\n") + 1
            if cut == 0:
                rest.append(data)
                continue
            chunk = b"".join([*rest, data[:cut]])
            yield line, chunk
            line, rest = line + chunk.count(b"\n"), [data[cut:]]
        if chunk := b"".join(rest):
            yield line, chunk


def _decode_lines(data: bytes, encoding: str, path: File | None, first_line: int) -> NumberedLines:
    """Return lines with their numbers. Only line feeds, which JSON strings cannot contain, end a line."""
    lines = decode(data, encoding, path, first_line).split("\n")
    if not lines[-1]:
        lines.pop()
    return [(first_line + i, line.removesuffix("\r")) for i, line in enumerate(lines)]


def _find_columns(lines: NumberedLines, path: File | None, state: ReadState) -> Columns:
    objects = _list_objects(lines[:_N_FIRST_RECORDS], path)
    if not objects:
        return state.columns or Columns((), None)
    names = _list_names(objects)
    strings = [name for name in names if any(isinstance(record.get(name), str) for record in objects)]
    return state.resolve_columns(names, strings, path, lambda: _sample(_list_objects(lines[:N_SAMPLE_ROWS], path)))


def _list_objects(lines: NumberedLines, path: File | None) -> list[dict[str, Any]]:
    records = [_parse_record(text, line, path) for line, text in lines if text.strip()]
    return [record for record in records if isinstance(record, dict)]


def _list_names(objects: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for record in objects for name in record))


def _sample(objects: list[dict[str, Any]]) -> Any:
    return build_batch({name: [record.get(name) for record in objects] for name in _list_names(objects)}, DATES)


def _load_jsonl(decode_lines: Callable[[], NumberedLines], columns: Columns, path: File | None) -> DocumentChunk:
    # A blank line, as at the end of many files, is not a document.
    lines = [(line, text) for line, text in decode_lines() if text and not text.isspace()]
    records = [_parse_record(text, line, path) for line, text in lines]
    if not columns.texts and any(isinstance(record, dict) for record in records):
        raise SearchError(
            "{file!r} has both strings and objects, but every line must be of the same kind.",
            code="mixed_records",
            file=name_file(path),
        )
    texts = [replace_surrogates(_get_text(record, columns)) for record in records]
    names = (
        None
        if columns.id is None
        else [replace_surrogates(to_text(_get_value(record, columns.id))) for record in records]
    )
    values = {name: [_get_value(record, name) for record in records] for name in columns.kept}
    kept = build_kept(values, columns, len(records), DATES)
    n_missing = sum(_is_missing(record, columns) for record in records)
    return DocumentChunk(texts, names, partial(_locate_line, [line for line, _ in lines], path), kept, n_missing)


def _get_text(record: Any, columns: Columns) -> str:
    return join_texts([record.get(name) for name in columns.texts]) if isinstance(record, dict) else to_text(record)


def _is_missing(record: Any, columns: Columns) -> bool:
    return isinstance(record, dict) and all(record.get(name) is None for name in columns.texts)


def _get_value(record: Any, column: str) -> Any:
    return record.get(column) if isinstance(record, dict) else None


def _parse_record(text: str, line: int, path: File | None) -> Any:
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SearchError(
            "Line {line:,} of {file!r} is not valid JSON ({reason}): {text!r}. Each line must be a JSON object; "
            + _TO_LINES
            + ".",
            code="invalid_json",
            line=line,
            file=name_file(path),
            reason=error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply",
            text=text[:_MAX_QUOTED],
        ) from error
    if not isinstance(record, dict | str):
        raise SearchError(
            "Line {line:,} of {file!r} is {text!r}, but each line must be a JSON object or a string; "
            + _TO_LINES
            + ".",
            code="invalid_record",
            line=line,
            file=name_file(path),
            text=text[:_MAX_QUOTED],
        )
    return record


def _load_lines(decode_lines: Callable[[], NumberedLines], path: File | None) -> DocumentChunk:
    lines = decode_lines()
    return DocumentChunk([text for _, text in lines], None, partial(_locate_line, [line for line, _ in lines], path))


def _load_files(paths: list[File], root: File | None, state: ReadState) -> DocumentChunk:
    texts = [_load_file(path, state) for path in paths]
    names = [name_within(path, root) for path in paths]
    return DocumentChunk(texts, names, lambda i: f"the file {str(paths[i])!r}")


def _load_file(path: File, state: ReadState) -> str:
    progress = Progress()
    with open_file(path, progress) as file:
        data = strip_bom(file.read(), path)
    state.progress.add(progress.done)
    return decode(data, state.options.encoding, path).replace("\r\n", "\n")


def _locate_line(lines: list[int], path: File | None, i: int) -> str:
    return f"line {lines[i]:,} of {name_file(path)!r}"
