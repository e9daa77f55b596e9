"""Open any table: arrays, data frames, Arrow tables, dicts of columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mixsearch._typing import Array, TableLike
from mixsearch.core.rows import is_dask
from mixsearch.errors import Option, SearchError
from mixsearch.io.column_names import list_names, suggest_name
from mixsearch.io.frames import is_frame, to_polars
from mixsearch.io.tables import read_table as read_table
from mixsearch.io.tables import write_table as write_table
from mixsearch.io.types import limit_dates, map_columns
from mixsearch.table.columns import Column, convert

_BOOLEANS = {"False", "True"}


@dataclass(frozen=True, slots=True)
class Table:
    """A table as a data frame of Polars."""

    frame: pl.DataFrame
    is_named: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.frame.height

    def get(self, index: int) -> Column:
        """Return a column by its index."""
        return convert(self.frame[:, index])


def open_table(table: Any) -> Table:
    """Return the columns of a table, which is not changed."""
    if is_dask(table):
        raise SearchError(
            "A table in memory is needed here, got a Dask {kind}. Call compute() on it.",
            code="not_in_memory",
            kind=type(table).__name__,
        )
    return Table(map_columns(to_polars(table), limit_dates)) if is_frame(table) else _open_array(table)


def get_column(table: Any, name: str) -> Column:
    """Return one column as an array of numbers or of codes."""
    opened = open_table(table)
    return opened.get(find_columns(opened, [name])[0])


def get_values(table: Any, name: str) -> list[Any]:
    """Return the values of one column, for instance of an id column."""
    opened = open_table(table)
    return opened.frame[:, find_columns(opened, [name])[0]].to_list()


def find_columns(table: Table, columns: Iterable[Any], argument: str = "columns") -> list[int]:
    """Find the indices of columns by their names; in an array, also by their numbers."""
    if isinstance(columns, str):
        raise SearchError(
            "{argument} must be a list of names, got {value!r}. Pass [{value!r}].",
            code="bad_argument",
            argument=Option(argument),
            value=columns,
        )
    indices, unknown = [], []
    for column in columns:
        if not table.is_named and isinstance(column, int | np.integer) and 0 <= column < len(table.names):
            indices.append(int(column))
        elif str(column) in table.names:
            indices.append(table.names.index(str(column)))
        else:
            unknown.append(str(column))
    if unknown:
        error = SearchError(
            "The table has no column {unknown}. Its columns: {columns}.",
            code="unknown_column",
            unknown=", ".join(map(repr, unknown)),
            columns=list_names(table.names),
        )
        raise suggest_name(error, unknown[0], table.names)
    return list(dict.fromkeys(indices))


def name_columns(n_columns: int) -> tuple[str, ...]:
    """Return the names of the columns of an array, which has none."""
    return tuple(f"x{j}" for j in range(n_columns))


def _open_array(table: Any) -> Table:
    try:
        is_array = isinstance(table, list | tuple) or hasattr(table, "__array__")
        array = np.asarray(table) if is_array else None
    except ValueError:  # rows of different lengths
        array = None
    if array is not None and array.dtype.names:
        return Table(to_polars({name: array[name] for name in array.dtype.names}))
    if array is None or array.ndim != 2:
        raise SearchError(
            "A table is needed: an array with rows and columns, a data frame, a pyarrow.Table or a dict of columns; "
            "got {found}.",
            code="not_a_table",
            found=type(table).__name__ if array is None else f"an array of {array.ndim} dimensions",
        )
    columns = dict(zip(name_columns(array.shape[1]), array.T, strict=True))
    return Table(to_polars(columns), is_named=False)


def get_numbers(table: TableLike, columns: Iterable[Any], argument: str = "columns") -> Array:
    """Return columns of numbers."""
    opened = open_table(table)
    names = list(columns)
    if not names:
        raise SearchError("{argument} names no column.", code="no_columns", argument=Option(argument))
    found = {opened.names[j]: opened.get(j) for j in find_columns(opened, names)}
    wrong = [name for name, column in found.items() if not _is_numeric(column)]
    if wrong:
        raise SearchError(
            "{argument} needs columns of numbers, but {columns} {verb} not numeric.",
            code="not_numbers",
            argument=Option(argument),
            columns=", ".join(map(repr, wrong)),
            verb="is" if len(wrong) == 1 else "are",
        )
    return np.column_stack([_to_numbers(column) for column in found.values()])


def list_numeric_columns(table: TableLike) -> list[str]:
    """Return the names of the columns of numbers."""
    opened = open_table(table)
    return [name for j, name in enumerate(opened.names) if _is_numeric(opened.get(j))]


def _is_numeric(column: Column) -> bool:
    return column.kind == "number" or (column.kind == "category" and set(column.levels) <= _BOOLEANS)


def _to_numbers(column: Column) -> Array:
    values = column.values
    if column.kind == "category":
        values = np.array([float(level == "True") for level in column.levels])[values]
    return np.where(column.missing, np.nan, values).astype(np.float64)
