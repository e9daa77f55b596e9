"""Rows of a table as users name and read them."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import typer

from mixsearch._typing import Array
from mixsearch.errors import DoubtfulExamplesWarning, HintError, Option, SearchError, SearchWarning
from mixsearch.table import check_positions, find_rows, get_numbers, get_values

_MAX_LISTED = 8
# Beyond, a row is rather sure to be a member or none.
_MAX_FROM_HALF = 0.3


@dataclass(frozen=True)
class NumberedRows:
    """The rows of a table that have a number in every column in use."""

    table: Any  # pyarrow.Table, with all rows
    values: Array  # (n, q)
    rows: Array  # their positions in the table, (n,)
    examples: Array  # indices of the examples among them
    names: list[str] | None  # of all rows, by an id column

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
        """Return the id or the position of a row."""
        row = int(self.rows[index])
        return str(row) if self.names is None else self.names[row]

    def name_examples(self) -> str:
        """Return the first examples."""
        more = f" and {len(self.examples) - _MAX_LISTED} more" if len(self.examples) > _MAX_LISTED else ""
        return ", ".join(self.name(index) for index in self.examples[:_MAX_LISTED]) + more

    def describe(self, index: int, **facts: float) -> dict[str, Any]:
        """Return a row as JSON has it."""
        named = {} if self.names is None else {"id": self.name(index)}
        return {"row": int(self.rows[index]), **named, **facts}

    def spread(self, values: Array) -> Array:
        """Return numbers for all rows of the table, NaN for those left out, (n_table_rows,)."""
        all_values = np.full(self.table.num_rows, np.nan)
        all_values[self.rows] = values
        return all_values


def name_rows(warning: SearchWarning, rows: NumberedRows) -> SearchWarning:
    """Return a warning about examples or samples with the names of their rows in the table."""
    indices = warning.fields.get("rows")
    if not indices:
        return warning
    is_example = isinstance(warning, DoubtfulExamplesWarning)
    positions = rows.examples[indices] if is_example else np.array(indices)
    if not is_example and rows.names is None and not rows.n_left_out:
        return warning
    return warning.append("In the table: {table_rows}.", table_rows=", ".join(rows.name(i) for i in positions))


def split_list(typed: Sequence[str]) -> list[str]:
    """Return the values of lists that are separated by commas; double quotes protect a comma.

    Examples
    --------
    >>> split_list(["area, rooms", "age"])
    ['area', 'rooms', 'age']
    """
    lists = csv.reader(typed, skipinitialspace=True)
    return list(dict.fromkeys(value.strip() for each in lists for value in each if value.strip()))


def take_numbers(table: Any, columns: dict[str, list[str]], like: Sequence[str], id: str | None) -> NumberedRows:
    """Return the rows of a table that have numbers in all columns, and the examples among them."""
    values = np.column_stack([get_numbers(table, names, argument) for argument, names in columns.items()])
    wanted = _find_examples(table, like, id)
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


def parse_rows(table: Any, typed: Sequence[str], id: str | None) -> Array:
    """Return the positions of rows from their numbers or ids, in the order in which they were typed."""
    if id is not None:
        return find_rows(get_values(table, id), typed)
    wrong = next((each for each in typed if not each.lstrip("+-").isdecimal()), None)
    if wrong is not None:
        raise typer.BadParameter(f"{wrong!r} is not the number of a row. If it is an id, name its column with --id.")
    return np.array([int(each) for each in typed], dtype=np.intp)


def _find_examples(table: Any, like: Sequence[str], id: str | None) -> Array:
    """Return the positions of examples, each once."""
    if not like:
        raise HintError("{argument} names no row.", code="no_rows_named", argument=Option("like"))
    positions = check_positions("like", parse_rows(table, like, id), table.num_rows)
    return np.array(list(dict.fromkeys(positions.tolist())), dtype=np.intp)


def check_apart(name: str, names: Sequence[str], argument: str, other: str) -> None:
    """Raise an error if a column is used for two things."""
    if name in names:
        raise SearchError(
            "Column {column!r} cannot be both {argument} and {other}.",
            code="column_used_twice",
            column=name,
            argument=Option(argument),
            other=Option(other),
        )


def count_rows(weight: float, stderr: float, n_rows: int) -> dict[str, int]:
    """Return how many rows a component has, with a 95% interval from the standard error of its weight."""
    low, high = (min(max(weight + side * 1.96 * stderr, 0.0), 1.0) for side in (-1, 1))
    return {"n": round(weight * n_rows), "low": round(low * n_rows), "high": round(high * n_rows)}


def rank_rows(scores: Array, rows: NumberedRows, n: int) -> Array:
    """Return the rows with the largest scores that are no examples, (n,)."""
    order = np.argsort(-scores, kind="stable")
    return order[~np.isin(order, rows.examples)][:n]


def find_doubtful(membership: Array, n: int) -> Array:
    """Return the rows that may or may not be members, the most doubtful first."""
    order = np.argsort(np.abs(membership - 0.5), kind="stable")[:n]
    return order[np.abs(membership[order] - 0.5) < _MAX_FROM_HALF]
