"""Documents in JSON: an object or a string on each line, in an array, or one after another."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import partial
from typing import Any, BinaryIO

from mixsearch.data.files.json_values import check_record, iterate_values, parse_record
from mixsearch.data.files.location import File
from mixsearch.data.files.row_checks import BadRows
from mixsearch.data.files.rows import build_batch
from mixsearch.data.files.streams import name_file, open_file, replace_surrogates, strip_bom
from mixsearch.data.files.types import DATES, to_json
from mixsearch.errors import SearchError
from mixsearch.text.options import limit_chunk_bytes, limit_document_bytes
from mixsearch.text.read.columns import N_SAMPLE_ROWS, Columns, build_kept, join_texts, to_text
from mixsearch.text.read.documents import ChunkLoader, DocumentChunk, ReadState, group_by_size
from mixsearch.text.read.lines import LineDecoder, NumberedLines, locate_line, make_encoding_error, read_whole_lines

# Records in which the columns of the text are looked for.
_N_FIRST_RECORDS = 100
_PIECE_BYTES = 1 << 20

# Each object or string with its line.
NumberedRecords = list[tuple[int, Any]]


def read_jsonl(path: File | None, state: ReadState, span: range | None = None) -> Iterator[ChunkLoader]:
    """Read one JSON object, or string, from each line; with a span of bytes, from the lines that begin within it."""
    # In the middle of a file, a column that was found at its start may be missing for a while.
    columns = state.columns if span is not None and span.start > 0 else None
    for decode_lines in read_whole_lines(path, state, span):
        if columns is None or not columns.texts:
            # The rows are parsed again when they are loaded, and counted then.
            uncounted = BadRows(skip=state.options.skip_bad_rows)
            records = _parse_lines(decode_lines(uncounted)[:N_SAMPLE_ROWS], path, uncounted)
            columns = _find_columns([record for _, record in records], path, state)
        yield partial(_load_jsonl, decode_lines, columns, path, state.bad_rows)


def read_json(path: File | None, state: ReadState) -> Iterator[ChunkLoader]:
    """Read the objects, or strings, of an array or one after another."""
    columns: Columns | None = None
    with open_file(path, state.progress) as file:
        values = iterate_values(
            _decode_pieces(file, state.options.encoding, path), path, limit_document_bytes(state.options)
        )
        records = _check_records(values, path, state.bad_rows)
        for chunk in group_by_size(records, limit_chunk_bytes(state.options)):
            if columns is None or not columns.texts:
                columns = _find_columns([record for _, record in chunk], path, state)
            yield partial(_load_records, chunk, columns, path)


def _decode_pieces(file: BinaryIO, encoding: str, path: File | None) -> Iterator[str]:
    decoder, line = codecs.getincrementaldecoder(encoding)(), 1
    data = strip_bom(file.read(_PIECE_BYTES), path)
    while data:
        try:
            piece = decoder.decode(data)
        except UnicodeDecodeError as error:
            raise make_encoding_error(error, path, line) from error
        yield piece
        line += piece.count("\n")
        data = file.read(_PIECE_BYTES)


def _check_records(
    values: Iterator[tuple[int, Any]], path: File | None, bad_rows: BadRows
) -> Iterator[tuple[tuple[int, Any], int]]:
    """Yield objects and strings with their lines, and their sizes."""
    for line, value in values:
        try:
            record = check_record(value, line, to_json(value), path)
        except SearchError as error:
            bad_rows.add(error)
            continue
        texts = record.values() if isinstance(record, dict) else [record]
        yield (line, record), sum(len(text) for text in texts if isinstance(text, str))


def _parse_lines(lines: NumberedLines, path: File | None, bad_rows: BadRows) -> NumberedRecords:
    records: NumberedRecords = []
    for line, text in lines:
        # A blank line, as at the end of many files, is not a document.
        if not text or text.isspace():
            continue
        try:
            records.append((line, parse_record(text, line, path)))
        except SearchError as error:
            bad_rows.add(error)
    return records


def _find_columns(records: list[Any], path: File | None, state: ReadState) -> Columns:
    objects = [record for record in records[:N_SAMPLE_ROWS] if isinstance(record, dict)]
    if not objects:
        return state.columns or Columns((), None)
    first = objects[:_N_FIRST_RECORDS]
    names = _list_names(first)
    strings = [name for name in names if any(isinstance(record.get(name), str) for record in first)]
    return state.resolve_columns(names, strings, path, partial(_sample, objects))


def _list_names(objects: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for record in objects for name in record))


def _sample(objects: list[dict[str, Any]]) -> Any:
    return build_batch({name: [record.get(name) for record in objects] for name in _list_names(objects)}, DATES)


def _load_jsonl(decode_lines: LineDecoder, columns: Columns, path: File | None, bad_rows: BadRows) -> DocumentChunk:
    return _load_records(_parse_lines(decode_lines(bad_rows), path, bad_rows), columns, path)


def _load_records(numbered: NumberedRecords, columns: Columns, path: File | None) -> DocumentChunk:
    records = [record for _, record in numbered]
    if not columns.texts and any(isinstance(record, dict) for record in records):
        raise SearchError(
            "{file!r} has both strings and objects, but every row must be of the same kind.",
            code="mixed_records",
            file=name_file(path),
        )
    texts = [replace_surrogates(_get_text(record, columns)) for record in records]
    ids = None if columns.id is None else [_get_value(record, columns.id) for record in records]
    names = None if ids is None else [replace_surrogates(to_text(value)) for value in ids]
    values = {name: [_get_value(record, name) for record in records] for name in columns.kept}
    kept = build_kept(values, columns, len(records), DATES)
    n_missing = sum(_is_missing(record, columns) for record in records)
    locate = partial(locate_line, [line for line, _ in numbered], path)
    return DocumentChunk(texts, names, locate, kept, n_missing)


def _get_text(record: Any, columns: Columns) -> str:
    return join_texts([record.get(name) for name in columns.texts]) if isinstance(record, dict) else to_text(record)


def _is_missing(record: Any, columns: Columns) -> bool:
    return isinstance(record, dict) and all(record.get(name) is None for name in columns.texts)


def _get_value(record: Any, column: str) -> Any:
    return record.get(column) if isinstance(record, dict) else None
