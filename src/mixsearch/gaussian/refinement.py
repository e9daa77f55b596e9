"""Refinement of a Gaussian by EM in the signal space, and one pass over the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.core.second_moment import WeightedSums, centered_sums, weighted_sums
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.gaussian.family import GaussianFamily, GaussianPartition
from mixsearch.gaussian.mixture import (
    SphericalMixture,
    feature_partitions,
    frame_points,
    mixture_from_moments,
    partition_features,
    responsibilities,
    run_spherical_em,
    signal_units,
)
from mixsearch.gaussian.subset import SubsetFit


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


def fit_mixture(family: GaussianFamily, options: EMOptions, subset: SubsetFit) -> FittedMixture:
    """Fit the whole mixture in the signal space by EM, from the one of a subset of the samples."""
    result = run_spherical_em(feature_partitions(family), subset.mixture, options)
    return _attach_responsibilities(result, family)


def refine_gaussian(family: GaussianFamily, fitted: FittedMixture, index: int) -> RefinedGaussian:
    """Return one component of a fitted mixture, with its center in all dimensions.

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


def match_candidate(family: GaussianFamily, candidates: Candidates, mixture: SphericalMixture) -> int | None:
    """Return the index of the component of a mixture that the first candidate is, if any.

    It is the one nearest to the candidate, if that is less than halfway to any other.
    """
    center = mixture_from_moments(family, candidates).centers[0]
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
    center, mixture = mixture_from_moments(family, candidates).centers[0], fitted.mixture
    indices = {int(np.argmin(_squared_distances(center, mixture.centers))), int(np.argmin(mixture.weights))}
    partitions = feature_partitions(family)
    results = [run_spherical_em(partitions, mixture.with_center(index, center), options) for index in sorted(indices)]
    best = max(results, key=lambda result: result.objectives[-1])
    return _attach_responsibilities(best, family) if best.objectives[-1] > fitted.objectives[-1] else None


def _squared_distances(center: Array, centers: Array) -> Array:
    return np.asarray(np.sum((centers - center) ** 2, axis=1))
