"""Differences between the members and all rows of a table, in the units of its columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks
from mixsearch.table.encoding import TableEncoder
from mixsearch.table.graph import NodeRows

# Differences this small, in standard deviations, are rounding.
_ROUNDING = 1e-9


class ColumnDifference(NamedTuple):
    """A column of the members compared with all rows."""

    column: str
    members: Any
    all_rows: Any
    stderr: float | None
    effect: float


class Labels(NamedTuple):
    """The positions of rows whose membership is known."""

    like: Array
    not_like: Array


class _Means(NamedTuple):
    weight: float
    square: float  # of the weights
    members: Array  # (p,)
    all_rows: Array  # (p,)


class _Variances(NamedTuple):
    members: Array  # (p,)
    all_rows: Array  # (p,)


def list_differences(
    encoder: TableEncoder, rows: Chunks[NodeRows], membership: Array, labels: Labels
) -> list[ColumnDifference]:
    """Return the columns of a table but those of vectors, from the largest effect on."""
    sums = rows.sum(_sum_means, membership, labels)
    mean, everywhere = sums.members / sums.weight, sums.all_rows / rows.n_rows
    squares = rows.sum(_sum_squares, membership, labels, mean, everywhere)
    n_effective = sums.weight**2 / sums.square
    errors = np.sqrt(squares.members / sums.weight / n_effective)
    deviations = np.sqrt(squares.all_rows / rows.n_rows)
    members, all_rows = encoder.to_units(mean), encoder.to_units(everywhere)
    effects = (mean - everywhere) / np.where(deviations > 0, deviations, 1)
    effects[np.abs(effects) < _ROUNDING] = 0.0
    differences = []
    for j, column in enumerate(encoder.columns_):
        if isinstance(members[column], list):
            continue  # the mean of vectors says nothing to a reader
        own = np.flatnonzero(encoder.column_of_feature_ == j)
        scale = encoder.scales.get(column)
        stderr = None if scale is None else scale * float(errors[own[0]])
        effect = float(np.abs(effects[own]).max())
        if effect and _is_less(members[column], all_rows[column], effects[own[0]]):
            effect = -effect
        differences.append(ColumnDifference(column, members[column], all_rows[column], stderr, effect))
    return sorted(differences, key=lambda each: -abs(each.effect))


def _is_less(members: Any, all_rows: Any, effect: float) -> bool:
    """Return whether the mean of the members is the smaller one; for categories, the share of their most frequent."""
    if not isinstance(members, dict):
        return effect < 0
    first = next(iter(members))
    return bool(members[first] < all_rows[first])


def _weigh(chunk: NodeRows, membership: Array, labels: Labels) -> Array:
    """Return the membership of the rows of a chunk, (n,)."""
    weights = membership[chunk.nodes]
    for positions, value in ((labels.like, 1.0), (labels.not_like, 0.0)):
        own = positions - chunk.first
        weights[own[(own >= 0) & (own < chunk.n_rows)]] = value
    return weights


def _sum_means(chunk: NodeRows, membership: Array, labels: Labels) -> _Means:
    weights, X = _weigh(chunk, membership, labels), chunk.features
    return _Means(float(weights.sum()), float(weights @ weights), weights @ X, X.sum(axis=0))


def _sum_squares(chunk: NodeRows, membership: Array, labels: Labels, mean: Array, everywhere: Array) -> _Variances:
    weights, X = _weigh(chunk, membership, labels), chunk.features
    return _Variances(weights @ (X - mean) ** 2, np.sum((X - everywhere) ** 2, axis=0))
