"""A Gaussian sharpened by expectation maximisation in the signal space, and one pass over the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch.blocks import spread_over_blocks
from mixsearch.models import GaussianModel
from mixsearch.refine.rest import all_components
from mixsearch.refine.steps import Climbed, Steps, climb
from mixsearch.types import Array, Candidates, Refined, StandardErrors
from mixsearch.uncertainty import jackknife, newton_replicates

# The others start from so many samples, and so many per component: likelihood steps on all samples follow.
FEW_SAMPLES, FEW_PER_COMPONENT = 2000, 200
# A component is taken to have this part of an even share at least, and of the noise, so that none dies at the start.
LEAST_SHARE, LEAST_VARIANCE = 0.2, 1e-3
# Up to this many squared deviations from the mean, single precision tells distances to a hundredth of a deviation.
COARSE = 1e4
# Within this factor of 1, so do the inverses of variances not leave its range.
LEAST_COARSE = 1e-24
# Components that share this part of the samples with the one found make its parameters uncertain.
SHARED, MOST_SHARING = 1e-3, 6


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


class Learned(NamedTuple):
    """The whole mixture in the signal space. No hint enters, so that one serves every search."""

    mixture: Spheres
    members: Array  # p, (k, n): the probability of every component for each sample
    untangle: Array  # (pp')⁻¹, (k, k)
    objectives: tuple[float, ...]

    @classmethod
    def of(cls, climbed: Climbed[Spheres], model: GaussianModel) -> Learned:
        """From where the likelihood steps led."""
        members = memberships(climbed.state, features(model, model.projected))
        return cls(climbed.state, members, np.linalg.pinv(members @ members.T, hermitian=True), climbed.objectives)


def learn_spheres(model: GaussianModel, steps: Steps) -> Learned:
    """The whole mixture in the signal space, from all contractions of its third moment and likelihood steps.

    It starts on a part of the samples.
    """
    few = max(len(model.projected) // max(FEW_SAMPLES, FEW_PER_COMPONENT * model.frame.n_components), 1)
    part = model.thin(few)
    rough = _spheres(model, all_components(lambda c: part.hinted(c).matrix, model.mean))
    start = _climb(features(part, part.projected), rough, steps).state
    return Learned.of(_climb(features(model, model.projected), start, steps), model)


def refine_gaussian(
    model: GaussianModel, candidates: Candidates, steps: Steps, learned: Learned
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
        climbed = _climb_from(center, learned.mixture, features(model, model.projected), steps)
        learned = Learned.of(climbed, model)
        place = _place_of(center, learned.mixture)
        if place is None:
            return None
    mixture = learned.mixture.with_first(place)
    telling = (learned.untangle[place] @ learned.members).astype(model.samples.dtype)
    seen = np.asarray(model.samples.T @ telling) - model.sample_mean * telling.sum()
    outside = model.frame.reject(seen[:, None])[:, 0]
    inside = model.frame.unwhiten(_points(model, mixture.centers[:1].T, constant=1.0))[:, 0]
    return RefinedGaussian(
        center=inside + outside,
        weight=float(mixture.weights[0]),
        objectives=learned.objectives,
        variance=_variance(model, mixture, learned.members[place], outside),
        mixture=mixture,
    )


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


def _climb_from(center: Array, mixture: Spheres, Z: Array, steps: Steps) -> Climbed[Spheres]:
    """The likeliest mixture with a component put at a center: the nearest one, or the one that is least needed."""
    places = {int(np.argmin(_squared_distances(center, mixture.centers))), int(np.argmin(mixture.weights))}
    climbs = [_climb(Z, mixture.with_center(place, center), steps) for place in sorted(places)]
    return max(climbs, key=lambda climbed: climbed.objectives[-1])


def _squared_distances(center: Array, centers: Array) -> Array:
    return np.asarray(np.sum((centers - center) ** 2, axis=1))


def features(model: GaussianModel, Y: Array) -> Array:
    """Samples as (z, |z|², 1), (q + 2, n): log densities are linear in it, and its sums are all that steps take.

    In single precision where that is good enough: exponentials take most of the time, and eight times less of it then.
    """
    free = model.frame.spread > 0
    Z = np.asarray(Y.T[free] * np.sqrt(model.frame.values[free])[:, None], dtype=np.float64)
    squares = np.einsum("ij,ij->j", Z, Z)
    coarse = LEAST_COARSE < model.noise < 1 / LEAST_COARSE and squares.max(initial=0.0) < COARSE * model.noise
    return np.vstack([Z, squares, np.ones_like(squares)]).astype(np.float32 if coarse else np.float64)


def memberships(mixture: Spheres, Z: Array) -> Array:
    """The probability of every component for each sample, (k, n)."""
    return _expect(mixture, Z)[0]


def _expect(mixture: Spheres, Z: Array) -> tuple[Array, float]:
    """Memberships and the log-likelihood."""
    logs = mixture.log_densities().astype(Z.dtype) @ Z
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = logs.sum(axis=0)
    logs /= total
    return logs, float(np.sum(top, dtype=np.float64) + np.sum(np.log(total), dtype=np.float64))


def _climb(Z: Array, start: Spheres, steps: Steps) -> Climbed[Spheres]:
    floor = LEAST_VARIANCE * float(start.variances.mean())

    def step(mixture: Spheres) -> tuple[Spheres, float]:
        members, objective = _expect(mixture, Z)
        sums = (members @ Z.T).astype(np.float64)
        sizes = np.maximum(sums[:, -1], np.finfo(np.float64).tiny)
        centers = sums[:, :-2] / sizes[:, None]
        variances = (sums[:, -2] / sizes - np.sum(centers**2, axis=1)) / max(centers.shape[1], 1)
        return Spheres(centers, np.maximum(variances, floor), sizes / Z.shape[1]), objective

    return climb(start, step, steps)


def _spheres(model: GaussianModel, candidates: Candidates) -> Spheres:
    free = model.frame.spread > 0
    centers = (candidates.points[free] * np.sqrt(model.frame.values[free])[:, None]).T
    k = len(centers)
    weights = np.maximum(candidates.weights, LEAST_SHARE / k)
    variance = max(model.noise, 1e-9 * float(model.frame.values[-1]))
    return Spheres(centers, np.full(k, variance), weights / weights.sum())


def _variance(model: GaussianModel, mixture: Spheres, membership: Array, beside: Array) -> float:
    """The average over all d directions: those of the signal space, and the energy outside it."""
    d, q = len(beside), mixture.centers.shape[1]
    energy = float(membership @ model.energy / membership.sum(dtype=np.float64))
    return max(float(q * mixture.variances[0] + (d - q) * energy - np.sum(beside**2)), 0.0) / d


def refined_gaussian_errors(model: GaussianModel, refined: RefinedGaussian) -> StandardErrors:
    """Standard errors of a refined Gaussian.

    Notes
    -----
    Leaving out a block moves the estimate inside the signal space by one Newton step, which counts what the uncertain
    memberships cost; outside of it samples are noise that tells nothing of membership, and the center is their weighted
    mean.
    """
    mixture, Z = refined.mixture, features(model, model.projected).astype(np.float64)
    members = memberships(mixture, Z)
    sharing = _sharing(members)
    moves = newton_replicates(_scores(mixture, Z, members, sharing))
    inside = model.frame.unwhiten(_points(model, moves[:, : mixture.centers.shape[1]].T, constant=0.0))
    shares, levels = mixture.weights[sharing], moves[:, -len(sharing) :]
    weights = shares[0] * (levels[:, 0] - levels @ shares)
    # Of least squares, the block's part of Σ ω(x - fit) is what leaving it out takes off, in first order.
    told = spread_over_blocks(np.linalg.pinv(members @ members.T, hermitian=True)[0] @ members)
    beside = model.frame.reject(np.asarray(model.samples.T @ told) - np.outer(model.sample_mean, told.sum(axis=0)))
    own = model.frame.reject((refined.center - model.sample_mean)[:, None])
    beside -= own * (told * members[0][:, None]).sum(axis=0)
    return StandardErrors(jackknife((inside - beside).T), float(jackknife(weights)))


def _sharing(members: Array) -> Array:
    """The component found and those that share samples with it, which most first."""
    shared = members @ members[0] / max(float(members[0].sum()), np.finfo(float).tiny)
    order = np.argsort(-shared[1:], kind="stable")[:MOST_SHARING] + 1
    return np.concatenate([[0], order[shared[order] > SHARED]])


def _scores(mixture: Spheres, Z: Array, members: Array, sharing: Array) -> Array:
    """Derivatives of each sample's log-likelihood, (n, p): by centers, log variances, log weights up to a constant."""
    z, q = Z[:-2].T, len(Z) - 2
    centers, variances, weights = [], [], []
    for i in sharing:
        away, own = z - mixture.centers[i], members[i][:, None]
        centers.append(own * away / mixture.variances[i])
        squares = np.einsum("ij,ij->i", away, away)[:, None]
        variances.append(0.5 * own * (squares / mixture.variances[i] - q))
        weights.append(own - mixture.weights[i])
    return np.hstack([*centers, *variances, *weights])
