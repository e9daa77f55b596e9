"""All Gaussians of a mixture in the signal space: densities, features of samples, and EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.data.chunks import CACHED_ROWS, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.gaussian.family import GaussianFamily, GaussianPartition

# A component starts with at least this fraction of an even weight, so that none vanishes.
MIN_SHARE = 0.2
# Samples per chunk of an E-step: its intermediate results stay in cache.
STEP_ROWS = 8 * CACHED_ROWS
# A variance is at least this fraction of the average one at the start.
MIN_VARIANCE = 1e-3


class SphericalMixture(NamedTuple):
    """All components of a mixture in the signal space, in units in which their noise is spherical."""

    centers: Array  # (k, q)
    variances: Array  # (k,)
    weights: Array  # (k,)
    n_dims: int  # the number of directions in which samples vary: q, and those of the noise space

    def with_first(self, index: int) -> SphericalMixture:
        """Return the mixture with one component moved to the front."""
        order = np.argsort(np.arange(len(self.weights)) != index, kind="stable")
        return self._replace(centers=self.centers[order], variances=self.variances[order], weights=self.weights[order])

    def take(self, n_coordinates: int) -> SphericalMixture:
        """Return the mixture in the first coordinates of the signal space; the others are noise."""
        return self._replace(centers=self.centers[:, :n_coordinates])

    def with_center(self, index: int, center: Array) -> SphericalMixture:
        """Return the mixture with one component moved to a center, with a typical weight and variance."""
        centers, variances, weights = self.centers.copy(), self.variances.copy(), self.weights.copy()
        centers[index], variances[index] = center, np.median(variances)
        weights[index] = max(weights[index], MIN_SHARE / len(weights))
        return self._replace(centers=centers, variances=variances, weights=weights / weights.sum())

    @property
    def n_noise(self) -> int:
        """The number of directions of the noise space."""
        return self.n_dims - int(self.centers.shape[1])

    def nearest_center(self, center: Array) -> int:
        """Return the index of the component with the center nearest to one, (q,)."""
        return int(np.argmin(np.sum((self.centers - center) ** 2, axis=1)))

    def nearest_gaussian(self, center: Array, variance: float) -> int:
        """Return the index of the component nearest to a Gaussian by the divergence of Kullback and Leibler."""
        ratios = max(variance, np.finfo(np.float64).tiny) / self.variances
        apart = np.sum((self.centers - center) ** 2, axis=1) / self.variances
        return int(np.argmin(apart + self.n_dims * (ratios - np.log(ratios))))

    def log_densities(self) -> Array:
        """Return coefficients, (k, q + 2), of log αᵢp(x) as a function of the features, up to a constant."""
        centers, variances = self.centers, self.variances
        constant = np.log(self.weights) - 0.5 * (
            np.sum(centers**2, axis=1) / variances + self.n_dims * np.log(variances)
        )
        return np.column_stack([centers / variances[:, None], -0.5 / variances, constant])

    def squared_distances(self, index: int, Z: Array) -> Array:
        """Return the squared distance of samples, given as features, from one component, (n,)."""
        center = self.centers[index]
        return np.asarray(np.maximum(Z[-2] - (2 * center) @ Z[:-2] + center @ center, 0))


def mixture_from_moments(family: GaussianFamily, candidates: Candidates) -> SphericalMixture:
    """Return the mixture whose centers and weights moments found, with the average variance."""
    free = family.frame.spread > 0
    centers = (candidates.points[free] * np.sqrt(family.frame.values[free])[:, None]).T
    k = len(centers)
    weights = np.maximum(candidates.weights, MIN_SHARE / k)
    n_dims = centers.shape[1] + family.noise.n_dims
    return SphericalMixture(centers, np.full(k, family.positive_noise), weights / weights.sum(), n_dims)


def signal_center(family: GaussianFamily, point: Array) -> Array:
    """Return a point of the frame, or of one with more components, as a center in the signal space, (q,)."""
    return np.asarray((point[: family.n_components] * signal_units(family))[family.frame.spread > 0])


def frame_points(family: GaussianFamily, centers: Array, constant: float) -> Array:
    """Return centers of the signal space, (q, b), in the coordinates of the frame, (k, b)."""
    free = family.frame.spread > 0
    points = np.full((len(free), centers.shape[1]), constant)
    points[free] = centers / np.sqrt(family.frame.values[free])[:, None]
    return points


def signal_features(family: GaussianFamily, X: Samples) -> Array:
    """Return samples as features, (q + 2, n)."""
    return make_features(family.frame.whiten(X), family.noise.squares(X), signal_units(family))


def make_features(Y: Array, squares: Array, units: Array) -> Array:
    """Return whitened samples as features: log densities are linear in them.

    They are the coordinates z in the signal space, the squared distance from the origin, in the noise space too, and 1.
    """
    free = units > 0
    Z = np.asarray(Y.T[free] * units[free, None], dtype=np.float64)
    return np.vstack([Z, np.einsum("ij,ij->j", Z, Z) + squares, np.ones(len(Y))])


def signal_units(family: GaussianFamily) -> Array:
    """Return the length of each coordinate of the frame in units of the features, (k,); 0 for the constant one."""
    return np.asarray(np.sqrt(family.frame.values) * (family.frame.spread > 0))


def partition_features(partition: GaussianPartition, units: Array) -> Array:
    """Return the samples of a fit as features, (q + 2, n)."""
    return make_features(partition.projected, partition.residual, units)


def responsibilities(mixture: SphericalMixture, Z: Array) -> Array:
    """Return the posterior probability of every component for each sample, (k, n)."""
    coefficients = mixture.log_densities()
    return np.hstack([e_step(coefficients, Z[:, rows])[0] for rows in row_slices(Z.shape[1], STEP_ROWS)])


def e_step(coefficients: Array, Z: Array) -> tuple[Array, float]:
    """Return responsibilities, (k, n), and the log-likelihood.

    Exponentials take most of the time, and eight times less of it in single precision, which is precise enough for a
    probability computed from differences of logarithms.
    """
    logs = coefficients @ Z
    top = logs.max(axis=0)
    logs -= top
    resp = np.exp(logs.astype(np.float32))
    total = resp.sum(axis=0)
    resp /= total
    return resp.astype(np.float64), float(top.sum() + np.sum(np.log(total), dtype=np.float64))


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
