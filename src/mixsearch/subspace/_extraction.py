"""Algorithm 3: the r top eigenvectors of the whitened hinted moment span the subspace, and are a better hint."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mixsearch._typing import Array
from mixsearch.core.moments import Hinted

# How often the moment is contracted with what was found, in each of the two stages of `settle_subspace`.
MAX_CONTRACTIONS = 3
# The gap after the r-th eigenvalue from which the r top eigenvectors are those of one subspace.
CLEAR_GAP = 2.0
# Moves shrink quadratically: after one this small, the sine of an angle, the next is far below the standard errors.
SMALL_MOVE = 0.1


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
    """Recover the subspace that contains the hint.

    Parameters
    ----------
    hinted : Hinted
        R = W'BW, (k r, k r).
    dim : int
        r.
    free : array of shape (k r, q), optional
        Orthonormal basis of what is orthogonal to the subspaces already found.

    Returns
    -------
    SubspaceCandidate

    Notes
    -----
    The matrices Gᵢ = √αᵢ W'Uᵢ have orthonormal columns and are orthogonal to each other, and
    Gᵢ'RGᵢ = |Uᵢ'v|²I + 2Uᵢ'vv'Uᵢ: so R has eigenvalue 3|Uᵢ'v|² once and |Uᵢ'v|² r - 1 times for every subspace.
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

    Parameters
    ----------
    contract : callable
        From hints, (q, k r), to the hinted moment.
    direction : array of shape (k r,)
        The top eigenvector under any hint.
    dim : int
        r.
    free : array of shape (k r, q), optional
        Orthonormal basis of what is orthogonal to the subspaces already found.

    Returns
    -------
    array of shape (k r, r)

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
    """Yield the directions of subspaces not found yet, (k r, r) each, by falling score under a hint.

    Parameters
    ----------
    contract : callable
        From hints, (q, k r), to the hinted moment.
    hinted : Hinted
        The moment under the hint that orders them.
    dim : int
        r.
    found : list of arrays of shape (k r, r)
        Orthonormal directions of subspaces already found.

    Yields
    ------
    array of shape (k r, r)
    """
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
