"""Algorithm 3: the r top eigenvectors of the whitened hinted moment span the subspace, and are a better hint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.moments import SubspacePartition

# How often the moment is contracted with what was found, in each of the two stages of `settle_subspace`.
MAX_CONTRACTIONS = 3
# The gap after the r-th eigenvalue from which the r top eigenvectors are those of one subspace.
CLEAR_GAP = 2.0
# Moves shrink quadratically: after one this small, the sine of an angle, the next is far below the standard errors.
SMALL_MOVE = 0.1
# Standard errors by which the two weights of a subspace differ if its variance is not that of the others.
MAX_DEVIATIONS = 2.5


@dataclass(frozen=True, slots=True)
class SubspaceCandidate:
    """A subspace in the coordinates of the frame."""

    directions: Array  # √α W'U up to a rotation, (k r, r), orthonormal columns
    scores: Array  # the r + 1 largest eigenvalues of the whitened hinted moment, falling

    @property
    def separation(self) -> float:
        """The ratio of the r-th eigenvalue to the next: above 1 if |Uᵢ'v|² < |U₁'v|² / 3 for all others."""
        r = self.directions.shape[1]
        if len(self.scores) == r:
            return float("inf")
        own, runner_up = float(self.scores[r - 1]), float(self.scores[r])
        return own / runner_up if runner_up > 0 else float("inf")


def extract_subspace(hinted: Hinted, dim: int, free: Array | None = None) -> SubspaceCandidate:
    """Recover the subspace that contains the hint, within the columns of `free`, (k r, q), if given.

    Notes
    -----
    The hinted moment is R = W'BW, (k r, k r). The matrices Gᵢ = √αᵢ W'Uᵢ, (k r, r), have orthonormal columns and are
    orthogonal to each other, and Gᵢ'RGᵢ = |Uᵢ'v|²I + 2Uᵢ'vv'Uᵢ: so R has eigenvalue 3|Uᵢ'v|² once and
    |Uᵢ'v|² r - 1 times for every subspace.
    """
    R = (hinted.matrix + hinted.matrix.T) / 2
    if free is not None:
        R = free.T @ R @ free
    scores, U = scipy.linalg.eigh(R, subset_by_index=(max(len(R) - dim - 1, 0), len(R) - 1))
    scores, U = scores[::-1], U[:, ::-1][:, :dim]
    return SubspaceCandidate(U if free is None else free @ U, scores)


def settle_subspace(
    contract: Callable[[Array], Hinted], direction: Array, dim: int, free: Array | None = None
) -> Array:
    """Return the directions of the subspace that a direction of the frame lies in, (k r, r).

    Notes
    -----
    Under any hint the top eigenvector of R lies in one subspace, that of the largest |Uᵢ'v|. The next r - 1 lie there
    too only if |Uᵢ'v|² is three times that of the others. Used as the hint, the top eigenvector scores all others 0, so
    the condition disappears. Then all r directions together are the hint, under which all r eigenvalues are equal.
    """
    candidate = extract_subspace(contract(direction[None, :]), dim, free)
    for _ in range(MAX_CONTRACTIONS - 1):
        if candidate.separation > CLEAR_GAP:
            break
        candidate = extract_subspace(contract(candidate.directions[:, :1].T), dim, free)
    directions = candidate.directions
    for _ in range(MAX_CONTRACTIONS):
        before, directions = directions, extract_subspace(contract(directions.T), dim, free).directions
        if _sine(before, directions) < SMALL_MOVE:
            break
    return directions


def _sine(one: Array, other: Array) -> float:
    """Return the sine of the largest angle between two subspaces, given orthonormal bases."""
    cosine = np.linalg.svd(one.T @ other, compute_uv=False).min()
    return float(np.sqrt(max(1 - cosine**2, 0.0)))


def remaining_subspaces(
    contract: Callable[[Array], Hinted], hinted: Hinted, dim: int, found: list[Array]
) -> Iterator[Array]:
    """Yield the directions of subspaces not found yet, (k r, r) each, by falling score under a hint."""
    free = np.eye(len(hinted.matrix))
    for directions in found:
        free = _leave_out(directions, free)
    while free.shape[1] >= dim:
        rough = extract_subspace(hinted, dim, free)
        is_last = free.shape[1] == dim
        directions = rough.directions if is_last else settle_subspace(contract, rough.directions[:, 0], dim, free)
        yield directions
        free = _leave_out(directions, free)


def _leave_out(directions: Array, free: Array) -> Array:
    """Return an orthonormal basis of the part of a space that is orthogonal to some of its directions, (k r, q - r)."""
    Q, _ = scipy.linalg.qr(free.T @ directions)
    return np.asarray(free @ Q[:, directions.shape[1] :])


class MomentWeight(NamedTuple):
    """The weight of a subspace that moments found."""

    value: float
    is_fourth: bool  # whether it comes from fourth moments


def trace_share(family: SubspaceFamily, directions: Array) -> float:
    """Return the part that a subspace has in the trace of A, given its directions in the frame, (k r, r)."""
    values = family.frame.values
    return float(values @ np.sum(directions**2, axis=1) / values.sum())


def moment_weight(family: SubspaceFamily, directions: Array) -> MomentWeight:
    """Return the weight of a subspace.

    Notes
    -----
    The part in the trace of A is the weight if all subspaces have the same total variance. Fourth moments need no such
    assumption: the coordinates s = G'y of a sample have the second moment I over all samples, and are zero outside the
    subspace but for noise. Its members are normal with covariance I / α, so that E|s|⁴ = r (r + 2) / α. That weight
    has more variance, so it is used only if both differ by more than chance.
    """
    share, r = trace_share(family, directions), directions.shape[1]
    sizes, turn = np.linalg.eigh(directions.T @ (family.frame.values[:, None] * directions))
    sums = family.partitions.reduce(_weight_sums, directions @ turn, sizes, family.frame.values)
    noise = family.correct(np.zeros((len(directions), len(directions))), directions @ directions.T)
    fourth = sums.total[0] / sums.n + float(np.sum(directions * (noise @ directions)))
    if not fourth > 0:
        return MomentWeight(share, is_fourth=False)
    weight, trace = min(r * (r + 2) / fourth, 1.0), float(family.frame.values.sum())
    # Derivatives of the difference of both weights by the means of the four sums.
    slopes = np.array([-(weight**2) / (r * (r + 2)), 2 * weight / r, -1 / trace, share / trace])
    is_fourth = (weight - share) ** 2 > MAX_DEVIATIONS**2 * float(slopes @ sums.covariance @ slopes) / sums.n
    return MomentWeight(weight if is_fourth else share, is_fourth)


class WeightSums(NamedTuple):
    """Sums over samples of |s|⁴, |s|², of the squared length of the part in the subspace and of that in the span."""

    n: int
    total: Array  # (4,)
    products: Array  # (4, 4)

    @property
    def covariance(self) -> Array:
        """The covariance of the four, (4, 4)."""
        mean = self.total / self.n
        return np.asarray(self.products / self.n - np.outer(mean, mean))


def _weight_sums(partition: SubspacePartition, directions: Array, sizes: Array, values: Array) -> WeightSums:
    def sum_rows(rows: slice) -> WeightSums:
        Y = partition.projected[rows].astype(np.float64, copy=False)
        squares = (Y @ directions) ** 2
        lengths = squares @ np.ones(len(sizes))
        columns = np.column_stack([lengths**2, lengths, squares @ sizes, Y**2 @ values])
        return WeightSums(len(Y), columns.sum(axis=0), columns.T @ columns)

    return sum_chunks(sum_rows, row_slices(len(partition.projected)))


def weight_replicates(replicates: Replicates, directions: Array) -> Array:
    """Return the weight from fourth moments of every replicate, (B,).

    Notes
    -----
    The directions of a replicate are G(G'AG)^(-1/2) and a part outside of G, which changes E|s|⁴ in second order only.
    To first order, E|s|⁴ = r (2 tr(G'RG (G'AG)⁻¹) - tr G'RG).
    """
    r = directions.shape[1]
    own = directions.T @ replicates.hinted @ directions
    scaled = np.linalg.solve(directions.T @ replicates.second @ directions, own)
    return np.asarray((r + 2) / (2 * np.trace(scaled, axis1=1, axis2=2) - np.trace(own, axis1=1, axis2=2)))
