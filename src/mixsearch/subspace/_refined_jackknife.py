"""Standard errors of a refined subspace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array, Samples
from mixsearch.core.jackknife import NewtonSums, jackknife
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.subspace._em import RefinedSubspace, Subspaces, coordinates, memberships
from mixsearch.subspace._jackknife import SubspaceErrors, jackknife_of_moves, sums_by_group
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

# Up to so many parameters the information about them takes no longer than the search.
MOST_PARAMETERS = 1000


# Subspaces that share this part of the samples with the one found make its parameters uncertain.
SHARED = 1e-3


def refined_subspace_errors(model: SubspaceFamily, refined: RefinedSubspace) -> SubspaceErrors:
    """Standard errors of a subspace after likelihood steps.

    Notes
    -----
    Leaving out a block moves the estimate by one Newton step, which counts what uncertain memberships cost. Outside the
    span of all subspaces a sample is noise that tells nothing of membership, so that the step there is a regression of
    what lies outside on the coordinates that each sample is expected to have in every subspace.
    """
    mixture = refined.mixture
    partitions, tangled = model.partitions.map_reduce(_find_members, mixture, model.frame.values)
    frames = [Turnable.of(mixture, i) for i in _sharing(mixture, tangled.shared)]
    steps = newton_steps(partitions, mixture, frames)
    levels = steps[:, -len(mixture.weights) :]
    weights = mixture.weights[0] * (levels[:, 0] - levels @ mixture.weights)
    moves = _moves_of_basis(model, refined, frames[0].moves(steps), partitions, tangled.expected)
    return SubspaceErrors(jackknife_of_moves(moves), float(jackknife(weights)))


@dataclass(frozen=True)
class MixedPartition(Partition):
    """Samples with their place in the span of all subspaces, and whose they are."""

    samples: Samples  # (n, d)
    coordinates: Array  # z, (n, p)
    members: Array  # pᵢ, (n, k)


class Tangled(NamedTuple):
    """Sums over samples of what the subspaces have in common."""

    shared: Array  # Σ pᵢp₁, (k,)
    expected: Array  # Σ ss' of the coordinates expected in every subspace, (k r, k r)


def _find_members(partition: SubspacePartition, mixture: Subspaces, values: Array) -> tuple[MixedPartition, Tangled]:
    Z = coordinates(partition.projected, values)
    members = memberships(mixture, Z)
    expected = _expected(mixture, Z, members)
    tangled = Tangled(members.T @ members[:, 0], expected.T @ expected)
    return MixedPartition(partition.first, partition.samples, Z, members), tangled


def _sharing(mixture: Subspaces, tangled: Array) -> list[int]:
    """The subspace found and those that share samples with it, which most first: they make its own uncertain."""
    shared = tangled / max(float(tangled.sum()), np.finfo(float).tiny)
    _, p, r = mixture.bases.shape
    most = max(MOST_PARAMETERS // (p * r), 1)
    others = [int(i) for i in np.argsort(-shared[1:], kind="stable") + 1 if shared[i] > SHARED]
    return [0, *others][:most]


class Turnable(NamedTuple):
    """One subspace with all ways to move it, in units in which the coordinates of its members have variance 1."""

    number: int
    inside: Array  # (p, r)
    outside: Array  # (p, p - r)
    unit: Array  # of a move along each column of the basis, (r,)

    @classmethod
    def of(cls, mixture: Subspaces, number: int) -> Turnable:
        """The subspace of that number."""
        variances, s2 = mixture.variances[number], mixture.noise
        basis, total = mixture.bases[number], np.sqrt(variances + s2)
        unit = np.sqrt(s2) * total / np.maximum(variances, np.finfo(np.float64).tiny)
        return cls(number, basis / total, scipy.linalg.null_space(basis.T) / np.sqrt(s2), unit)

    def scores(self, Z: Array, membership: Array) -> list[Array]:
        """Derivatives of each sample's log-likelihood by moves, (n, (p - r) r), and by log variances, (n, r)."""
        own, inside = membership[:, None], Z @ self.inside
        outside = Z @ self.outside
        turns = outside[:, :, None] * (own * inside)[:, None, :]
        return [turns.reshape(len(Z), outside.shape[1] * inside.shape[1]), 0.5 * own * (inside**2 - 1)]

    def moves(self, steps: Array) -> Array:
        """How the basis moves by each step, (B, p, r), where the first entries of a step are this subspace's."""
        p, r = self.inside.shape
        turns = steps[:, : (p - r) * r].reshape(len(steps), p - r, r)
        direct = self.outside / np.linalg.norm(self.outside, axis=0) if p > r else self.outside
        return np.asarray(direct @ turns * self.unit)


def newton_steps(partitions: Partitions[MixedPartition], mixture: Subspaces, frames: list[Turnable]) -> Array:
    """How leaving out each block moves a maximum-likelihood estimate, (B, q).

    Notes
    -----
    Without a block the scores no longer add up to zero. One Newton step, with the sum of their outer products over the
    samples that are left as the information, takes them back there.
    """
    sums = partitions.reduce(_newton_sums, mixture, frames, partitions.n_groups)
    left = 1 - 1 / partitions.n_groups
    return np.asarray(-sums.by_block @ np.linalg.pinv(sums.information * left, hermitian=True))


def _newton_sums(partition: MixedPartition, mixture: Subspaces, frames: list[Turnable], n_groups: int) -> NewtonSums:
    """One block of scores at a time: there may be more parameters than features."""
    sums: list[Array] = []
    information = np.zeros((1, 1))
    for block in range(n_groups):
        rows = partition.rows_at(n_groups, block)
        scores = _scores(mixture, frames, partition.coordinates[rows], partition.members[rows])
        sums.append(scores.sum(axis=0))
        information = information + scores.T @ scores
    return NewtonSums(information, np.array(sums))


def _scores(mixture: Subspaces, frames: list[Turnable], Z: Array, members: Array) -> Array:
    """Derivatives of each sample's log-likelihood by all parameters, (n, q), log weights last."""
    moves = [part for frame in frames for part in frame.scores(Z, members[:, frame.number])]
    return np.hstack([*moves, members - mixture.weights])


def _moves_of_basis(
    model: SubspaceFamily,
    refined: RefinedSubspace,
    moves: Array,
    partitions: Partitions[MixedPartition],
    expected: Array,
) -> Iterator[Array]:
    """How the basis moves without each block, (d, r), from moves in the span and Σ ss' of what is expected."""
    span, r = model.frame.basis, refined.basis.shape[1]
    turn, _ = scipy.linalg.polar(refined.mixture.bases[0].T @ (span.T @ refined.basis))
    left = 1 - 1 / len(moves)
    untangle = np.linalg.pinv(expected * left, hermitian=True)[:, :r] @ turn
    for inside, told in zip(moves, sums_by_group(partitions, r, _told, refined.mixture, untangle), strict=True):
        yield span @ (inside @ turn) - model.frame.residual(told)


def _told(partition: MixedPartition, mixture: Subspaces, untangle: Array) -> Array:
    """What each sample tells of the basis found, (n, r): least squares on the coordinates expected."""
    return np.asarray(_expected(mixture, partition.coordinates, partition.members) @ untangle)


def _expected(mixture: Subspaces, Z: Array, members: Array) -> Array:
    """The coordinates that each sample is expected to have in every subspace, 0 where it does not belong, (n, k r)."""
    k, p, r = mixture.bases.shape
    gains = mixture.variances / (mixture.variances + mixture.noise)
    seen = (Z @ mixture.bases.transpose(1, 0, 2).reshape(p, k * r)).reshape(len(Z), k, r)
    return np.asarray((members[:, :, None] * gains * seen).reshape(len(Z), k * r))
