"""How many Gaussians, regressions or subspaces there are: their samples in parts, from which a spectrum is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mixsearch.blocks import Product, add_all, row_slices, sum_blocks
from mixsearch.models.regression import StandardShard, standardise
from mixsearch.models.second_moment import (
    applied,
    cores_for,
    gram,
    is_array,
    mean_of,
    squared_distances,
    symmetric,
)
from mixsearch.models.spectrum import N_PARTS, Parts, Shown, Spectrum, find_spectrum, most_directions, sums_of
from mixsearch.shards import S, SampleShard, Shard, Shards
from mixsearch.types import Array, Matrix, Samples, project

# Directions to look at: more than one hint singles a component out of.
MOST_DIRECTIONS = 100


def gaussian_spectrum(shards: Shards[SampleShard], *, seed: int) -> Spectrum:
    """How many Gaussians there are: one more than the directions in which their centers differ.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d)
    seed : int
        Of the eigen-solver's starting block.
    """
    return _spectrum_of_spheres(shards, mean_of(shards), lambda n_signal: n_signal + 1, seed)


def subspace_spectrum(shards: Shards[SampleShard], *, dim: int, seed: int) -> Spectrum:
    """How many subspaces of a dimension there are, to the nearest whole number and one at least.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d)
    dim : int
        r, the dimension of each.
    seed : int
        Of the eigen-solver's starting block.
    """
    d = shards.n_features
    return _spectrum_of_spheres(shards, np.zeros(d), lambda n: max(min(round(n / dim), (d - 1) // dim), 1), seed)


def _spectrum_of_spheres(
    shards: Shards[SampleShard], center: Array, components_of: Callable[[int], int], seed: int
) -> Spectrum:
    """Of samples whose noise is the same in every direction."""
    n, d = shards.shape
    parts = Parts(
        _second_beside(shards, None, (), center), lambda directions: shards.fold(_show_spheres, directions, center, n)
    )
    with cores_for(shards):
        return find_spectrum(parts, most_directions(n, d - 1, MOST_DIRECTIONS), components_of, n_features=d, seed=seed)


def _show_spheres(shard: SampleShard, directions: list[Array], center: Array, n: int) -> Shown:
    """Σ ⟨x - center, v⟩² / n for each direction of the part that a sample is in, and |x - center|² / n."""
    shown = []
    for part, V in zip(_parts_of(shard), directions, strict=True):
        X = part.samples
        shown.append(_show(X, center, np.full(X.shape[0], 1 / n), squared_distances(X, center) / n, V))
    return add_all(shown)


def regression_spectrum(shards: Shards[SampleShard], *, design: str, intercept: bool, seed: int) -> Spectrum:
    """How many regressions there are: as many as directions, and one at least.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d), with their responses
    design, intercept
        As `fit_regression` takes them.
    seed : int
        Of the eigen-solver's starting block.

    Notes
    -----
    2A = E[y²xx'] - E[y²] I is E[(y² - E[y²])(xx' - I)] for x standard normal, which varies less from sample to sample.
    """
    _, _, power, standard = standardise(shards, design, intercept=intercept)
    n, d = standard.shape
    parts = Parts(
        _second_beside(standard, _weights, (power,)),
        lambda directions: standard.fold(_show_regressions, directions, power, n),
    )
    with cores_for(standard):
        return find_spectrum(
            parts, most_directions(n, d, MOST_DIRECTIONS), lambda k: max(k, 1), n_features=None, seed=seed
        )


def _weights(shard: StandardShard, power: float) -> Array:
    return np.asarray((shard.responses**2 - power) / 2)


def _show_regressions(shard: StandardShard, directions: list[Array], power: float, n: int) -> Shown:
    """Σ w ⟨z, v⟩² / n for each direction of the part that a sample is in, and w / n."""
    shown = []
    for part, V in zip(_parts_of(shard), directions, strict=True):
        weights = _weights(part, power) / n
        shown.append(_show(part.samples, np.zeros(len(V)), weights, weights, V))
    return add_all(shown)


def _parts_of(shard: S) -> list[S]:
    return [shard.thin(N_PARTS, part) for part in range(N_PARTS)]


def _second_beside(
    shards: Shards[Any], weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None = None
) -> Callable[[int], Matrix]:
    """From a part to the second moment of the samples that are not in it, with weights as `second_moment` has them."""
    n, d, dtype, _ = shards.layout
    n_beside = [n - len(range(part, n, N_PARTS)) for part in range(N_PARTS)]
    if is_array(shards.layout):
        grams = shards.fold(_grams, weigh, shared, center).total
        return lambda part: np.asarray(np.delete(grams, part, axis=0).sum(axis=0) / n_beside[part])

    def second(part: int) -> Matrix:
        def apply(Q: Array) -> Array:
            total = shards.fold(_applied_beside, part, np.ascontiguousarray(Q), weigh, shared, center).total
            return np.asarray(total / n_beside[part])

        return symmetric(d, dtype, apply)

    return second


def _grams(shard: Shard, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None) -> Product:
    """The sums of every part, (3, d, d)."""
    return Product(np.stack([gram(part, weigh, shared, center).total for part in _parts_of(shard)]))


def _applied_beside(
    shard: Shard,
    left_out: int,
    Q: Array,
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None,
) -> Product:
    """The sum over all samples but those of one part, times Q, (d, q)."""
    others = (shard.thin(N_PARTS, part) for part in range(N_PARTS) if part != left_out)
    return add_all([applied(part, Q, weigh, shared, center) for part in others])


def _show(X: Samples, center: Array, weights: Array, noise: Array, V: Array) -> Shown:
    """Σ over samples of w ⟨x - center, v⟩² for each direction, and of the noise."""

    def work(rows: slice) -> Shown:
        inside = project(X[rows], V, center).astype(np.float64)
        return sums_of(inside**2 * weights[rows, None], noise[rows])

    return sum_blocks(work, row_slices(X.shape[0]))
