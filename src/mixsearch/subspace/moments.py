"""Moments of mixtures of subspaces: x = Uᵢy + noise with y normal, Uᵢ of shape (d, r), orthonormal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.second_moment import (
    centered_sums,
    weighted_gram,
    weighted_sums,
)
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, spread_over_groups


@dataclass(frozen=True)
class SubspacePartition(Partition):
    """Samples of a mixture of subspaces with their coordinates in the span of all."""

    samples: Samples  # x itself, not a copy: EM and the jackknife read it, (n, d)
    projected: Array  # Y = XW, (n, k r)
    energy: Array  # squared residual outside the frame, per direction, (n,): averages to the noise variance


class NoiseMoments(NamedTuple):
    """Moments of the noise, which may differ between subspaces."""

    second: Array  # Σ αᵢsᵢ W'Σᵢ W, (k r, k r), with the covariances Σᵢ of the subspaces without the noise
    fourth: float  # Σ αᵢsᵢ²


class NoiseSums(NamedTuple):
    """Sums over some samples."""

    n: int
    squares: Array  # Σ e yy', (k r, k r)
    squared_energy: float  # Σ e²


class SubspaceSums(NamedTuple):
    """Sums over some samples."""

    n: int
    squares: Array  # Σ yy', (k r, k r)
    fourth: Array  # Σ ⟨y, c⟩²yy', (k r, k r)
    energy: float  # Σ e
    noise_squares: Array  # Σ e yy', (k r, k r)
    squared_energy: float  # Σ e²


def noise_sums(partition: SubspacePartition, rows: slice = slice(None)) -> NoiseSums:
    """Sum over some samples of a partition."""
    Y, energy = partition.projected[rows], partition.energy[rows]
    return NoiseSums(len(Y), weighted_gram(Y, energy), float(energy @ energy))


def _squared_scores(Y: Array, hints: Array) -> Array:
    """Return ⟨y, c⟩² of each sample, averaged over the hints, (n,)."""
    scores = Y @ hints.T
    return np.asarray(np.einsum("ij,ij->i", scores, scores) / len(hints))


def hinted_sum(partition: SubspacePartition, hints: Array) -> ArraySum:
    """Sum ⟨y, c⟩²yy'."""
    return ArraySum(weighted_gram(partition.projected, _squared_scores(partition.projected, hints)))


def tensor_sum(partition: SubspacePartition, basis: Array) -> ArraySum:
    """Sum y⊗y⊗y⊗y in the coordinates of a basis, (q, q, q, q)."""
    Y = np.asarray(partition.projected @ basis, dtype=np.float64)
    q = Y.shape[1]
    pairs = [[weighted_gram(Y, Y[:, a] * Y[:, b]) for b in range(q)] for a in range(q)]
    return ArraySum(np.array(pairs).reshape(q, q, q, q))


def all_sums(partition: SubspacePartition, rows: slice, hints: Array) -> SubspaceSums:
    """Compute all sums that the moments need, over some rows of a partition."""
    Y = partition.projected[rows].astype(np.float64, copy=False)
    fourth = (Y * _squared_scores(Y, hints)[:, None]).T @ Y
    return SubspaceSums(len(Y), Y.T @ Y, fourth, partition.energy[rows].sum(), *noise_sums(partition, rows)[1:])


def group_sums(partition: SubspacePartition, direction: Array, n_groups: int, origin: Array | None) -> ArraySum:
    """Sum ⟨y, u⟩(x - origin) for each group of the jackknife, (d, B)."""
    scores = spread_over_groups(partition, partition.projected @ direction, n_groups)
    return ArraySum(sums_from_origin(partition.samples, scores, origin))


def sums_from_origin(X: Samples, weights: Array, origin: Array | None) -> Array:
    """Return Σ (x - origin) w', (d, q)."""
    sums = weighted_sums(X, weights)
    return sums.rows if origin is None else centered_sums(origin, sums)


def take_coordinates(partition: SubspacePartition, n_columns: int) -> SubspacePartition:
    """Keep the first coordinates."""
    return replace(partition, projected=partition.projected[:, :n_columns])
