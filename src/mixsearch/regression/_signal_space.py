"""The signal space of a mixture of regressions: the span of all coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions
from mixsearch.regression._design import StandardizedPartition


class SignalSpace(NamedTuple):
    """The signal space, and the level t2 / 2 above which its eigenvalues are signal."""

    frame: Frame
    noise_level: float


def fit_frame(
    partitions: Partitions[StandardizedPartition], power: float, n_components: int, *, paper: bool, seed: int
) -> SignalSpace:
    """Find the signal space of standardized samples.

    Parameters
    ----------
    partitions : Partitions
        Standardized samples of shape (n, r), with responses.
    power : float
        E[t²].
    n_components : int
        k; the signal space is the whole space if k exceeds r.
    paper : bool
        Take the smallest eigenvalue as the noise level, as in the paper.
    seed : int
        Seed of the eigensolver's starting block.

    Returns
    -------
    SignalSpace
    """
    if n_components > partitions.n_features:
        return whole_space(partitions.n_features)
    if n_components == 1:
        return _frame_of_one(partitions)
    return _frame_of_many(partitions, power, n_components, paper=paper, seed=seed)


def whole_space(n_features: int) -> SignalSpace:
    """Return the whole space, for regressions that only their likelihood separates."""
    return SignalSpace(Frame(np.eye(n_features), np.ones(n_features)), 0.0)


def _frame_of_one(partitions: Partitions[StandardizedPartition]) -> SignalSpace:
    """Frame a single regression, for which A = mm': m = E[yx] has far less noise than a fourth moment."""
    m = np.asarray(partitions.reduce(_mean_sum).total, dtype=np.float64) / partitions.n_rows
    length = float(np.linalg.norm(m))
    return SignalSpace(frame_from_eigenpairs(np.array([length**2]), m[:, None] / (length or 1.0)), 0.0)


def _mean_sum(partition: StandardizedPartition) -> ArraySum:
    """Sum tz."""
    return ArraySum(np.asarray(partition.samples.T @ partition.responses, dtype=np.float64))


def _frame_of_many(
    partitions: Partitions[StandardizedPartition], power: float, n_components: int, *, paper: bool, seed: int
) -> SignalSpace:
    """Frame the top eigenvectors of E[y²xx'] / 2 = A + (t2/2) I."""
    second = second_moment(partitions, _half_squares, partitions.n_rows)
    with blas_threads_for(partitions):
        values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
        smallest = -top_eigenpairs(-second, 1, seed=seed).values[0] if paper else None
    level = _average_noise_level(partitions, power, values) if smallest is None else float(smallest)
    return SignalSpace(frame_from_eigenpairs(values, vectors, level, precision=partitions.layout.dtype), level)


def _half_squares(partition: StandardizedPartition, n_rows: int) -> Array:
    return np.asarray(partition.responses**2 / (2 * n_rows))


def _average_noise_level(partitions: Partitions[StandardizedPartition], power: float, values: Array) -> float:
    """Average the r - k noise eigenvalues, which estimate t2 / 2; if k = r, use E[y²] / 2, their expectation."""
    n_noise = partitions.n_features - len(values)
    if n_noise == 0:
        return power / 2
    energy = partitions.reduce(_energy).total / partitions.n_rows / 2
    return max(float(energy) - float(values.sum()), 0.0) / n_noise


def _energy(partition: StandardizedPartition) -> ArraySum:
    """Sum t²|z|²."""
    r = partition.samples.shape[1]
    return ArraySum(float(partition.responses**2 @ squared_distances(partition.samples, np.zeros(r))))
