"""A fitted mixture of linear regressions: its moments, contracted with a hint and without groups of samples.

Without a group x has another mean and covariance, by which it would have been standardized. Coefficients, unlike
moments, hardly depend on which x were drawn, and standard errors must account for that. To first order in 1/B, sums
inside the signal space are enough for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import chdtrc

from mixsearch._typing import Array
from mixsearch.core.frame import Frame, project
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import weighted_gram
from mixsearch.core.tensor import rotate, sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, spread_over_groups, sums_by_group
from mixsearch.regression.design import Design, sum_centered
from mixsearch.regression.partition import (
    NormalityCheck,
    RegressionPartition,
    hinted_sums,
    take_coordinates,
    tensor_sums,
    weight_function,
)

# Samples that suffice for the covariance of a direction that says nothing: an order of magnitude matters.
COVARIANCE_SAMPLES = 5000
# Up to this many coordinates in the frame, and numbers in the sums over groups, sums that serve every hint are kept.
MAX_COORDINATES, MAX_SUMS = 12, 2_000_000


class RegressionSums(NamedTuple):
    """Sums over each of some groups of samples, with y their coordinates in the frame."""

    n: Array  # (B,)
    gram: Array  # Σ yy', (B, k, k)
    second: Array  # Σ t²yy', (B, k, k)
    third: Array  # Σ f(t)⟨y, c⟩yy' for each of m hints c, (B, m, k, k)
    total: Array  # Σ y, (B, k)
    mean: Array  # Σ ty, (B, k)
    first: Array  # Σ f(t)y, (B, k)
    power: Array  # Σ t², (B,)
    energy: Array  # Σ t²|z|² outside the signal space, (B,)
    residual: Array  # Σ |z|² outside it, (B,)


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
    if family.is_small:
        sums, contraction = family.group_sums, hint
    else:
        sums, contraction = sum_groups(family, hint[:, None]), np.ones(1)
    return _replicate(family, sums, np.tensordot(sums.third, contraction, axes=(1, 0)), hint)


def sum_groups(family: RegressionFamily, hints: Array) -> RegressionSums:
    """Sum over all samples but those of one group, for each group in turn, under each of some hints, (k, m)."""
    by_group = sums_by_group(family.partitions, _sums, hints, family.linear)
    return RegressionSums(*(field.sum(axis=0) - field for field in by_group))


def _sums(partition: RegressionPartition, rows: slice, hints: Array, linear: float) -> RegressionSums:
    y, t = partition.projected[rows].astype(np.float64, copy=False), partition.responses[rows]
    residual, squares, cubes = partition.residual[rows], t**2, weight_function(t, linear)
    return RegressionSums(
        n=np.asarray(len(y)),
        gram=y.T @ y,
        second=(y * squares[:, None]).T @ y,
        third=np.stack([(y * each[:, None]).T @ y for each in cubes * (y @ hints).T]),
        total=y.sum(axis=0),
        mean=t @ y,
        first=cubes @ y,
        power=squares.sum(),
        energy=squares @ residual,
        residual=residual.sum(),
    )


def full_moments(family: RegressionFamily) -> FullMoments:
    """Compute the moments of all samples on which a first-order change of the design acts."""
    n, k = family.partitions.n_rows, family.frame.n_components
    third, second, first, total = family.partitions.reduce(_full_sums, family.linear)
    intercept_second = second / n - total / n * np.diag(family.frame.spread)
    return FullMoments(family.correct_tensor(third / n, first / n, np.eye(k)), intercept_second / 6)


def _full_sums(partition: RegressionPartition, linear: float) -> FullSums:
    Y, f = partition.projected, weight_function(partition.responses, linear)
    return FullSums(sum_cubes(Y, Y, f), weighted_gram(Y, f), f @ Y, float(f.sum()))


def _replicate(family: RegressionFamily, sums: RegressionSums, hinted: Array, hint: Array) -> Replicates:
    """Return W'AW, W'BW and W'm from the sums over some samples, and those under the hint, (B, k, k)."""
    rows, matrices = sums.n[:, None], sums.n[:, None, None]
    D, noise_gram = family.frame.values, np.diag(family.frame.spread)
    is_estimated = family.design.whitener is not None
    e = sums.gram / matrices - noise_gram if is_estimated else np.zeros_like(sums.gram)
    delta = sums.total / rows if is_estimated else np.zeros_like(sums.total)
    noise_gram = noise_gram + e
    mean = sums.mean / rows - e @ (D * family.mean)
    if family.n_fitted == 1:  # A = mm'
        return Replicates(_outer(mean, mean), np.ones_like(e), mean)
    second = sums.second / (2 * matrices) - _add_transpose(_outer(delta, family.cross_moment)) / 2
    second -= _add_transpose(e * D) + _noise_level(family, sums, is_estimated)[:, None, None] * noise_gram
    first = sums.first / rows
    third = hinted / matrices - _add_transpose(_outer(first, noise_gram @ hint))
    third -= (first @ hint)[:, None, None] * noise_gram
    return Replicates(second, third / 6 - _design_change(family.full_moments, e * D, D * (e @ hint), delta, hint), mean)


def _design_change(full: FullMoments, scaled: Array, moved_hint: Array, delta: Array, hint: Array) -> Array:
    """Return how another mean and covariance of x change the hinted moment, (B, k, k), to first order."""
    hinted = np.tensordot(hint, full.tensor, axes=1)
    change = _add_transpose(_outer(delta, full.intercept_second @ hint))
    change += (delta @ hint)[:, None, None] * full.intercept_second
    change += _add_transpose(scaled @ hinted) + np.tensordot(moved_hint, full.tensor, axes=1)
    return np.asarray(change)


def _outer(left: Array, right: Array) -> Array:
    """Return the outer product of each pair of rows, (B, k, k)."""
    return np.asarray(left[:, :, None] * np.atleast_2d(right)[:, None, :])


def _add_transpose(matrices: Array) -> Array:
    return np.asarray(matrices + matrices.transpose(0, 2, 1))


def _noise_level(family: RegressionFamily, sums: RegressionSums, is_estimated: bool) -> Array:
    """Estimate t2 / 2 from the samples of each sum, (B,)."""
    n_noise = family.design.n_coordinates - family.n_fitted
    if n_noise == 0:
        return sums.power / sums.n / 2
    energy = sums.energy / sums.n / 2
    if is_estimated:
        energy = energy - family.noise_level * (sums.residual / sums.n - n_noise)
    return energy / n_noise


class ContributionTerms(NamedTuple):
    """Terms of the contribution of a sample to A W, other than the sample itself."""

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
    residual = family.design.to_coefficients(family.frame.residual(hint[:, None]))[:, 0]
    if family.is_small:
        return np.asarray(np.tensordot(family.group_contributions, residual, axes=(1, 0)))
    partitions = family.partitions
    sums = partitions.reduce(
        _residual_correlation, _contribution_terms(family), residual, family.design.center, partitions.n_groups
    )
    return _average_without_group(sums.total, family)


def replicate_contributions(family: RegressionFamily) -> Array:
    """Compute the average of the contributions times x of all samples but one group, (B, d, k)."""
    partitions = family.partitions
    sums = partitions.reduce(
        _contribution_products, _contribution_terms(family), family.design.center, partitions.n_groups
    )
    return _average_without_group(sums.total, family)


def _contribution_products(
    partition: RegressionPartition, terms: ContributionTerms, center: Array, n_groups: int
) -> ArraySum:
    """Sum the contributions times x over each group, (B, d, k)."""
    weights = _contributions(partition, terms)
    groups = [partition.rows_at(n_groups, group) for group in range(n_groups)]
    return ArraySum(np.stack([sum_centered(partition.samples[rows], center, weights[rows]) for rows in groups]))


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
    scores = np.asarray(project(partition.samples, residual, center), dtype=np.float64)
    weights = _contributions(partition, terms)
    groups = [partition.rows_at(n_groups, group) for group in range(n_groups)]
    return ArraySum(np.stack([scores[rows] @ weights[rows] for rows in groups]))


def _average_without_group(sums: Array, family: RegressionFamily) -> Array:
    """Return averages over all samples but those of one group, (B, ...), from the sums over each group."""
    return np.asarray((sums.sum(axis=0) - sums) / (family.partitions.n_rows * (1 - 1 / len(sums))))


@dataclass(frozen=True)
class RegressionFamily:
    """The fitted moments of a mixture of regressions, with t = y - offset and x standardized.

    Attributes
    ----------
    frame : Frame
        The signal space, for standardized x.
    design : Design
        How x was standardized.
    offset : float
        Subtracted from y.
    mean : array of shape (k,)
        W'm.
    cross_moment : array of shape (k,)
        W'E[t²x]: twice the intercepts, before they are centered.
    intercepts : array of shape (k,)
        W'Σ αᵢbᵢμᵢ.
    energies : array of shape (k,)
        W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ.
    linear : float
        The coefficient 3 E[t²] of t in the weight function; 0 for the paper's third power.
    noise_level : float
        t2 / 2, the level above which eigenvalues are signal.
    partitions : Partitions
        The samples, with their coordinates in the frame.
    fit_intercept : bool
        Whether every component has its own intercept.
    n_components : int
        k. If it exceeds the number of coordinates, the frame is the whole space.
    n_fitted : int
        The dimension of the signal space at fit, to which `noise_level` refers.
    power : float
        E[t²].
    normality : NormalityCheck, optional
        Whether x is normal; None for the paper's moments, which take it for granted, and for a single regression.
    has_frame : bool
        Whether the second moment shows a direction for every component; if not, the frame is the whole space.
    """

    frame: Frame
    design: Design
    offset: float
    mean: Array
    cross_moment: Array
    intercepts: Array
    energies: Array
    linear: float
    noise_level: float
    partitions: Partitions[RegressionPartition]
    fit_intercept: bool = True
    n_hints: ClassVar[int] = 1
    n_components: int = 0
    n_fitted: int = 0
    power: float = 0.0
    normality: NormalityCheck | None = None
    has_frame: bool = True

    @property
    def is_normal(self) -> bool:
        """Whether x is normal enough for moments."""
        return self.normality is None or self.normality.is_normal

    @property
    def has_moments(self) -> bool:
        """Whether moments can separate the components: their coefficients may be linearly independent."""
        return self.has_frame and self.n_components <= self.frame.n_components

    @property
    def is_small(self) -> bool:
        """Whether sums that serve every hint are kept once they are computed."""
        k = self.frame.n_components
        return k <= MAX_COORDINATES and self.partitions.n_groups * k * self.partitions.n_features <= MAX_SUMS

    @cached_property
    def full_moments(self) -> FullMoments:
        """The moments that the jackknife changes to first order."""
        return full_moments(self)

    @cached_property
    def group_sums(self) -> RegressionSums:
        """Sums over all samples but one group, for all hints."""
        return sum_groups(self, np.eye(self.frame.n_components))

    @cached_property
    def group_contributions(self) -> Array:
        """Averages over all samples but one group that give the shift of any direction, (B, d, k)."""
        return replicate_contributions(self)

    @cached_property
    def _coordinate_precision(self) -> Array:
        """The inverse covariance of the coordinates of a unit vector of which the components know nothing, (k, k)."""
        return np.linalg.pinv(coordinate_covariance(self), hermitian=True)

    @property
    def noise_variance(self) -> float:
        """The average variance of the noise, Σ αᵢσᵢ².

        Notes
        -----
        E[t²] = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), where Σ αᵢ|μᵢ|² = tr A, and Σ αᵢbᵢ² = |W'Σ αᵢbᵢμᵢ|² because the vectors √αᵢW'μᵢ
        are orthonormal.
        """
        return max(self.power - float(self.frame.values.sum() + self.intercepts @ self.intercepts), 0.0)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint."""
        third, first = self.partitions.reduce(hinted_sums, hint, self.linear)
        return self.correct(third / self.partitions.n_rows, first / self.partitions.n_rows, hint)

    def contract_again(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint, from what is kept of it."""
        if not self.is_small:
            return self.hinted(hint)
        return Hinted(np.tensordot(hint, self.full_moments.tensor, axes=1), self.mean, hint)

    def correct(self, third: Array, first: Array, hint: Array) -> Hinted:
        """Return the hinted moment from W'E[f(y)⟨x, v⟩xx']W, (k, k), W'E[f(y)x], (k,), and the hint in the frame, (k,).

        Notes
        -----
        6B = E[f(y)⟨x, v⟩xx'] - M v' - v M' - ⟨M, v⟩I with M = E[f(y) x]: the third Hermite tensor of x against f(y).
        The paper has f(y) = y³. That tensor has expectation 0 against y itself, so any multiple of y may be subtracted
        to lower the variance; with 3 E[y²] y, f is the third Hermite polynomial of y.
        """
        spread = self.frame.spread
        cross = np.outer(first, spread * hint)
        matrix = third - cross - cross.T - (first @ hint) * np.diag(spread)
        return Hinted(matrix / 6, self.mean, hint)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q), to (q, q, q)."""
        if self.is_small:
            return rotate(self.full_moments.tensor, basis)
        third, first = self.partitions.reduce(tensor_sums, basis, self.linear)
        return self.correct_tensor(third / self.partitions.n_rows, first / self.partitions.n_rows, basis)

    def correct_tensor(self, third: Array, first: Array, basis: Array) -> Array:
        """Return the third moment from E[f(y) x⊗x⊗x], (q, q, q), and E[f(y) x], (q,), in a basis, (k, q)."""
        identity = (basis.T * self.frame.spread) @ basis
        return np.asarray((third - symmetrize(np.multiply.outer(identity, first))) / 6)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn."""
        return replicate_moments(self, hint)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, up to vectors of the signal space."""
        return replicate_residuals(self, direction)

    def hint_shifts(self, hint: Array) -> Array:
        """Return how the coordinates of a hint shift with the frame of all samples but one group."""
        return replicate_hint_shifts(self, hint)

    def information_p_value(self, hint: Array) -> float:
        """Test whether a direction is informative."""
        c = self.frame.project_hint(hint)
        return float(chdtrc(len(c), c @ self._coordinate_precision @ c / (hint @ hint)))

    def thin(self, step: int) -> RegressionFamily:
        """Return the same fit with every `step`-th sample only."""
        return replace(self, partitions=self.partitions.thin(step))

    def take(self, n_components: int) -> RegressionFamily:
        """Return the same fit with the first components only."""
        k = n_components
        return replace(
            self,
            n_components=k,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            cross_moment=self.cross_moment[:k],
            intercepts=self.intercepts[:k],
            energies=self.energies[:k],
            partitions=self.partitions.map(take_coordinates, k),
        )
