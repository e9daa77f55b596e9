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
from mixsearch.data.chunks import CACHED_ROWS, ArraySum, row_slices, sum_chunks
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

    def with_first(self, index: int) -> SphericalMixture:
        """Return the mixture with one component moved to the front."""
        order = np.argsort(np.arange(len(self.weights)) != index, kind="stable")
        return SphericalMixture(self.centers[order], self.variances[order], self.weights[order])

    def with_center(self, index: int, center: Array) -> SphericalMixture:
        """Return the mixture with one component moved to a center, with a typical weight and variance."""
        centers, variances, weights = self.centers.copy(), self.variances.copy(), self.weights.copy()
        centers[index], variances[index] = center, np.median(variances)
        weights[index] = max(weights[index], MIN_SHARE / len(weights))
        return SphericalMixture(centers, variances, weights / weights.sum())

    def posterior_of_all(self, Z: Array) -> Array:
        """Return the probability of each component that all of some samples, given as features, are its own, (k,)."""
        logs = (self.log_densities() @ Z).sum(axis=1) - (Z.shape[1] - 1) * np.log(self.weights)
        return np.asarray(softmax(logs))

    def log_densities(self) -> Array:
        """Return coefficients, (k, q + 2), of log αᵢp(z) as a function of (z, |z|², 1)."""
        centers, variances = self.centers, self.variances
        constant = np.log(self.weights) - 0.5 * (
            np.sum(centers**2, axis=1) / variances + centers.shape[1] * np.log(variances)
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
    energy: Array  # squared residual outside the signal space, per direction, (n,)
    resp: Array  # p, (n, k)


def assign_responsibilities(
    partition: GaussianPartition, mixture: SphericalMixture, units: Array
) -> ResponsibilityPartition:
    """Compute the responsibilities of all components for the samples of a partition."""
    resp = responsibilities(mixture, make_features(partition.projected, units)).T
    return ResponsibilityPartition(partition.first, partition.samples, partition.energy, resp)


def resp_gram(partition: ResponsibilityPartition) -> ArraySum:
    """Sum pp', (k, k): the Gram matrix of the responsibilities."""
    return ArraySum(np.asarray(partition.resp.T @ partition.resp, dtype=np.float64))


def invert_resp_gram(partitions: Partitions[ResponsibilityPartition]) -> Array:
    """Return the pseudo-inverse of the Gram matrix of the responsibilities, (k, k)."""
    return np.linalg.pinv(partitions.reduce(resp_gram).total, hermitian=True)


class FittedMixture(NamedTuple):
    """The whole mixture in the signal space. It depends on no hint, so one serves every search."""

    mixture: SphericalMixture
    partitions: Partitions[ResponsibilityPartition]
    inverse_gram: Array  # (Σ pp')⁻¹, (k, k)
    objectives: tuple[float, ...]


def _attach_responsibilities(result: EMResult[SphericalMixture], family: GaussianFamily) -> FittedMixture:
    partitions = family.partitions.map(assign_responsibilities, result.state, signal_units(family)).persist()
    return FittedMixture(result.state, partitions, invert_resp_gram(partitions), result.objectives)


def fit_mixture(family: GaussianFamily, options: EMOptions) -> FittedMixture:
    """Fit the whole mixture in the signal space, from all contractions of its third moment, by EM.

    EM starts on part of the samples.
    """
    n_start = max(START_SAMPLES, START_PER_COMPONENT * family.frame.n_components)
    part = family.thin(max(family.partitions.n_rows // n_start, 1))
    rough = _initial_mixture(family, all_components(part.tensor(np.eye(len(family.mean))), family.mean))
    start = _run_em(_feature_partitions(part).collect(), rough, options).state
    return _attach_responsibilities(_run_em(_feature_partitions(family), start, options), family)


def refine_gaussian(
    family: GaussianFamily, candidates: Candidates, options: EMOptions, fitted: FittedMixture
) -> RefinedGaussian | None:
    """Refine the first candidate by EM; return None if EM moves away from it.

    Parameters
    ----------
    family : GaussianFamily
    candidates : Candidates
    options : EMOptions
        For a component that the mixture lacks.
    fitted : FittedMixture
        From `fit_mixture`.

    Returns
    -------
    RefinedGaussian or None

    Notes
    -----
    Responsibilities p are computed in the signal space. Outside of it a sample is noise around Σ pᵢμᵢ, so least squares
    on p gives μ: the mean of its samples, less what the other components contribute.
    """
    center = _initial_mixture(family, candidates).centers[0]
    index = _match_center(center, fitted.mixture)
    if index is None:
        result = _run_em_from(center, fitted.mixture, _feature_partitions(family), options)
        fitted = _attach_responsibilities(result, family)
        index = _match_center(center, fitted.mixture)
        if index is None:
            return None
    mixture = fitted.mixture.with_first(index)
    sums = fitted.partitions.reduce(_component_sums, fitted.inverse_gram[index], index)
    residual = family.frame.residual(centered_sums(family.sample_mean, WeightedSums(sums.rows, sums.weights)))[:, 0]
    inside = family.frame.unwhiten(frame_points(family, mixture.centers[:1].T, constant=1.0))[:, 0]
    return RefinedGaussian(
        center=inside + residual,
        weight=float(mixture.weights[0]),
        objectives=fitted.objectives,
        noise_variance=_total_variance(mixture, sums.energy / sums.size, residual),
        mixture=mixture,
    )


class ComponentSums(NamedTuple):
    """Sums over samples for one component."""

    rows: Array  # Σ x w, (d, 1), with the weights w of least squares
    weights: Array  # Σ w, (1,)
    energy: float  # Σ p e
    size: float  # Σ p


def _component_sums(partition: ResponsibilityPartition, inverse_row: Array, index: int) -> ComponentSums:
    weights, own = (partition.resp @ inverse_row)[:, None], partition.resp[:, index]
    sums = weighted_sums(partition.samples, weights)
    return ComponentSums(*sums, energy=float(own @ partition.energy), size=float(own.sum()))


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
    """Return the index of the component of a mixture that the first candidate is, if any."""
    return _match_center(_initial_mixture(family, candidates).centers[0], mixture)


def _match_center(center: Array, mixture: SphericalMixture) -> int | None:
    """Return the index of the component nearest to a center, if it is less than halfway to any other."""
    distances = _squared_distances(center, mixture.centers)
    nearest = int(np.argmin(distances))
    apart = np.delete(_squared_distances(mixture.centers[nearest], mixture.centers), nearest)
    return nearest if 4 * distances[nearest] < apart.min(initial=np.inf) else None


def _run_em_from(
    center: Array, mixture: SphericalMixture, partitions: Partitions[FeaturePartition], options: EMOptions
) -> EMResult[SphericalMixture]:
    """Run EM with a component moved to a center, the nearest or the lightest one, and return the likelier result."""
    indices = {int(np.argmin(_squared_distances(center, mixture.centers))), int(np.argmin(mixture.weights))}
    results = [_run_em(partitions, mixture.with_center(index, center), options) for index in sorted(indices)]
    return max(results, key=lambda result: result.objectives[-1])


def _squared_distances(center: Array, centers: Array) -> Array:
    return np.asarray(np.sum((centers - center) ** 2, axis=1))


@dataclass(frozen=True)
class FeaturePartition(Partition):
    """Samples as features (z, |z|², 1): log densities are linear in them, and EM needs only their sums."""

    features: Array  # (n, q + 2)


def signal_features(family: GaussianFamily, Y: Array) -> Array:
    """Return whitened samples as features (z, |z|², 1), (q + 2, n)."""
    return make_features(Y, signal_units(family))


def make_features(Y: Array, units: Array) -> Array:
    """Return whitened samples as features, given the length of each coordinate, (k,); 0 for the constant one."""
    free = units > 0
    Z = np.asarray(Y.T[free] * units[free, None], dtype=np.float64)
    squares = np.einsum("ij,ij->j", Z, Z)
    return np.vstack([Z, squares, np.ones_like(squares)])


def signal_units(family: GaussianFamily) -> Array:
    """Return the length of each coordinate of the frame in units of the features, (k,); 0 for the constant one."""
    return np.asarray(np.sqrt(family.frame.values) * (family.frame.spread > 0))


def _feature_partitions(family: GaussianFamily) -> Partitions[FeaturePartition]:
    return family.partitions.map(_compute_features, signal_units(family)).persist()


def _compute_features(partition: GaussianPartition, units: Array) -> FeaturePartition:
    return FeaturePartition(partition.first, make_features(partition.projected, units).T)


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

    sums: Array  # of (z, |z|², 1), weighted by the responsibilities of each component, (k, q + 2)
    objective: float


def _run_em(
    partitions: Partitions[FeaturePartition], start: SphericalMixture, options: EMOptions
) -> EMResult[SphericalMixture]:
    floor = MIN_VARIANCE * float(start.variances.mean())

    def step(mixture: SphericalMixture) -> tuple[SphericalMixture, float]:
        sums, objective = partitions.reduce(_feature_sums, mixture.log_densities())
        return _m_step(sums, partitions.n_rows, floor), objective

    return run_em(start, step, options)


def _m_step(sums: Array, n_rows: int, floor: float) -> SphericalMixture:
    sizes = np.maximum(sums[:, -1], np.finfo(np.float64).tiny)
    centers = sums[:, :-2] / sizes[:, None]
    variances = (sums[:, -2] / sizes - np.sum(centers**2, axis=1)) / max(centers.shape[1], 1)
    return SphericalMixture(centers, np.maximum(variances, floor), sizes / n_rows)


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
    return SphericalMixture(centers, np.full(k, variance), weights / weights.sum())


def _total_variance(mixture: SphericalMixture, energy: float, residual: Array) -> float:
    """Average the variance over all d directions: those of the signal space, and the residual energy per direction."""
    d, q = len(residual), mixture.centers.shape[1]
    return max(float(q * mixture.variances[0] + (d - q) * energy - np.sum(residual**2)), 0.0) / d
