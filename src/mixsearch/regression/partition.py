"""Samples of a mixture of regressions in the frame: sums over them, and whether x is normal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from mixsearch._typing import Array, Samples
from mixsearch.core.doubts import MIN_P_VALUE
from mixsearch.core.frame import Frame
from mixsearch.core.second_moment import squared_distances
from mixsearch.core.tensor import sum_cubes
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.errors import Option, UnlikelyMixtureWarning
from mixsearch.regression.design import StandardizedPartition

# Samples that suffice.
MAX_SAMPLES = 10_000
# Skewness and excess kurtosis that moments tolerate: their errors hardly grow up to there.
MAX_SKEWNESS, MAX_KURTOSIS = 0.15, 0.1


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


class NormalityCheck(NamedTuple):
    """The shape of x in the signal space."""

    p_value: float  # how often an x that moments tolerate would look as far from normal
    skewness: float  # the largest of all coordinates, in absolute value
    kurtosis: float  # the largest excess

    @property
    def is_normal(self) -> bool:
        """Whether moments apply."""
        return self.p_value >= MIN_P_VALUE

    def doubt(self) -> UnlikelyMixtureWarning:
        """Return the doubt that moments apply."""
        return UnlikelyMixtureWarning(
            "Moments need normal X, but in the directions of the coefficients it has a skewness of {skewness:.2g} and "
            "an excess kurtosis of {kurtosis:.2g}: the estimate may be far off. Search with {argument}=True.",
            code="not_normal",
            skewness=self.skewness,
            kurtosis=self.kurtosis,
            argument=Option("refine"),
        )


def check_normality(partitions: Partitions[RegressionPartition], frame: Frame) -> NormalityCheck:
    """Test the skewness and the kurtosis of standardized x in every coordinate of the frame."""
    some = partitions.thin(-(-partitions.n_rows // MAX_SAMPLES)).map(_get_coordinates).collect().partition
    # One row per coordinate: means over few columns would be slow.
    U = np.ascontiguousarray(some.samples.T, dtype=np.float64) * np.sqrt(frame.values)[:, None]
    U -= U.mean(axis=1, keepdims=True)
    U /= np.maximum(U.std(axis=1, keepdims=True), np.finfo(float).tiny)
    n, squares = U.shape[1], U**2
    skewness, kurtosis = np.abs((squares * U).mean(axis=1)), np.abs((squares**2).mean(axis=1) - 3)
    beyond = np.concatenate([(skewness - MAX_SKEWNESS) / np.sqrt(6 / n), (kurtosis - MAX_KURTOSIS) / np.sqrt(24 / n)])
    p_value = min(1.0, len(beyond) * float(ndtr(-beyond.max(initial=-np.inf))))
    return NormalityCheck(p_value, float(skewness.max(initial=0.0)), float(kurtosis.max(initial=0.0)))


def _get_coordinates(partition: RegressionPartition) -> SamplePartition:
    return SamplePartition(partition.first, partition.projected)
