"""Moments of Gaussian mixtures with spherical covariances σᵢ²I, one variance per component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.stats import chi2

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.noise_edge import MIN_NOISE, SignalCheck, check_spectrum
from mixsearch.core.noise_rank import noise_rank
from mixsearch.core.second_moment import (
    MeasuredPartition,
    MeasuredSamples,
    WeightedSums,
    blas_threads_for,
    centered_sums,
    measure_samples,
    second_moment,
    squared_distances,
    weighted_gram,
    weighted_sums,
)
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, Partitions, SamplePartition, leave_one_out, spread_over_groups
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


@dataclass(frozen=True, slots=True)
class GaussianFamily:
    """The fitted moments of a Gaussian mixture. Only the frame and the mean grow with the dimension."""

    frame: Frame
    mean: Array  # W'm, (k,)
    noise_variance: float  # s2, the average variance Σ αᵢσᵢ²
    noise_mean: Array  # W'm~, (k,), with m~ = Σ αᵢσᵢ²μᵢ
    noise_square: Array  # E[e y²], (k,): the noise variance where each coordinate of the frame is large
    sample_mean: Array  # m, (d,)
    partitions: Partitions[GaussianPartition]
    noise: NoiseSpace
    check: SignalCheck | None = None  # None for the paper's moments
    n_hints: ClassVar[int] = 1

    @property
    def n_components(self) -> int:
        """The number of components of the fit."""
        return self.frame.n_components

    @property
    def doubts(self) -> tuple[SearchWarning, ...]:
        """What speaks against a mixture of this many components."""
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
        """Return the same fit with no more components than stand out from the noise: others would only split these."""
        return self if self.check is None or self.is_supported else self.take(self.check.n_signal + 1)

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint in the frame."""
        return self.correct(self.partitions.reduce(_hinted_sum, hint).total / self.partitions.n_rows, hint)

    def correct(self, third: Array, hint: Array) -> Hinted:
        """Remove from W'E[⟨x, v⟩xx']W, (k, k), what the noise adds to it.

        Notes
        -----
        B = E[⟨x, v⟩xx'] - m~v' - vm~' - ⟨m~, v⟩I. With v in the signal space, W'v = W'W c, where W'W is diagonal, and
        ⟨m~, v⟩ = ⟨W'm~, c⟩, so that the samples enter through Y alone.
        """
        spread = self.frame.spread
        cross = np.outer(self.noise_mean, spread * hint)
        matrix = third - cross - cross.T - (self.noise_mean @ hint) * np.diag(spread)
        return Hinted(matrix, self.mean, hint)

    def tensor(self, basis: Array) -> Array:
        """Contract the third moment with all columns of a basis, (k, q) -> (q, q, q)."""
        third, identity = self.partitions.reduce(_tensor_sum, basis).total, (basis.T * self.frame.spread) @ basis
        noise = symmetrize(np.multiply.outer(identity, self.noise_mean @ basis))
        return np.asarray(third / self.partitions.n_rows - noise)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all samples but one group, for each group in turn."""
        replicates = [self._replicate(sums, hint) for sums in leave_one_out(self.partitions, _sums, hint)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _replicate(self, sums: GaussianSums, hint: Array) -> tuple[Array, Array, Array]:
        """Return W'AW, W'BW and W'm from the sums over some samples."""
        n, total, squares, third, energy, energy_mean = sums
        partial = replace(self, noise_mean=energy_mean / n)
        second = squares / n - energy / n * np.diag(self.frame.spread)
        return second, partial.correct(third / n, hint).matrix, total / n

    def hint_shifts(self, hint: Array) -> Array:
        """Return how the coordinates of a direction v shift with the frame of all samples but one group, (B, k).

        Notes
        -----
        Part of v lies outside the signal space, where centered samples are uncorrelated with those inside. Without a
        group they are not, by E[y ⟨x - m, v⟩]: that much more of v is in the group's own frame.
        """
        residual = self.frame.residual(hint[:, None])[:, 0]
        sums = leave_one_out(self.partitions, _residual_correlation, residual, float(self.sample_mean @ residual))
        return np.array([each.total for each in sums]) / self._n_left

    def information_p_value(self, hint: Array) -> float:
        """Return how often a direction that says nothing would have at least the coordinates of this one.

        Notes
        -----
        A direction v that is orthogonal to all differences of centers has coordinates c in the frame by the errors of
        the frame alone: E[y⟨x, v⟩] over samples, with ⟨x, v⟩ noise of variance |v|²e.
        """
        free = self.frame.spread > 0
        c = self.frame.project_hint(hint)[free]
        variance = self.noise_square[free] / self.partitions.n_rows
        rounding = 1e-18 * self.frame.values[free]  # the least variance of samples without noise
        return float(chi2.sf(np.sum(c**2 / np.maximum(variance, rounding)) / (hint @ hint), len(c)))

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all samples but one group, (d, B), up to vectors of the signal space."""
        sums = self.partitions.reduce(_sum_by_group, direction, self.partitions.n_groups)
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
            partitions=self.partitions.map(_take_coordinates, k, self.frame.values[k:]),
            noise=self.noise.with_more(self.n_components - k),
        )


class GaussianSums(NamedTuple):
    """Sums over some samples."""

    n: int
    total: Array  # Σ y, (k,)
    squares: Array  # Σ yy', (k, k)
    third: Array  # Σ ⟨y, c⟩yy', (k, k)
    energy: float  # Σ e
    energy_mean: Array  # Σ e y, (k,)


def _hinted_sum(partition: GaussianPartition, hint: Array) -> ArraySum:
    """Sum ⟨y, c⟩yy'."""
    return ArraySum(weighted_gram(partition.projected, partition.projected @ hint))


def _tensor_sum(partition: GaussianPartition, basis: Array) -> ArraySum:
    """Sum y⊗y⊗y in the coordinates of a basis, (q, q, q)."""
    Y = partition.projected @ basis
    return ArraySum(sum_cubes(Y, Y, np.ones(len(Y))))


def _sums(partition: GaussianPartition, rows: slice, hint: Array) -> GaussianSums:
    Y, energy = partition.projected[rows].astype(np.float64, copy=False), partition.energy[rows]
    third = (Y * (Y @ hint)[:, None]).T @ Y
    return GaussianSums(len(Y), Y.sum(axis=0), Y.T @ Y, third, energy.sum(), energy @ Y)


def _residual_correlation(partition: GaussianPartition, rows: slice, residual: Array, offset: float) -> ArraySum:
    """Sum ⟨x - m, v⟩y for a v outside the signal space."""
    scores = np.asarray(partition.samples[rows] @ residual) - offset
    return ArraySum(scores @ partition.projected[rows])


def _sum_by_group(partition: GaussianPartition, direction: Array, n_groups: int) -> WeightedSums:
    return weighted_sums(partition.samples, spread_over_groups(partition, partition.projected @ direction, n_groups))


def _take_coordinates(partition: GaussianPartition, k: int, dropped: Array) -> GaussianPartition:
    """Keep k coordinates; the others, with their eigenvalues, become part of the noise space."""
    Y = partition.projected
    residual = partition.residual + np.square(Y[:, k:]) @ dropped
    return replace(partition, projected=Y[:, :k], residual=residual)


def fit_gaussian(
    partitions: Partitions[SamplePartition],
    n_components: int,
    *,
    paper: bool,
    seed: int,
    measured: MeasuredSamples | None = None,
    is_smallest: bool = False,
) -> GaussianFamily:
    """Find the signal space of a Gaussian mixture and project the samples onto it.

    Parameters
    ----------
    partitions : Partitions of samples of shape (n, d)
    n_components : int
        k, at most d.
    paper : bool
        Take samples relative to zero, with the noise level from one eigenvector, as in the paper; otherwise relative to
        their mean, with the noise level from the whole noise space.
    seed : int
        Seed of the eigensolver's starting block, used if the dimension is large.
    measured : MeasuredSamples, optional
        The same samples with their squared distance from their mean, if it is known.
    is_smallest : bool
        For the paper's moments: take the smallest eigenvalue of the covariance as the noise level, not the (k+1)-th.

    Returns
    -------
    GaussianFamily
    """
    mean, distances = measured or measure_samples(partitions)
    with blas_threads_for(partitions):
        covariance = second_moment(partitions, center=mean)
        if paper:
            noise = _noise_eigenpair(covariance, n_components, is_smallest=is_smallest, seed=seed)
            framed = _frame_at_zero(partitions, noise, mean, n_components, seed)
        else:
            framed = _frame_at_mean(distances, covariance, mean, n_components, seed)
    moments = framed.partitions.reduce(_noise_moments)
    return GaussianFamily(
        **framed._asdict(),
        mean=framed.frame.whiten(mean),
        noise_mean=moments.mean / partitions.n_rows,
        noise_square=moments.square / partitions.n_rows,
        sample_mean=mean,
    )


class Framed(NamedTuple):
    """The samples in their frame, and their noise."""

    frame: Frame
    noise_variance: float
    noise: NoiseSpace
    partitions: Partitions[GaussianPartition]
    check: SignalCheck | None = None


class NoiseMoments(NamedTuple):
    """Sums over samples, weighted by their residual energy."""

    mean: Array  # Σ e y, (k,)
    square: Array  # Σ e y², (k,)


def _noise_moments(partition: GaussianPartition) -> NoiseMoments:
    Y, energy = partition.projected, partition.energy.astype(partition.projected.dtype)
    mean = np.asarray(Y.T @ energy, dtype=np.float64)
    return NoiseMoments(mean, np.asarray(np.einsum("ij,ij,i->j", Y, Y, energy), dtype=np.float64))


def _energy(partition: GaussianPartition) -> ArraySum:
    """Sum e."""
    return ArraySum(float(partition.energy.sum()))


def _frame_at_mean(
    partitions: Partitions[MeasuredPartition], covariance: Matrix, mean: Array, n_components: int, seed: int
) -> Framed:
    """Frame the covariance, which has rank k - 1 plus noise, and average the noise of its other directions."""
    (n, d, dtype, _), q = partitions.layout, n_components - 1
    found = top_eigenpairs(covariance, min(q + OVERSAMPLING, d), n_converged=max(q, 1), seed=seed)
    values, vectors = found.values[:q], found.vectors[:, :q]
    rank = noise_rank(covariance, partitions, mean, q, seed)
    noise = NoiseSpace(vectors, mean, n_dims=max(rank.noisy - q, 1))
    inside = partitions.map(_project_centered, noise).persist()
    level = inside.reduce(_energy).total / n
    frame = frame_from_eigenpairs(values, vectors, level, precision=dtype, name="covariance", n_components=n_components)
    unit = float(frame.values.mean()) if q else 1.0
    lifted = Frame(np.column_stack([np.zeros(d), vectors]), np.append(unit, frame.values), origin=mean)
    projected = inside.map(_lift, frame.values).persist()
    check = check_spectrum(projected, found.values, rank, q, level * noise.n_dims + float(values.sum()))
    return Framed(lifted, level, noise, projected, check)


def _project_centered(partition: MeasuredPartition, noise: NoiseSpace) -> GaussianPartition:
    """Compute coordinates along the eigenvectors, not whitened yet, and the energy of the residual."""
    inside = project(partition.samples, noise.signal, noise.origin)
    residual = np.maximum(partition.squares - np.einsum("ij,ij->i", inside, inside), 0)
    return GaussianPartition(partition.first, partition.samples, inside, residual / noise.n_dims, residual)


def _lift(partition: GaussianPartition, values: Array) -> GaussianPartition:
    """Whiten the coordinates and put the constant 1 in front of them."""
    inside = partition.projected
    Y = np.column_stack([np.ones(len(inside)), inside / np.sqrt(values)])
    return replace(partition, projected=Y.astype(partition.samples.dtype, copy=False))


class NoiseEigenpair(NamedTuple):
    """An eigenvalue of the covariance that is taken as the noise level, and its eigenvector."""

    level: float
    direction: Array  # (d,)


def _noise_eigenpair(covariance: Matrix, n_components: int, *, is_smallest: bool, seed: int) -> NoiseEigenpair:
    """Return the (k+1)-th eigenpair of the covariance, the last if k = d, or the smallest one."""
    if is_smallest:
        values, vectors, _ = top_eigenpairs(-covariance, 1, seed=seed)
        return NoiseEigenpair(max(-float(values[0]), 0.0), vectors[:, 0])
    values, vectors, _ = top_eigenpairs(covariance, min(n_components + 1, covariance.shape[0]), seed=seed)
    return NoiseEigenpair(float(values[-1]), vectors[:, -1])


def _frame_at_zero(
    partitions: Partitions[SamplePartition], pair: NoiseEigenpair, mean: Array, n_components: int, seed: int
) -> Framed:
    """Frame the second moment less the noise level of one eigenvector of the covariance, as in the paper."""
    values, vectors, _ = top_eigenpairs(second_moment(partitions), n_components, seed=seed)
    frame = frame_from_eigenpairs(values, vectors, pair.level, precision=partitions.layout.dtype)
    noise = NoiseSpace(frame.basis, np.zeros(partitions.n_features), partitions.n_features - n_components)
    return Framed(frame, pair.level, noise, partitions.map(_whiten, frame, noise, pair.direction, mean).persist())


def _whiten(
    partition: SamplePartition, frame: Frame, noise: NoiseSpace, noise_direction: Array, mean: Array
) -> GaussianPartition:
    X = partition.samples
    energy = np.asarray(X @ noise_direction - mean @ noise_direction) ** 2
    Y = frame.whiten(X).astype(X.dtype, copy=False)
    return GaussianPartition(partition.first, X, Y, energy, noise.squares(X))
