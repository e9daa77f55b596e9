"""Samples of a mixture of regressions with their coordinates in the frame, and sums over them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import Frame
from mixsearch.core.second_moment import squared_distances
from mixsearch.core.tensor import sum_cubes
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition
from mixsearch.regression._design import StandardizedPartition


@dataclass(frozen=True)
class RegressionPartition(Partition):
    """Samples of a mixture of regressions with their coordinates in the frame."""

    samples: Samples  # x itself, not a copy: EM and the jackknife read it, (n, d)
    responses: Array  # t = y - offset, (n,)
    projected: Array  # Y = ZW, (n, k)
    residual: Array  # |z|² outside the signal space, (n,)


def project_onto(partition: StandardizedPartition, frame: Frame) -> tuple[RegressionPartition, ArraySum]:
    """Project samples onto the signal space, and sum ty, t²y and t³y, (3, k)."""
    Z, t = partition.samples, partition.responses
    Y = frame.whiten(Z).astype(partition.original.dtype, copy=False)
    inside = Y.astype(np.float64, copy=False)
    residual = squared_distances(Z, np.zeros(Z.shape[1])) - inside**2 @ frame.values
    powers = np.stack([t, t**2, t**2 * t])
    return RegressionPartition(partition.first, partition.original, t, Y, residual), ArraySum(powers @ inside)


class ThirdSums(NamedTuple):
    """Sums over samples of third order in their coordinates, and of first."""

    third: Array  # Σ f(t)⟨y, c⟩yy', (k, k), or Σ f(t) y⊗y⊗y, (q, q, q)
    first: Array  # Σ f(t)y, (k,)


def hinted_sums(partition: RegressionPartition, hint: Array, linear: float) -> ThirdSums:
    """Sum f(t)⟨y, c⟩yy' and f(t)y."""

    def sum_rows(rows: slice) -> ThirdSums:
        Y = partition.projected[rows].astype(np.float64, copy=False)
        f = weight_function(partition.responses[rows], linear)
        return ThirdSums((Y * (f * (Y @ hint))[:, None]).T @ Y, f @ Y)

    return sum_chunks(sum_rows, row_slices(len(partition.projected)))


def tensor_sums(partition: RegressionPartition, basis: Array, linear: float) -> ThirdSums:
    """Sum f(t) y⊗y⊗y and f(t)y in the coordinates of a basis."""
    Y, f = partition.projected @ basis, weight_function(partition.responses, linear)
    return ThirdSums(sum_cubes(Y, Y, f), f @ Y)


def take_coordinates(partition: RegressionPartition, k: int) -> RegressionPartition:
    """Keep the first coordinates of the frame."""
    return replace(partition, projected=partition.projected[:, :k])


def weight_function(responses: Array, linear: float) -> Array:
    """Return f(t) = t³ - linear t, (n,)."""
    return responses * (responses * responses - linear)
