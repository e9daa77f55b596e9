"""Units of the features: mixtures of any shape are fitted to samples relative to their mean, in these units."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.second_moment import sample_mean_of
from mixsearch.data.chunks import ArraySum, row_slices
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import Option, UnlikelyMixtureWarning

# A deviation below this many rounding errors of the mean is that of a constant feature.
N_ROUNDINGS = 100
# Spherical components of features whose deviations differ by more than this are not what anybody means.
_MAX_RATIO = 30.0
UNITS_DIFFER = "units_differ"


class Units(NamedTuple):
    """The origin and the unit of each feature."""

    origin: Array  # (d,)
    scale: Array  # (d,), positive
    varies: Array  # whether a feature does, (d,): others are zero in these units, since rounding is no information

    def standardize(self, X: Samples) -> Array:
        """Return samples of the user, (n, d), in these units: dense, in double precision."""
        dense = X.toarray() if sp.issparse(X) else X
        return np.asarray((dense.astype(np.float64, copy=False) - self.origin) * (self.varies / self.scale))

    def restore(self, points: Array) -> Array:
        """Return points in these units, (..., d), as the user has them."""
        return np.asarray(points * self.scale + self.origin)

    @property
    def log_volume(self) -> float:
        """The logarithm of the volume of a unit cube: what a log density in these units is too large by."""
        return float(np.log(self.scale).sum())


def measure_units(partitions: Partitions[SamplePartition], *, is_scaled: bool) -> Units:
    """Return the mean of samples and the deviation of each feature, or the same unit for all of them."""
    mean = sample_mean_of(partitions)
    deviations = np.sqrt(partitions.reduce(_sum_squares, mean).total / partitions.n_rows)
    varies = deviations > N_ROUNDINGS * float(np.finfo(partitions.layout.dtype).eps) * np.abs(mean)
    average = float(np.sqrt(np.mean(deviations[varies] ** 2))) if varies.any() else 1.0
    return Units(mean, np.where(varies, deviations, average) if is_scaled else np.full(len(mean), average), varies)


def _sum_squares(partition: SamplePartition, mean: Array) -> ArraySum:
    """Sum (x - mean)², (d,)."""
    total, ones = np.zeros(len(mean)), np.ones(len(mean))
    for rows in row_slices(partition.n_rows):
        centered = Units(mean, ones, ones).standardize(partition.samples[rows])
        total += np.einsum("ij,ij->j", centered, centered)
    return ArraySum(total)


def scale_samples(partition: SamplePartition, scale: Array) -> SamplePartition:
    """Scale each feature by its own unit; sparse samples stay sparse."""
    X: Any = partition.samples
    factors = (1 / scale).astype(X.dtype)
    scaled = X * factors if isinstance(X, np.ndarray) else sp.csr_array(X.multiply(factors))
    return replace(partition, samples=scaled)


def find_unit_ratio(partitions: Partitions[SamplePartition]) -> float | None:
    """Return the ratio of the largest and the smallest deviation of dense features, if it is large."""
    if partitions.layout.is_sparse:
        return None
    units = measure_units(partitions, is_scaled=True)
    deviations = units.scale[units.varies]
    ratio = float(deviations.max() / deviations.min()) if len(deviations) else 1.0
    return ratio if ratio > _MAX_RATIO else None


def units_differ(ratio: float) -> UnlikelyMixtureWarning:
    """Return the doubt that a few features in small units outweigh all others."""
    return UnlikelyMixtureWarning(
        "The standard deviations of the features differ by a factor of {ratio:,.0f}, so that a few features decide "
        "everything and components are not spherical. Scale the features first ({scale}=True). If that is not enough, "
        "fit components of any shape ({shape}='auto').",
        code=UNITS_DIFFER,
        ratio=ratio,
        scale=Option("scale"),
        shape=Option("covariance"),
    )
