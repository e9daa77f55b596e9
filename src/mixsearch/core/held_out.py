"""Second moments of all folds but one, and sums over the held-out fold of directions found on the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.frame import project
from mixsearch.core.rank_selection import (
    N_FOLDS,
    Folds,
    FoldSums,
    Spectrum,
    find_spectrum,
    max_directions,
    sum_held_out,
)
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

# Directions to test: more than the number of components among which one hint can single one out.
MAX_DIRECTIONS = 100


def spherical_spectrum(
    partitions: Partitions[SamplePartition], center: Array, count_components: Callable[[int], int], seed: int
) -> Spectrum:
    """Find the spectrum of samples whose noise is the same in every direction.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    center : array of shape (d,)
        Subtracted from every sample.
    count_components : callable
        From the number of directions that carry signal to the number of components.
    seed : int
        Seed of the eigen-solver's starting block.

    Returns
    -------
    Spectrum
    """
    n, d = partitions.shape
    folds = Folds(
        second_moment_without(partitions, None, (), center),
        lambda directions: partitions.reduce(_evaluate_spheres, directions, center, n),
    )
    with blas_threads_for(partitions):
        return find_spectrum(folds, max_directions(n, d - 1, MAX_DIRECTIONS), count_components, n_features=d, seed=seed)


def _evaluate_spheres(partition: SamplePartition, directions: list[Array], center: Array, n: int) -> FoldSums:
    """Sum ⟨x - center, v⟩² / n for each direction of a sample's fold, and |x - center|² / n."""
    sums = []
    for fold, V in zip(split_folds(partition), directions, strict=True):
        X = fold.samples
        sums.append(evaluate_directions(X, center, np.full(X.shape[0], 1 / n), squared_distances(X, center) / n, V))
    return add_all(sums)


def split_folds(partition: S) -> list[S]:
    """Split the rows of a partition into folds.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    list of Partition
    """
    return [partition.thin(N_FOLDS, fold) for fold in range(N_FOLDS)]


def second_moment_without(
    partitions: Partitions[Any],
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None = None,
) -> Callable[[int], Matrix]:
    """Return a function from a fold to the second moment of the samples outside it.

    Parameters
    ----------
    partitions : Partitions of samples
    weigh, shared, center
        As in `mixsearch.core.second_moment.second_moment`; `shared` as one tuple.

    Returns
    -------
    callable
        From the index of a fold to an array or LinearOperator of shape (d, d).
    """
    n, d, dtype, _ = partitions.layout
    n_training = [n - len(range(fold, n, N_FOLDS)) for fold in range(N_FOLDS)]
    if is_dense(partitions.layout):
        grams = partitions.reduce(_stack_grams, weigh, shared, center).total
        return lambda fold: np.asarray(np.delete(grams, fold, axis=0).sum(axis=0) / n_training[fold])

    def make_operator(fold: int) -> Matrix:
        def apply(Q: Array) -> Array:
            total = partitions.reduce(_multiply_without, fold, np.ascontiguousarray(Q), weigh, shared, center).total
            return np.asarray(total / n_training[fold])

        return symmetric_operator(d, dtype, apply)

    return make_operator


def _stack_grams(
    partition: Partition, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None
) -> ArraySum:
    """Return the Gram matrices of all folds, (3, d, d)."""
    return ArraySum(np.stack([gram(fold, weigh, shared, center).total for fold in split_folds(partition)]))


def _multiply_without(
    partition: Partition,
    left_out: int,
    Q: Array,
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None,
) -> ArraySum:
    """Multiply the Gram matrix of all folds but one by Q, (d, q)."""
    others = (partition.thin(N_FOLDS, fold) for fold in range(N_FOLDS) if fold != left_out)
    return add_all([multiply_gram(fold, Q, weigh, shared, center) for fold in others])


def evaluate_directions(X: Samples, center: Array, weights: Array, noise: Array, V: Array) -> FoldSums:
    """Sum w ⟨x - center, v⟩² over samples for each direction, and the noise.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    center : array of shape (d,)
    weights : array of shape (n,)
    noise : array of shape (n,)
        Contribution of each sample to the trace, or to the noise level.
    V : array of shape (d, q)
        Directions.

    Returns
    -------
    FoldSums
    """

    def work(rows: slice) -> FoldSums:
        inside = project(X[rows], V, center).astype(np.float64)
        return sum_held_out(inside**2 * weights[rows, None], noise[rows])

    return sum_chunks(work, row_slices(X.shape[0]))
