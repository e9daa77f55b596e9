"""Rows of files that hold typed tables: Parquet, Arrow, Excel, SQLite and DuckDB, in batches of bounded size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.location import File, RemoteFile, get_stored
from mixsearch.data.files.signatures import NAMES, Format
from mixsearch.data.files.streams import make_unreadable_error, replace_surrogates
from mixsearch.data.files.types import DATES, allow_readings, rename_repeated, to_json
from mixsearch.errors import SearchError, SearchWarning

ROW_FORMATS: tuple[Format, ...] = ("parquet", "arrow", "excel", "sqlite", "duckdb")
# Rows from which the types of values without declared types are found, and that are read at a time.
_ROWS_PER_BATCH = 2000
_MAX_LISTED = 20
_PLURALS: dict[Format, str] = {
    "parquet": "Parquet files",
    "arrow": "Arrow files",
    "excel": "Excel workbooks",
    "sqlite": "SQLite databases",
    "duckdb": "DuckDB databases",
}


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
        "excel": partial(_open_by_extra, "excel", file, no_header=no_header),
        "sqlite": partial(_open_by_extra, "sqlite", file),
        "duckdb": partial(_open_by_extra, "duckdb", file),
    }
    try:
        with openers[format]() as source:
            yield source
    except (arrow.ArrowException, OSError, EOFError) as error:
        raise make_unreadable_error(file, error, NAMES[format]) from error


def _open_by_extra(format: str, file: File, **options: Any) -> AbstractContextManager[RowSource]:
    """Import the reader of a format on first use: it may need an extra."""
    if format == "excel":
        from mixsearch.data.files.excel import open_excel

        return open_excel(file, **options)
    from mixsearch.data.files.databases import open_duckdb, open_sqlite

    return (open_sqlite if format == "sqlite" else open_duckdb)(file)


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


def make_source(names: Sequence[str], read: Callable[[], Iterator[Sequence[Any]]]) -> RowSource:
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


def choose_table(file: File, wanted: str | None, tables: Sequence[str], kind: str) -> str:
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


def require_local(file: File, kind: str) -> str:
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


def make_package_error(package: str, what: str, extra: str) -> SearchError:
    """Return the error for an extra that is not installed."""
    return SearchError(
        "{what} need {package}, which is not installed: pip install 'mixsearch[{extra}]'.",
        code="package_missing",
        what=what,
        package=package,
        extra=extra,
    )
