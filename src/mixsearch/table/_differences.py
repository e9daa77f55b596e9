"""What sets the members of a table apart from all rows: their columns, in the units of the table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.table._encoding import TableEncoder


class ColumnDifference(NamedTuple):
    """A column of the members beside that of all rows.

    Parameters
    ----------
    column : str
        Its name.
    members : float, date, datetime or dict
        The mean of the members, in the units of the table; for categories, the share of each.
    all_rows : float, date, datetime or dict
        That of all rows.
    stderr : float or None
        The standard error of the members' mean, in days for dates; None for categories.
    effect : float
        The difference of the means in standard deviations of all rows; for categories, the largest of them.
    """

    column: str
    members: Any
    all_rows: Any
    stderr: float | None
    effect: float


def list_differences(encoder: TableEncoder, X: Array, membership: Array) -> list[ColumnDifference]:
    """Return the columns of a table but those of vectors, from the largest effect on.

    Parameters
    ----------
    encoder : TableEncoder
    X : array of shape (n, p)
        All rows, as features.
    membership : array of shape (n,)

    Returns
    -------
    list of ColumnDifference
    """
    weights = membership / membership.sum()
    mean, everywhere = weights @ X, X.mean(axis=0)
    n_effective = 1 / float(weights @ weights)
    errors = np.sqrt(np.maximum(weights @ (X - mean) ** 2, 0) / n_effective)
    members, all_rows = encoder.to_units(mean), encoder.to_units(everywhere)
    deviations = X.std(axis=0)
    effects = (mean - everywhere) / np.where(deviations > 0, deviations, 1)
    differences = []
    for j, column in enumerate(encoder.columns_):
        if isinstance(members[column], list):
            continue  # the mean of vectors says nothing to a reader
        own = np.flatnonzero(encoder.column_of_feature_ == j)
        scale = encoder.scales.get(column)
        stderr = None if scale is None else scale * float(errors[own[0]])
        effect = float(effects[own][np.argmax(np.abs(effects[own]))])
        differences.append(ColumnDifference(column, members[column], all_rows[column], stderr, effect))
    return sorted(differences, key=lambda each: -abs(each.effect))
