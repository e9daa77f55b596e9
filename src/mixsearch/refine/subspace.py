"""A subspace sharpened by expectation maximisation in the span of all, and one step in all dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import logsumexp

from mixsearch.extraction import SubspaceCandidate, extract_subspace
from mixsearch.linalg import top_eigenpairs
from mixsearch.models import SubspaceModel
from mixsearch.models.second_moment import cores_for, second_moment_of_rows, squared_distances, weighted_gram
from mixsearch.refine.steps import Steps, climb
from mixsearch.shards import shards_of
from mixsearch.types import Array, Samples

# Each point found is the hint for the next one, so many times.
N_HINTS = 3
# Densities need some noise: this part of the largest variance where the samples have none.
LEAST_NOISE = 1e-9


class Subspaces(NamedTuple):
    """All subspaces of a mixture, seen in the span of all: x ~ N(0, Uᵢ diag(lᵢ) Uᵢ' + s2 I) with weight αᵢ."""

    bases: Array  # Uᵢ, (k, p, r), orthonormal columns
    variances: Array  # lᵢ, (k, r), of the coordinates without the noise
    weights: Array  # αᵢ, (k,)
    noise: float  # s2

    def led_by(self, number: int) -> Subspaces:
        """The same mixture with that subspace first."""
        order = [number, *(i for i in range(len(self.weights)) if i != number)]
        return Subspaces(self.bases[order], self.variances[order], self.weights[order], self.noise)


@dataclass(frozen=True, slots=True)
class RefinedSubspace:
    """A subspace after likelihood steps, with the mixture that it was told apart from."""

    basis: Array  # (d, r), orthonormal columns
    variances: Array  # (r,), of the coordinates without the noise, falling
    noise: float
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood of the start and after each step that was kept
    mixture: Subspaces  # the subspace itself first


def refine_subspace(
    model: SubspaceModel, mixture: Subspaces, target: int, objectives: tuple[float, ...]
) -> RefinedSubspace | None:
    """The subspace of that number in all dimensions; None where the likelihood steps left it too few samples.

    Parameters
    ----------
    model : SubspaceModel
    mixture : Subspaces
        After the likelihood steps.
    target : int
    objectives : tuple of float
        What the steps gained.

    Notes
    -----
    Who belongs to a subspace is decided in the span of all, where noise of one level for all keeps the likelihood
    bounded. The span itself is only known up to the error of its eigenvectors; so the last step is taken in all d
    dimensions. It is one of expectation maximisation like the others: noise outside the span tells nothing of
    membership, so the memberships are those of the same mixture in d dimensions, and the top eigenvectors of the
    samples' weighted second moment raise its likelihood.
    """
    first = mixture.led_by(target)
    membership = memberships(first, coordinates(model, model.projected))[:, 0]
    dim = mixture.bases.shape[2]
    if membership.sum() < dim:
        return None
    basis, variances, noise = _in_all_dimensions(model.samples, membership / membership.sum(), dim)
    return RefinedSubspace(basis, variances, noise, float(first.weights[0]), objectives, first)


def find_mixture(model: SubspaceModel, point: Array, dim: int, steps: Steps) -> tuple[Subspaces, tuple[float, ...]]:
    """All subspaces after likelihood steps that start from a point in the frame, (k r,), and what each step gained."""
    return sharpen(model, rough_mixture(model, separate(model, point, dim)), steps)


def _in_all_dimensions(X: Samples, shares: Array, dim: int) -> tuple[Array, Array, float]:
    """Basis, variances and noise of the members, each with its share."""
    with cores_for(shards_of(X)):
        values, basis, _ = top_eigenpairs(second_moment_of_rows(X, shares), dim)
    energy = shares @ squared_distances(X, np.zeros(X.shape[1]))
    noise = max(float(energy - values.sum()), 0.0) / (X.shape[1] - dim)
    return basis, np.maximum(values - noise, 0), noise


def separate(model: SubspaceModel, point: Array, dim: int) -> list[Array]:
    """The directions of all subspaces, (k r, r) each, that of the point first.

    Notes
    -----
    Under any hint the top eigenvector of R lies in the one subspace with the largest |U'v|; the next r - 1 lie there
    too only where |U'v|² is three times the others'. So the top eigenvector is a better hint than the hint.
    """
    members: list[Array] = []
    following: Array | None = point
    while following is not None and (len(members) + 1) * dim <= len(point):
        candidate = _settle(model, following, dim, np.hstack(members) if members else None)
        members.append(candidate.directions)
        following = candidate.next_direction
    return members


def _settle(model: SubspaceModel, point: Array, dim: int, excluded: Array | None) -> SubspaceCandidate:
    for _ in range(N_HINTS):
        candidate = extract_subspace(model.hinted((model.frame.values * point)[None, :]), dim, excluded)
        point = candidate.directions[:, 0]
    return candidate


def coordinates(model: SubspaceModel, Y: Array) -> Array:
    """Whitened samples in the units of the features, (n, p), where noise has the same level in all directions."""
    return np.asarray(Y * np.sqrt(model.frame.values), dtype=np.float64)


def rough_mixture(model: SubspaceModel, members: Sequence[Array]) -> Subspaces:
    """The mixture as moments have it.

    Notes
    -----
    D^(1/2)G = √α V'U diag(l)^(1/2) up to a rotation, and the weights are the parts of the trace of A.
    """
    scale = np.sqrt(model.frame.values)[:, None]
    bases, lengths, _ = np.linalg.svd(scale * np.array(members), full_matrices=False)
    weights = np.sum(lengths**2, axis=1) / model.frame.values.sum()
    return Subspaces(bases, lengths**2 / weights[:, None], weights, max(model.noise, _least_noise(model)))


def sharpen(model: SubspaceModel, start: Subspaces, steps: Steps) -> tuple[Subspaces, tuple[float, ...]]:
    """Expectation maximisation for all subspaces together, and the log-likelihood step by step."""
    Z = coordinates(model, model.projected)
    energy, least = float(np.sum(Z**2)), _least_noise(model)

    def step(mixture: Subspaces) -> tuple[Subspaces, float]:
        logs = log_densities(mixture, Z)
        total = logsumexp(logs, axis=1)
        objective = float(total.sum() - energy / (2 * mixture.noise))
        return _maximise(Z, np.exp(logs - total[:, None]), mixture.variances.shape[1], energy, least), objective

    climbed = climb(start, step, steps)
    return climbed.state, climbed.objectives


def memberships(mixture: Subspaces, Z: Array) -> Array:
    """The probability of every subspace for each sample, (n, k)."""
    logs = log_densities(mixture, Z)
    return np.asarray(np.exp(logs - logsumexp(logs, axis=1, keepdims=True)))


def log_densities(mixture: Subspaces, Z: Array) -> Array:
    """Log αᵢpᵢ(z) + |z|² / 2s2, (n, k), up to a constant.

    Notes
    -----
    z'Σ⁻¹z = |z|² / s2 - Σⱼ ⟨z, uⱼ⟩² lⱼ / (s2 (lⱼ + s2)), so the subspaces differ by their own coordinates alone.
    """
    bases, variances, weights, s2 = mixture
    k, p, r = bases.shape
    gains = np.sqrt(variances / (s2 * (variances + s2)))
    stacked = (bases * gains[:, None, :]).transpose(1, 0, 2).reshape(p, k * r)
    squares = ((Z @ stacked) ** 2).reshape(len(Z), k, r).sum(axis=2)
    constants = np.log(weights) - 0.5 * (np.log(variances + s2).sum(axis=1) + (p - r) * np.log(s2))
    return np.asarray(constants + 0.5 * squares)


def _maximise(Z: Array, members: Array, r: int, energy: float, least: float) -> Subspaces:
    """The likeliest mixture for given memberships: eigenvectors of weighted second moments, and what they leave."""
    n, p = Z.shape
    sizes = np.maximum(members.sum(axis=0), np.finfo(np.float64).tiny)
    pairs = [
        scipy.linalg.eigh(weighted_gram(Z, share / size), subset_by_index=(p - r, p - 1))
        for share, size in zip(members.T, sizes, strict=True)
    ]
    values = np.array([pair[0][::-1] for pair in pairs])
    left = energy - float(np.sum(sizes[:, None] * values))
    # The only subspace is the whole span, and leaves no direction to see noise in.
    noise = max(left / (n * max(p - r, 1)), least)
    bases = np.array([pair[1][:, ::-1] for pair in pairs])
    return Subspaces(bases, np.maximum(values - noise, 0), sizes / n, noise)


def _least_noise(model: SubspaceModel) -> float:
    return LEAST_NOISE * float(model.frame.values[0])
