"""Mixtures of linear regressions: y = ⟨x, μᵢ⟩ + bᵢ + noise, with x standard normal after its design is undone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression._design import Design, fit_design, refuse_constant
from mixsearch.regression._replicates import (
    leave_regressions_out,
    regression_hint_shifts,
    regressions_outside,
    weight_function,
)


class Lines(NamedTuple):
    """All regressions of a mixture, t = ⟨z, slope⟩ + level + noise, for a standardised z."""

    slopes: Array  # (r, k)
    levels: Array  # (k,)
    variances: Array  # of the noise, (k,)
    weights: Array  # (k,)

    def with_first(self, place: int) -> Lines:
        """The same with one of them moved to the front."""
        order = np.argsort(np.arange(len(self.levels)) != place, kind="stable")
        return Lines(self.slopes[:, order], self.levels[order], self.variances[order], self.weights[order])

    def odds(self, predicted: Array, responses: Array) -> Array:
        """The probability of each regression that all samples are of it, (k,), from what its slope predicts, (n, k)."""
        squares = np.sum((responses[:, None] - predicted - self.levels) ** 2, axis=0)
        weights = np.maximum(self.weights, np.finfo(np.float64).tiny)
        logs = np.log(weights) - 0.5 * (squares / self.variances + len(responses) * np.log(self.variances))
        return np.asarray(softmax(logs))


@dataclass(frozen=True)
class RegressionPartition(Partition):
    """Samples of a mixture of regressions, seen in its signal space."""

    samples: Samples  # x itself, not a copy: likelihood steps and error bars read it, (n, d)
    responses: Array  # t = y - offset, (n,)
    projected: Array  # Y = ZW, (n, k)
    beside: Array  # |z|² outside the signal space, (n,)


@dataclass(frozen=True, slots=True)
class RegressionFamily:
    """All that a search among regressions needs."""

    frame: Frame
    design: Design
    offset: float  # taken off y before anything else
    mean: Array  # W'm, (k,)
    leaning: Array  # W'E[t²x], (k,): twice the intercepts below, before they are made to average to zero
    intercepts: Array  # W'Σ αᵢbᵢμᵢ, (k,)
    energies: Array  # W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ, (k,)
    linear: float  # 3 E[t²], the part of t in the weight function; 0 for the plain third power that the paper has
    noise: float  # t2 / 2, the level above which eigenvalues are signal
    partitions: Partitions[RegressionPartition]
    fit_intercept: bool = True
    n_hints: ClassVar[int] = 1
    n_components: int = 0  # where they are more than x has coordinates, so that the frame holds no moments
    n_fitted: int = 0  # dimensions of the signal space before any were left out: `noise` and `beside` are of the others

    @property
    def has_moments(self) -> bool:
        """Whether moments can tell the components: their coefficients may be linearly independent."""
        return self.n_components <= self.frame.n_components

    def hinted(self, hint: Array) -> Hinted:
        """The hinted moment of a hint given in the frame."""
        third, first = self.partitions.reduce(_third, hint, self.linear)
        return self.correct(third / self.partitions.n_rows, first / self.partitions.n_rows, hint)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn."""
        return leave_regressions_out(self, hint)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, (r, B), up to vectors of the signal space."""
        return regressions_outside(self, direction)

    def hint_shifts(self, hint: Array) -> Array:
        """Return how the coordinates of a direction shift with the frame of all samples but one group, (B, k)."""
        return regression_hint_shifts(self, hint)

    def tensor(self, basis: Array) -> Array:
        """R of the columns of an orthonormal basis, (k, q), as hints in the frame, seen in that basis, (q, q, q)."""
        third, first = self.partitions.reduce(_tensor, basis, self.linear)
        return self.correct_tensor(third / self.partitions.n_rows, first / self.partitions.n_rows, basis)

    def correct_tensor(self, third: Array, first: Array, basis: Array) -> Array:
        """The same from W'E[f(y) x⊗x⊗x]W in all places, (q, q, q), and W'E[f(y)x], (q,), seen in a basis."""
        identity = (basis.T * self.frame.spread) @ basis
        return np.asarray((third - symmetrize(np.multiply.outer(identity, first))) / 6)

    def correct(self, third: Array, first: Array, hint: Array) -> Hinted:
        """The hinted moment from W'E[f(y)⟨x,v⟩xx']W, (k, k), and W'E[f(y)x], (k,).

        Notes
        -----
        6B = E[f(y)⟨x,v⟩xx'] - M v' - v M' - ⟨M, v⟩I with M = E[f(y) x]: the third Hermite tensor of x against f(y).
        The paper has f(y) = y³. That tensor has expectation 0 against y itself, so any multiple of y may be taken off
        to lower the variance; 3 E[y²] y is what makes f the third Hermite polynomial of y.
        """
        spread = self.frame.spread
        crossed = np.outer(first, spread * hint)
        matrix = third - crossed - crossed.T - (first @ hint) * np.diag(spread)
        return Hinted(matrix / 6, self.mean, hint)

    def take(self, n_components: int) -> RegressionFamily:
        """The same fit with fewer components."""
        k = n_components
        return replace(
            self,
            n_components=k,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            leaning=self.leaning[:k],
            intercepts=self.intercepts[:k],
            energies=self.energies[:k],
            partitions=self.partitions.map(_first_coordinates, k),
        )

    def lines(self, candidates: Candidates) -> Lines:
        """The regressions that the moments show.

        Notes
        -----
        ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level, or else it is what a line through zero has at the mean of x;
        ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ the noise, which is never below a thousandth of what the line explains.
        """
        slopes = self.frame.unwhiten(candidates.points)
        levels = candidates.points.T @ self.intercepts
        if not self.fit_intercept:
            levels = self.design.center @ self.design.coefficients(slopes) - self.offset
        explained = np.sum(slopes**2, axis=0)
        noise = candidates.points.T @ self.energies - explained - levels**2
        return Lines(slopes, levels, np.maximum(noise, 1e-3 * explained), candidates.weights)

    def thin(self, step: int) -> RegressionFamily:
        """The same fit with every so many-th sample only."""
        return replace(self, partitions=self.partitions.thin(step))


class Third(NamedTuple):
    """Sums over samples of third order in their coordinates, and of first."""

    third: Array  # Σ f(t)⟨y, c⟩yy', (k, k), or Σ f(t) y⊗y⊗y, (k, k, k)
    first: Array  # Σ f(t)y, (k,)


def _third(partition: RegressionPartition, hint: Array, linear: float) -> Third:
    def work(rows: slice) -> Third:
        Y, f = (
            partition.projected[rows].astype(np.float64, copy=False),
            weight_function(partition.responses[rows], linear),
        )
        return Third((Y * (f * (Y @ hint))[:, None]).T @ Y, f @ Y)

    return sum_chunks(work, row_slices(len(partition.projected)))


def _tensor(partition: RegressionPartition, basis: Array, linear: float) -> Third:
    Y, f = partition.projected @ basis, weight_function(partition.responses, linear)
    return Third(sum_cubes(Y, Y, f), f @ Y)


def _first_coordinates(partition: RegressionPartition, k: int) -> RegressionPartition:
    return replace(partition, projected=partition.projected[:, :k])


@dataclass(frozen=True)
class StandardizedPartition(Partition):
    """Samples with their design undone."""

    samples: Samples  # z, (n, r)
    responses: Array  # t, (n,)
    given: Samples  # x, (n, d)


class Standardised(NamedTuple):
    """Samples with their design undone, and how that was done."""

    design: Design
    offset: float  # that was taken off y
    power: float  # E[t²]
    partitions: Partitions[StandardizedPartition]


def standardise(partitions: Partitions[SamplePartition], design: str, *, intercept: bool) -> Standardised:
    """Undo the design of samples, as `fit_regression` takes it."""
    n, plan = partitions.n_rows, fit_design(partitions, design)
    if not intercept:
        refuse_constant(plan)
    # Where X is centered, lines through zero no longer pass through it: y must be centered as well.
    offset = partitions.reduce(_response).total / n if intercept or design == "covariance" else 0.0
    standard, power = partitions.map_reduce(_standardised, replace(plan, unwhitener=None), offset)
    is_sparse = partitions.layout.is_sparse and plan.whitener is None
    layout = partitions.layout._replace(n_features=plan.n_coordinates, is_sparse=is_sparse)
    return Standardised(plan, offset, power.total / n, replace(standard, layout=layout))


def _response(partition: SamplePartition) -> ArraySum:
    """Σ y."""
    return ArraySum(float(np.sum(partition.responses, dtype=np.float64)))


def _standardised(partition: SamplePartition, design: Design, offset: float) -> tuple[StandardizedPartition, ArraySum]:
    """The samples with their design undone, and Σ t²."""
    responses = np.asarray(partition.responses, dtype=np.float64) - offset
    changed = StandardizedPartition(
        partition.first, design.standardise(partition.samples), responses, partition.samples
    )
    return changed, ArraySum(float(responses @ responses))


class Signal(NamedTuple):
    """The signal space, and the level t2 / 2 above which its eigenvalues are signal."""

    frame: Frame
    noise: float


def _signal_of_one(partitions: Partitions[StandardizedPartition]) -> Signal:
    """A single regression has A = mm', and m = E[yx] is far less noisy than any fourth moment."""
    m = np.asarray(partitions.reduce(_explained).total, dtype=np.float64) / partitions.n_rows
    length = float(np.linalg.norm(m))
    return Signal(frame_from_eigenpairs(np.array([length**2]), m[:, None] / (length or 1.0)), 0.0)


def _explained(partition: StandardizedPartition) -> ArraySum:
    """Σ tz."""
    return ArraySum(np.asarray(partition.samples.T @ partition.responses, dtype=np.float64))


def _signal_of_many(
    partitions: Partitions[StandardizedPartition], power: float, n_components: int, paper: bool, seed: int
) -> Signal:
    """The top eigenvectors of E[y²xx'] / 2 = A + (t2/2) I."""
    second = second_moment(partitions, _half_squares, partitions.n_rows)
    with blas_threads_for(partitions):
        values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
        smallest = -top_eigenpairs(-second, 1, seed=seed).values[0] if paper else None
    level = _noise_level(partitions, power, values, len(vectors)) if smallest is None else float(smallest)
    return Signal(frame_from_eigenpairs(values, vectors, level, precision=partitions.layout.dtype), level)


def _half_squares(partition: StandardizedPartition, n_rows: int) -> Array:
    return np.asarray(partition.responses**2 / (2 * n_rows))


def _noise_level(partitions: Partitions[StandardizedPartition], power: float, values: Array, r: int) -> float:
    """Half of t2: the average of the r - k noise eigenvalues, or E[y²], its expectation, where k = r leaves none."""
    if r == len(values):
        return power / 2
    energy = partitions.reduce(_energy).total / partitions.n_rows / 2
    return max(float(energy) - float(values.sum()), 0.0) / (r - len(values))


def _energy(partition: StandardizedPartition) -> ArraySum:
    """Σ t²|z|²."""
    r = partition.samples.shape[1]
    return ArraySum(float(partition.responses**2 @ squared_distances(partition.samples, np.zeros(r))))


def fit_regression(
    partitions: Partitions[SamplePartition], n_components: int, *, design: str, intercept: bool, paper: bool, seed: int
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d), with responses
    n_components : int
        k. Moments tell at most as many as x has independent coordinates.
    design : {"covariance", "standard"}
        Standardise X by its own mean and covariance, or take it as standard normal already.
    intercept : bool
        Take the mean off y, and estimate an intercept for each component.
    paper : bool
        Take the smallest eigenvalue of E[y²xx'] as t2, as in the paper, rather than the average of the d - k smallest.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.

    Notes
    -----
    E[y²xx'] = 2A + t2 I with t2 = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²]. Intercepts enter no moment but through t2
    and M, since all that is odd in x has expectation 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them back.
    """
    plan, offset, power, standard = standardise(partitions, design, intercept=intercept)
    n, r = standard.shape
    if n_components > r:
        frame, level = Frame(np.eye(r), np.ones(r)), 0.0  # the whole space: likelihood alone tells so many apart
    elif n_components == 1:
        frame, level = _signal_of_one(standard)
    else:
        frame, level = _signal_of_many(standard, power, n_components, paper, seed)
    projected, sums = standard.map_reduce(_projected, frame)
    mean, leaning, energies = sums.total / n
    intercepts = leaning / 2
    if intercept and mean.any():
        # Around the mean of y the intercepts average to zero, Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0: so must the estimate.
        intercepts = intercepts - mean * (mean @ intercepts) / (mean @ mean)
    return RegressionFamily(
        frame=frame,
        design=plan,
        offset=offset,
        mean=mean,
        leaning=leaning,
        intercepts=intercepts,
        energies=energies / 3,
        linear=0.0 if paper else 3 * power,
        noise=level,
        partitions=replace(projected, layout=partitions.layout),
        fit_intercept=intercept,
        n_components=n_components,
        n_fitted=frame.n_components,
    )


def _projected(partition: StandardizedPartition, frame: Frame) -> tuple[RegressionPartition, ArraySum]:
    """Samples in the signal space, and Σ ty, Σ t²y, Σ t³y, (3, k)."""
    Z, t = partition.samples, partition.responses
    Y = frame.whiten(Z).astype(partition.given.dtype, copy=False)
    inside = Y.astype(np.float64, copy=False)
    beside = squared_distances(Z, np.zeros(Z.shape[1])) - inside**2 @ frame.values
    powers = np.stack([t, t**2, t**2 * t])
    return RegressionPartition(partition.first, partition.given, t, Y, beside), ArraySum(powers @ inside)
