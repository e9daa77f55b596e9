"""The number of directions in which samples vary: constant and repeated features add none."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix
from mixsearch.core.frame import count_above
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partitions, SamplePartition

# Eigenvalues of spherical noise differ by less than this factor from the next one if there are enough samples.
MAX_GAP, MIN_SAMPLES_PER_FEATURE = 1e3, 1.5
# A feature with less than this share of the mean variance is constant up to rounding.
MIN_VARIANCE = 1e-12
# Random combinations of the samples that features are compared by, and the digits in which equal ones agree.
N_COMBINATIONS, DIGITS = 3, 7


class NoiseRank(NamedTuple):
    """The number of directions in which samples vary: at all, and by about as much as the noise."""

    total: int
    noisy: int  # less those that are nearly constant


def noise_rank(covariance: Matrix, partitions: Partitions[Any], center: Array, n_signal: int, seed: int) -> NoiseRank:
    """Return the number of directions in which samples vary, at most d.

    Parameters
    ----------
    covariance : array or LinearOperator of shape (d, d)
    partitions : Partitions of samples of shape (n, d)
    center : array of shape (d,)
        Their mean.
    n_signal : int
        The number of directions with large eigenvalues, which may differ by any factor.
    seed : int
        Seed of the random combinations.

    Returns
    -------
    NoiseRank

    Notes
    -----
    With enough samples the eigenvalues tell: those after a large gap are not of the noise. Otherwise samples vary in
    fewer directions than their noise, and features that are constant, or equal up to scale, are counted directly.
    """
    n, d = partitions.shape
    if not isinstance(covariance, np.ndarray) or n < MIN_SAMPLES_PER_FEATURE * d:
        rank = _count_features(partitions.reduce(_combine, center, seed))
        return NoiseRank(rank, rank)
    if _is_regular(covariance):
        return NoiseRank(d, d)
    values = np.linalg.eigvalsh(covariance)[::-1]
    rank = count_above(values, precision=partitions.layout.dtype)
    gaps = np.flatnonzero(values[n_signal + 1 : rank] * MAX_GAP < values[n_signal:rank][:-1])
    return NoiseRank(rank, n_signal + int(gaps[0]) + 1 if len(gaps) else rank)


def _is_regular(covariance: Array) -> bool:
    """Return whether no eigenvalue is far below the others, as a Cholesky factor shows in a tenth of the time."""
    variances = np.diag(covariance)
    typical = float(np.median(variances))
    if variances.min() * MAX_GAP < typical:
        return False
    try:
        np.linalg.cholesky(covariance - typical / MAX_GAP**2 * np.eye(len(covariance)))
    except np.linalg.LinAlgError:
        return False
    return True


class FeatureSums(NamedTuple):
    """Sums of centered samples for each feature."""

    squares: Array  # (d,)
    combinations: Array  # (d, 3)


def _combine(partition: SamplePartition, center: Array, seed: int) -> FeatureSums:
    """Sum centered samples with random weights, in double precision so that equal features stay equal."""
    X: Any = partition.samples
    is_sparse = sp.issparse(X)
    weights = np.random.default_rng([seed, partition.first]).standard_normal((X.shape[0], N_COMBINATIONS))

    def work(rows: slice) -> FeatureSums:
        part = X[rows].astype(np.float64)
        if is_sparse:
            total, squares = np.asarray(part.sum(axis=0)).ravel(), np.asarray(part.multiply(part).sum(axis=0)).ravel()
            squares = squares - 2 * center * total + part.shape[0] * center**2
            return FeatureSums(squares, part.T @ weights[rows] - np.outer(center, weights[rows].sum(axis=0)))
        part = part - center
        return FeatureSums(np.einsum("ij,ij->j", part, part), part.T @ weights[rows])

    return sum_chunks(work, row_slices(X.shape[0]))


def _count_features(sums: FeatureSums) -> int:
    """Count the features that vary, equal ones once."""
    varies = sums.squares > MIN_VARIANCE * sums.squares.mean()
    scaled = sums.combinations[varies] / np.sqrt(sums.squares[varies, None])
    scaled *= np.where(scaled[:, :1] < 0, -1, 1)
    return len(np.unique(np.round(scaled, DIGITS), axis=0))
