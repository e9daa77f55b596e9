"""A subspace sharpened by expectation maximisation in the span of all, and one step in all dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.em import EMOptions, run_em
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.subspace._extraction import SubspaceCandidate, extract_subspace
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

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
    model: SubspaceFamily, mixture: Subspaces, target: int, objectives: tuple[float, ...]
) -> RefinedSubspace | None:
    """The subspace of that number in all dimensions; None where the likelihood steps left it too few samples.

    Parameters
    ----------
    model : SubspaceFamily
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
    first, dim = mixture.led_by(target), mixture.bases.shape[2]
    members, told = model.partitions.map_reduce(_own_members, first, model.frame.values)
    if told.size < dim:
        return None
    basis, variances, noise = _in_all_dimensions(members, told, dim)
    return RefinedSubspace(basis, variances, noise, float(first.weights[0]), objectives, first)


def find_mixture(
    model: SubspaceFamily, point: Array, dim: int, steps: EMOptions
) -> tuple[Subspaces, tuple[float, ...]]:
    """All subspaces after likelihood steps that start from a point in the frame, (k r,), and what each step gained."""
    return sharpen(model, rough_mixture(model, separate(model, point, dim)), steps)


@dataclass(frozen=True)
class MemberPartition(Partition):
    """Samples with the probability of each that it belongs to one subspace."""

    samples: Samples  # (n, d)
    membership: Array  # p, (n,)


class MemberSums(NamedTuple):
    """Sums over the members of one subspace."""

    size: float  # Σ p
    energy: float  # Σ p |x|²


def _own_members(partition: SubspacePartition, mixture: Subspaces, values: Array) -> tuple[MemberPartition, MemberSums]:
    """Of the first subspace."""
    membership = memberships(mixture, coordinates(partition.projected, values))[:, 0]
    squares = squared_distances(partition.samples, np.zeros(partition.samples.shape[1]))
    sums = MemberSums(float(membership.sum()), float(membership @ squares))
    return MemberPartition(partition.first, partition.samples, membership), sums


def _in_all_dimensions(members: Partitions[MemberPartition], told: MemberSums, dim: int) -> tuple[Array, Array, float]:
    """Basis, variances and noise of the members, each with its share."""
    with blas_threads_for(members):
        values, basis, _ = top_eigenpairs(second_moment(members, _share, told.size), dim)
    noise = max(float(told.energy / told.size - values.sum()), 0.0) / (members.n_features - dim)
    return basis, np.maximum(values - noise, 0), noise


def _share(partition: MemberPartition, size: float) -> Array:
    return np.asarray(partition.membership / size)


def separate(model: SubspaceFamily, point: Array, dim: int) -> list[Array]:
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


def _settle(model: SubspaceFamily, point: Array, dim: int, excluded: Array | None) -> SubspaceCandidate:
    for _ in range(N_HINTS):
        candidate = extract_subspace(model.hinted((model.frame.values * point)[None, :]), dim, excluded)
        point = candidate.directions[:, 0]
    return candidate


def coordinates(Y: Array, values: Array) -> Array:
    """Whitened samples in the units of the features, (n, p), where noise has the same level in all directions.

    Parameters
    ----------
    Y : array of shape (n, p)
    values : array of shape (p,)
        Of the frame.
    """
    return np.asarray(Y * np.sqrt(values), dtype=np.float64)


def rough_mixture(model: SubspaceFamily, members: Sequence[Array]) -> Subspaces:
    """The mixture as moments have it.

    Notes
    -----
    D^(1/2)G = √α V'U diag(l)^(1/2) up to a rotation, and the weights are the parts of the trace of A.
    """
    scale = np.sqrt(model.frame.values)[:, None]
    bases, lengths, _ = np.linalg.svd(scale * np.array(members), full_matrices=False)
    weights = np.sum(lengths**2, axis=1) / model.frame.values.sum()
    return Subspaces(bases, lengths**2 / weights[:, None], weights, max(model.noise_variance, _least_noise(model)))


@dataclass(frozen=True)
class CoordinatePartition(Partition):
    """Samples in the span of all subspaces, in the units of the features."""

    coordinates: Array  # z, (n, p)


def sharpen(model: SubspaceFamily, start: Subspaces, steps: EMOptions) -> tuple[Subspaces, tuple[float, ...]]:
    """Expectation maximisation for all subspaces together, and the log-likelihood step by step."""
    partitions, energy = model.partitions.map_reduce(_see_coordinates, model.frame.values)
    least = _least_noise(model)

    def step(mixture: Subspaces) -> tuple[Subspaces, float]:
        expected = partitions.reduce(_expected, mixture)
        objective = float(expected.objective - energy.total / (2 * mixture.noise))
        return _maximise(expected, mixture.variances.shape[1], partitions.n_rows, energy.total, least), objective

    climbed = run_em(start, step, steps)
    return climbed.state, climbed.objectives


def _see_coordinates(partition: SubspacePartition, values: Array) -> tuple[CoordinatePartition, ArraySum]:
    """The coordinates, and the sum of |z|²."""
    Z = coordinates(partition.projected, values)
    return CoordinatePartition(partition.first, Z), ArraySum(float(np.sum(Z**2)))


class Expected(NamedTuple):
    """Sums that one step takes."""

    sizes: Array  # Σ pᵢ, (k,)
    grams: Array  # Σ pᵢzz', (k, p, p)
    objective: float


def _expected(partition: CoordinatePartition, mixture: Subspaces) -> Expected:
    return sum_chunks(partial(_expected_of, partition.coordinates, mixture), row_slices(len(partition.coordinates)))


def _expected_of(samples: Array, mixture: Subspaces, rows: slice) -> Expected:
    Z = samples[rows]
    members, totals = _expect(mixture, Z)
    grams = [(Z * own[:, None]).T @ Z for own in members.T]
    return Expected(members.sum(axis=0), np.array(grams), float(totals.sum()))


def memberships(mixture: Subspaces, Z: Array) -> Array:
    """The probability of every subspace for each sample, (n, k)."""
    return _expect(mixture, Z)[0]


def _expect(mixture: Subspaces, Z: Array) -> tuple[Array, Array]:
    """Memberships, (n, k), and the log-likelihood of each sample as `log_densities` has it, (n,)."""
    logs = log_densities(mixture, Z)
    top = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - top)
    total = odds.sum(axis=1, keepdims=True)
    return np.asarray(odds / total), np.asarray(top + np.log(total))[:, 0]


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


def _maximise(expected: Expected, r: int, n: int, energy: float, least: float) -> Subspaces:
    """The likeliest mixture for given memberships: eigenvectors of weighted second moments, and what they leave."""
    p = expected.grams.shape[1]
    sizes = np.maximum(expected.sizes, np.finfo(np.float64).tiny)
    pairs = [
        scipy.linalg.eigh(gram / size, subset_by_index=(p - r, p - 1))
        for gram, size in zip(expected.grams, sizes, strict=True)
    ]
    values = np.array([pair[0][::-1] for pair in pairs])
    left = energy - float(np.sum(sizes[:, None] * values))
    # The only subspace is the whole span, and leaves no direction to see noise in.
    noise = max(left / (n * max(p - r, 1)), least)
    bases = np.array([pair[1][:, ::-1] for pair in pairs])
    return Subspaces(bases, np.maximum(values - noise, 0), sizes / n, noise)


def _least_noise(model: SubspaceFamily) -> float:
    return LEAST_NOISE * float(model.frame.values[0])
