"""Refinement of a Gaussian by EM in the signal space, and one pass over the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.core.second_moment import WeightedSums, centered_sums, weighted_sums
from mixsearch.core.tensor import all_components
from mixsearch.data.chunks import CACHED_ROWS, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.gaussian._moments import GaussianFamily, GaussianPartition

# EM starts on this many samples, and this many per component, before it runs on all.
START_SAMPLES, START_PER_COMPONENT = 2000, 200
# A component starts with at least this fraction of an even weight, and of the noise variance, so that none vanishes.
MIN_SHARE, MIN_VARIANCE = 0.2, 1e-3
# Samples per chunk of an E-step: its intermediate results stay in cache.
STEP_ROWS = 8 * CACHED_ROWS


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

    def posterior_of_all(self, Z: Array) -> Array:
        """Return the probability of each component that all of some samples, given as features, are its own, (k,)."""
        logs = (self.log_densities() @ Z).sum(axis=1) - (Z.shape[1] - 1) * np.log(self.weights)
        return np.asarray(softmax(logs))

    def log_densities(self) -> Array:
        """Return coefficients, (k, q + 2), of log αᵢp(x) as a function of the features."""
        centers, variances = self.centers, self.variances
        constant = np.log(self.weights) - 0.5 * (
            np.sum(centers**2, axis=1) / variances + self.n_dims * np.log(variances)
        )
        return np.column_stack([centers / variances[:, None], -0.5 / variances, constant])


@dataclass(frozen=True, slots=True)
class RefinedGaussian(Refined):
    """A Gaussian after EM, with the mixture that it is part of."""

    noise_variance: float
    mixture: SphericalMixture  # the component itself first


@dataclass(frozen=True)
class ResponsibilityPartition(Partition):
    """Samples with their responsibilities."""

    samples: Samples  # (n, d)
    energy: Array  # squared residual per direction of the noise space, (n,)
    resp: Array  # p, (n, k)


def assign_responsibilities(
    partition: GaussianPartition, mixture: SphericalMixture, units: Array
) -> ResponsibilityPartition:
    """Compute the responsibilities of all components for the samples of a partition."""
    resp = responsibilities(mixture, partition_features(partition, units)).T
    energy = partition.residual / max(mixture.n_noise, 1)
    return ResponsibilityPartition(partition.first, partition.samples, energy, resp)


class ResponsibilitySums(NamedTuple):
    """Sums over samples of responsibilities p and of the energy e."""

    gram: Array  # Σ epp', (k, k)
    energies: Array  # Σ ep, (k,)
    sizes: Array  # Σ p, (k,)


def _responsibility_sums(partition: ResponsibilityPartition) -> ResponsibilitySums:
    resp = partition.resp
    weighted = resp * partition.energy[:, None]
    return ResponsibilitySums(resp.T @ weighted, weighted.sum(axis=0), resp.sum(axis=0))


def residual_weights(partitions: Partitions[ResponsibilityPartition], variances: Array) -> Array:
    """Return G, (k, k): the centers outside the signal space are Σ Gp(x - o), with the origin o.

    Notes
    -----
    Responsibilities p hardly depend on the centers there. With the residual r of a sample and centers ρᵢ = sᵢβᵢ, the
    log-likelihood is Σ log Σ pᵢ exp(⟨r, βᵢ⟩ - sᵢ|βᵢ|²/2), up to second order in β. The direction of r is uniform, so
    rr' averages to eI, and the maximum has Σ (diag(p(s - e)) + epp')β = Σ pr. If all variances are the same, that is
    least squares on p: the mean of a component's samples, less what the others contribute.
    """
    sums, level = partitions.reduce(_responsibility_sums), float(variances.mean())
    # Samples that are not spherical may have more noise here than in the signal space: no variance is below it.
    excess = np.maximum(sums.sizes * (variances / level) - sums.energies / level, 0)
    information = np.diag(excess) + sums.gram / level
    return np.asarray((variances / level)[:, None] * np.linalg.pinv(information, hermitian=True))


class FittedMixture(NamedTuple):
    """The whole mixture in the signal space. It depends on no hint, so one serves every search."""

    mixture: SphericalMixture
    partitions: Partitions[ResponsibilityPartition]
    residual_weights: Array  # (k, k)
    objectives: tuple[float, ...]


def _attach_responsibilities(result: EMResult[SphericalMixture], family: GaussianFamily) -> FittedMixture:
    partitions = family.partitions.map(assign_responsibilities, result.state, signal_units(family)).persist()
    return FittedMixture(
        result.state, partitions, residual_weights(partitions, result.state.variances), result.objectives
    )


def fit_mixture(family: GaussianFamily, options: EMOptions) -> FittedMixture:
    """Fit the whole mixture in the signal space, from all contractions of its third moment, by EM.

    EM starts on part of the samples.
    """
    n_start = max(START_SAMPLES, START_PER_COMPONENT * family.frame.n_components)
    part = family.thin(max(family.partitions.n_rows // n_start, 1))
    rough = _initial_mixture(family, all_components(part.tensor(np.eye(len(family.mean))), family.mean))
    start = _run_em(_feature_partitions(part).collect(), rough, options).state
    return _attach_responsibilities(_run_em(_feature_partitions(family), start, options), family)


def refine_gaussian(family: GaussianFamily, fitted: FittedMixture, index: int) -> RefinedGaussian:
    """Return one component of a fitted mixture, with its center in all dimensions.

    Parameters
    ----------
    family : GaussianFamily
    fitted : FittedMixture
        From `fit_mixture`.
    index : int

    Returns
    -------
    RefinedGaussian

    Notes
    -----
    Responsibilities come from the signal space and from the energy of the noise outside of it, which shows how large
    the variance of a sample is. The centers outside of it follow as in `residual_weights`.
    """
    mixture = fitted.mixture.with_first(index)
    sums = fitted.partitions.reduce(_weighted_samples, fitted.residual_weights[index])
    residual = family.frame.residual(centered_sums(family.noise.origin, sums))[:, 0]
    center = family.frame.unwhiten(frame_points(family, mixture.centers[:1].T, constant=1.0))[:, 0] + residual
    # EM measures distances in the noise space from the origin: that of the center is no part of the variance.
    own = float(family.noise.squares(center[None])[0])
    return RefinedGaussian(
        center=center,
        weight=float(mixture.weights[0]),
        objectives=fitted.objectives,
        noise_variance=max(float(mixture.variances[0]) - own / mixture.n_dims, 0.0),
        mixture=mixture,
    )


def _weighted_samples(partition: ResponsibilityPartition, row: Array) -> WeightedSums:
    return weighted_sums(partition.samples, (partition.resp @ row)[:, None])


def frame_points(family: GaussianFamily, centers: Array, constant: float) -> Array:
    """Return centers of the signal space, (q, b), in the coordinates of the frame, (k, b)."""
    free = family.frame.spread > 0
    points = np.full((len(free), centers.shape[1]), constant)
    points[free] = centers / np.sqrt(family.frame.values[free])[:, None]
    return points


def hint_for_component(family: GaussianFamily, mixture: SphericalMixture, index: int) -> Array:
    """Return the hint in the frame, (k,), under which one component of a mixture scores and no other does.

    Notes
    -----
    Whitened centers are orthogonal to each other, so each is its own best hint.
    """
    return frame_points(family, mixture.centers[index][:, None], constant=1.0)[:, 0]


def match_candidate(family: GaussianFamily, candidates: Candidates, mixture: SphericalMixture) -> int | None:
    """Return the index of the component of a mixture that the first candidate is, if any.

    It is the one nearest to the candidate, if that is less than halfway to any other.
    """
    center = _initial_mixture(family, candidates).centers[0]
    distances = _squared_distances(center, mixture.centers)
    nearest = int(np.argmin(distances))
    apart = np.delete(_squared_distances(mixture.centers[nearest], mixture.centers), nearest)
    return nearest if 4 * distances[nearest] < apart.min(initial=np.inf) else None


def fit_from_candidate(
    family: GaussianFamily, candidates: Candidates, options: EMOptions, fitted: FittedMixture
) -> FittedMixture | None:
    """Fit the mixture again with a component at the first candidate; return None if that is not likelier.

    The nearest component is moved there, or the lightest one.
    """
    center, mixture = _initial_mixture(family, candidates).centers[0], fitted.mixture
    indices = {int(np.argmin(_squared_distances(center, mixture.centers))), int(np.argmin(mixture.weights))}
    partitions = _feature_partitions(family)
    results = [_run_em(partitions, mixture.with_center(index, center), options) for index in sorted(indices)]
    best = max(results, key=lambda result: result.objectives[-1])
    return _attach_responsibilities(best, family) if best.objectives[-1] > fitted.objectives[-1] else None


def _squared_distances(center: Array, centers: Array) -> Array:
    return np.asarray(np.sum((centers - center) ** 2, axis=1))


@dataclass(frozen=True)
class FeaturePartition(Partition):
    """Samples as features: log densities are linear in them, and EM needs only their sums.

    They are the coordinates z in the signal space, the squared distance from the origin, in the noise space too, and 1.
    """

    features: Array  # (n, q + 2)


def signal_features(family: GaussianFamily, X: Samples) -> Array:
    """Return samples as features, (q + 2, n)."""
    return make_features(family.frame.whiten(X), family.noise.squares(X), signal_units(family))


def make_features(Y: Array, squares: Array, units: Array) -> Array:
    """Return whitened samples as features.

    Parameters
    ----------
    Y : array of shape (n, k)
    squares : array of shape (n,)
        The squared distance from the origin in the noise space.
    units : array of shape (k,)
        The length of each coordinate; 0 for the constant one.

    Returns
    -------
    array of shape (q + 2, n)
    """
    free = units > 0
    Z = np.asarray(Y.T[free] * units[free, None], dtype=np.float64)
    return np.vstack([Z, np.einsum("ij,ij->j", Z, Z) + squares, np.ones(len(Y))])


def signal_units(family: GaussianFamily) -> Array:
    """Return the length of each coordinate of the frame in units of the features, (k,); 0 for the constant one."""
    return np.asarray(np.sqrt(family.frame.values) * (family.frame.spread > 0))


def _feature_partitions(family: GaussianFamily) -> Partitions[FeaturePartition]:
    return family.partitions.map(_compute_features, signal_units(family)).persist()


def _compute_features(partition: GaussianPartition, units: Array) -> FeaturePartition:
    return FeaturePartition(partition.first, partition_features(partition, units).T)


def partition_features(partition: GaussianPartition, units: Array) -> Array:
    """Return the samples of a fit as features, (q + 2, n)."""
    return make_features(partition.projected, partition.residual, units)


def responsibilities(mixture: SphericalMixture, Z: Array) -> Array:
    """Return the posterior probability of every component for each sample, (k, n)."""
    coefficients = mixture.log_densities()
    return np.hstack([_e_step(coefficients, Z[:, rows])[0] for rows in row_slices(Z.shape[1], STEP_ROWS)])


def _e_step(coefficients: Array, Z: Array) -> tuple[Array, float]:
    """Return responsibilities and the log-likelihood.

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


class FeatureSums(NamedTuple):
    """What the M-step needs."""

    sums: Array  # of the features, weighted by the responsibilities of each component, (k, q + 2)
    objective: float


def _run_em(
    partitions: Partitions[FeaturePartition], start: SphericalMixture, options: EMOptions
) -> EMResult[SphericalMixture]:
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
        resp, objective = _e_step(coefficients, Z[:, rows])
        return FeatureSums(resp @ Z[:, rows].T, objective)

    return sum_chunks(sum_rows, row_slices(Z.shape[1], STEP_ROWS))


def _initial_mixture(family: GaussianFamily, candidates: Candidates) -> SphericalMixture:
    """Start from the centers that moments find, with the average variance."""
    free = family.frame.spread > 0
    centers = (candidates.points[free] * np.sqrt(family.frame.values[free])[:, None]).T
    k = len(centers)
    weights = np.maximum(candidates.weights, MIN_SHARE / k)
    variance = max(family.noise_variance, 1e-9 * float(family.frame.values[-1]))
    n_dims = centers.shape[1] + family.noise.n_dims
    return SphericalMixture(centers, np.full(k, variance), weights / weights.sum(), n_dims)
