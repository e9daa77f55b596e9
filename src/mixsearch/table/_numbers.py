"""Columns of a table as numbers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.errors import Option, SearchError
from mixsearch.table._columns import Column
from mixsearch.table._tables import find_columns, open_table

_BOOLEANS = {"False", "True"}


def get_numbers(table: TableLike, columns: Iterable[Any], argument: str = "columns") -> Array:
    """Return columns of numbers.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        It is not changed.
    columns : iterable of str
        Their names.
    argument : str, default="columns"
        The argument that names them, for errors.

    Returns
    -------
    ndarray of shape (n, q)
        NaN for values that are missing or not finite. Booleans are 0 and 1.

    Examples
    --------
    >>> get_numbers({"area": [50, None], "new": [True, False], "city": ["Rome", "Oslo"]}, ["area", "new"])
    array([[50.,  1.],
           [nan,  0.]])
    """
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
    """Return the names of the columns of numbers.

    Parameters
    ----------
    table : array-like of shape (n, p), DataFrame, pyarrow.Table or mapping from names to columns
        It is not changed.

    Returns
    -------
    list of str

    Examples
    --------
    >>> list_numeric_columns({"area": [50, 70], "city": ["Rome", "Oslo"]})
    ['area']
    """
    opened = open_table(table)
    return [name for j, name in enumerate(opened.names) if _is_numeric(opened.get(j))]


def _is_numeric(column: Column) -> bool:
    return column.kind == "number" or (column.kind == "category" and set(column.levels) <= _BOOLEANS)


def _to_numbers(column: Column) -> Array:
    values = column.values
    if column.kind == "category":
        values = np.array([float(level == "True") for level in column.levels])[values]
    return np.where(column.missing, np.nan, values).astype(np.float64)
