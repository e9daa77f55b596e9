"""Open any table: arrays, data frames, Arrow tables, dicts of columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from mixsearch.errors import Option, SearchError
from mixsearch.io.column_names import list_names, suggest_name
from mixsearch.io.frames import is_frame, to_polars
from mixsearch.io.tables import read_table as read_table
from mixsearch.io.tables import write_table as write_table
from mixsearch.io.types import limit_dates, map_columns
from mixsearch.table.columns import Column, convert


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
    columns = {f"x{j}": column for j, column in enumerate(array.T)}
    return Table(to_polars(columns), is_named=False)
