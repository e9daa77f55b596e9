"""Tables in files, in batches: read by Polars, and by Python where a row may be bad, to say which or to skip it."""

from __future__ import annotations

import csv
import json
import logging
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import chain, dropwhile, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import polars as pl

from mixsearch.errors import SearchError
from mixsearch.io.column_names import list_names
from mixsearch.io.files import DELIMITERS, Format
from mixsearch.io.streams import (
    File,
    Reading,
    check_archive,
    make_unreadable_error,
    open_plain,
    read_head,
    read_lines,
    read_text,
)
from mixsearch.io.types import DATES, NUMBERS, NUMBERS_WITH_COMMA, limit_dates, make_frame, make_series, map_columns
from mixsearch.io.values import rename_repeated, to_json
from mixsearch.machine import available_memory

# Rows of a batch, and of a sample, by which columns and their types are chosen.
_BATCH_ROWS, SAMPLE_ROWS = 1 << 13, 2000
_BLOCK_BYTES, _MAX_QUOTED = 1 << 20, 80
# Lines with more brackets are read by Python: Polars would take minutes to find the type of a thousand levels.
_MAX_BRACKETS = 100
# Memory that an array of JSON takes, in times its size.
_JSON_GROWTH = 10
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) != 'sqlite_'"
_HAS_VALUES = pl.any_horizontal(pl.all().is_not_null())

Schema = Mapping[str, Any]


class Rows(NamedTuple):
    """The rows of a file: the first ones, and all in batches, with all columns or those of a schema."""

    sample: pl.DataFrame
    read: Callable[[Schema | None], Iterator[pl.DataFrame]]


@contextmanager
def open_rows(file: File, format: Format, reading: Reading) -> Iterator[Rows]:
    """Open the table of a file. Columns of CSV are text, unless a schema has other types for them."""
    reading.readings = DATES
    with open_plain(file, reading.encoding) as path:
        if format in ("csv", "tsv"):
            yield _open_csv(path, file, reading, "\t" if format == "tsv" else None)
        elif format == "json" and read_head(File(path)).removeprefix(BOM_UTF8).lstrip().startswith(b"["):
            with TemporaryDirectory(prefix="mixsearch-tmp-") as folder:
                yield _open_jsonl(_write_items(file, Path(folder, "items"), reading), file, reading)
        elif format in ("json", "jsonl"):
            yield _open_jsonl(path, file, reading)
        else:
            plain = file._replace(path=path)
            if format == "sqlite":
                read = partial(_read_sqlite, plain)
            else:
                with _explain_errors(file, format):
                    read = partial(_collect, _scan_typed(plain, format, reading), file, format)
            yield Rows(next(read(None, SAMPLE_ROWS)), read)


@contextmanager
def _explain_errors(file: File, format: Format) -> Iterator[None]:
    """Turn what a library raises for a damaged file into an error that names the file."""
    try:
        yield
    except SearchError:
        raise
    # Libraries raise errors of every kind, and Polars panics, which is not an `Exception`.
    except (Exception, pl.exceptions.PanicException) as error:
        raise make_unreadable_error(file, error, format) from error


def _read_checked(
    frames: Iterator[pl.DataFrame], rows: Iterator[Any], make: Callable[[list[Any]], pl.DataFrame], reading: Reading
) -> Iterator[pl.DataFrame]:
    """Yield what Polars reads, up to a row that may be bad, and from there the rows that Python reads and checks."""
    n_rows = 0
    if not reading.skip_bad_rows:
        try:
            for frame in frames:
                yield frame
                n_rows += frame.height
            return
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            pass  # Python finds the line, or reads values that have no type in common
    rows = islice(rows, n_rows, None)
    while chunk := list(islice(rows, _BATCH_ROWS)):
        yield make(chunk)


def _read_sample(path: Path, file: File, reading: Reading) -> list[tuple[int, str]]:
    """Read the first lines of a file."""
    sample, n_bytes = list[tuple[int, str]](), 0
    first = Reading(limit=reading.limit, skip_bad_rows=reading.skip_bad_rows)
    with closing(read_lines(path, file, first)) as lines:
        for number, text in islice(lines, SAMPLE_ROWS):
            sample.append((number, text))
            n_bytes += len(text)
            if n_bytes > _BLOCK_BYTES:
                break
    return sample


def _open_csv(path: Path, file: File, reading: Reading, delimiter: str | None) -> Rows:
    """Open a table that is delimited by the most frequent of comma, semicolon, tab and bar in its first line."""
    csv.field_size_limit(min(2**31 - 1, reading.limit))
    lines = list(dropwhile(lambda line: not line[1].strip(), _read_sample(path, file, reading)))
    if not lines:
        raise SearchError("{file!r} is empty. Check that it is the right file.", code="empty_file", file=str(file))
    texts = [text for _, text in lines]
    mark = delimiter or max(DELIMITERS, key=texts[0].count)
    reading.readings = NUMBERS if mark == "," else NUMBERS_WITH_COMMA
    reader = csv.reader(texts, delimiter=mark)
    try:
        header = next(reader)
    except csv.Error as problem:
        raise _make_csv_error(file, lines[0][0], problem) from problem
    n_lines = lines[0][0] - 1 + (0 if reading.no_header else reader.line_num)
    names = rename_repeated([""] * len(header) if reading.no_header else header)
    rows = [header] if reading.no_header else []
    with suppress(csv.Error):  # which is raised with its line when all rows are read
        rows += [row for row in reader if len(row) == len(names)]
    table = _CSV(path, file, reading, names, mark, n_lines)
    return Rows(table.make_frame(rows), table.read)


class _CSV(NamedTuple):
    """A plain file of CSV, whose header is known."""

    path: Path
    file: File
    reading: Reading
    names: Sequence[str]
    mark: str
    n_lines: int  # of the header

    def read(self, schema: Schema | None) -> Iterator[pl.DataFrame]:
        """Yield batches; with a schema of other types than text, raise the error of Polars for other values."""
        is_typed = any(kind != pl.String for kind in (schema or {}).values())
        frames = self._read_fast(schema or {})
        if is_typed and not self.reading.skip_bad_rows:
            return frames
        return _read_checked(frames, self._check_rows(), self.make_frame, self.reading)

    def make_frame(self, rows: Sequence[Sequence[str]]) -> pl.DataFrame:
        """Return rows as a table of text."""
        present = [[text or None for text in row] for row in rows]
        return pl.DataFrame(present, schema=dict.fromkeys(self.names, pl.String), orient="row")

    def _scan(self, schema: Schema) -> pl.LazyFrame:
        kinds = {name: schema.get(name, pl.String) for name in self.names}
        return pl.scan_csv(
            self.path, has_header=False, skip_lines=self.n_lines, schema=kinds, separator=self.mark, glob=False
        )

    def _read_fast(self, schema: Schema) -> Iterator[pl.DataFrame]:
        """Yield what Polars reads; raise its error for rows that it cannot read, and for those that are too short."""
        has_blank: bool | None = None
        for frame in self._scan(schema).collect_batches(chunk_size=_BATCH_ROWS):
            if frame.width > 1 and frame[:, -1].null_count():
                has_blank = self._has_blank_lines() if has_blank is None else has_blank
                yield frame.filter(_HAS_VALUES) if has_blank else frame
            else:
                yield frame

    def _has_blank_lines(self) -> bool:
        """Return whether rows of nulls are blank lines, by the number of delimiters; raise if other rows lack some."""
        n_inside = pl.sum_horizontal(pl.all().str.count_matches(self.mark, literal=True).sum()).alias("inside")
        counts = self._scan({}).select(n_inside, pl.len().alias("rows"), _HAS_VALUES.sum().alias("valued")).collect()
        n_marks, n_rows, n_valued = -counts["inside"][0], counts["rows"][0], counts["valued"][0]
        with self.path.open("rb") as stream:
            for _ in range(self.n_lines):
                stream.readline()
            while data := stream.read(_BLOCK_BYTES):
                n_marks += data.count(self.mark.encode())
        if n_marks not in (n_rows * (len(self.names) - 1), n_valued * (len(self.names) - 1)):
            raise pl.exceptions.ComputeError("a row with too few values, which Polars fills up with nulls")
        return bool(n_marks < n_rows * (len(self.names) - 1))

    def _check_rows(self) -> Iterator[list[str]]:
        """Yield the rows that are good; others are raised or counted, with their lines."""
        number = self.n_lines

        def list_texts() -> Iterator[str]:
            nonlocal number
            for line in islice(read_lines(self.path, self.file, self.reading), self.n_lines, None):
                number = line[0]
                yield line[1]

        reader = csv.reader(list_texts(), delimiter=self.mark, strict=True)
        while True:
            line = number + 1
            try:
                row = next(reader, None)
            except csv.Error as problem:
                self.reading.add_bad_row(_make_csv_error(self.file, line, problem))
                continue
            if row is None:
                return
            if row and len(row) != len(self.names):
                error = SearchError(
                    "Line {line:,} of {file!r} and its header differ in their number of values: {n_values} and "
                    "{n_columns}. Quote the values that contain the delimiter.",
                    code="wrong_row_length",
                    file=str(self.file),
                    line=line,
                    n_values=len(row),
                    n_columns=len(self.names),
                )
                self.reading.add_bad_row(error)
            elif row or len(self.names) == 1:  # in a table with one column, an empty line is an empty value
                yield row or [""]


def _make_csv_error(file: File, line: int, problem: csv.Error) -> SearchError:
    return SearchError(
        "The row that starts in line {line:,} of {file!r} is not valid CSV ({reason}). Look for a quotation mark "
        "that is not closed or not doubled.",
        code="invalid_csv",
        file=str(file),
        line=line,
        reason=str(problem),
    )


def _open_jsonl(path: Path, file: File, reading: Reading) -> Rows:
    first = Reading(skip_bad_rows=reading.skip_bad_rows)
    sample = make_frame(list(_parse_lines(_read_sample(path, file, reading), file, first)))

    def read(schema: Schema | None) -> Iterator[pl.DataFrame]:
        records = _parse_lines(read_lines(path, file, reading), file, reading)
        return _read_checked(_scan_jsonl(path, schema), records, make_frame, reading)

    return Rows(sample, read)


def _write_items(file: File, path: Path, reading: Reading) -> Path:
    """Write the items of an array, which is in memory as a whole, to lines."""
    text = read_text(file, reading.encoding, available_memory() // _JSON_GROWTH)
    try:
        with path.open("w", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(item)}\n" for item in json.loads(text))
    except (ValueError, RecursionError) as error:
        raise _make_json_error(file, getattr(error, "lineno", 1), error, "") from error
    return path


def _scan_jsonl(path: Path, schema: Schema | None) -> Iterator[pl.DataFrame]:
    """Yield what Polars reads; without a schema, all rows are one batch, since any may have another key."""
    if schema is not None:
        kinds = {name: pl.String if kind == pl.Null else kind for name, kind in schema.items()}
        yield from map(_replace_nul, pl.scan_ndjson(path, schema=kinds).collect_batches(chunk_size=_BATCH_ROWS))
        return
    with path.open("rb") as lines:
        if any(line.count(b"[") + line.count(b"{") > _MAX_BRACKETS for line in lines):
            raise pl.exceptions.ComputeError("values that may be nested deeply")
    yield _replace_nul(pl.read_ndjson(path, infer_schema_length=None))


def _replace_nul(frame: pl.DataFrame) -> pl.DataFrame:
    """Replace NUL in texts, as which Polars reads half of a pair of surrogates."""
    texts = pl.col(pl.String)
    has_nul = frame.select(texts.str.contains("\0", literal=True).any()).row(0) if pl.String in frame.dtypes else ()
    return frame.with_columns(texts.str.replace_all("\0", "\ufffd", literal=True)) if any(has_nul) else frame


def _parse_lines(lines: Iterable[tuple[int, str]], file: File, reading: Reading) -> Iterator[dict[str, Any]]:
    """Yield the objects of lines; others are raised or counted."""
    for number, text in lines:
        try:
            if not text.isspace():
                yield _make_record(json.loads(text), file, number)
        except SearchError as problem:  # which is a ValueError
            reading.add_bad_row(problem)
        except (ValueError, RecursionError) as problem:
            reading.add_bad_row(_make_json_error(file, number, problem, text))


def _make_record(value: Any, file: File, number: int) -> dict[str, Any]:
    """Return an object without values in values of values, which become JSON; a string is an object with a text."""
    if isinstance(value, dict):
        return {name: to_json(inner) if _is_deep(inner) else inner for name, inner in value.items()}
    if isinstance(value, str):
        return {"text": value}
    raise SearchError(
        "Line or item {line:,} of {file!r} has {text!r}, but a row must be a JSON object or a string.",
        code="invalid_record",
        file=str(file),
        line=number,
        text=to_json(value)[:_MAX_QUOTED],
    )


def _is_deep(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict | list) for item in value))


def _make_json_error(file: File, line: int, problem: Exception, text: str) -> SearchError:
    return SearchError(
        "Line {line:,} of {file!r} is not valid JSON ({reason}): {text!r}.",
        code="invalid_json",
        file=str(file),
        line=line,
        reason=str(problem),
        text=text[:_MAX_QUOTED],
    )


def _scan_typed(file: File, format: Format, reading: Reading) -> pl.LazyFrame:
    if format == "excel":
        return _read_excel(file, reading).lazy()
    if format == "parquet":
        return pl.scan_parquet(file.path, glob=False, hive_partitioning=False)
    if read_head(file, 6) == b"ARROW1":
        return pl.scan_ipc(file.path, glob=False, hive_partitioning=False)
    return pl.read_ipc_stream(file.path).lazy()


def _collect(
    rows: pl.LazyFrame, file: File, format: Format, schema: Schema | None, n_rows: int | None = None
) -> Iterator[pl.DataFrame]:
    """Yield batches of columns, or the first rows: a stream that is not read to its end keeps its file open."""
    with _explain_errors(file, format):
        names = rows.collect_schema().names()
        chosen = rows.select(pl.nth(j) for j, name in enumerate(names) if schema is None or name in schema)
        batches = chosen.collect_batches(chunk_size=_BATCH_ROWS) if n_rows is None else [chosen.head(n_rows).collect()]
        yield from (map_columns(batch, limit_dates) for batch in batches)


def _read_excel(file: File, reading: Reading) -> pl.DataFrame:
    """Read a sheet of a workbook: the named one, or the only one with rows."""
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it logs every column without values
    check_archive(file)
    book = fastexcel.read_excel(file.path)
    header = None if reading.no_header else 0
    sheets = {name: book.load_sheet(name, header_row=header, schema_sample_rows=None) for name in book.sheet_names}
    title = _choose_table(file, [name for name, sheet in sheets.items() if sheet.width], "sheet")
    frame = sheets[title].to_polars().filter(_HAS_VALUES)
    names = ["" if name.startswith("__UNNAMED__") else name for name in frame.columns]
    frame.columns = rename_repeated(names)
    frame = frame[:, [j for j, name in enumerate(names) if name or frame[:, j].null_count() < frame.height]]
    return map_columns(frame, _read_whole)


def _read_whole(column: pl.Series) -> pl.Series:
    """Return numbers as integers if all are whole: Excel knows only one type of numbers."""
    is_whole = column.dtype == pl.Float64 and (column % 1 == 0).all()
    return column.cast(pl.Int64) if is_whole else column


def _read_sqlite(file: File, schema: Schema | None, n_rows: int = _BATCH_ROWS) -> Iterator[pl.DataFrame]:
    """Read a table of a database in batches: the named one, or the only one."""
    import sqlite3  # other formats need not wait for it

    uri = f"{file.path.absolute().as_uri()}?mode=ro"
    with _explain_errors(file, "sqlite"), closing(sqlite3.connect(uri, uri=True)) as database:
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
    if file.table is None:
        raise SearchError(
            "{file!r} has {n_tables} {kind}s with columns, but one is needed. Name it after two colons: {tables}.",
            code="unclear_table",
            file=str(file),
            kind=kind,
            n_tables=len(tables),
            tables=list_names([f"{file.path}::{name}" for name in tables]),
        )
    raise SearchError(
        "No {kind} {table!r} in {file!r}. It has: {tables}.",
        code="table_missing",
        file=str(file.path),
        kind=kind,
        table=file.table,
        tables=list_names(tables),
    )
