"""Tables in files, in batches: read by Polars, and by Python where a row may be bad, to say which or to skip it."""

from __future__ import annotations

import csv
import json
import logging
import re
import sqlite3
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

import numpy as np
import polars as pl

from mixsearch.data.machine import available_memory
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.files import NAMES, Format, guess_delimiter
from mixsearch.io.streams import (
    File,
    Reading,
    check_archive,
    make_encoding_error,
    make_row_error,
    make_unreadable_error,
    open_plain,
    read_lines,
)
from mixsearch.io.types import (
    DATES,
    MISSING_MARKS,
    NUMBERS,
    NUMBERS_WITH_COMMA,
    limit_dates,
    make_frame,
    make_series,
    map_columns,
)
from mixsearch.io.values import is_number, rename_repeated

# Rows of a batch; of a sample, by which columns and their types are chosen; and those by which a header is checked.
_BATCH_ROWS, SAMPLE_ROWS, _HEADER_ROWS = 1 << 13, 2000, 100
_HEAD_BYTES, _TAIL_BYTES = 1 << 20, 1 << 12
_MAX_NAME, _MAX_QUOTED, _MAX_LISTED = 120, 80, 20
# Values that are nested more deeply are refused: Polars would take minutes to find the type of a thousand levels.
_MAX_DEPTH = 100
# Memory that an array of JSON takes, in times its size.
_JSON_GROWTH = 10
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) != 'sqlite_'"

Schema = Mapping[str, Any]


class Rows(NamedTuple):
    """The rows of a file: the first ones, and all in batches, with all columns or those of a schema."""

    sample: pl.DataFrame
    read: Callable[[Schema | None], Iterator[pl.DataFrame]]


class OtherTypesError(Exception):
    """Values do not have the types of a schema."""


@contextmanager
def open_rows(file: File, format: Format, reading: Reading) -> Iterator[Rows]:
    """Open the table of a file. Columns of CSV are text, unless a schema has other types for them."""
    reading.readings = DATES
    with open_plain(file, reading.encoding) as path:
        if format in ("csv", "tsv"):
            yield _open_csv(path, file, reading, "\t" if format == "tsv" else None)
        elif format == "jsonl":
            yield _open_jsonl(path, file, reading)
        elif format == "json":
            with TemporaryDirectory(prefix="mixsearch-tmp-") as folder:
                lines = Path(folder, "lines")
                _write_lines(path, file, lines, reading)
                yield _open_jsonl(lines, file, reading)
        else:
            plain = file._replace(path=path)
            with _explain_errors(file, format):
                read = partial(_read_sqlite, plain) if format == "sqlite" else _scan_typed(plain, format, reading)
                sample = next(read(None, SAMPLE_ROWS))
            yield Rows(sample, partial(_guard, read, file, format))


@contextmanager
def _explain_errors(file: File, format: Format) -> Iterator[None]:
    """Turn what a library raises for a damaged file into an error that names the file."""
    try:
        yield
    except SearchError:
        raise
    # Libraries raise errors of every kind, and Polars panics, which is not an `Exception`.
    except (Exception, pl.exceptions.PanicException) as error:
        raise make_unreadable_error(file, error, NAMES[format]) from error


def _open_csv(path: Path, file: File, reading: Reading, delimiter: str | None) -> Rows:
    """Open a table that is delimited by the most frequent of comma, semicolon, tab and bar in its first line."""
    n_blank, n_bytes, texts = 0, 0, list[str]()
    with closing(read_lines(path, file, reading.limit)) as lines:
        for _, text, error in islice(lines, SAMPLE_ROWS):
            if error is not None and not texts:
                raise error
            if texts or text.strip():
                texts.append(text)
            else:
                n_blank += 1
            if (n_bytes := n_bytes + len(text)) > _HEAD_BYTES:
                break
    if not texts:
        raise SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=str(file))
    mark = delimiter or guess_delimiter(texts[0])
    reader = csv.reader(texts, delimiter=mark)
    try:
        header = next(reader)
    except csv.Error as error:
        raise make_row_error("invalid_csv", file, n_blank + 1, reason=str(error)) from error
    n_lines = 0 if reading.no_header else reader.line_num
    names = rename_repeated([""] * len(header) if reading.no_header else header)
    table = _CSV(path, file, reading, names, mark, n_blank + n_lines)
    rows = table.sample(texts[n_lines:])
    reading.readings = NUMBERS if mark == "," else NUMBERS_WITH_COMMA
    if not reading.no_header:
        reading.notes += _check_header(header, rows.head(_HEADER_ROWS).fill_null("").rows(), file)
    return Rows(rows, table.read)


class _CSV(NamedTuple):
    """A plain file of CSV, whose header is known."""

    path: Path
    file: File
    reading: Reading
    names: Sequence[str]
    mark: str
    n_lines: int  # of the header

    def sample(self, lines: Sequence[str]) -> pl.DataFrame:
        """Return the rows of the first lines that are good; the last may be cut."""
        rows: list[list[str]] = []
        with suppress(csv.Error):  # which is found again, with its line
            rows += [row for row in csv.reader(lines, delimiter=self.mark) if len(row) == len(self.names)]
        return self._make_frame(rows[:SAMPLE_ROWS])

    def read(self, schema: Schema | None) -> Iterator[pl.DataFrame]:
        """Yield batches: by Polars up to a row that may be bad, which Python reads again with all after it."""
        n_rows = 0
        if not self.reading.skip_bad_rows:
            try:
                for frame in self._read_fast(schema or {}):
                    yield frame
                    n_rows += frame.height
                return
            except pl.exceptions.PolarsError as error:
                if schema is not None and any(kind != pl.String for kind in schema.values()):
                    raise OtherTypesError from error
        rows = islice(self._check_rows(), n_rows, None)
        while chunk := list(islice(rows, _BATCH_ROWS)):
            yield self._make_frame(chunk)

    def _read_fast(self, schema: Schema) -> Iterator[pl.DataFrame]:
        """Yield what Polars reads; raise its error for rows that it cannot read, and for those that have no values."""
        may_be_short = False
        n_trailing = self._count_trailing()
        batches = self._scan(schema).collect_batches(chunk_size=_BATCH_ROWS)
        for batch, following in pairwise(chain(batches, [None])):
            frame = cast(pl.DataFrame, batch)
            frame = frame if following is not None else frame.head(max(frame.height - n_trailing, 0))
            if frame.width > 1 and frame[:, -1].null_count():
                may_be_short = True
                if frame.select(pl.all_horizontal(pl.all().is_null()).any()).item():
                    raise pl.exceptions.ComputeError("a blank line, or a row of missing values")
            yield frame
        if may_be_short and self._has_short_rows(n_trailing):
            raise pl.exceptions.ComputeError("a row with too few values")

    def _count_trailing(self) -> int:
        """Count the blank lines at the end, which Polars reads as rows."""
        with self.path.open("rb") as stream:
            stream.seek(max(self.path.stat().st_size - _TAIL_BYTES, 0))
            tail = stream.read()
        return max(tail[len(tail.rstrip(b"\r\n")) :].count(b"\n") - 1, 0) if len(self.names) > 1 else 0

    def _scan(self, schema: Schema) -> pl.LazyFrame:
        kinds = {name: schema.get(name, pl.String) for name in self.names}
        return pl.scan_csv(
            self.path, has_header=False, skip_lines=self.n_lines, schema=kinds, separator=self.mark, glob=False
        )

    def _make_frame(self, rows: Sequence[Sequence[str]]) -> pl.DataFrame:
        present = [[text or None for text in row] for row in rows]
        return pl.DataFrame(present, schema=dict.fromkeys(self.names, pl.String), orient="row")

    def _has_short_rows(self, n_trailing: int) -> bool:
        """Return whether a row has too few values: Polars fills it up with nulls, where others have a delimiter."""
        inside = pl.all().str.count_matches(self.mark, literal=True).sum()
        n_rows, *n_inside = self._scan({}).select(pl.len().alias("n rows"), inside).collect().row(0)
        n_marks = 0
        with self.path.open("rb") as stream:
            for _ in range(self.n_lines):
                stream.readline()
            while data := stream.read(_HEAD_BYTES):
                n_marks += int(np.count_nonzero(np.frombuffer(data, np.uint8) == ord(self.mark)))
        return bool(n_marks != (len(self.names) - 1) * (n_rows - n_trailing) + sum(n_inside))

    def _check_rows(self) -> Iterator[list[str]]:
        """Yield the rows that are good; others are raised or counted, with their lines."""
        csv.field_size_limit(min(2**31 - 1, self.reading.limit))
        undecoded: list[SearchError] = []
        reader = csv.reader(self._list_lines(undecoded), delimiter=self.mark, strict=True)
        while True:
            line, error = self.n_lines + reader.line_num + 1, None
            try:
                row = next(reader, None)
            except csv.Error as problem:
                row, error = [], make_row_error("invalid_csv", self.file, line, reason=str(problem))
            if row is None:
                return
            if undecoded:
                error = undecoded[0]
                undecoded.clear()
            elif row and len(row) != len(self.names):
                fields = {"n_values": len(row), "n_columns": len(self.names)}
                error = make_row_error("wrong_row_length", self.file, line, **fields)
            if error is not None:
                self.reading.add_bad_row(error)
            elif row or len(self.names) == 1:  # in a table with one column, an empty line is an empty value
                yield row or [""]

    def _list_lines(self, undecoded: list[SearchError]) -> Iterator[str]:
        """Yield the lines behind the header. The errors of those that cannot be read are added to a list."""
        for _, text, error in islice(read_lines(self.path, self.file, self.reading.limit), self.n_lines, None):
            undecoded += [] if error is None else [error]
            yield text


def _check_header(header: Sequence[str], rows: Sequence[Sequence[str]], file: File) -> list[SearchWarning]:
    """Return a note if the first row looks like data: it has a number, a long text, or a value that its column repeats.

    Years, and the numbers that pandas gives to columns without names, are names.
    """
    columns = list(zip(*(row for row in rows if list(row) != list(header)), strict=True))
    numbers = [name for name in header if is_number(name)]
    are_names = all(re.fullmatch(r"[12]\d{3}", name) for name in numbers) or (
        len(numbers) > 1 and numbers in ([str(i + first) for i in range(len(numbers))] for first in (0, 1))
    )
    for name, values in zip(header, columns, strict=False):
        given = [value for value in values if value not in MISSING_MARKS]
        is_data = not are_names and all(map(is_number, given)) if name in numbers else name in given
        if is_data or len(name) > _MAX_NAME:
            return [
                SearchWarning(
                    "Line 1 of {file!r} is read as the names of the columns, but {value!r} looks like data. Set "
                    "{argument} if the file has no header.",
                    code="header_looks_like_data",
                    file=str(file),
                    value=name[: _MAX_QUOTED // 2],
                    argument=Option("no_header"),
                )
            ]
    return []


def _open_jsonl(path: Path, file: File, reading: Reading) -> Rows:
    first = Reading(limit=reading.limit, skip_bad_rows=reading.skip_bad_rows)
    sample, n_bytes = list[dict[str, Any]](), 0
    with closing(_check_records(path, file, first)) as records:
        for record in islice(records, SAMPLE_ROWS):
            sample.append(record)
            if (n_bytes := n_bytes + sum(len(text) for text in record.values() if isinstance(text, str))) > _HEAD_BYTES:
                break
    return Rows(make_frame(sample), partial(_read_jsonl, path, file, reading))


def _read_jsonl(path: Path, file: File, reading: Reading, schema: Schema | None) -> Iterator[pl.DataFrame]:
    """Yield batches; without a schema, all rows are one, since any may have another key."""
    n_rows = 0
    if not reading.skip_bad_rows:
        try:
            if schema is not None:
                known = {name: pl.String if kind == pl.Null else kind for name, kind in schema.items()}
                for batch in pl.scan_ndjson(path, schema=known).collect_batches(chunk_size=_BATCH_ROWS):
                    yield _replace_nul(batch)
                    n_rows += batch.height
                return
            if not _may_be_deep(path):
                yield _replace_nul(pl.read_ndjson(path, infer_schema_length=None))
                return
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            pass  # Python finds the line, or reads values that have no type in common
    records = islice(_check_records(path, file, reading), n_rows, None)
    while chunk := list(islice(records, _BATCH_ROWS)):
        yield make_frame(chunk)


def _replace_nul(frame: pl.DataFrame) -> pl.DataFrame:
    """Replace NUL in texts, as which Polars reads half of a pair of surrogates."""
    texts = pl.col(pl.String)
    found = frame.select(texts.str.contains("\0", literal=True).any()).row(0) if pl.String in frame.dtypes else ()
    return frame.with_columns(texts.str.replace_all("\0", "\ufffd", literal=True)) if any(found) else frame


def _may_be_deep(path: Path) -> bool:
    """Return whether a line has so many brackets that its values may be nested deeply."""
    with path.open("rb") as stream:
        while data := stream.read(_HEAD_BYTES) + stream.readline():
            array = np.frombuffer(data, np.uint8)
            n_openings = np.count_nonzero(array | 32 == ord("{"))  # or "[", which differs from it in one bit
            if n_openings > np.count_nonzero(array == ord("\n")) + _MAX_DEPTH and any(
                line.count(b"[") + line.count(b"{") > _MAX_DEPTH for line in data.split(b"\n")
            ):
                return True
    return False


def _check_records(path: Path, file: File, reading: Reading) -> Generator[dict[str, Any], None, None]:
    """Yield the objects of lines; others are raised or counted."""
    for line, text, error in read_lines(path, file, reading.limit):
        if error is None and text.isspace():
            continue
        try:
            if error is not None:
                raise error
            yield _check_record(json.loads(text), text, file, line)
        except SearchError as problem:  # which is a ValueError
            reading.add_bad_row(problem)
        except (ValueError, RecursionError) as problem:
            fields = {"reason": str(problem), "text": text[:_MAX_QUOTED]}
            reading.add_bad_row(make_row_error("invalid_json", file, line, **fields))


def _check_record(record: Any, text: str, file: File, line: int) -> dict[str, Any]:
    """Return an object; a string is one with a text."""
    layer = [record]
    for _ in range(_MAX_DEPTH):
        inner = [
            value.values() if isinstance(value, dict) else value for value in layer if isinstance(value, dict | list)
        ]
        layer = list(chain.from_iterable(inner))
    if layer:
        raise RecursionError("it is nested too deeply")
    if isinstance(record, str):
        return {"text": record}
    if not isinstance(record, dict):
        raise make_row_error("invalid_record", file, line, text=text[:_MAX_QUOTED])
    return record


def _write_lines(path: Path, file: File, lines: Path, reading: Reading) -> None:
    """Write the objects of an array, or of one after another, to lines. They are in memory as a whole."""
    limit = available_memory() // _JSON_GROWTH
    if path.stat().st_size > limit:
        raise SearchError(
            "{file!r} has more than {limit:,} bytes, too many for one JSON value in the memory of this machine. Make "
            "JSON lines of it: jq -c '.[]'.",
            code="table_too_large",
            file=str(file),
            limit=limit,
        )
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise make_encoding_error(error, file, 1) from error
    decoder, blank = json.JSONDecoder(), re.compile(r"[\s,]*")
    position = cast(re.Match[str], re.match(r"\s*\[?\s*", text)).end()
    is_array = "[" in text[:position]
    with lines.open("w", encoding="utf-8") as out:
        while position < len(text) and not (is_array and text[position] == "]"):
            line = text.count("\n", 0, position) + 1 if position < _HEAD_BYTES else 0
            try:
                record, position = decoder.raw_decode(text, position)
                out.write(json.dumps(_check_record(record, str(record), file, line)) + "\n")
            except SearchError as problem:
                reading.add_bad_row(problem)
            except (ValueError, RecursionError) as error:
                line = text.count("\n", 0, getattr(error, "pos", position)) + 1
                raise make_row_error("invalid_json", file, line, reason=str(error), text="") from error
            position = cast(re.Match[str], blank.match(text, position)).end()
    if is_array and position >= len(text):
        line = text.count("\n") + 1
        raise make_row_error("invalid_json", file, line, reason="the array has no end", text="")


def _scan_typed(file: File, format: Format, reading: Reading) -> Callable[..., Iterator[pl.DataFrame]]:
    path = file.path
    if format == "parquet":
        return partial(_collect, pl.scan_parquet(path, glob=False, hive_partitioning=False))
    if format == "excel":
        return partial(_collect, _read_excel(file, reading).lazy())
    with path.open("rb") as stream:
        is_file = stream.read(6) == b"ARROW1"
    rows = pl.scan_ipc(path, glob=False, hive_partitioning=False) if is_file else pl.read_ipc_stream(path).lazy()
    return partial(_collect, rows)


def _collect(rows: pl.LazyFrame, schema: Schema | None, n_rows: int | None = None) -> Iterator[pl.DataFrame]:
    """Yield batches of columns, or the first rows: a stream that is not read to its end keeps its file open."""
    names = rows.collect_schema().names()
    chosen = rows.select(pl.nth(j) for j, name in enumerate(names) if schema is None or name in schema)
    batches = chosen.collect_batches(chunk_size=_BATCH_ROWS) if n_rows is None else [chosen.head(n_rows).collect()]
    yield from map(limit_dates, batches)


def _guard(
    read: Callable[..., Iterator[pl.DataFrame]], file: File, format: Format, schema: Schema | None
) -> Iterator[pl.DataFrame]:
    with _explain_errors(file, format):
        yield from read(schema)


def _read_excel(file: File, reading: Reading) -> pl.DataFrame:
    """Read a sheet of a workbook: the named one, or the only one with rows."""
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it logs every column without values
    check_archive(file)
    book = fastexcel.read_excel(file.path)
    header = None if reading.no_header else 0
    sheets = {name: book.load_sheet(name, header_row=header, schema_sample_rows=None) for name in book.sheet_names}
    title = _choose_table(file, [name for name, sheet in sheets.items() if sheet.width], "sheet")
    frame = sheets[title].to_polars().filter(~pl.all_horizontal(pl.all().is_null()))
    names = ["" if name.startswith("__UNNAMED__") else name for name in frame.columns]
    frame.columns = rename_repeated(names)
    frame = frame[:, [j for j, name in enumerate(names) if name or frame[:, j].null_count() < frame.height]]
    if not reading.no_header:
        first = frame.head(_HEADER_ROWS).cast(pl.String).fill_null("").rows()
        reading.notes += _check_header(frame.columns, first, file)
    return map_columns(frame, _read_whole)


def _read_whole(column: pl.Series) -> pl.Series:
    """Return numbers as integers if all are whole: Excel knows only one type of numbers."""
    is_whole = column.dtype == pl.Float64 and (column % 1 == 0).all()
    return column.cast(pl.Int64) if is_whole else column


def _read_sqlite(file: File, schema: Schema | None, n_rows: int = _BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Read a table of a database in batches: the named one, or the only one."""
    with closing(sqlite3.connect(f"{file.path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        database.text_factory = partial(str, encoding="utf-8", errors="replace")
        tables = [name for (name,) in database.execute(_SQLITE_TABLES)]
        # A name is an identifier: quoted, it cannot be anything else.
        name = _choose_table(file, tables, "table").replace('"', '""')
        with closing(database.execute(f'SELECT * FROM "{name}"')) as cursor:
            names = rename_repeated([column[0] for column in cursor.description])
            for rows in chain([cursor.fetchmany(n_rows)], iter(lambda: cursor.fetchmany(n_rows), [])):
                columns: Iterable[Sequence[Any]] = zip(*rows, strict=True) if rows else [[]] * len(names)
                frame = pl.DataFrame(list(map(make_series, names, columns)))
                yield frame if schema is None else frame[list(schema)]


def _choose_table(file: File, tables: Sequence[str], kind: str) -> str:
    """Return the table to read of a file that may have several; an error lists those there are."""
    if file.table in tables or (file.table is None and len(tables) == 1):
        return file.table or tables[0]
    listed = ", ".join(tables[:_MAX_LISTED]) + (", ..." if len(tables) > _MAX_LISTED else "")
    fields: dict[str, Any] = {"file": str(file.path), "kind": kind, "tables": listed, "table": file.table}
    if not tables:
        raise SearchError("{file!r} has no {kind} with rows.", code="no_tables", **fields)
    if file.table is not None:
        raise SearchError("No {kind} {table!r} in {file!r}. It has: {tables}.", code="table_missing", **fields)
    raise SearchError(
        "{file!r} has {n_tables} {kind}s, but one is needed. Name it, as in {example!r}: {tables}.",
        code="unclear_table",
        n_tables=len(tables),
        example=f"{file.path}::{tables[0]}",
        **fields,
    )
