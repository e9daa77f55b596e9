"""The rows of a table that have numbers in some columns, with the examples among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import DoubtfulExamplesWarning, HintError, Option, SearchWarning
from mixsearch.table import check_positions, get_numbers, get_values

_MAX_LISTED = 8
# Beyond, a row is rather sure to be a member or none.
_MAX_FROM_HALF = 0.3


@dataclass(frozen=True)
class NumberedRows:
    """The rows of a table that have a number in every column in use.

    Parameters
    ----------
    table : pyarrow.Table
        With all rows.
    values : array of shape (n, q)
        The numbers in the columns in use.
    rows : array of shape (n,)
        Their positions in the table.
    examples : array of int
        The indices of the examples among them.
    names : list of str or None
        The names of all rows, by an id column.
    """

    table: Any
    values: Array
    rows: Array
    examples: Array
    names: list[str] | None

    @property
    def n_left_out(self) -> int:
        """The number of rows that lack a number."""
        return int(self.table.num_rows) - len(self.rows)

    @property
    def labels(self) -> Array:
        """1 for the examples, -1 for the rest, (n,)."""
        labels = np.full(len(self.rows), -1)
        labels[self.examples] = 1
        return labels

    def name(self, index: int) -> str:
        """Return the id or the position of a row.

        Parameters
        ----------
        index : int
            Its index among these rows.

        Returns
        -------
        str
        """
        row = int(self.rows[index])
        return str(row) if self.names is None else self.names[row]

    def name_examples(self) -> str:
        """List the first examples by name.

        Returns
        -------
        str
        """
        more = f" and {len(self.examples) - _MAX_LISTED} more" if len(self.examples) > _MAX_LISTED else ""
        return ", ".join(self.name(index) for index in self.examples[:_MAX_LISTED]) + more

    def describe(self, index: int, **facts: float) -> dict[str, Any]:
        """Describe a row for JSON output.

        Parameters
        ----------
        index : int
            Its index among these rows.
        **facts : float
            Further entries.

        Returns
        -------
        dict
            With the keys row, id (if rows have names) and those of `facts`.
        """
        named = {} if self.names is None else {"id": self.name(index)}
        return {"row": int(self.rows[index]), **named, **facts}

    def spread(self, values: Array) -> Array:
        """Extend values to all rows of the table, with NaN for rows that were left out.

        Parameters
        ----------
        values : array of shape (n,)
            A value for each of these rows.

        Returns
        -------
        array of shape (n_table_rows,)
        """
        all_values = np.full(self.table.num_rows, np.nan)
        all_values[self.rows] = values
        return all_values


def name_rows(warning: SearchWarning, rows: NumberedRows) -> SearchWarning:
    """Return a warning about examples or samples with the names of their rows in the table.

    Parameters
    ----------
    warning : SearchWarning
        As a search of a family gives it.
    rows : NumberedRows
        The rows that were searched.

    Returns
    -------
    SearchWarning
    """
    indices = warning.fields.get("rows")
    if not indices:
        return warning
    is_example = isinstance(warning, DoubtfulExamplesWarning)
    positions = rows.examples[indices] if is_example else np.array(indices)
    if not is_example and rows.names is None and not rows.n_left_out:
        return warning
    return warning.append("In the table: {table_rows}.", table_rows=", ".join(rows.name(i) for i in positions))


def take_numbers(table: Any, columns: Mapping[str, Sequence[str]], like: Array, id: str | None = None) -> NumberedRows:
    """Return the rows of a table that have numbers in all columns, and the examples among them.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    columns : mapping from str to sequence of str
        The columns, by the arguments that name them.
    like : array of int
        The positions of the examples. Each counts once.
    id : str, optional
        The column that names the rows.

    Returns
    -------
    NumberedRows

    Examples
    --------
    >>> import numpy as np, pyarrow
    >>> table = pyarrow.table({"x": [1.0, None, 3.0], "y": [2, 4, 6]})
    >>> take_numbers(table, {"columns": ["x", "y"]}, np.array([2])).values
    array([[1., 2.],
           [3., 6.]])
    """
    values = np.column_stack([get_numbers(table, names, argument) for argument, names in columns.items()])
    if not len(like):
        raise HintError("{argument} names no row.", code="no_rows_named", argument=Option("like"))
    wanted = np.array(list(dict.fromkeys(check_positions("like", like, table.num_rows).tolist())), dtype=np.intp)
    missing = np.isnan(values).any(axis=1)
    if missing[wanted].any():
        raise HintError(
            "{argument} names row {row}, which lacks a number in {columns}. Name other rows.",
            code="example_incomplete",
            argument=Option("like"),
            row=int(wanted[missing[wanted]][0]),
            columns=", ".join(name for names in columns.values() for name in names),
        )
    rows = np.flatnonzero(~missing)
    names = None if id is None else [str(each) for each in get_values(table, id)]
    return NumberedRows(table, values[rows], rows, np.searchsorted(rows, wanted), names)


def count_rows(weight: float, stderr: float, n_rows: int) -> dict[str, int]:
    """Return how many rows a component has, with a 95% interval from the standard error of its weight."""
    low, high = (min(max(weight + side * 1.96 * stderr, 0.0), 1.0) for side in (-1, 1))
    return {"n": round(weight * n_rows), "low": round(low * n_rows), "high": round(high * n_rows)}


def rank_rows(scores: Array, rows: NumberedRows, n: int) -> Array:
    """Return the rows with the largest scores that are not examples, (n,)."""
    order = np.argsort(-scores, kind="stable")
    return order[~np.isin(order, rows.examples)][:n]


def find_doubtful(membership: Array, n: int) -> Array:
    """Return the rows that may or may not be members, the most doubtful first."""
    order = np.argsort(np.abs(membership - 0.5), kind="stable")[:n]
    return order[np.abs(membership[order] - 0.5) < _MAX_FROM_HALF]
