"""Moments of mixtures of linear regressions: y = ⟨x, μᵢ⟩ + bᵢ + noise, with x standard normal once standardized."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import f as f_distribution

from mixsearch._typing import Array
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.regression.design import Standardized, StandardizedPartition, standardize
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.partition import check_normality, project_onto


def fit_regression(
    partitions: Partitions[SamplePartition],
    n_components: int,
    *,
    design: str,
    intercept: bool,
    paper: bool,
    seed: int,
    standardized: Standardized | None = None,
    has_frame: bool = True,
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Notes
    -----
    E[y²xx'] = 2A + t2 I with t2 = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²]. Intercepts enter the moments only through t2
    and M, because odd moments of x are 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them.
    """
    fitted, offset, power, samples = standardized or standardize(partitions, design, intercept=intercept)
    frame, level = (
        fit_frame(samples, power, n_components, paper=paper, seed=seed)
        if has_frame
        else whole_space(samples.n_features)
    )
    projected, sums = samples.map_reduce(project_onto, frame)
    mean, cross_moment, energies = sums.total / partitions.n_rows
    intercepts = cross_moment / 2
    if intercept and mean.any():
        # y is centered, so the intercepts average to zero: Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0. So must their estimate.
        intercepts = intercepts - mean * (mean @ intercepts) / (mean @ mean)
    return RegressionFamily(
        frame=frame,
        design=fitted,
        offset=offset,
        mean=mean,
        cross_moment=cross_moment,
        intercepts=intercepts,
        energies=energies / 3,
        linear=0.0 if paper else 3 * power,
        noise_level=level,
        partitions=replace(projected, layout=partitions.layout),
        fit_intercept=intercept,
        n_components=n_components,
        n_fitted=frame.n_components,
        power=power,
        # Least squares, for a single regression, takes any x.
        normality=None if paper or n_components == 1 else check_normality(projected, frame),
        has_frame=has_frame,
    )


def explained_p_value(family: RegressionFamily) -> float:
    """Return how often a single regression would explain as much of a y that does not depend on x: the F-test."""
    n, r = family.partitions.n_rows, family.design.n_coordinates
    n_free = n - r - 1
    if n_free < 1 or not family.power > 0:
        return 1.0
    explained = min(float(family.frame.values[0]) / family.power, 1.0)
    return float(f_distribution.sf(explained / r / max((1 - explained) / n_free, np.finfo(float).tiny), r, n_free))


class SignalSpace(NamedTuple):
    """The signal space, and the level t2 / 2 above which its eigenvalues are signal."""

    frame: Frame
    noise_level: float


def fit_frame(
    partitions: Partitions[StandardizedPartition], power: float, n_components: int, *, paper: bool, seed: int
) -> SignalSpace:
    """Find the signal space of standardized samples."""
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
