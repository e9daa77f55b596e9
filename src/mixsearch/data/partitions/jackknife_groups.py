"""Sums by jackknife group, and over all groups but one. Row i is in group i mod n_groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mixsearch.data.chunks import Sums
from mixsearch.data.partitions.base import Partitions, S
from mixsearch.data.partitions.partition import Partition


def leave_one_out(partitions: Partitions[S], summarize: Callable[..., Sums], *shared: Any) -> list[Sums]:
    """Sum over all rows except those of one jackknife group, for each group in turn.

    Parameters
    ----------
    partitions : Partitions
        The samples.
    summarize : callable
        From a partition, a slice of its rows and `shared` to a named tuple of arrays.
    *shared
        Small arrays, sent to every partition.

    Returns
    -------
    list of named tuples
        One for each group.
    """
    by_group = sums_by_group(partitions, summarize, *shared)
    totals = [field.sum(axis=0) for field in by_group]
    return [
        type(by_group)(*(total - field[group] for total, field in zip(totals, by_group, strict=True)))
        for group in range(partitions.n_groups)
    ]


def sums_by_group(partitions: Partitions[S], summarize: Callable[..., Sums], *shared: Any) -> Sums:
    """Sum over the rows of every jackknife group.

    Parameters
    ----------
    partitions : Partitions
        The samples.
    summarize : callable
        As in `leave_one_out`.
    *shared
        Small arrays, sent to every partition.

    Returns
    -------
    named tuple of arrays of shape (B, ...)
        One entry for each group.
    """
    sums: Sums = partitions.reduce(_sums_by_group, partitions.n_groups, summarize, shared)
    return sums


def _sums_by_group(partition: S, n_groups: int, summarize: Callable[..., Sums], shared: tuple[Any, ...]) -> Sums:
    groups = [summarize(partition, partition.rows_at(n_groups, group), *shared) for group in range(n_groups)]
    return type(groups[0])(*(np.stack(field) for field in zip(*groups, strict=True)))


def spread_over_groups(partition: Partition, values: Any, n_groups: int) -> Any:
    """Put the value of each sample into the column of its jackknife group; X' times that gives all group sums at once.

    Parameters
    ----------
    partition : Partition
        The samples.
    values : array of shape (n,)
        One for each sample.
    n_groups : int
        The number of groups, B.

    Returns
    -------
    array of shape (n, B)
    """
    spread = np.zeros((len(values), n_groups), dtype=values.dtype)
    spread[np.arange(len(values)), group_indices(partition, len(values), n_groups)] = values
    return spread


def group_indices(partition: Partition, n_rows: int, n_groups: int) -> Any:
    """Return the jackknife group of each row of a partition.

    Parameters
    ----------
    partition : Partition
        The rows.
    n_rows : int
        How many of them are asked for, from the first.
    n_groups : int
        The number of groups, B.

    Returns
    -------
    array of int of shape (n_rows,)
    """
    return (np.arange(n_rows) + partition.first) % n_groups
