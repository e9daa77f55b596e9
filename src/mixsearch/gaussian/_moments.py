"""Mixtures of Gaussians with spherical covariances σᵢ²I, one variance per component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import (
    WeightedSums,
    blas_threads_for,
    centered_sums,
    sample_mean_of,
    second_moment,
    squared_distances,
    weighted_gram,
    weighted_sums,
)
from mixsearch.core.tensor import sum_cubes, symmetrize
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, Partitions, SamplePartition, leave_one_out, spread_over_groups


@dataclass(frozen=True)
class GaussianPartition(Partition):
    """Samples of a Gaussian mixture, seen in its signal space."""

    samples: Samples  # x itself, not a copy: likelihood steps and error bars read it, (n, d)
    projected: Array  # Y = XW, (n, k)
    energy: Array  # of each sample outside the signal space, per direction, (n,): averages to the noise


@dataclass(frozen=True, slots=True)
class GaussianModel:
    """All that a search in a Gaussian mixture needs: nothing here grows with the dimension but the frame."""

    frame: Frame
    mean: Array  # W'm, (k,)
    noise: float  # s2, the average variance Σ αᵢσᵢ²
    noise_mean: Array  # W'm~, (k,), with m~ = Σ αᵢσᵢ²μᵢ
    sample_mean: Array  # m, (d,)
    partitions: Partitions[GaussianPartition]

    def hinted(self, hint: Array) -> Hinted:
        """The hinted moment of a hint given in the frame."""
        return self.corrected(self.partitions.reduce(_third, hint).total / self.partitions.n_rows, hint)

    def corrected(self, third: Array, hint: Array) -> Hinted:
        """The hinted moment from W'E[⟨x, v⟩xx']W, (k, k): what the noise adds to it is taken off.

        Notes
        -----
        B = E[⟨x, v⟩xx'] - m~v' - vm~' - ⟨m~, v⟩I. With v in the signal space, W'v = W'W c, where W'W is diagonal, and
        ⟨m~, v⟩ = ⟨W'm~, c⟩, so that the samples enter through Y alone.
        """
        spread = self.frame.spread
        crossed = np.outer(self.noise_mean, spread * hint)
        matrix = third - crossed - crossed.T - (self.noise_mean @ hint) * np.diag(spread)
        return Hinted(matrix, self.mean, hint)

    def tensor(self, basis: Array) -> Array:
        """R of the columns of an orthonormal basis, (k, q), as hints in the frame, seen in that basis, (q, q, q)."""
        third, identity = self.partitions.reduce(_tensor, basis).total, (basis.T * self.frame.spread) @ basis
        noise = symmetrize(np.multiply.outer(identity, self.noise_mean @ basis))
        return np.asarray(third / self.partitions.n_rows - noise)

    def leave_one_out(self, hint: Array) -> Replicates:
        """The moments of all samples but one block, for each block in turn, under a hint given in the frame."""
        replicates = [self._moments_of(sums, hint) for sums in leave_one_out(self.partitions, _sums, hint)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _moments_of(self, sums: GaussianSums, hint: Array) -> tuple[Array, Array, Array]:
        """W'AW, W'BW and W'm."""
        n, total, squares, third, energy, leaning = sums
        partly = replace(self, noise_mean=leaning / n)
        second = squares / n - energy / n * np.diag(self.frame.spread)
        return second, partly.corrected(third / n, hint).matrix, total / n

    def hint_shifts(self, hint: Array) -> Array:
        """How the coordinates of a hint v in the frame move with the frame of all samples but one block, (B, k).

        Notes
        -----
        A part of v lies outside the signal space, where samples seen from their mean have no correlation with those
        inside. Without a block they have some, E[y ⟨x - m, v⟩]: by that much the block's own frame sees more of v.
        """
        beside = self.frame.residual(hint[:, None])[:, 0]
        sums = leave_one_out(self.partitions, _told_beside, beside, float(self.sample_mean @ beside))
        return np.array([each.total for each in sums]) / self._n_kept

    def outside(self, direction: Array) -> Array:
        """A W u of all samples but one block, (d, B), up to what lies in the signal space, where u is a direction."""
        sums = centered_sums(
            self.sample_mean, self.partitions.reduce(_spread_direction, direction, self.partitions.n_groups)
        )
        return np.asarray((sums.sum(axis=1, keepdims=True) - sums) / self._n_kept)

    @property
    def _n_kept(self) -> float:
        """Samples outside a block of the jackknife."""
        return self.partitions.n_rows * (1 - 1 / self.partitions.n_groups)

    def thin(self, step: int) -> GaussianModel:
        """The same fit with every so many-th sample only."""
        return replace(self, partitions=self.partitions.thin(step))

    def take(self, n_components: int) -> GaussianModel:
        """The same fit with fewer components."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            noise_mean=self.noise_mean[:k],
            partitions=self.partitions.map(_first_coordinates, k),
        )


class GaussianSums(NamedTuple):
    """Sums over a block of samples."""

    n: int
    total: Array  # Σ y, (k,)
    squares: Array  # Σ yy', (k, k)
    third: Array  # Σ ⟨y, c⟩yy', (k, k)
    energy: float  # Σ e
    leaning: Array  # Σ e y, (k,)


def _third(partition: GaussianPartition, hint: Array) -> ArraySum:
    """Σ ⟨y, c⟩yy'."""
    return ArraySum(weighted_gram(partition.projected, partition.projected @ hint))


def _tensor(partition: GaussianPartition, basis: Array) -> ArraySum:
    """Σ y⊗y⊗y in the coordinates of a basis, (q, q, q)."""
    Y = partition.projected @ basis
    return ArraySum(sum_cubes(Y, Y, np.ones(len(Y))))


def _sums(partition: GaussianPartition, rows: slice, hint: Array) -> GaussianSums:
    Y, energy = partition.projected[rows].astype(np.float64, copy=False), partition.energy[rows]
    third = (Y * (Y @ hint)[:, None]).T @ Y
    return GaussianSums(len(Y), Y.sum(axis=0), Y.T @ Y, third, energy.sum(), energy @ Y)


def _told_beside(partition: GaussianPartition, rows: slice, beside: Array, offset: float) -> ArraySum:
    told = np.asarray(partition.samples[rows] @ beside) - offset
    return ArraySum(told @ partition.projected[rows])


def _spread_direction(partition: GaussianPartition, direction: Array, n_groups: int) -> WeightedSums:
    return weighted_sums(partition.samples, spread_over_groups(partition, partition.projected @ direction, n_groups))


def _first_coordinates(partition: GaussianPartition, k: int) -> GaussianPartition:
    return replace(partition, projected=partition.projected[:, :k])


def fit_gaussian(partitions: Partitions[SamplePartition], n_components: int, *, noise: str, seed: int) -> GaussianModel:
    """Find the signal space of a Gaussian mixture and project the samples onto it.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d)
    n_components : int
        k, at most d.
    noise : {"average", "paper"}
        The samples seen from their mean, with the noise level from the whole noise space; or from zero, with the noise
        level from one eigenvector, as the paper has it.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    mean = sample_mean_of(partitions)
    find = _seen_from_zero if noise == "paper" else _seen_from_the_mean
    with blas_threads_for(partitions):
        frame, level, projected = find(partitions, mean, n_components, seed)
    return GaussianModel(
        frame=frame,
        mean=frame.whiten(mean),
        noise=level,
        noise_mean=np.asarray(projected.reduce(_leaning).total / partitions.n_rows),
        sample_mean=mean,
        partitions=projected,
    )


def _leaning(partition: GaussianPartition) -> ArraySum:
    """Σ e y."""
    Y = partition.projected
    return ArraySum(np.asarray(Y.T @ partition.energy.astype(Y.dtype), dtype=np.float64))


def _energy(partition: GaussianPartition) -> ArraySum:
    """Σ e."""
    return ArraySum(float(partition.energy.sum()))


def _seen_from_the_mean(
    partitions: Partitions[SamplePartition], mean: Array, n_components: int, seed: int
) -> tuple[Frame, float, Partitions[GaussianPartition]]:
    """The frame of the covariance, which has rank k - 1 plus noise, and the noise of its other directions."""
    (n, d, dtype, _), k = partitions.layout, n_components
    values, vectors, _ = top_eigenpairs(second_moment(partitions, center=mean), k - 1, seed=seed)
    inside = partitions.map(_inside, vectors, mean, d - k + 1).persist()
    level = inside.reduce(_energy).total / n
    frame = frame_from_eigenpairs(values, vectors, level, precision=dtype, name="covariance", n_components=k)
    unit = float(frame.values.mean()) if k > 1 else 1.0
    lifted = Frame(np.column_stack([np.zeros(d), vectors]), np.append(unit, frame.values), origin=mean)
    return lifted, level, inside.map(_lifted, frame.values).persist()


def _inside(partition: SamplePartition, vectors: Array, mean: Array, n_outside: int) -> GaussianPartition:
    """Coordinates along the eigenvectors, not whitened yet, and the energy outside of them."""
    inside = project(partition.samples, vectors, mean)
    outside = squared_distances(partition.samples, mean) - np.einsum("ij,ij->i", inside, inside)
    return GaussianPartition(partition.first, partition.samples, inside, np.maximum(outside, 0) / n_outside)


def _lifted(partition: GaussianPartition, values: Array) -> GaussianPartition:
    inside = partition.projected
    Y = np.column_stack([np.ones(len(inside)), inside / np.sqrt(values)])
    return replace(partition, projected=Y.astype(partition.samples.dtype, copy=False))


def _seen_from_zero(
    partitions: Partitions[SamplePartition], mean: Array, n_components: int, seed: int
) -> tuple[Frame, float, Partitions[GaussianPartition]]:
    """The paper's choice: the second moment, less the (k+1)-th eigenvalue of the covariance (the last, where k = d)."""
    d = partitions.n_features
    values, vectors, _ = top_eigenpairs(second_moment(partitions), n_components, seed=seed)
    covariance = second_moment(partitions, center=mean)
    noise_values, noise_vectors, _ = top_eigenpairs(covariance, min(n_components + 1, d), seed=seed)
    level = float(noise_values[-1])
    frame = frame_from_eigenpairs(values, vectors, level, precision=partitions.layout.dtype)
    return frame, level, partitions.map(_whitened, frame, noise_vectors[:, -1], mean).persist()


def _whitened(partition: SamplePartition, frame: Frame, last: Array, mean: Array) -> GaussianPartition:
    X = partition.samples
    energy = np.asarray(X @ last - mean @ last) ** 2
    return GaussianPartition(partition.first, X, frame.whiten(X).astype(X.dtype, copy=False), energy)
