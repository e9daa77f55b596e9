"""Second moments of all folds but one, and what the held-out samples show of directions found there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.frame import project
from mixsearch.core.rank_selection import N_FOLDS, Folds, FoldSums, Spectrum, find_spectrum, max_directions, sums_of
from mixsearch.core.second_moment import (
    blas_threads_for,
    gram,
    is_dense,
    multiply_gram,
    squared_distances,
    symmetric_operator,
)
from mixsearch.data.chunks import ArraySum, add_all, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, S, SamplePartition

# Directions to look at: more than one hint singles a component out of.
MAX_DIRECTIONS = 100


def spherical_spectrum(
    partitions: Partitions[SamplePartition], center: Array, components_of: Callable[[int], int], seed: int
) -> Spectrum:
    """Of samples whose noise is the same in every direction."""
    n, d = partitions.shape
    parts = Folds(
        second_moment_without(partitions, None, (), center),
        lambda directions: partitions.reduce(_show_spheres, directions, center, n),
    )
    with blas_threads_for(partitions):
        return find_spectrum(parts, max_directions(n, d - 1, MAX_DIRECTIONS), components_of, n_features=d, seed=seed)


def _show_spheres(partition: SamplePartition, directions: list[Array], center: Array, n: int) -> FoldSums:
    """Σ ⟨x - center, v⟩² / n for each direction of the part that a sample is in, and |x - center|² / n."""
    shown = []
    for part, V in zip(split_folds(partition), directions, strict=True):
        X = part.samples
        shown.append(show_directions(X, center, np.full(X.shape[0], 1 / n), squared_distances(X, center) / n, V))
    return add_all(shown)


def split_folds(partition: S) -> list[S]:
    """Split the rows of a partition into folds."""
    return [partition.thin(N_FOLDS, part) for part in range(N_FOLDS)]


def second_moment_without(
    partitions: Partitions[Any],
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None = None,
) -> Callable[[int], Matrix]:
    """From a part to the second moment of the samples that are not in it, with weights as `second_moment` has them."""
    n, d, dtype, _ = partitions.layout
    n_beside = [n - len(range(part, n, N_FOLDS)) for part in range(N_FOLDS)]
    if is_dense(partitions.layout):
        grams = partitions.reduce(_grams, weigh, shared, center).total
        return lambda part: np.asarray(np.delete(grams, part, axis=0).sum(axis=0) / n_beside[part])

    def second(part: int) -> Matrix:
        def apply(Q: Array) -> Array:
            total = partitions.reduce(_applied_beside, part, np.ascontiguousarray(Q), weigh, shared, center).total
            return np.asarray(total / n_beside[part])

        return symmetric_operator(d, dtype, apply)

    return second


def _grams(
    partition: Partition, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None
) -> ArraySum:
    """The sums of every part, (3, d, d)."""
    return ArraySum(np.stack([gram(part, weigh, shared, center).total for part in split_folds(partition)]))


def _applied_beside(
    partition: Partition,
    left_out: int,
    Q: Array,
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None,
) -> ArraySum:
    """The sum over all samples but those of one part, times Q, (d, q)."""
    others = (partition.thin(N_FOLDS, part) for part in range(N_FOLDS) if part != left_out)
    return add_all([multiply_gram(part, Q, weigh, shared, center) for part in others])


def show_directions(X: Samples, center: Array, weights: Array, noise: Array, V: Array) -> FoldSums:
    """Σ over samples of w ⟨x - center, v⟩² for each direction, and of the noise."""

    def work(rows: slice) -> FoldSums:
        inside = project(X[rows], V, center).astype(np.float64)
        return sums_of(inside**2 * weights[rows, None], noise[rows])

    return sum_chunks(work, row_slices(X.shape[0]))
