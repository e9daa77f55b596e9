"""Tables of SQLite and DuckDB databases, opened for reading only."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from mixsearch.data.files.location import File, TableFile
from mixsearch.data.files.rows import RowSource, choose_table, make_package_error, make_source, require_local
from mixsearch.data.files.signatures import NAMES
from mixsearch.data.files.streams import make_unreadable_error

_ROWS_PER_FETCH = 1000
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) != 'sqlite_'"
_DUCKDB_TABLES = (
    "SELECT CASE table_schema WHEN 'main' THEN '' ELSE table_schema || '.' END || table_name "
    "FROM information_schema.tables ORDER BY table_schema, table_name"
)


@contextmanager
def open_sqlite(file: File) -> Iterator[RowSource]:
    """Open a table of an SQLite database."""
    path = require_local(file, "SQLite databases")
    try:
        with closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.text_factory = partial(str, encoding="utf-8", errors="replace")
            yield _open_table(file, database.cursor, _SQLITE_TABLES)
    except sqlite3.Error as error:
        raise make_unreadable_error(file, error, NAMES["sqlite"]) from error


@contextmanager
def open_duckdb(file: File) -> Iterator[RowSource]:
    """Open a table of a DuckDB database."""
    try:
        import duckdb
    except ImportError as error:
        raise make_package_error("duckdb", "DuckDB databases", "duckdb") from error
    try:
        with closing(duckdb.connect(require_local(file, "DuckDB databases"), read_only=True)) as database:
            yield _open_table(file, database.cursor, _DUCKDB_TABLES)
    except duckdb.Error as error:
        raise make_unreadable_error(file, error, NAMES["duckdb"]) from error


def _open_table(file: File, open_cursor: Callable[[], Any], list_tables: str) -> RowSource:
    with closing(open_cursor()) as cursor:
        tables = [name for (name,) in cursor.execute(list_tables).fetchall()]
        table = choose_table(file, file.table if isinstance(file, TableFile) else None, tables, "table")
        # A name is an identifier: quoted, it cannot be anything else.
        query = "SELECT * FROM " + ".".join(_quote(part) for part in _split_schema(table, tables))
        names = [column[0] for column in cursor.execute(f"{query} LIMIT 0").description]
    return make_source(names, partial(_fetch, open_cursor, query))


def _split_schema(table: str, tables: Sequence[str]) -> list[str]:
    """Return the schema and the name of a table of DuckDB; the name alone of one in the main schema."""
    return table.split(".", 1) if any(name == table for name in tables) and "." in table else [table]


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _fetch(open_cursor: Callable[[], Any], query: str) -> Iterator[Sequence[Any]]:
    with closing(open_cursor()) as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(_ROWS_PER_FETCH):
            yield from rows
