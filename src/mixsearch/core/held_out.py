"""Second moments of all folds but one, and what the held-out samples show of directions found there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.frame import project
from mixsearch.core.rank_selection import N_PARTS, Parts, Shown, Spectrum, find_spectrum, most_directions, sums_of
from mixsearch.core.second_moment import applied, cores_for, gram, is_array, squared_distances, symmetric
from mixsearch.data.chunks import Product, add_all, row_slices, sum_blocks
from mixsearch.data.partitions import S, SampleShard, Shard, Shards

# Directions to look at: more than one hint singles a component out of.
MOST_DIRECTIONS = 100


def spherical_spectrum(
    shards: Shards[SampleShard], center: Array, components_of: Callable[[int], int], seed: int
) -> Spectrum:
    """Of samples whose noise is the same in every direction."""
    n, d = shards.shape
    parts = Parts(
        second_moment_without(shards, None, (), center),
        lambda directions: shards.fold(_show_spheres, directions, center, n),
    )
    with cores_for(shards):
        return find_spectrum(parts, most_directions(n, d - 1, MOST_DIRECTIONS), components_of, n_features=d, seed=seed)


def _show_spheres(shard: SampleShard, directions: list[Array], center: Array, n: int) -> Shown:
    """Σ ⟨x - center, v⟩² / n for each direction of the part that a sample is in, and |x - center|² / n."""
    shown = []
    for part, V in zip(folds_of(shard), directions, strict=True):
        X = part.samples
        shown.append(show_directions(X, center, np.full(X.shape[0], 1 / n), squared_distances(X, center) / n, V))
    return add_all(shown)


def folds_of(shard: S) -> list[S]:
    """Split the rows of a partition into folds."""
    return [shard.thin(N_PARTS, part) for part in range(N_PARTS)]


def second_moment_without(
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
    return Product(np.stack([gram(part, weigh, shared, center).total for part in folds_of(shard)]))


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


def show_directions(X: Samples, center: Array, weights: Array, noise: Array, V: Array) -> Shown:
    """Σ over samples of w ⟨x - center, v⟩² for each direction, and of the noise."""

    def work(rows: slice) -> Shown:
        inside = project(X[rows], V, center).astype(np.float64)
        return sums_of(inside**2 * weights[rows, None], noise[rows])

    return sum_blocks(work, row_slices(X.shape[0]))
