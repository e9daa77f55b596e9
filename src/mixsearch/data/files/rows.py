"""Rows of files that hold typed tables: Parquet, Arrow, Excel and SQLite, in batches of bounded size."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from mixsearch.data.arrow import import_pyarrow, make_package_error
from mixsearch.data.files.location import File, RemoteFile, TableFile, get_stored
from mixsearch.data.files.row_checks import check_header, name_columns
from mixsearch.data.files.signatures import NAMES, Format
from mixsearch.data.files.streams import check_archive, make_unreadable_error, replace_surrogates
from mixsearch.data.files.types import DATES, MISSING_MARKS, allow_readings, rename_repeated, to_json
from mixsearch.errors import SearchError, SearchWarning

ROW_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite")
# Rows from which the types of values without declared types are found, and that are read at a time.
_ROWS_PER_BATCH = 2000
_MAX_LISTED = 20
# Rows of a sheet by which its header is checked, and rows of a database that are fetched at a time.
_N_FIRST_ROWS, _ROWS_PER_FETCH = 100, 1000
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) != 'sqlite_'"
_PLURALS: dict[Format, str] = {
    "parquet": "Parquet files",
    "arrow": "Arrow files",
    "excel": "Excel workbooks",
    "sqlite": "SQLite databases",
}

# Starts to read the rows of a sheet anew.
_RowReader = Callable[[], Iterator[Sequence[Any]]]


@dataclass(frozen=True)
class RowSource:
    """An open table: its columns, and its rows in batches.

    Attributes
    ----------
    schema : pyarrow.Schema
        The columns. No name is repeated.
    batches : callable
        Called as ``batches(names, n_rows)``; yields record batches of these columns, of about this number of rows.
        Types may differ between batches if the file declares none.
    note : SearchWarning, optional
        What the user should know.
    """

    schema: Any
    batches: Callable[[Sequence[str], int], Iterator[Any]]
    note: SearchWarning | None = None


@contextmanager
def open_rows(file: File, format: Format, *, no_header: bool = False) -> Iterator[RowSource]:
    """Open the table of a file; errors while it is read name the file."""
    arrow = import_pyarrow(_PLURALS[format])
    openers: dict[Format, Callable[[], AbstractContextManager[RowSource]]] = {
        "parquet": partial(_open_parquet_rows, file),
        "arrow": partial(_open_arrow, file),
        "excel": partial(_open_excel, file, no_header=no_header),
        "sqlite": partial(_open_sqlite, file),
    }
    try:
        with openers[format]() as source:
            yield source
    except (arrow.ArrowException, OSError, EOFError) as error:
        raise make_unreadable_error(file, error, NAMES[format]) from error


@contextmanager
def open_parquet(file: File) -> Iterator[Any]:
    """Open a Parquet file with PyArrow; errors while it is read name the file."""
    arrow = import_pyarrow("Parquet files")
    from pyarrow import parquet

    try:
        with ExitStack() as stack:
            # PyArrow opens local files itself.
            source = stack.enter_context(file.open("rb")) if isinstance(file, RemoteFile) else get_stored(file)
            yield stack.enter_context(parquet.ParquetFile(source))
    except (arrow.ArrowException, OSError) as error:
        raise make_unreadable_error(file, error, NAMES["parquet"]) from error


@contextmanager
def _open_parquet_rows(file: File) -> Iterator[RowSource]:
    with open_parquet(file) as table:
        yield RowSource(_rename(table.schema_arrow), partial(_read_parquet, table))


def _read_parquet(table: Any, names: Sequence[str], n_rows: int) -> Iterator[Any]:
    yield from read_row_groups(table, names, n_rows, range(table.num_row_groups))


def read_row_groups(table: Any, names: Sequence[str], n_rows: int, groups: range) -> Iterator[Any]:
    """Yield record batches of some columns of the row groups of an open Parquet file."""
    stored = table.schema_arrow.names
    unique = rename_repeated(stored)
    # PyArrow selects by name: repeated ones are all read, and renamed.
    columns = list(names) if unique == stored else None
    for batch in table.iter_batches(batch_size=n_rows, row_groups=list(groups), columns=columns):
        yield _validate(batch if columns is not None else batch.rename_columns(unique).select(list(names)))


@contextmanager
def _open_arrow(file: File) -> Iterator[RowSource]:
    """Open an Arrow file, an Arrow stream (as Hugging Face datasets store them), or a Feather file."""
    arrow = import_pyarrow("Arrow files")
    with ExitStack() as stack:
        stored = get_stored(file)
        is_remote = isinstance(stored, RemoteFile)
        source = stack.enter_context(stored.open("rb") if is_remote else arrow.memory_map(str(stored)))
        start = source.read(4)
        source.seek(0)
        if start == b"FEA1":
            from pyarrow import feather

            table = feather.read_table(source)
            yield RowSource(_rename(table.schema), partial(_select_batches, lambda: table.to_batches()))
        elif start == b"ARRO":
            reader = stack.enter_context(arrow.ipc.open_file(source))
            batches = partial(_read_arrow_file, reader)
            yield RowSource(_rename(reader.schema), partial(_select_batches, batches))
        else:
            reader = stack.enter_context(arrow.ipc.open_stream(source))
            yield RowSource(_rename(reader.schema), partial(_select_batches, partial(_read_arrow_stream, source)))


def _read_arrow_file(reader: Any) -> Iterator[Any]:
    yield from (reader.get_batch(i) for i in range(reader.num_record_batches))


def _read_arrow_stream(source: Any) -> Iterator[Any]:
    arrow = import_pyarrow("Arrow files")
    source.seek(0)
    with arrow.ipc.open_stream(source) as reader:
        yield from reader


def _select_batches(read: Callable[[], Iterator[Any]], names: Sequence[str], n_rows: int) -> Iterator[Any]:
    for batch in read():
        selected = _validate(batch.rename_columns(rename_repeated(batch.schema.names)).select(list(names)))
        yield from (selected.slice(start, n_rows) for start in range(0, batch.num_rows, n_rows))


def _validate(batch: Any) -> Any:
    """Return a batch whose bytes are what its types need: with others, PyArrow would read memory that is not its."""
    batch.validate(full=True)
    return batch


def _rename(schema: Any) -> Any:
    arrow = import_pyarrow("Tables")
    names = rename_repeated(schema.names)
    return arrow.schema([field.with_name(name) for field, name in zip(schema, names, strict=True)])


def _make_source(names: Sequence[str], read: Callable[[], Iterator[Sequence[Any]]]) -> RowSource:
    """Return a source for rows of Python values, with types from the first rows; `read` starts from the beginning."""
    unique = rename_repeated(names)
    first = next(_build_batches(unique, read, unique, _ROWS_PER_BATCH), None)
    schema = build_batch({name: [] for name in unique}, DATES).schema if first is None else first.schema
    return RowSource(schema, partial(_build_batches, unique, read))


def _build_batches(
    all_names: Sequence[str], read: Callable[[], Iterator[Sequence[Any]]], names: Sequence[str], n_rows: int
) -> Iterator[Any]:
    indices = {name: all_names.index(name) for name in names}
    rows = read()
    while chunk := list(islice(rows, min(n_rows, _ROWS_PER_BATCH))):
        yield build_batch({name: [row[i] for row in chunk] for name, i in indices.items()}, DATES)


def build_batch(values: Mapping[str, Sequence[Any]], readings: Sequence[str]) -> Any:
    """Return values as a record batch; those of a column that have no common type become text."""
    arrow = import_pyarrow("Columns beside the text")
    arrays = {name: _build_array(column, arrow) for name, column in values.items()}
    return allow_readings(arrow.RecordBatch.from_pydict(arrays), readings)


def _build_array(values: Sequence[Any], arrow: Any) -> Any:
    try:
        return arrow.array(values)
    except (arrow.ArrowException, OverflowError, UnicodeEncodeError):
        return arrow.array([None if value is None else _to_text(value) for value in values], arrow.string())


def _to_text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    text = value if isinstance(value, str) else to_json(value) if isinstance(value, dict | list | float) else str(value)
    return replace_surrogates(text)


def _choose_table(file: File, wanted: str | None, tables: Sequence[str], kind: str) -> str:
    """Return the table to read of a file that may have several; an error lists those there are."""
    if wanted in tables and wanted is not None:
        return wanted
    listed = ", ".join(tables[:_MAX_LISTED]) + (", ..." if len(tables) > _MAX_LISTED else "")
    stored = str(get_stored(file))
    if not tables:
        raise SearchError("{file!r} has no {kind} with rows.", code="no_tables", file=stored, kind=kind)
    if wanted is not None:
        raise SearchError(
            "No {kind} {table!r} in {file!r}. It has: {tables}.",
            code="table_missing",
            kind=kind,
            table=wanted,
            file=stored,
            tables=listed,
        )
    if len(tables) > 1:
        raise SearchError(
            "{file!r} has {n_tables} {kind}s, but one is needed. Name it, as in {example!r}: {tables}.",
            code="unclear_table",
            file=stored,
            n_tables=len(tables),
            kind=kind,
            example=f"{stored}::{tables[0]}",
            tables=listed,
        )
    return tables[0]


def _require_local(file: File, kind: str) -> str:
    """Return the path of a file that its engine opens itself."""
    stored = get_stored(file)
    if isinstance(stored, RemoteFile):
        raise SearchError(
            "{kind} can only be read from a file on this machine, got the URL {file!r}. Download it first.",
            code="file_is_remote",
            kind=kind,
            file=str(stored),
        )
    return str(stored)


@contextmanager
def _open_excel(file: File, *, no_header: bool = False) -> Iterator[RowSource]:
    """Open a sheet of a workbook: the named one, or the only one with rows."""
    try:
        import openpyxl
    except ImportError as error:
        raise make_package_error("openpyxl", "Excel workbooks") from error
    with file.open("rb") as raw:
        with _explain_errors(file):
            check_archive(file)
        with _explain_errors(file), warnings.catch_warnings():
            # About styles and extensions, which no value depends on.
            warnings.simplefilter("ignore", UserWarning)
            book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
        with closing(book):
            sheets = {sheet.title: partial(_read_sheet, sheet, file) for sheet in book.worksheets}
            titles = [title for title, read in sheets.items() if next(read(), None)]
            title = _choose_table(file, file.table if isinstance(file, TableFile) else None, titles, "sheet")
            yield _open_sheet(file, sheets[title], no_header)


@contextmanager
def _explain_errors(file: File) -> Iterator[None]:
    try:
        yield
    except SearchError:
        raise
    # Damaged workbooks raise errors of every kind: of archives, of XML, of keys that are not there.
    except Exception as error:
        raise make_unreadable_error(file, error, NAMES["excel"]) from error


def _open_sheet(file: File, read: _RowReader, no_header: bool) -> RowSource:
    first = list(islice(read(), _N_FIRST_ROWS))
    n_columns = max(map(len, first))
    header = ["" if value is None else str(value) for value in _pad(first[0], n_columns)]
    if no_header:
        return _make_source(name_columns(n_columns), partial(_read_values, read, n_columns, 0))
    rows = [["" if value is None else str(value) for value in _pad(row, n_columns)] for row in first[1:]]
    source = _make_source(header, partial(_read_values, read, n_columns, 1))
    return replace(source, note=check_header(header, rows, file))


def _read_sheet(sheet: Any, file: File) -> Iterator[Sequence[Any]]:
    """Yield the rows that have values, without empty cells at their ends."""
    with _explain_errors(file):
        sheet.reset_dimensions()  # as the file states them, they are often wrong
        rows = sheet.iter_rows(values_only=True)
    while True:
        with _explain_errors(file):
            row = next(rows, None)
        if row is None:
            return
        values = list(row)
        while values and values[-1] is None:
            values.pop()
        if values:
            yield values


def _read_values(read: _RowReader, n_columns: int, n_skipped: int) -> Iterator[Sequence[Any]]:
    for row in islice(read(), n_skipped, None):
        yield [None if isinstance(value, str) and value in MISSING_MARKS else value for value in _pad(row, n_columns)]


def _pad(row: Sequence[Any], n_columns: int) -> list[Any]:
    return [*row[:n_columns], *[None] * (n_columns - len(row))]


@contextmanager
def _open_sqlite(file: File) -> Iterator[RowSource]:
    """Open a table of an SQLite database."""
    import sqlite3

    path = _require_local(file, "SQLite databases")
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = partial(str, encoding="utf-8", errors="replace")
            yield _open_table(file, database.cursor)
    except sqlite3.Error as error:
        raise make_unreadable_error(file, error, NAMES["sqlite"]) from error


def _open_table(file: File, open_cursor: Callable[[], Any]) -> RowSource:
    with closing(open_cursor()) as cursor:
        tables = [name for (name,) in cursor.execute(_SQLITE_TABLES).fetchall()]
        table = _choose_table(file, file.table if isinstance(file, TableFile) else None, tables, "table")
        # A name is an identifier: quoted, it cannot be anything else.
        query = 'SELECT * FROM "' + table.replace('"', '""') + '"'
        names = [column[0] for column in cursor.execute(f"{query} LIMIT 0").description]
    return _make_source(names, partial(_fetch, open_cursor, query))


def _fetch(open_cursor: Callable[[], Any], query: str) -> Iterator[Sequence[Any]]:
    with closing(open_cursor()) as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(_ROWS_PER_FETCH):
            yield from rows
