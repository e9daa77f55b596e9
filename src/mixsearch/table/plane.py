"""The rows of a fitted table in a plane: along the two directions that set the components of its mixture apart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.table.fit import TableFit
from mixsearch.table.rows import spread_rows
from mixsearch.table.search import TableSearch

# Where the components have fewer directions than a plane, the rows themselves choose the others.
_WEIGHT_OF_ROWS = 1e-3
_N_TYPICAL = 3


class RowGroup(NamedTuple):
    """A component of the mixture of a table."""

    n_rows: int
    typical_rows: tuple[int, ...]


class RowPlane(NamedTuple):
    """Rows of a table in a plane."""

    rows: Array
    coordinates: Array
    group: Array
    groups: list[RowGroup]


def place_rows(search: TableSearch, max_rows: int = 10_000) -> RowPlane:
    """Return rows of a fitted table in the plane in which the components of its mixture are farthest apart.

    Notes
    -----
    The directions are those of Fisher's discriminant analysis with the responsibilities of the mixture.
    """
    fit: TableFit = search._fit
    check_positive_int("max_rows", max_rows)
    rows = spread_rows(fit.n_rows, max_rows)
    whitened = fit.whiten(fit.node_features)
    sizes = fit.nodes.sizes
    center = sizes @ whitened / sizes.sum()
    centers = _find_centers(whitened, fit.node_resp * sizes[:, None])
    axes = _find_directions(whitened - center, sizes, centers - center, fit.component_sizes)
    features = fit.take_features(rows)
    return RowPlane(
        rows,
        (fit.whiten(features) - center) @ axes,
        np.argmax(fit.posterior(features), axis=1),
        _describe_groups(fit, whitened, centers),
    )


def _find_centers(whitened: Array, weights: Array) -> Array:
    """Return the mean of the nodes of each component, (k, b); zero for one without nodes."""
    return np.asarray(weights.T @ whitened / np.maximum(weights.sum(axis=0), np.finfo(np.float64).tiny)[:, None])


def _find_directions(nodes: Array, sizes: Array, centers: Array, weights: Array) -> Array:
    """Return two directions, (b, 2), with a fixed sign; a second one is zero if there is but one feature."""
    between = (centers * (weights / weights.sum())[:, None]).T @ centers
    total = (nodes * (sizes / sizes.sum())[:, None]).T @ nodes
    _, vectors = np.linalg.eigh(between + _WEIGHT_OF_ROWS * total)
    axes = np.zeros((len(total), 2))
    chosen = vectors[:, ::-1][:, :2]
    largest = np.take_along_axis(chosen, np.argmax(np.abs(chosen), axis=0)[None], axis=0)
    axes[:, : chosen.shape[1]] = chosen * np.where(largest < 0, -1.0, 1.0)
    return axes


def _describe_groups(fit: TableFit, whitened: Array, centers: Array) -> list[RowGroup]:
    likeliest = np.argmax(fit.node_resp, axis=1)
    groups = []
    for k, size in enumerate(fit.component_sizes):
        own = np.flatnonzero(likeliest == k)
        distance = np.sum((whitened[own] - centers[k]) ** 2, axis=1)
        nearest = own[np.argsort(distance, kind="stable")[:_N_TYPICAL]]
        groups.append(RowGroup(round(float(size)), tuple(fit.nodes.rows[nearest].tolist())))
    return groups
