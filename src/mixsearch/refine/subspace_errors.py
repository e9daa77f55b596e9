"""Standard errors of a refined subspace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch.blocks import interleaved_slices
from mixsearch.models import SubspaceModel
from mixsearch.refine.subspace import RefinedSubspace, Subspaces, coordinates, memberships
from mixsearch.types import Array
from mixsearch.uncertainty import jackknife
from mixsearch.uncertainty.subspace import SubspaceErrors, jackknife_of_moves

# Up to so many parameters the information about them takes no longer than the search.
MOST_PARAMETERS = 1000
# Subspaces that share this part of the samples with the one found make its parameters uncertain.
SHARED = 1e-3


def refined_subspace_errors(model: SubspaceModel, refined: RefinedSubspace) -> SubspaceErrors:
    """Standard errors of a subspace after likelihood steps.

    Notes
    -----
    Leaving out a block moves the estimate by one Newton step, which counts what uncertain memberships cost. Outside the
    span of all subspaces a sample is noise that tells nothing of membership, so that the step there is a regression of
    what lies outside on the coordinates that each sample is expected to have in every subspace.
    """
    mixture, Z = refined.mixture, coordinates(model, model.projected)
    members = memberships(mixture, Z)
    frames = [Turnable.of(mixture, i) for i in _sharing(mixture, members)]
    steps = newton_steps(lambda rows: _scores(mixture, frames, Z[rows], members[rows]), len(Z))
    levels = steps[:, -len(mixture.weights) :]
    weights = mixture.weights[0] * (levels[:, 0] - levels @ mixture.weights)
    moves = _moves_of_basis(model, refined, frames[0].moves(steps), _expected(mixture, Z, members))
    return SubspaceErrors(jackknife_of_moves(moves), float(jackknife(weights)))


def _sharing(mixture: Subspaces, members: Array) -> list[int]:
    """The subspace found and those that share samples with it, which most first: they make its own uncertain."""
    shared = members.T @ members[:, 0] / max(float(members[:, 0].sum()), np.finfo(float).tiny)
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
        turns = (Z @ self.outside)[:, :, None] * (own * inside)[:, None, :]
        return [turns.reshape(len(Z), -1), 0.5 * own * (inside**2 - 1)]

    def moves(self, steps: Array) -> Array:
        """How the basis moves by each step, (B, p, r), where the first entries of a step are this subspace's."""
        p, r = self.inside.shape
        turns = steps[:, : (p - r) * r].reshape(len(steps), p - r, r)
        direct = self.outside / np.linalg.norm(self.outside, axis=0) if p > r else self.outside
        return np.asarray(direct @ turns * self.unit)


def newton_steps(scores_of: Callable[[slice], Array], n_rows: int) -> Array:
    """How leaving out each block moves a maximum-likelihood estimate, (B, q), one block of scores at a time.

    Notes
    -----
    Without a block the scores no longer add up to zero. One Newton step, with the sum of their outer products over the
    samples that are left as the information, takes them back there.
    """
    sums: list[Array] = []
    information = np.zeros((1, 1))
    for rows in interleaved_slices(n_rows):
        scores = scores_of(rows)
        sums.append(scores.sum(axis=0))
        information = information + scores.T @ scores
    left = 1 - 1 / len(sums)
    return np.asarray(-np.array(sums) @ np.linalg.pinv(information * left, hermitian=True))


def _scores(mixture: Subspaces, frames: list[Turnable], Z: Array, members: Array) -> Array:
    """Derivatives of each sample's log-likelihood by all parameters, (n, q), log weights last."""
    moves = [part for frame in frames for part in frame.scores(Z, members[:, frame.number])]
    return np.hstack([*moves, members - mixture.weights])


def _moves_of_basis(model: SubspaceModel, refined: RefinedSubspace, moves: Array, expected: Array) -> Iterator[Array]:
    """How the basis moves without each block, (d, r), from moves in the span and the coordinates expected, (n, k r)."""
    X, span, r = model.samples, model.frame.basis, refined.basis.shape[1]
    turn, _ = scipy.linalg.polar(refined.mixture.bases[0].T @ (span.T @ refined.basis))
    left = 1 - 1 / len(moves)
    told = expected @ np.linalg.pinv(expected.T @ expected * left, hermitian=True)[:, :r] @ turn
    for inside, rows in zip(moves, interleaved_slices(len(told)), strict=True):
        yield span @ (inside @ turn) - model.frame.reject(np.asarray(X[rows].T @ told[rows]))


def _expected(mixture: Subspaces, Z: Array, members: Array) -> Array:
    """The coordinates that each sample is expected to have in every subspace, 0 where it does not belong, (n, k r)."""
    k, p, r = mixture.bases.shape
    gains = mixture.variances / (mixture.variances + mixture.noise)
    seen = (Z @ mixture.bases.transpose(1, 0, 2).reshape(p, k * r)).reshape(len(Z), k, r)
    return np.asarray((members[:, :, None] * gains * seen).reshape(len(Z), k * r))
