"""Moments of Gaussian mixtures with spherical covariances σᵢ²I, one variance per component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import project
from mixsearch.core.second_moment import WeightedSums, squared_distances, weighted_gram, weighted_sums
from mixsearch.core.tensor import sum_cubes
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, spread_over_groups


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
