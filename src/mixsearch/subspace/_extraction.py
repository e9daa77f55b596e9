"""Algorithm 3: the r top eigenvectors of the whitened hinted moment span the subspace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mixsearch._typing import Array
from mixsearch.core.moments import Hinted


@dataclass(frozen=True, slots=True)
class SubspaceCandidate:
    """A subspace in the coordinates of the frame."""

    directions: Array  # √α W'U up to a rotation, (k r, r), orthonormal columns
    scores: Array  # eigenvalues of the whitened hinted moment, falling
    next_direction: Array | None  # the best direction orthogonal to it, (k r,): a hint for the runner-up

    @property
    def separation(self) -> float:
        """The ratio of the r-th eigenvalue to the next: above 1 if |Uᵢ'v|² < |U₁'v|² / 3 for all others."""
        r = self.directions.shape[1]
        if len(self.scores) == r:
            return float("inf")
        own, runner_up = float(self.scores[r - 1]), float(self.scores[r])
        return own / runner_up if runner_up > 0 else float("inf")


def extract_subspace(hinted: Hinted, dim: int, excluded: Array | None = None) -> SubspaceCandidate:
    """Recover the subspace that contains the hint.

    Parameters
    ----------
    hinted : Hinted
        R = W'BW, (k r, k r).
    dim : int
        r.
    excluded : array of shape (k r, q), optional
        Orthonormal directions of subspaces already found.

    Returns
    -------
    SubspaceCandidate

    Notes
    -----
    The matrices Gᵢ = √αᵢ W'Uᵢ have orthonormal columns and are orthogonal to each other, and
    Gᵢ'RGᵢ = |Uᵢ'v|²I + 2Uᵢ'vv'Uᵢ: so R has eigenvalue 3|Uᵢ'v|² once and |Uᵢ'v|² r - 1 times for every subspace.
    """
    R = (hinted.matrix + hinted.matrix.T) / 2
    free = np.eye(len(R)) if excluded is None else scipy.linalg.null_space(excluded.T)
    scores, U = np.linalg.eigh(free.T @ R @ free)
    scores, U = scores[::-1], free @ U[:, ::-1]
    directions = U[:, :dim]
    return SubspaceCandidate(directions, scores, U[:, dim] if U.shape[1] > dim else None)
