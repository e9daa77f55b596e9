"""Tables with planted groups of rows, from clear ones to some that overlap.

They have 2 to 12 groups, 2 to 30 columns and equal or unequal sizes. Choices may be made on the kinds of `DEVELOPMENT`;
figures are reported for those of `REPORTED`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array

SIZES = (200, 500, 1000, 3000, 8000, 20_000)
# The distance between two centers, on average, in standard deviations along the line between them.
DISTANCES = (4.0, 6.0, 9.0)
# The expected number of rows of the smallest group.
MIN_GROUP = 20


class PlantedTable(NamedTuple):
    """A table, and the group of each row."""

    kind: str
    table: dict[str, Any]  # by the names of the columns
    features: Array  # the same as numbers on one scale, for peers that need them, (n, p)
    labels: Array  # (n,)


def _draw_groups(rng: np.random.Generator, n: int) -> tuple[Array, int, int]:
    """Return the group of each row, the number of groups and that of columns."""
    k = int(rng.integers(2, min(12, n // (2 * MIN_GROUP)) + 1))
    weights = np.full(k, 1 / k) if rng.random() < 0.5 else rng.dirichlet(np.full(k, 2.0))
    weights = np.maximum(weights, MIN_GROUP / n)
    return rng.choice(k, n, p=weights / weights.sum()), k, int(rng.integers(2, 31))


def _draw_centers(rng: np.random.Generator, k: int, d: int, distance: float) -> Array:
    """Return centers, (k, d), of which no two are nearer than two thirds of the distance."""
    centers, scale = np.empty((0, d)), distance / np.sqrt(2 * d)
    while len(centers) < k:
        center = scale * rng.normal(size=d)
        if len(centers) == 0 or np.linalg.norm(centers - center, axis=1).min() > 2 / 3 * distance:
            centers = np.vstack([centers, center])
        scale *= 1.01
    return centers


def draw_spherical(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    labels, k, d = _draw_groups(rng, n)
    deviations = rng.uniform(0.7, 1.3, size=k)[labels, None]
    X = _draw_centers(rng, k, d, distance)[labels] + rng.normal(size=(n, d)) * deviations
    return _numbers("spherical", X, labels)


def draw_stretched(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    """Groups are longer along some columns, each along others."""
    labels, k, d = _draw_groups(rng, n)
    lengths = np.exp(rng.normal(scale=0.5, size=(k, d)))
    X = _draw_centers(rng, k, d, distance)[labels] + rng.normal(size=(n, d)) * lengths[labels]
    return _numbers("stretched", X, labels)


def draw_correlated(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    labels, k, d = _draw_groups(rng, n)
    factors = (np.eye(d) + rng.normal(scale=0.7 / np.sqrt(d), size=(k, d, d))) / np.sqrt(1.5)
    X = _draw_centers(rng, k, d, distance)[labels]
    noise = rng.normal(size=(n, d))
    for group in range(k):
        noise[labels == group] @= factors[group]
    return _numbers("correlated", X + noise, labels)


def draw_heavy_tails(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    labels, k, d = _draw_groups(rng, n)
    noise = rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(4, size=(n, 1)) / 4)
    return _numbers("heavy tails", _draw_centers(rng, k, d, distance)[labels] + noise, labels)


def draw_log_normal(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    """A third of the columns is skewed, as incomes and durations are."""
    planted = draw_spherical(rng, n, distance)
    X = planted.features.copy()
    skewed = rng.random(X.shape[1]) < 1 / 3
    X[:, skewed] = np.exp(0.5 * X[:, skewed])
    return _numbers("log-normal columns", X, planted.labels)


def draw_integers(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    """All columns are rounded to about five values in each group, so that many values are equal."""
    planted = draw_correlated(rng, n, distance)
    return _numbers("integers", np.round(1.5 * planted.features), planted.labels)


def draw_categories(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    """Add columns of categories: each group has one that most of its rows have."""
    planted = draw_spherical(rng, n, distance)
    table, indicators = dict(planted.table), []
    for j in range(int(rng.integers(1, 4))):
        usual = rng.integers(4, size=planted.labels.max() + 1)
        levels = np.where(rng.random(n) < 0.8, usual[planted.labels], rng.integers(4, size=n))
        table[f"category {j}"] = np.array(["red", "green", "blue", "grey"])[levels]
        indicators.append(np.eye(4)[levels])
    features = np.hstack([planted.features, *indicators])
    return PlantedTable("categories", table, features, planted.labels)


def draw_missing(rng: np.random.Generator, n: int, distance: float) -> PlantedTable:
    """A twentieth of the values is missing, one column is constant and one is noise."""
    planted = draw_stretched(rng, n, distance)
    X = planted.features.copy()
    X[rng.random(X.shape) < 0.05] = np.nan
    table = {**_name_columns(X), "constant": np.ones(n), "noise": rng.normal(size=n)}
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    return PlantedTable("missing values", table, np.column_stack([filled, table["noise"]]), planted.labels)


def _numbers(kind: str, X: Array, labels: Array) -> PlantedTable:
    return PlantedTable(kind, _name_columns(X), X, labels)


def _name_columns(X: Array) -> dict[str, Array]:
    return {f"column {j}": X[:, j] for j in range(X.shape[1])}


Draw = Callable[[np.random.Generator, int, float], PlantedTable]
DEVELOPMENT: tuple[Draw, ...] = (draw_spherical, draw_correlated, draw_log_normal, draw_categories)
REPORTED: tuple[Draw, ...] = (draw_stretched, draw_heavy_tails, draw_integers, draw_missing)


def draw_tables(kinds: tuple[Draw, ...], n_draws: int, sizes: Sequence[int] = SIZES) -> Iterator[PlantedTable]:
    """Draw tables of every kind and size."""
    for i, kind in enumerate(kinds):
        for j, n in enumerate(sizes):
            for draw in range(n_draws):
                seed = (len(kind.__name__), i, j, draw)
                yield kind(np.random.default_rng(seed), n, DISTANCES[(i + j + draw) % len(DISTANCES)])
