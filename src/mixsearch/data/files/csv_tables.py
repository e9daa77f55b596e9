"""Whole tables of CSV, with the types that PyArrow and we find."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.detection import guess_delimiter
from mixsearch.data.files.location import File
from mixsearch.data.files.row_checks import BadRows, check_header, name_columns
from mixsearch.data.files.streams import open_file, strip_bom
from mixsearch.data.files.types import MISSING_MARKS, NUMBERS, NUMBERS_WITH_COMMA, find_types
from mixsearch.display import pluralize
from mixsearch.errors import SearchError, warn_user

# A row must fit in a block.
_BLOCK_BYTES = 16 << 20
_START_BYTES = 1 << 16
_N_FIRST_ROWS = 100
_MAX_QUOTED = 80


def read_csv(file: File, bad_rows: BadRows, *, delimiter: str | None, no_header: bool) -> Any:
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


def make_encoding_error(file: File, line: int | None = None) -> SearchError:
    """Return the error for a table in another encoding than UTF-8."""
    place = "" if line is None else f", in line {line:,}"
    return SearchError(
        "{file!r} is not UTF-8{place}. Save it as UTF-8.", code="wrong_encoding", file=str(file), place=place, line=line
    )


def make_empty_error(file: File) -> SearchError:
    """Return the error for a file without anything in it."""
    return SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=str(file))


def _read_first_lines(file: File) -> list[str]:
    with open_file(file) as stream:
        start = stream.read(_START_BYTES)
    text = strip_bom(start, file).lstrip().decode("utf-8", errors="replace")
    if not text:
        raise make_empty_error(file)
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
            raise make_encoding_error(self._file, line) from error
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
            self._bad_rows.add(make_encoding_error(self._file, self._n_checked))
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
