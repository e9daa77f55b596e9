"""Rows that are named by the values of an id column."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import HintError

_MAX_LISTED = 8


def find_rows(values: Iterable[Any], wanted: Iterable[Any]) -> Array:
    """Return the rows whose id is wanted.

    Parameters
    ----------
    values : iterable of length n
        The ids of the rows; see `get_values`.
    wanted : iterable
        Ids. Numbers may be written as text: 17, 17.0 and "17" are the same.

    Returns
    -------
    ndarray of shape (n_found,)
        Indices of rows, in the order of the ids. An id that several rows have gives all of them.

    Examples
    --------
    >>> find_rows([11, 12, 13, 12], ["13", "12"])
    array([2, 1, 3])
    """
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
            "{n_missing} of {n_wanted} ids are in none of the {n_rows:,} rows: {missing}. The ids begin with {first}.",
            code="unknown_rows",
            n_missing=len(missing),
            n_wanted=len(rows),
            n_rows=n_values,
            missing=", ".join(missing[:_MAX_LISTED]) + (", ..." if len(missing) > _MAX_LISTED else ""),
            missing_ids=missing,
            first=", ".join(first),
        )
    return np.array([index for found in rows.values() for index in found], dtype=np.intp)


def _spell(value: Any) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value).strip()
