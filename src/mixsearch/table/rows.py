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
            missing=", ".join(missing[:_MAX_LISTED]) + (", ..." if len(missing) > _MAX_LISTED else ""),
            missing_ids=missing,
            first=", ".join(first),
        )
    repeated = [each for each, found in rows.items() if len(found) > 1]
    if repeated:
        warn_user(_repeated_ids(repeated, sum(len(rows[each]) for each in repeated)))
    return np.array([index for found in rows.values() for index in found], dtype=np.intp)


def _repeated_ids(ids: Sequence[str], n_rows: int) -> RepeatedIdsWarning:
    listed = ", ".join(ids[:_MAX_LISTED]) + (", ..." if len(ids) > _MAX_LISTED else "")
    return RepeatedIdsWarning(
        "{n_ids:,} of the ids given name {n_rows:,} rows, and all of these are taken: {listed}. Give the number of a "
        "row to mean only that one."
        if len(ids) > 1
        else "The id {listed} names {n_rows:,} rows, and all of them are taken. Give the number of a row to mean only "
        "that one.",
        n_ids=len(ids),
        n_rows=n_rows,
        listed=listed,
        ids=list(ids),
    )


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


def draw_uniform(first: int, n: int) -> Array:
    """Return a pseudo-random number from 0 to 1 for each of n positions from the first on, by SplitMix64."""
    mixed = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) / 2.0**64)


def spread_rows(n_rows: int, max_rows: int) -> Array:
    """Return the positions of at most a number of rows: a random one of each run of rows of the same length.

    Every tenth row would be of one kind where a kind comes back every five rows, as hours of a day do.
    """
    step = -(-n_rows // max_rows)
    starts = np.arange(0, n_rows, step)
    lengths = np.minimum(step, n_rows - starts)
    return np.asarray(starts + (draw_uniform(0, len(starts)) * lengths).astype(np.intp))
