"""Mixtures of subspaces: x = UᵢUᵢ'y + noise with y standard normal, Uᵢ of shape (d, r), orthonormal."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixsearch.linalg import frame_above, top_eigenpairs
from mixsearch.models.second_moment import cores_for, second_moment, squared_distances, weighted_gram
from mixsearch.types import Array, Frame, Hinted, Samples


@dataclass(frozen=True, slots=True)
class SubspaceModel:
    """All that a search among subspaces needs. The frame has k r columns."""

    frame: Frame
    noise: float  # s2
    projected: Array  # Y = XW, (n, k r)

    def hinted(self, hints: Array) -> Hinted:
        """The hinted moment of one or several points of the wanted subspace, given in the frame, (q, k r)."""
        fourth = weighted_gram(self.projected, ((self.projected @ hints.T) ** 2).mean(axis=1))
        return self.corrected(fourth / len(self.projected), hints)

    def corrected(self, fourth: Array, hints: Array) -> Hinted:
        """The hinted moment from W'E[⟨x, v⟩²xx']W, (k r, k r): what the noise adds to it is taken off.

        Notes
        -----
        For one point v, B = E[⟨x,v⟩²xx'] - s2 (v'Av) I - s2 |v|²A - s4 (|v|²I + 2vv') - 2 s2 (Avv' + vv'A). It is
        linear in vv', so several points enter through the average H of their vv'. In the frame, with C = W'AHAW:
        W'HW = C / DD', W'AHW = C / D, v'Av = tr C and |v|² = tr(C / D). The paper's theorem prints vv' once where the
        fourth moment of the noise has 2vv'.
        """
        D, s2 = self.frame.values, self.noise
        C = hints.T @ hints / len(hints)
        inverse = np.diag(1 / D)
        crossed = C @ inverse
        norm = np.trace(crossed)
        matrix = fourth - s2 * np.trace(C) * inverse - s2 * norm * np.eye(len(D))
        matrix -= s2**2 * (norm * inverse + 2 * inverse @ crossed)
        matrix -= 2 * s2 * (crossed + crossed.T)
        return Hinted(matrix, np.zeros(len(D)), hints.T)

    def take(self, n_columns: int) -> SubspaceModel:
        """The same fit with fewer subspaces."""
        return replace(self, frame=self.frame.take(n_columns), projected=self.projected[:, :n_columns])


def fit_subspace(X: Samples, n_columns: int, *, noise: str, seed: int) -> SubspaceModel:
    """Find the span of all subspaces together and project the samples onto it.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    n_columns : int
        k r, the dimension of all subspaces together, below d.
    noise : {"average", "paper"}
        The noise level as the average of all d - k r noise eigenvalues, or as the largest of them.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    d = X.shape[1]
    second = second_moment(X)
    with cores_for(X):
        values, vectors, _ = top_eigenpairs(second, n_columns + (noise == "paper"), seed=seed)
    if noise == "paper":
        level = float(values[-1])
    else:
        energy = float(squared_distances(X, np.zeros(d)).mean())
        level = max(energy - float(values.sum()), 0.0) / (d - n_columns)
    frame = frame_above(values[:n_columns], vectors[:, :n_columns], level, precision=X.dtype)
    return SubspaceModel(frame, level, frame.whiten(X).astype(X.dtype, copy=False))
