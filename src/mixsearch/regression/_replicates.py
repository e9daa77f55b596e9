"""Moments of a mixture of regressions without one group of samples at a time.

Without a group x has another mean and covariance, by which it would have been standardized. Coefficients, unlike
moments, hardly depend on which x were drawn, and standard errors must account for that. To first order in 1/B, sums
inside the signal space are enough for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.frame import project
from mixsearch.core.moments import Replicates
from mixsearch.core.second_moment import weighted_gram
from mixsearch.core.tensor import sum_cubes
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import leave_one_out, spread_over_groups
from mixsearch.regression._design import sum_centered
from mixsearch.regression._partition import RegressionPartition, weight_function

if TYPE_CHECKING:
    from mixsearch.regression._moments import RegressionFamily

# Samples that suffice for the covariance of a direction that says nothing: an order of magnitude matters.
COVARIANCE_SAMPLES = 5000


class RegressionSums(NamedTuple):
    """Sums over some samples, with y their coordinates in the frame."""

    n: int
    gram: Array  # Σ yy', (k, k)
    second: Array  # Σ t²yy', (k, k)
    third: Array  # Σ f(t)⟨y, c⟩yy', (k, k)
    total: Array  # Σ y, (k,)
    mean: Array  # Σ ty, (k,)
    first: Array  # Σ f(t)y, (k,)
    power: float  # Σ t²
    energy: float  # Σ t²|z|² outside the signal space
    residual: float  # Σ |z|² outside it


class FullMoments(NamedTuple):
    """Averages over all samples, on which a first-order change of the design acts."""

    tensor: Array  # R(c) for each unit vector c, (k, k, k)
    intercept_second: Array  # Σ αᵢbᵢ W'μᵢμᵢ'W, (k, k)


class FullSums(NamedTuple):
    """Sums over all samples that give their moments."""

    third: Array  # Σ f(t) y⊗y⊗y, (k, k, k)
    second: Array  # Σ f(t) yy', (k, k)
    first: Array  # Σ f(t) y, (k,)
    total: float  # Σ f(t)


def replicate_moments(family: RegressionFamily, hint: Array) -> Replicates:
    """Compute the moments of all samples but one group, for each group in turn, under a hint in the frame.

    Notes
    -----
    With δ and I + E the mean and the covariance of z without the group, coefficients are those of (z - δ)(I + E)^(-1):
    every index of a moment is multiplied by I - E, the identity in Hermite tensors becomes I + E, and the mean
    subtracts δ ⊗ (the moment of one order less). The moments lie in the signal space, so W'EW = e is enough, as in
    W'E A W = e D.
    """
    full = _full_moments(family)
    sums = leave_one_out(family.partitions, _sums, hint, family.linear)
    replicates = [_replicate(family, full, each, hint) for each in sums]
    return Replicates(*map(np.array, zip(*replicates, strict=True)))


def _sums(partition: RegressionPartition, rows: slice, hint: Array, linear: float) -> RegressionSums:
    y, t = partition.projected[rows].astype(np.float64, copy=False), partition.responses[rows]
    residual, squares, cubes = partition.residual[rows], t**2, weight_function(t, linear)
    return RegressionSums(
        n=len(y),
        gram=y.T @ y,
        second=(y * squares[:, None]).T @ y,
        third=(y * (cubes * (y @ hint))[:, None]).T @ y,
        total=y.sum(axis=0),
        mean=t @ y,
        first=cubes @ y,
        power=float(squares.sum()),
        energy=float(squares @ residual),
        residual=float(residual.sum()),
    )


def _full_moments(family: RegressionFamily) -> FullMoments:
    n, k = family.partitions.n_rows, family.frame.n_components
    third, second, first, total = family.partitions.reduce(_full_sums, family.linear)
    intercept_second = second / n - total / n * np.diag(family.frame.spread)
    return FullMoments(family.correct_tensor(third / n, first / n, np.eye(k)), intercept_second / 6)


def _full_sums(partition: RegressionPartition, linear: float) -> FullSums:
    Y, f = partition.projected, weight_function(partition.responses, linear)
    return FullSums(sum_cubes(Y, Y, f), weighted_gram(Y, f), f @ Y, float(f.sum()))


def _replicate(
    family: RegressionFamily, full: FullMoments, sums: RegressionSums, hint: Array
) -> tuple[Array, Array, Array]:
    """Return W'AW, W'BW and W'm from the sums over some samples."""
    n, D, noise_gram = sums.n, family.frame.values, np.diag(family.frame.spread)
    is_estimated = family.design.whitener is not None
    e = sums.gram / n - noise_gram if is_estimated else np.zeros_like(noise_gram)
    delta = sums.total / n if is_estimated else np.zeros_like(hint)
    noise_gram = noise_gram + e
    mean = sums.mean / n - e @ (D * family.mean)
    if family.n_fitted == 1:  # A = mm'
        return np.outer(mean, mean), np.eye(1), mean
    second = sums.second / (2 * n) - _add_transpose(np.outer(delta, family.cross_moment)) / 2 - _add_transpose(e * D)
    first = sums.first / n
    third = sums.third / n - _add_transpose(np.outer(first, noise_gram @ hint)) - (first @ hint) * noise_gram
    design_change = _design_change(full, e * D, D * (e @ hint), delta, hint)
    return second - _noise_level(family, sums, is_estimated) * noise_gram, third / 6 - design_change, mean


def _design_change(full: FullMoments, scaled: Array, moved_hint: Array, delta: Array, hint: Array) -> Array:
    """Return how another mean and covariance of x change the hinted moment, (k, k), to first order."""
    hinted = np.tensordot(hint, full.tensor, axes=1)
    change = _add_transpose(np.outer(delta, full.intercept_second @ hint)) + (delta @ hint) * full.intercept_second
    change += _add_transpose(scaled @ hinted) + np.tensordot(moved_hint, full.tensor, axes=1)
    return np.asarray(change)


def _add_transpose(matrix: Array) -> Array:
    return np.asarray(matrix + matrix.T)


def _noise_level(family: RegressionFamily, sums: RegressionSums, is_estimated: bool) -> float:
    """Estimate t2 / 2 from some samples."""
    n_noise = family.design.n_coordinates - family.n_fitted
    if n_noise == 0:
        return sums.power / sums.n / 2
    energy = sums.energy / sums.n / 2
    if is_estimated:
        energy -= family.noise_level * (sums.residual / sums.n - n_noise)
    return energy / n_noise


class ContributionTerms(NamedTuple):
    """Terms of the contribution of a sample to A W, besides the sample itself."""

    values: Array  # D, (k,)
    noise_level: float  # t2 / 2
    average: Array | None  # of t²y/2, (k,), if x was standardized by its own moments
    is_single: bool  # whether one regression was fitted: then A = mm'


def _contribution_terms(family: RegressionFamily) -> ContributionTerms:
    average = None if family.design.whitener is None else family.cross_moment / 2
    return ContributionTerms(family.frame.values, family.noise_level, average, family.n_fitted == 1)


def _contributions(partition: RegressionPartition, terms: ContributionTerms) -> Array:
    """Return weights of samples, (n, k), with which Σ z w' is A W up to vectors of the signal space."""
    Y, t, D = partition.projected.astype(np.float64, copy=False), partition.responses[:, None], terms.values
    if terms.is_single:
        return np.asarray(t - Y * D)
    squares = t**2 * Y / 2
    return squares if terms.average is None else squares - Y * (terms.noise_level + D) - terms.average


def replicate_residuals(family: RegressionFamily, direction: Array) -> Array:
    """Compute A W u of all samples but one group, (r, B), up to vectors of the signal space."""
    design, n_groups = family.design, family.partitions.n_groups
    sums = family.partitions.reduce(
        _contributions_by_group, _contribution_terms(family), direction, design.center, n_groups
    )
    return _average_without_group(design.standardize_sums(sums.total).T, family).T


def _contributions_by_group(
    partition: RegressionPartition, terms: ContributionTerms, direction: Array, center: Array, n_groups: int
) -> ArraySum:
    weights = spread_over_groups(partition, _contributions(partition, terms) @ direction, n_groups)
    return ArraySum(sum_centered(partition.samples, center, weights))


def replicate_hint_shifts(family: RegressionFamily, hint: Array) -> Array:
    """Return how a hint v for standardized x shifts with the frame of all samples but one group, (B, k).

    Notes
    -----
    W'A v⊥ is 0 for all samples together, where v⊥ is the part of v outside the signal space; without a group it is not.
    """
    design, n_groups = family.design, family.partitions.n_groups
    residual = design.to_coefficients(family.frame.residual(hint[:, None]))
    sums = family.partitions.reduce(
        _residual_correlation, _contribution_terms(family), residual, design.center, n_groups
    )
    return _average_without_group(sums.total, family)


def coordinate_covariance(family: RegressionFamily) -> Array:
    """Return the covariance of the coordinates of a unit vector of which the components know nothing, (k, k).

    Notes
    -----
    For such a v, the product ⟨z, v⟩ is independent of everything else, so that its coordinates in the frame, averages
    of t²y⟨z, v⟩/2, differ from 0 by noise alone.
    """
    n = family.partitions.n_rows
    some = family.partitions.thin(max(n // COVARIANCE_SAMPLES, 1))
    return np.asarray(some.reduce(_contribution_gram, _contribution_terms(family)).total) / some.n_rows / n


def _contribution_gram(partition: RegressionPartition, terms: ContributionTerms) -> ArraySum:
    weights = _contributions(partition, terms)
    if terms.average is not None:  # a hint is given in the user's units: it varies with the covariance of x
        weights = weights + partition.projected * terms.values
    return ArraySum(weights.T @ weights)


def _residual_correlation(
    partition: RegressionPartition, terms: ContributionTerms, residual: Array, center: Array, n_groups: int
) -> ArraySum:
    """Sum the contributions times ⟨z, v⊥⟩ over each group, (B, k)."""
    scores = np.asarray(project(partition.samples, residual, center), dtype=np.float64)[:, 0]
    weights = _contributions(partition, terms)
    groups = [partition.rows_at(n_groups, group) for group in range(n_groups)]
    return ArraySum(np.stack([scores[rows] @ weights[rows] for rows in groups]))


def _average_without_group(sums: Array, family: RegressionFamily) -> Array:
    """Return averages over all samples but those of one group, (B, q), from the sums over each group."""
    return np.asarray((sums.sum(axis=0) - sums) / (family.partitions.n_rows * (1 - 1 / len(sums))))
