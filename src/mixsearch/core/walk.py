"""The random walk that carries a label along a graph of samples."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array

# The walk goes on with this probability, and else starts again at an example.
STAY = 0.98
# Conjugate gradients end at this fraction of the first residual.
TOLERANCE, MAX_ITER = 1e-4, 100


class Walk(NamedTuple):
    """A random walk with restart on a graph."""

    graph: sp.csr_array  # (n, n), scaled by the root of the degrees on both sides
    scale: Array  # one over the root of the degrees, (n,)

    @classmethod
    def on(cls, edges: sp.csr_array, weights: Array) -> Self:
        """Return the walk on the edges of a symmetric graph, (n, n), with a weight for each stored one."""
        indices, indptr, shape = edges.indices, edges.indptr, edges.shape
        degrees: Array = sp.csr_array((weights, indices, indptr), shape=shape).sum(axis=1)
        scale = 1 / np.sqrt(np.maximum(degrees, np.finfo(np.float64).tiny))
        normalized = weights * scale[row_of_edge(edges)] * scale[indices]
        return cls(sp.csr_array((normalized, indices, indptr), shape=shape), scale)

    def visits(self, starts: Array) -> Array:
        """Return how often the walk visits each row from each start, (n, q), relative to the degree of the row.

        Parameters
        ----------
        starts : array of shape (n, q)
            Where each walk starts.

        Returns
        -------
        array of shape (n, q)

        Notes
        -----
        Visits h from a start a solve (I - sG)h = (1 - s)a with G = D^(-1/2) W D^(-1/2), by conjugate gradients.
        """
        target = (1 - STAY) * starts
        solution = np.zeros_like(target)
        residual, direction = target.copy(), target.copy()
        power = np.einsum("ij,ij->j", residual, residual)
        goal = TOLERANCE**2 * power
        for _ in range(MAX_ITER):
            if np.all(power <= goal):
                break
            moved = direction - STAY * (self.graph @ direction)
            step = power / np.maximum(np.einsum("ij,ij->j", direction, moved), np.finfo(np.float64).tiny)
            solution += step * direction
            residual -= step * moved
            last, power = power, np.einsum("ij,ij->j", residual, residual)
            direction = residual + (power / np.maximum(last, np.finfo(np.float64).tiny)) * direction
        return np.asarray(np.maximum(solution, 0) * self.scale[:, None])


def row_of_edge(edges: sp.csr_array) -> Array:
    """Return the row of each stored edge."""
    return np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))
