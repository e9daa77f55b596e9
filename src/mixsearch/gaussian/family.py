"""Moments of a Gaussian mixture with spherical covariances, and the family that a search works with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame, project
from mixsearch.core.moments import Hinted, Moments, Replicates
from mixsearch.core.noise_edge import MIN_NOISE, SignalCheck
from mixsearch.core.second_moment import (
    WeightedSums,
    centered_sums,
    rescale,
    second_moment,
    squared_distances,
    symmetric_operator,
    weighted_gram,
    weighted_sums,
)
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, Partitions, leave_one_out, spread_over_groups
from mixsearch.errors import SearchWarning


@dataclass(frozen=True)
class GaussianPartition(Partition):
    """Samples of a Gaussian mixture with their coordinates in the frame."""

    samples: Samples  # x itself, not a copy: EM and the jackknife read it, (n, d)
    projected: Array  # Y = XW, (n, k)
    energy: Array  # squared residual per direction of the noise space, (n,): averages to the noise variance
    residual: Array  # squared residual in the whole noise space, (n,)


@dataclass(frozen=True, slots=True)
class NoiseSpace:
    """The directions outside the signal space, in which samples are noise alone."""

    signal: Array  # basis of the signal space, (d, q), orthonormal columns
    origin: Array  # (d,)
    n_dims: int  # the number of directions in which samples vary

    def with_more(self, n_dims: int) -> NoiseSpace:
        """Return the noise space with the last directions of the signal space added to it."""
        n_signal = self.signal.shape[1] - n_dims
        return replace(self, signal=self.signal[:, :n_signal], n_dims=self.n_dims + n_dims)

    def squares(self, X: Samples) -> Array:
        """Return the squared distance of samples from the origin in these directions, (n,)."""
        Z = project(X, self.signal, self.origin)
        return np.asarray(np.maximum(squared_distances(X, self.origin) - np.einsum("ij,ij->i", Z, Z), 0))


class GaussianSums(NamedTuple):
    """Sums over some samples."""

    n: int
    total: Array  # Σ y, (k,)
    squares: Array  # Σ yy', (k, k)
    third: Array  # Σ ⟨y, c⟩yy', (k, k)
    energy: float  # Σ e
    energy_mean: Array  # Σ e y, (k,)


def hinted_sum(partition: GaussianPartition, hint: Array) -> ArraySum:
    """Sum ⟨y, c⟩yy'."""
    return ArraySum(weighted_gram(partition.projected, partition.projected @ hint))


def hint_scores(partition: GaussianPartition, hint: Array) -> Array:
    """Return ⟨x, v⟩."""
    return np.asarray(partition.samples @ hint)


def noise_sum(partition: GaussianPartition) -> ArraySum:
    """Sum e x, (d,)."""
    return ArraySum(np.asarray(partition.samples.T @ partition.energy, dtype=np.float64))


def tensor_sum(partition: GaussianPartition, basis: Array) -> ArraySum:
    """Sum y⊗y⊗y in the coordinates of a basis, (q, q, q)."""
    Y = partition.projected @ basis
    return ArraySum(sum_cubes(Y, Y, np.ones(len(Y))))


def all_sums(partition: GaussianPartition, rows: slice, hint: Array) -> GaussianSums:
    """Compute all sums that the moments need, over some rows of a partition."""
    Y, energy = partition.projected[rows].astype(np.float64, copy=False), partition.energy[rows]
    third = (Y * (Y @ hint)[:, None]).T @ Y
    return GaussianSums(len(Y), Y.sum(axis=0), Y.T @ Y, third, energy.sum(), energy @ Y)


def residual_correlation(partition: GaussianPartition, rows: slice, residual: Array, offset: float) -> ArraySum:
    """Sum ⟨x - m, v⟩y for a v outside the signal space."""
    scores = np.asarray(partition.samples[rows] @ residual) - offset
    return ArraySum(scores @ partition.projected[rows])


def group_sums(partition: GaussianPartition, direction: Array, n_groups: int) -> WeightedSums:
    """Sum ⟨y, u⟩x for each group of the jackknife."""
    return weighted_sums(partition.samples, spread_over_groups(partition, partition.projected @ direction, n_groups))


def take_coordinates(partition: GaussianPartition, k: int, dropped: Array) -> GaussianPartition:
    """Keep k coordinates; the others, with their eigenvalues, become part of the noise space."""
    Y = partition.projected
    residual = partition.residual + np.square(Y[:, k:]) @ dropped
    return replace(partition, projected=Y[:, :k], residual=residual)


@dataclass(frozen=True, slots=True)
class GaussianFamily:
    """The fitted moments of a Gaussian mixture. Only the frame and the mean grow with the dimension.

    Attributes
    ----------
    frame : Frame
        The signal space.
    mean : array of shape (k,)
        W'm.
    noise_variance : float
        s2, the average variance Σ αᵢσᵢ².
    noise_mean : array of shape (k,)
        W'm~, with m~ = Σ αᵢσᵢ²μᵢ.
    noise_square : array of shape (k,)
        E[e y²], the noise variance weighted by the square of each coordinate.
    sample_mean : array of shape (d,)
        m.
    partitions : Partitions
        The samples, with their coordinates in the frame.
    noise : NoiseSpace
        The directions outside the signal space.
    check : SignalCheck, optional
        Which eigenvalues exceed the noise; None for the paper's moments.
    unit_ratio : float, optional
        How much the deviations of features differ, if that makes the components look elongated.
    """

    frame: Frame
    mean: Array
    noise_variance: float
    noise_mean: Array
    noise_square: Array
    sample_mean: Array
    partitions: Partitions[GaussianPartition]
    noise: NoiseSpace
    check: SignalCheck | None = None
    unit_ratio: float | None = None
    n_hints: ClassVar[int] = 1

    @property
    def n_components(self) -> int:
        """The number of components of the fit."""
        return self.frame.n_components

    @property
    def doubts(self) -> tuple[SearchWarning, ...]:
        """The reasons to doubt this number of components."""
        return () if self.check is None else self.check.doubts(self.n_components - 1)

    @property
    def is_paper(self) -> bool:
        """Whether the moments are the paper's, relative to zero."""
        return self.frame.origin is None

    @property
    def has_noise(self) -> bool:
        """Whether samples differ from the centers of their components by more than rounding."""
        return self.noise_variance > MIN_NOISE * float(self.frame.values[-1])

    @property
    def positive_noise(self) -> float:
        """The average variance, or a trace of one if the samples have none: densities need a positive variance."""
        return max(self.noise_variance, MIN_NOISE * float(self.frame.values[-1]))

    @property
    def has_enough_components(self) -> bool:
        """Whether no more directions stand out from the noise than the components differ in."""
        return self.check is None or self.check.n_signal < self.n_components

    @property
    def is_supported(self) -> bool:
        """Whether as many directions stand out from the noise as the components differ in."""
        return self.check is None or self.check.n_signal >= self.n_components - 1

    def supported(self) -> GaussianFamily:
        """Drop the components that do not stand out from the noise: they would only split the others."""
        return self if self.check is None or self.is_supported else self.take(self.check.n_signal + 1)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint."""
        return self.correct(self.partitions.reduce(hinted_sum, hint).total / self.partitions.n_rows, hint)

    def correct(self, third: Array, hint: Array) -> Hinted:
        """Subtract the contribution of the noise from a contracted third moment.

        Notes
        -----
        B = E[⟨x, v⟩xx'] - m~v' - vm~' - ⟨m~, v⟩I. With v in the signal space, W'v = W'W c, where W'W is diagonal, and
        ⟨m~, v⟩ = ⟨W'm~, c⟩, so that the samples enter through Y alone.
        """
        spread = self.frame.spread
        cross = np.outer(self.noise_mean, spread * hint)
        matrix = third - cross - cross.T - (self.noise_mean @ hint) * np.diag(spread)
        return Hinted(matrix, self.mean, hint)

    def whole_moments(self, hint: Array) -> Moments:
        """Return the paper's moments in the whole space."""
        n, d = self.partitions.n_rows, len(hint)
        noise_mean = self.partitions.reduce(noise_sum).total / n
        third = second_moment(self.partitions, hint_scores, hint / n)
        level = self.noise_variance * np.ones(d)
        second = rescale(
            second_moment(self.partitions), scale=1.0, metric=np.ones(d), diagonal=level, direction=np.zeros(d)
        )

        def apply(Q: Array) -> Array:
            cross = np.outer(noise_mean, hint @ Q) + np.outer(hint, noise_mean @ Q)
            return np.asarray(third @ Q - cross - (noise_mean @ hint) * Q)

        return Moments(self.sample_mean, second, symmetric_operator(d, np.float64, apply), hint)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q), to (q, q, q)."""
        third, identity = self.partitions.reduce(tensor_sum, basis).total, (basis.T * self.frame.spread) @ basis
        noise = symmetrize(np.multiply.outer(identity, self.noise_mean @ basis))
        return np.asarray(third / self.partitions.n_rows - noise)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments under a hint in the frame, (k,), of all samples but one group, for each group in turn."""
        replicates = [self._replicate(sums, hint) for sums in leave_one_out(self.partitions, all_sums, hint)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _replicate(self, sums: GaussianSums, hint: Array) -> tuple[Array, Array, Array]:
        """Return W'AW and W'BW, both (k, k), and W'm, (k,), from the sums over some samples."""
        n, total, squares, third, energy, energy_mean = sums
        partial = replace(self, noise_mean=energy_mean / n)
        second = squares / n - energy / n * np.diag(self.frame.spread)
        return second, partial.correct(third / n, hint).matrix, total / n

    def hint_shifts(self, hint: Array) -> Array:
        """Compute how the coordinates of v, (d,), change with the frame of all samples but one of B groups: (B, k).

        Notes
        -----
        The part of v outside the signal space is uncorrelated with the coordinates of all samples. Without a group it
        is correlated by E[y ⟨x - m, v⟩], so that this much more of v lies in the frame.
        """
        residual = self.frame.residual(hint[:, None])[:, 0]
        sums = leave_one_out(self.partitions, residual_correlation, residual, float(self.sample_mean @ residual))
        return np.array([each.total for each in sums]) / self._n_left

    def information_p_value(self, hint: Array) -> float:
        """Return the p-value of the hypothesis that a direction v, (d,), is not informative.

        Notes
        -----
        If v is orthogonal to all differences of centers, its coordinates c in the frame come from the errors of the
        frame alone: E[y⟨x, v⟩] over samples, with ⟨x, v⟩ noise of variance |v|²e.
        """
        free = self.frame.spread > 0
        c = self.frame.project_hint(hint)[free]
        variance = self.noise_square[free] / self.partitions.n_rows
        rounding = 1e-18 * self.frame.values[free]  # the least variance of samples without noise
        return float(chi2.sf(np.sum(c**2 / np.maximum(variance, rounding)) / (hint @ hint), len(c)))

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u, u (k,), of all samples but one of B groups, up to vectors of the signal space: (d, B)."""
        sums = self.partitions.reduce(group_sums, direction, self.partitions.n_groups)
        centered = centered_sums(self.sample_mean, sums)
        return np.asarray((centered.sum(axis=1, keepdims=True) - centered) / self._n_left)

    @property
    def _n_left(self) -> float:
        """The number of samples outside a group of the jackknife."""
        return self.partitions.n_rows * (1 - 1 / self.partitions.n_groups)

    def thin(self, step: int) -> GaussianFamily:
        """Return the same fit with every `step`-th sample only."""
        return replace(self, partitions=self.partitions.thin(step))

    def take(self, n_components: int) -> GaussianFamily:
        """Return the same fit with the first components only."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            noise_mean=self.noise_mean[:k],
            noise_square=self.noise_square[:k],
            partitions=self.partitions.map(take_coordinates, k, self.frame.values[k:]),
            noise=self.noise.with_more(self.n_components - k),
        )
