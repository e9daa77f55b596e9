"""Whole tables of files as Arrow tables."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import reduce
from itertools import islice
from typing import Any, BinaryIO

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.csv_tables import make_encoding_error, read_csv
from mixsearch.data.files.json_values import MAX_DEPTH, check_record, iterate_values, parse_record
from mixsearch.data.files.location import File, get_size
from mixsearch.data.files.row_checks import BadRows
from mixsearch.data.files.rows import ROW_FORMATS, build_batch, open_rows
from mixsearch.data.files.signatures import Format
from mixsearch.data.files.streams import make_unreadable_error, open_file, strip_bom
from mixsearch.data.files.types import DATES, ColumnTypes, find_column_types, find_types
from mixsearch.data.machine import available_memory
from mixsearch.errors import SearchError, warn_user

TABLE_FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "json", *ROW_FORMATS)
_PIECE_BYTES = 1 << 20
# A row must fit in a block.
_BLOCK_BYTES = 16 << 20
_ROWS_PER_BATCH = 1 << 16


def read_arrow_table(files: Iterable[File], format: Format, *, no_header: bool, skip_bad_rows: bool) -> Any:
    """Return the rows of files of one format, one after another, with types that all of them have.

    Parameters
    ----------
    files : iterable of File
        The files.
    format : str
        One of `TABLE_FORMATS`.
    no_header : bool
        Whether the first row of CSV, TSV and Excel is data.
    skip_bad_rows : bool
        Whether to skip rows that cannot be read, with a warning.

    Returns
    -------
    pyarrow.Table
        The rows. No name of a column is repeated.
    """
    bad_rows = BadRows(skip=skip_bad_rows)
    tables = [_read_file(file, format, no_header, bad_rows) for file in files]
    for note in bad_rows.describe():
        warn_user(note)
    return tables[0] if len(tables) == 1 else _join(tables)


def _read_file(file: File, format: Format, no_header: bool, bad_rows: BadRows) -> Any:
    _check_size(file, get_size(file) or 0)
    if format in ROW_FORMATS:
        return _read_rows(file, format, no_header)
    with _explain_errors(file):
        if format in ("csv", "tsv"):
            return read_csv(file, bad_rows, delimiter="\t" if format == "tsv" else None, no_header=no_header)
        return _read_jsonl(file, bad_rows) if format == "jsonl" else _read_json(file, bad_rows)


def _check_size(file: File, n_bytes: int) -> None:
    """Raise if a table takes more memory than there is: the system would end the process without a word."""
    limit = available_memory()
    if n_bytes > limit:
        raise SearchError(
            "The table of {file!r} takes more than {limit:,} bytes, which is all the memory that this machine has, or "
            "its container allows. Leave out rows or columns.",
            code="table_too_large",
            file=str(file),
            limit=limit,
        )


@contextmanager
def _explain_errors(file: File) -> Iterator[None]:
    """Turn what PyArrow raises into errors that name the file."""
    arrow = import_pyarrow("Tables in files")
    try:
        yield
    except SearchError:
        raise
    except UnicodeDecodeError as error:
        raise make_encoding_error(file) from error
    except (arrow.ArrowException, ValueError) as error:
        raise make_unreadable_error(file, error) from error


def _join(chunks: list[Any]) -> Any:
    """Return record batches or tables as one table, with the types that all of them have."""
    arrow = import_pyarrow("Tables in files")
    types = reduce(ColumnTypes.merge, map(find_column_types, chunks))
    tables = [chunk if isinstance(chunk, arrow.Table) else arrow.Table.from_batches([chunk]) for chunk in chunks]
    return arrow.concat_tables([types.convert(table) for table in tables])


def _read_rows(file: File, format: Format, no_header: bool) -> Any:
    with open_rows(file, format, no_header=no_header) as source:
        if source.note is not None:
            warn_user(source.note)
        batches: list[Any] = []
        n_bytes = 0
        for batch in source.batches(source.schema.names, _ROWS_PER_BATCH):
            batches.append(batch)
            n_bytes += batch.nbytes
            _check_size(file, n_bytes)
        return _join(batches) if batches else source.schema.empty_table()


def _read_jsonl(file: File, bad_rows: BadRows) -> Any:
    from pyarrow import ArrowInvalid
    from pyarrow import json as arrow_json

    if not bad_rows.are_skipped:
        try:
            with open_file(file) as stream:
                table = arrow_json.read_json(_ShallowReader(stream), arrow_json.ReadOptions(block_size=_BLOCK_BYTES))
            table.validate(full=True)  # its parser takes bytes that are no UTF-8
            return find_types(table, DATES)
        except ArrowInvalid:
            pass  # it knows neither the line of an error, nor columns whose values differ in type
    with open_file(file) as stream:
        return _build_table(_parse_lines(stream, file, bad_rows))


class _ShallowReader(io.RawIOBase):
    """File object that fails before PyArrow's parser, whose stack has an end, meets a value that is nested deeply."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._n_openings = stream, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer))
        for i, line in enumerate(data.split(b"\n")):
            n_openings = line.count(b"[") + line.count(b"{") if len(line) > MAX_DEPTH or i == 0 else 0
            self._n_openings = n_openings + (self._n_openings if i == 0 else 0)
            if self._n_openings > MAX_DEPTH:
                raise import_pyarrow("Tables in files").ArrowInvalid("perhaps nested too deeply")
        buffer[: len(data)] = data
        return len(data)


def _parse_lines(stream: Iterable[bytes], file: File, bad_rows: BadRows) -> Iterator[dict[str, Any]]:
    for line, data in enumerate(stream, start=1):
        try:
            text = (strip_bom(data, file) if line == 1 else data).decode()
        except UnicodeDecodeError as error:
            reason = make_encoding_error(file, line)
            if not bad_rows.are_skipped:
                raise reason from error
            bad_rows.add(reason)
            continue
        if text.isspace():
            continue
        try:
            yield check_record(parse_record(text, line, file), line, text, file, is_object=True)
        except SearchError as error:
            bad_rows.add(error)


def _read_json(file: File, bad_rows: BadRows) -> Any:
    with open_file(file) as stream:
        decoder = codecs.getreader("utf-8-sig")(stream)
        return _build_table(
            _check_objects(iterate_values(iter(lambda: decoder.read(_PIECE_BYTES), ""), file), file, bad_rows)
        )


def _check_objects(values: Iterator[tuple[int, Any]], file: File, bad_rows: BadRows) -> Iterator[dict[str, Any]]:
    for line, value in values:
        try:
            yield check_record(value, line, str(value), file, is_object=True)
        except SearchError as error:
            bad_rows.add(error)


def _build_table(records: Iterator[dict[str, Any]]) -> Any:
    batches = []
    while chunk := list(islice(records, _ROWS_PER_BATCH)):
        names = dict.fromkeys(name for record in chunk for name in record)
        batches.append(build_batch({name: [record.get(name) for record in chunk] for name in names}, DATES))
    arrow = import_pyarrow("Tables in files")
    return find_types(_join(batches), ()) if batches else arrow.table({})
