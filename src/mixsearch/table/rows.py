"""Rows of a table: by the values of an id column, their values, and samples of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.display import pluralize
from mixsearch.errors import HintError, Option, RepeatedIdsWarning, warn_user
from mixsearch.table.tables import open_table

_MAX_LISTED = 8


def find_rows(values: Iterable[Any], wanted: Iterable[Any]) -> Array:
    """Return the rows with given ids."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        wanted = [wanted]
    rows: dict[str, list[int]] = {_spell(each): [] for each in wanted}
    n_values, first = 0, []
    for index, value in enumerate(values):
        n_values = index + 1
        spelt = _spell(value)
        if spelt in rows:
            rows[spelt].append(index)
        if index < _MAX_LISTED:
            first.append(spelt)
    missing = [each for each, found in rows.items() if not found]
    if missing:
        raise HintError(
            (
                "The id {missing} is in none of the {n_rows:,} rows."
                if len(rows) == 1
                else "{n_missing} of {n_wanted} ids "
                + pluralize(len(missing), "is", "are")
                + " in none of the {n_rows:,} rows: {missing}."
            )
            + " The ids begin with {first}.",
            code="unknown_rows",
            n_missing=len(missing),
            n_wanted=len(rows),
            n_rows=n_values,
            missing=_list_some(missing),
            missing_ids=missing,
            first=", ".join(first),
        )
    repeated = [each for each, found in rows.items() if len(found) > 1]
    if repeated:
        warn_user(
            RepeatedIdsWarning(
                "{n_ids:,} "
                + pluralize(len(repeated), "id names", "ids name")
                + " {n_rows:,} rows, and all of these are taken: {listed}. To mean one row only, give its number.",
                n_ids=len(repeated),
                n_rows=sum(len(rows[each]) for each in repeated),
                listed=_list_some(repeated),
                ids=repeated,
            )
        )
    return np.array([index for found in rows.values() for index in found], dtype=np.intp)


def _list_some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_MAX_LISTED]) + (", ..." if len(ids) > _MAX_LISTED else "")


def check_positions(argument: str, positions: Array, n_rows: int) -> Array:
    """Return positions of rows, counted from the first one; negative ones count from the end."""
    outside = positions[(positions < -n_rows) | (positions >= n_rows)]
    if outside.size:
        raise HintError(
            "{argument} names row {row}, but the table has {n_rows} "
            + pluralize(n_rows, "row", "rows")
            + ", from 0 to {last}.",
            code="row_out_of_range",
            argument=Option(argument),
            row=int(outside[0]),
            n_rows=n_rows,
            last=n_rows - 1,
        )
    return np.asarray(positions.astype(np.intp) % n_rows)


def get_rows(table: TableLike, rows: Sequence[int] | Array) -> list[dict[str, Any]]:
    """Return some rows of a table."""
    return open_table(table).frame[[int(row) for row in rows]].to_dicts()


def _spell(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()


def spread_rows(n_rows: int, max_rows: int) -> Array:
    """Draw the positions of at most a number of rows: a random one of each run of rows of the same length.

    Every tenth row would be of one kind where a kind comes back every five rows, as hours of a day do.
    """
    step = -(-n_rows // max_rows)
    starts = np.arange(0, n_rows, step)
    return starts + np.random.default_rng(0).integers(np.minimum(step, n_rows - starts))
