"""Whole tables of files as Arrow tables, with the types that PyArrow and we find."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import islice
from typing import Any, BinaryIO

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.detection import guess_delimiter
from mixsearch.data.files.json_values import MAX_DEPTH, check_record, iterate_values, parse_record
from mixsearch.data.files.location import File, get_size
from mixsearch.data.files.row_checks import BadRows, check_header, name_columns
from mixsearch.data.files.rows import ROW_FORMATS, build_batch, open_rows
from mixsearch.data.files.signatures import Format
from mixsearch.data.files.streams import make_unreadable_error, open_file, strip_bom
from mixsearch.data.files.types import (
    DATES,
    MISSING_MARKS,
    NUMBERS,
    NUMBERS_WITH_COMMA,
    ColumnTypes,
    find_column_types,
    find_types,
)
from mixsearch.data.machine import available_memory
from mixsearch.display import pluralize
from mixsearch.errors import SearchError, warn_user

TABLE_FORMATS: tuple[Format, ...] = ("csv", "tsv", "jsonl", "json", *ROW_FORMATS)
_PIECE_BYTES = 1 << 20
# A row must fit in a block.
_BLOCK_BYTES = 16 << 20
_START_BYTES = 1 << 16
_N_FIRST_ROWS = 100
_MAX_QUOTED = 80
_ROWS_PER_BATCH = 1 << 16


def read_arrow_table(files: Iterable[File], format: Format, *, no_header: bool, skip_bad_rows: bool) -> Any:
    """Return the rows of files of one format, one after another, with types that all of them have."""
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
            return _read_csv(file, bad_rows, delimiter="\t" if format == "tsv" else None, no_header=no_header)
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
        raise _make_encoding_error(file) from error
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


def _read_csv(file: File, bad_rows: BadRows, *, delimiter: str | None, no_header: bool) -> Any:
    """Return a table of CSV, delimited by the most frequent of comma, semicolon, tab and bar in its first line."""
    from pyarrow import ArrowInvalid

    lines = _read_first_lines(file)
    mark = delimiter or guess_delimiter(lines[0])
    first = _parse_first(lines, mark)
    note = None if no_header or not first else check_header(first[0], first[1:], file)
    if note is not None:
        warn_user(note)
    parser = _Parser(file, bad_rows, mark, no_header)
    try:
        table = parser.parse()
    except ArrowInvalid as error:
        if "conversion error" not in str(error):
            raise
        # A type that was found at the start of a large file does not fit a value further on.
        names = [f"f{i}" for i in range(len(first[0]))] if no_header else first[0]
        table = parser.parse(text_columns=names)
    if no_header:
        table = table.rename_columns(name_columns(table.num_columns))
    return find_types(table, NUMBERS if mark == "," else NUMBERS_WITH_COMMA)


def _make_encoding_error(file: File, line: int | None = None) -> SearchError:
    """Return the error for a table in another encoding than UTF-8."""
    place = "" if line is None else f", in line {line:,}"
    return SearchError(
        "{file!r} is not UTF-8{place}. Save it as UTF-8.", code="wrong_encoding", file=str(file), place=place, line=line
    )


def _make_empty_error(file: File) -> SearchError:
    """Return the error for a file without anything in it."""
    return SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=str(file))


def _read_first_lines(file: File) -> list[str]:
    with open_file(file) as stream:
        start = stream.read(_START_BYTES)
    text = strip_bom(start, file).lstrip().decode("utf-8", errors="replace")
    if not text:
        raise _make_empty_error(file)
    lines = text.splitlines(keepends=True)
    # The last line may be cut.
    return lines[:-1] if len(lines) > 1 and len(start) == _START_BYTES else lines


def _parse_first(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(lines, delimiter=delimiter):
            rows.append(row)
            if len(rows) > _N_FIRST_ROWS:
                break
    except csv.Error:
        return rows  # PyArrow will name the row
    return rows


class _DecodableReader(io.RawIOBase):
    """File object that is known to be UTF-8 when it is read, as PyArrow's parser expects of a row that it rejects."""

    def __init__(self, stream: BinaryIO, file: File, bad_rows: BadRows) -> None:
        self._file, self._bad_rows = file, bad_rows
        self._read = self._make_line_reader(stream) if bad_rows.are_skipped else stream.read
        self._decoder, self._line = codecs.getincrementaldecoder("utf-8")(), 1

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._read(len(buffer))
        try:
            self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = self._line + error.object.count(b"\n", 0, error.start)
            raise _make_encoding_error(self._file, line) from error
        self._line += data.count(b"\n")
        buffer[: len(data)] = data
        return len(data)

    def _make_line_reader(self, stream: BinaryIO) -> Callable[[int], bytes]:
        """Return a function that reads the lines that can be decoded."""
        rest = io.BytesIO()

        def read(size: int) -> bytes:
            nonlocal rest
            data = rest.read(size)
            while not data:
                lines = stream.readlines(_START_BYTES)
                if not lines:
                    return b""
                rest = io.BytesIO(b"".join(line for line in lines if self._check_line(line)))
                data = rest.read(size)
            return data

        self._n_checked = 0
        return read

    def _check_line(self, line: bytes) -> bool:
        self._n_checked += 1
        try:
            line.decode()
        except UnicodeDecodeError:
            self._bad_rows.add(_make_encoding_error(self._file, self._n_checked))
            return False
        return True


class _Parser:
    """PyArrow's parser, with errors that name the row."""

    def __init__(self, file: File, bad_rows: BadRows, delimiter: str, no_header: bool) -> None:
        self._file, self._bad_rows = file, bad_rows
        self._delimiter, self._no_header = delimiter, no_header

    def parse(self, text_columns: Sequence[str] = (), *, use_threads: bool = True) -> Any:
        """Return the table; only one thread knows the number of a wrong row."""
        from pyarrow import ArrowInvalid
        from pyarrow import csv as arrow_csv

        wrong: list[Any] = []

        def note_row(row: Any) -> str:
            wrong.append(row)
            return "skip" if self._bad_rows.are_skipped else "error"

        use_threads = use_threads and not self._bad_rows.are_skipped
        types = dict.fromkeys(text_columns, import_pyarrow("Tables in files").string())
        try:
            with open_file(self._file) as stream:
                table = arrow_csv.read_csv(
                    _DecodableReader(stream, self._file, self._bad_rows),
                    read_options=arrow_csv.ReadOptions(
                        use_threads=use_threads, block_size=_BLOCK_BYTES, autogenerate_column_names=self._no_header
                    ),
                    parse_options=arrow_csv.ParseOptions(
                        delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=note_row
                    ),
                    convert_options=arrow_csv.ConvertOptions(
                        null_values=list(MISSING_MARKS),
                        strings_can_be_null=True,
                        timestamp_parsers=[arrow_csv.ISO8601, "%Y/%m/%d", "%d.%m.%Y"],
                        column_types=types,
                    ),
                )
        except ArrowInvalid as error:
            if not wrong:
                raise
            if wrong[0].number is None and use_threads:
                return self.parse(text_columns, use_threads=False)
            raise self._bad_rows.explain(self._describe(wrong[0])) from error
        for row in wrong:
            self._bad_rows.add(self._describe(row))
        return table

    def _describe(self, row: Any) -> SearchError:
        return SearchError(
            "Row {row:,} of {file!r} has {n_values} "
            + pluralize(row.actual_columns, "value")
            + ", but the header has {n_columns}: {text!r}. Quote the values that contain the "
            "delimiter, and close every quotation mark.",
            code="wrong_row_length",
            row=row.number,
            file=str(self._file),
            n_values=row.actual_columns,
            n_columns=row.expected_columns,
            text=row.text[:_MAX_QUOTED],
        )


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
            reason = _make_encoding_error(file, line)
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
