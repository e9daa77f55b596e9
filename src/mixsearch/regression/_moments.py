"""Moments of mixtures of linear regressions: y = ⟨x, μᵢ⟩ + bᵢ + noise, with x standard normal once standardized."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression._design import Design, StandardizedPartition, standardize
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._replicates import (
    replicate_hint_shifts,
    replicate_moments,
    replicate_residuals,
    weight_function,
)

# A noise variance from moments is at least this fraction of the variance that the regression explains.
MIN_NOISE = 1e-3


@dataclass(frozen=True)
class RegressionPartition(Partition):
    """Samples of a mixture of regressions with their coordinates in the frame."""

    samples: Samples  # x itself, not a copy: EM and the jackknife read it, (n, d)
    responses: Array  # t = y - offset, (n,)
    projected: Array  # Y = ZW, (n, k)
    residual: Array  # |z|² outside the signal space, (n,)


@dataclass(frozen=True, slots=True)
class RegressionFamily:
    """The fitted moments of a mixture of regressions."""

    frame: Frame
    design: Design
    offset: float  # subtracted from y
    mean: Array  # W'm, (k,)
    cross_moment: Array  # W'E[t²x], (k,): twice the intercepts below, before they are centered
    intercepts: Array  # W'Σ αᵢbᵢμᵢ, (k,)
    energies: Array  # W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ, (k,)
    linear: float  # 3 E[t²], the coefficient of t in the weight function; 0 for the paper's third power
    noise_level: float  # t2 / 2, the level above which eigenvalues are signal
    partitions: Partitions[RegressionPartition]
    fit_intercept: bool = True
    n_hints: ClassVar[int] = 1
    n_components: int = 0  # may exceed the number of coordinates: then the frame is the whole space
    n_fitted: int = 0  # the dimension of the signal space at fit, to which `noise_level` and `residual` refer
    power: float = 0.0  # E[t²]

    @property
    def has_moments(self) -> bool:
        """Whether moments can separate the components: their coefficients may be linearly independent."""
        return self.n_components <= self.frame.n_components

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
        """Contract the third moment with a hint in the frame."""
        third, first = self.partitions.reduce(_hinted_sums, hint, self.linear)
        return self.correct(third / self.partitions.n_rows, first / self.partitions.n_rows, hint)

    def correct(self, third: Array, first: Array, hint: Array) -> Hinted:
        """Return the hinted moment from W'E[f(y)⟨x, v⟩xx']W, (k, k), and W'E[f(y)x], (k,).

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
        """Contract the third moment with all columns of a basis, (k, q) -> (q, q, q)."""
        third, first = self.partitions.reduce(_tensor_sums, basis, self.linear)
        return self.correct_tensor(third / self.partitions.n_rows, first / self.partitions.n_rows, basis)

    def correct_tensor(self, third: Array, first: Array, basis: Array) -> Array:
        """Return the third moment from W'E[f(y) x⊗x⊗x]W, (q, q, q), and W'E[f(y)x], (q,), in a basis."""
        identity = (basis.T * self.frame.spread) @ basis
        return np.asarray((third - symmetrize(np.multiply.outer(identity, first))) / 6)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn."""
        return replicate_moments(self, hint)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, (r, B), up to vectors of the signal space."""
        return replicate_residuals(self, direction)

    def hint_shifts(self, hint: Array) -> Array:
        """Return how the coordinates of a direction shift with the frame of all samples but one group, (B, k)."""
        return replicate_hint_shifts(self, hint)

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
            partitions=self.partitions.map(_take_coordinates, k),
        )

    def to_mixture(self, candidates: Candidates) -> RegressionMixture:
        """Return the parameters of all candidates, for standardized x.

        Notes
        -----
        ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level. Without intercepts, it is the value at the mean of x of a regression
        through zero. ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ gives the noise variance.
        """
        slopes = self.frame.unwhiten(candidates.points)
        levels = candidates.points.T @ self.intercepts
        if not self.fit_intercept:
            levels = self.design.center @ self.design.to_coefficients(slopes) - self.offset
        explained = np.sum(slopes**2, axis=0)
        noise = candidates.points.T @ self.energies - explained - levels**2
        return RegressionMixture(slopes, levels, np.maximum(noise, MIN_NOISE * explained), candidates.weights)


class ThirdSums(NamedTuple):
    """Sums over samples of third order in their coordinates, and of first."""

    third: Array  # Σ f(t)⟨y, c⟩yy', (k, k), or Σ f(t) y⊗y⊗y, (q, q, q)
    first: Array  # Σ f(t)y, (k,)


def _hinted_sums(partition: RegressionPartition, hint: Array, linear: float) -> ThirdSums:
    def sum_rows(rows: slice) -> ThirdSums:
        Y = partition.projected[rows].astype(np.float64, copy=False)
        f = weight_function(partition.responses[rows], linear)
        return ThirdSums((Y * (f * (Y @ hint))[:, None]).T @ Y, f @ Y)

    return sum_chunks(sum_rows, row_slices(len(partition.projected)))


def _tensor_sums(partition: RegressionPartition, basis: Array, linear: float) -> ThirdSums:
    Y, f = partition.projected @ basis, weight_function(partition.responses, linear)
    return ThirdSums(sum_cubes(Y, Y, f), f @ Y)


def _take_coordinates(partition: RegressionPartition, k: int) -> RegressionPartition:
    return replace(partition, projected=partition.projected[:, :k])


def fit_regression(
    partitions: Partitions[SamplePartition], n_components: int, *, design: str, intercept: bool, paper: bool, seed: int
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Parameters
    ----------
    partitions : Partitions
        Samples of shape (n, d), with responses.
    n_components : int
        k. Moments separate at most as many as x has independent coordinates.
    design : {"covariance", "standard"}
        Standardize X by its own mean and covariance, or take it as standard normal already.
    intercept : bool
        Subtract the mean from y, and estimate an intercept for each component.
    paper : bool
        Take the smallest eigenvalue of E[y²xx'] as t2, and plain third powers, as in the paper; otherwise the average
        of the d - k smallest, and Hermite polynomials.
    seed : int
        Seed of the eigensolver's starting block, used if the dimension is large.

    Returns
    -------
    RegressionFamily

    Notes
    -----
    E[y²xx'] = 2A + t2 I with t2 = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²]. Intercepts enter the moments only through t2
    and M, because odd moments of x are 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them.
    """
    fitted, offset, power, standardized = standardize(partitions, design, intercept=intercept)
    frame, level = _fit_frame(standardized, power, n_components, paper=paper, seed=seed)
    projected, sums = standardized.map_reduce(_project, frame)
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
    )


class SignalSpace(NamedTuple):
    """The signal space, and the level t2 / 2 above which its eigenvalues are signal."""

    frame: Frame
    noise_level: float


def _fit_frame(
    partitions: Partitions[StandardizedPartition], power: float, n_components: int, *, paper: bool, seed: int
) -> SignalSpace:
    r = partitions.n_features
    if n_components > r:
        return SignalSpace(Frame(np.eye(r), np.ones(r)), 0.0)  # the whole space: only the likelihood separates them
    if n_components == 1:
        return _frame_of_one(partitions)
    return _frame_of_many(partitions, power, n_components, paper=paper, seed=seed)


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


def _project(partition: StandardizedPartition, frame: Frame) -> tuple[RegressionPartition, ArraySum]:
    """Project samples onto the signal space, and sum ty, t²y and t³y, (3, k)."""
    Z, t = partition.samples, partition.responses
    Y = frame.whiten(Z).astype(partition.original.dtype, copy=False)
    inside = Y.astype(np.float64, copy=False)
    residual = squared_distances(Z, np.zeros(Z.shape[1])) - inside**2 @ frame.values
    powers = np.stack([t, t**2, t**2 * t])
    return RegressionPartition(partition.first, partition.original, t, Y, residual), ArraySum(powers @ inside)
