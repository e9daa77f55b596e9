"""A Gaussian sharpened by expectation maximisation in the signal space, and one pass over the samples."""

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
from mixsearch.gaussian._moments import GaussianModel, GaussianPartition

# The others start from so many samples, and so many per component: likelihood steps on all samples follow.
FEW_SAMPLES, FEW_PER_COMPONENT = 2000, 200


# A component is taken to have this part of an even share at least, and of the noise, so that none dies at the start.
LEAST_SHARE, LEAST_VARIANCE = 0.2, 1e-3


# Samples at once in a step: what it makes of them stays in cache.
STEP_ROWS = 8 * CACHED_ROWS


class Spheres(NamedTuple):
    """All components of a mixture in the signal space, in units in which their noise is the same in all directions."""

    centers: Array  # (k, q)
    variances: Array  # (k,)
    weights: Array  # (k,)

    def with_first(self, place: int) -> Spheres:
        """The same with one component moved to the front."""
        order = np.argsort(np.arange(len(self.weights)) != place, kind="stable")
        return Spheres(self.centers[order], self.variances[order], self.weights[order])

    def with_center(self, place: int, center: Array) -> Spheres:
        """The same with one component put elsewhere, of usual weight and variance there."""
        centers, variances, weights = self.centers.copy(), self.variances.copy(), self.weights.copy()
        centers[place], variances[place] = center, np.median(variances)
        weights[place] = max(weights[place], LEAST_SHARE / len(weights))
        return Spheres(centers, variances, weights / weights.sum())

    def chances(self, Z: Array) -> Array:
        """The probability of each component that all of some samples, as `features` has them, are its own, (k,)."""
        odds = (self.log_densities() @ Z).sum(axis=1) - (Z.shape[1] - 1) * np.log(self.weights)
        return np.asarray(softmax(odds))

    def log_densities(self) -> Array:
        """Coefficients, (k, q + 2), of log αᵢp(z) as a function of (z, |z|², 1)."""
        centers, variances = self.centers, self.variances
        constant = np.log(self.weights) - 0.5 * (
            np.sum(centers**2, axis=1) / variances + centers.shape[1] * np.log(variances)
        )
        return np.column_stack([centers / variances[:, None], -0.5 / variances, constant])


@dataclass(frozen=True, slots=True)
class RefinedGaussian(Refined):
    """A Gaussian after likelihood steps, with the mixture that it was told apart from."""

    variance: float
    mixture: Spheres  # the component itself first


@dataclass(frozen=True)
class ResponsibilityPartition(Partition):
    """Samples with what is known of whose they are."""

    samples: Samples  # (n, d)
    energy: Array  # outside the signal space, per direction, (n,)
    members: Array  # p, (n, k): the probability of every component


def _learned(partition: GaussianPartition, mixture: Spheres, units: Array) -> ResponsibilityPartition:
    members = memberships(mixture, features_of(partition.projected, units)).T
    return ResponsibilityPartition(partition.first, partition.samples, partition.energy, members)


def _untangle(partitions: Partitions[ResponsibilityPartition]) -> Array:
    return np.linalg.pinv(partitions.reduce(_tangled).total, hermitian=True)


def _tangled(partition: ResponsibilityPartition) -> ArraySum:
    """Σ pp', (k, k)."""
    return ArraySum(np.asarray(partition.members.T @ partition.members, dtype=np.float64))


class Learned(NamedTuple):
    """The whole mixture in the signal space. No hint enters, so that one serves every search."""

    mixture: Spheres
    partitions: Partitions[ResponsibilityPartition]
    untangle: Array  # (pp')⁻¹, (k, k)
    objectives: tuple[float, ...]

    @classmethod
    def of(cls, climbed: EMResult[Spheres], model: GaussianModel) -> Learned:
        """From where the likelihood steps led."""
        partitions = model.partitions.map(_learned, climbed.state, _units(model)).persist()
        return cls(climbed.state, partitions, _untangle(partitions), climbed.objectives)


def learn_spheres(model: GaussianModel, steps: EMOptions) -> Learned:
    """The whole mixture in the signal space, from all contractions of its third moment and likelihood steps.

    It starts on a part of the samples.
    """
    few = max(model.partitions.n_rows // max(FEW_SAMPLES, FEW_PER_COMPONENT * model.frame.n_components), 1)
    part = model.thin(few)
    rough = _spheres(model, all_components(part.tensor(np.eye(len(model.mean))), model.mean))
    start = _climb(_seen(part).collect(), rough, steps).state
    return Learned.of(_climb(_seen(model), start, steps), model)


def refine_gaussian(
    model: GaussianModel, candidates: Candidates, steps: EMOptions, learned: Learned
) -> RefinedGaussian | None:
    """Sharpen the first of the candidates; None where the steps lead away from it.

    Parameters
    ----------
    model : GaussianModel
    candidates : Candidates
    steps : Steps
        For a component that the mixture lacks.
    learned : Learned
        The mixture as `learn_spheres` has it.

    Notes
    -----
    Who belongs to it is decided in the signal space. Outside of it a sample is noise around Σ pᵢμᵢ, with its
    memberships pᵢ, so that least squares on those give μ: the mean of its samples, less what others brought in.
    """
    center = _spheres(model, candidates).centers[0]
    place = _place_of(center, learned.mixture)
    if place is None:
        climbed = _climb_from(center, learned.mixture, _seen(model), steps)
        learned = Learned.of(climbed, model)
        place = _place_of(center, learned.mixture)
        if place is None:
            return None
    mixture = learned.mixture.with_first(place)
    told = learned.partitions.reduce(_told, learned.untangle[place], place)
    outside = model.frame.residual(centered_sums(model.sample_mean, WeightedSums(told.rows, told.weights)))[:, 0]
    inside = model.frame.unwhiten(_points(model, mixture.centers[:1].T, constant=1.0))[:, 0]
    return RefinedGaussian(
        center=inside + outside,
        weight=float(mixture.weights[0]),
        objectives=learned.objectives,
        variance=_variance(mixture, told.energy / told.size, outside),
        mixture=mixture,
    )


class Told(NamedTuple):
    """Sums over samples that tell one component of all."""

    rows: Array  # Σ x w, (d, 1), with the weights w of least squares
    weights: Array  # Σ w, (1,)
    energy: float  # Σ p e
    size: float  # Σ p


def _told(partition: ResponsibilityPartition, untangle: Array, place: int) -> Told:
    telling, own = (partition.members @ untangle)[:, None], partition.members[:, place]
    return Told(*weighted_sums(partition.samples, telling), float(own @ partition.energy), float(own.sum()))


def _points(model: GaussianModel, centers: Array, constant: float) -> Array:
    """Centers of the signal space, (q, b), in the coordinates of the frame, (k, b)."""
    free = model.frame.spread > 0
    points = np.full((len(free), centers.shape[1]), constant)
    points[free] = centers / np.sqrt(model.frame.values[free])[:, None]
    return points


def direction_of(model: GaussianModel, mixture: Spheres, place: int) -> Array:
    """The hint in the frame, (k,), under which one component of a mixture scores and no other does.

    Notes
    -----
    Whitened centers are orthogonal to each other, so that each is its own best hint.
    """
    return _points(model, mixture.centers[place][:, None], constant=1.0)[:, 0]


def place_of(model: GaussianModel, candidates: Candidates, mixture: Spheres) -> int | None:
    """Which component of a mixture the first of the candidates is, if any."""
    return _place_of(_spheres(model, candidates).centers[0], mixture)


def _place_of(center: Array, mixture: Spheres) -> int | None:
    """Which component of the mixture a center found otherwise is: less than halfway to any other."""
    distances = _squared_distances(center, mixture.centers)
    nearest = int(np.argmin(distances))
    apart = np.delete(_squared_distances(mixture.centers[nearest], mixture.centers), nearest)
    return nearest if 4 * distances[nearest] < apart.min(initial=np.inf) else None


def _climb_from(
    center: Array, mixture: Spheres, partitions: Partitions[FeaturePartition], steps: EMOptions
) -> EMResult[Spheres]:
    """The likeliest mixture with a component put at a center: the nearest one, or the one that is least needed."""
    places = {int(np.argmin(_squared_distances(center, mixture.centers))), int(np.argmin(mixture.weights))}
    climbs = [_climb(partitions, mixture.with_center(place, center), steps) for place in sorted(places)]
    return max(climbs, key=lambda climbed: climbed.objectives[-1])


def _squared_distances(center: Array, centers: Array) -> Array:
    return np.asarray(np.sum((centers - center) ** 2, axis=1))


@dataclass(frozen=True)
class FeaturePartition(Partition):
    """Samples as (z, |z|², 1): log densities are linear in it, and its sums are all that steps take."""

    features: Array  # (n, q + 2)


def features(model: GaussianModel, Y: Array) -> Array:
    """Whitened samples as (z, |z|², 1), (q + 2, n)."""
    return features_of(Y, _units(model))


def features_of(Y: Array, units: Array) -> Array:
    """The same, with the length of each coordinate, (k,), 0 for one that tells nothing."""
    free = units > 0
    Z = np.asarray(Y.T[free] * units[free, None], dtype=np.float64)
    squares = np.einsum("ij,ij->j", Z, Z)
    return np.vstack([Z, squares, np.ones_like(squares)])


def _units(model: GaussianModel) -> Array:
    return np.asarray(np.sqrt(model.frame.values) * (model.frame.spread > 0))


def _seen(model: GaussianModel) -> Partitions[FeaturePartition]:
    return model.partitions.map(_features, _units(model)).persist()


def _features(partition: GaussianPartition, units: Array) -> FeaturePartition:
    return FeaturePartition(partition.first, features_of(partition.projected, units).T)


def memberships(mixture: Spheres, Z: Array) -> Array:
    """The probability of every component for each sample, (k, n)."""
    coefficients = mixture.log_densities()
    return np.hstack([_expect(coefficients, Z[:, some])[0] for some in row_slices(Z.shape[1], STEP_ROWS)])


def _expect(coefficients: Array, Z: Array) -> tuple[Array, float]:
    """Memberships and the log-likelihood.

    Exponentials take most of the time, eight times less of it in single precision; of differences of logarithms, that
    is good enough for a probability.
    """
    logs = coefficients @ Z
    top = logs.max(axis=0)
    logs -= top
    odds = np.exp(logs.astype(np.float32))
    total = odds.sum(axis=0)
    odds /= total
    return odds.astype(np.float64), float(top.sum() + np.sum(np.log(total), dtype=np.float64))


class Expected(NamedTuple):
    """Sums that one step takes."""

    sums: Array  # of (z, |z|², 1) over the members of each component, (k, q + 2)
    objective: float


def _climb(partitions: Partitions[FeaturePartition], start: Spheres, steps: EMOptions) -> EMResult[Spheres]:
    floor = LEAST_VARIANCE * float(start.variances.mean())

    def step(mixture: Spheres) -> tuple[Spheres, float]:
        sums, objective = partitions.reduce(_expected, mixture.log_densities())
        sizes = np.maximum(sums[:, -1], np.finfo(np.float64).tiny)
        centers = sums[:, :-2] / sizes[:, None]
        variances = (sums[:, -2] / sizes - np.sum(centers**2, axis=1)) / max(centers.shape[1], 1)
        return Spheres(centers, np.maximum(variances, floor), sizes / partitions.n_rows), objective

    return run_em(start, step, steps)


def _expected(partition: FeaturePartition, coefficients: Array) -> Expected:
    Z = partition.features.T

    def work(some: slice) -> Expected:
        members, objective = _expect(coefficients, Z[:, some])
        return Expected(members @ Z[:, some].T, objective)

    return sum_chunks(work, row_slices(Z.shape[1], STEP_ROWS))


def _spheres(model: GaussianModel, candidates: Candidates) -> Spheres:
    free = model.frame.spread > 0
    centers = (candidates.points[free] * np.sqrt(model.frame.values[free])[:, None]).T
    k = len(centers)
    weights = np.maximum(candidates.weights, LEAST_SHARE / k)
    variance = max(model.noise, 1e-9 * float(model.frame.values[-1]))
    return Spheres(centers, np.full(k, variance), weights / weights.sum())


def _variance(mixture: Spheres, energy: float, beside: Array) -> float:
    """The average over all d directions: those of the signal space, and the energy outside it, per direction."""
    d, q = len(beside), mixture.centers.shape[1]
    return max(float(q * mixture.variances[0] + (d - q) * energy - np.sum(beside**2)), 0.0) / d
