"""EM for a mixture of spherical Gaussians in the signal space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.gaussian._family import GaussianFamily
from mixsearch.gaussian._mixture import STEP_ROWS, SphericalMixture, e_step, partition_features, signal_units
from mixsearch.gaussian._moments import GaussianPartition

# A variance is at least this fraction of the average one at the start.
MIN_VARIANCE = 1e-3


@dataclass(frozen=True)
class FeaturePartition(Partition):
    """Samples as features: log densities are linear in them, and EM needs only their sums."""

    features: Array  # (n, q + 2)


def feature_partitions(family: GaussianFamily) -> Partitions[FeaturePartition]:
    """Return the samples of a fit as features."""
    return family.partitions.map(_compute_features, signal_units(family)).persist()


def _compute_features(partition: GaussianPartition, units: Array) -> FeaturePartition:
    return FeaturePartition(partition.first, partition_features(partition, units).T)


class FeatureSums(NamedTuple):
    """Sums for the M-step."""

    sums: Array  # of the features, weighted by the responsibilities of each component, (k, q + 2)
    objective: float


def run_spherical_em(
    partitions: Partitions[FeaturePartition], start: SphericalMixture, options: EMOptions
) -> EMResult[SphericalMixture]:
    """Run EM from a mixture."""
    floor = MIN_VARIANCE * float(start.variances.mean())

    def step(mixture: SphericalMixture) -> tuple[SphericalMixture, float]:
        sums, objective = partitions.reduce(_feature_sums, mixture.log_densities())
        return _m_step(sums, partitions.n_rows, start.n_dims, floor), objective

    return run_em(start, step, options)


def _m_step(sums: Array, n_rows: int, n_dims: int, floor: float) -> SphericalMixture:
    sizes = np.maximum(sums[:, -1], np.finfo(np.float64).tiny)
    centers = sums[:, :-2] / sizes[:, None]
    variances = (sums[:, -2] / sizes - np.sum(centers**2, axis=1)) / n_dims
    return SphericalMixture(centers, np.maximum(variances, floor), sizes / n_rows, n_dims)


def _feature_sums(partition: FeaturePartition, coefficients: Array) -> FeatureSums:
    Z = partition.features.T

    def sum_rows(rows: slice) -> FeatureSums:
        resp, objective = e_step(coefficients, Z[:, rows])
        return FeatureSums(resp @ Z[:, rows].T, objective)

    return sum_chunks(sum_rows, row_slices(Z.shape[1], STEP_ROWS))
