"""Personalised PageRank on a weighted graph, and one score per node from positive and negative examples."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, cg

from mixsearch._typing import Array

# Residual of the linear system, relative to its right-hand side.
TOLERANCE = 1e-4


class PageRank:
    """Personalised PageRank on a symmetric graph of non-negative affinities, (n, n).

    `restart` is the probability that a random walk returns to an example: smaller values reach further.
    """

    def __init__(self, affinity: sp.csr_array, restart: float) -> None:
        degrees = np.asarray(affinity.sum(axis=1)).ravel()
        self._scale = 1 / np.sqrt(np.where(degrees > 0, degrees, 1))
        self._graph = sp.csr_array(sp.diags_array(self._scale) @ affinity @ sp.diags_array(self._scale))
        self._restart = restart

    def from_nodes(self, nodes: Array) -> Array:
        """Compute the PageRank of all nodes from each of q nodes, relative to their degrees, (n, q)."""
        starts = np.zeros((self._graph.shape[0], len(nodes)))
        starts[nodes, np.arange(len(nodes))] = 1
        return self.from_starts(starts)

    def from_starts(self, starts: Array) -> Array:
        """Compute the PageRank of all nodes from each of q distributions over them, relative to their degrees, (n, q).

        Notes
        -----
        h solves (I - (1 - r)G)h = r s with G = D^(-1/2) W D^(-1/2), which is positive definite. All q systems are one
        for conjugate gradients, so that each iteration multiplies G by a block.
        """
        if not starts.shape[1]:
            return np.zeros(starts.shape)

        def apply(stacked: Array) -> Array:
            block = stacked.reshape(starts.shape)
            return np.asarray(block - (1 - self._restart) * (self._graph @ block)).ravel()

        system = LinearOperator((starts.size, starts.size), matvec=apply, dtype=np.float64)
        solution, _ = cg(system, self._restart * starts.ravel(), rtol=TOLERANCE)
        return np.asarray(np.maximum(solution, 0).reshape(starts.shape) * self._scale[:, None])


def contrast(positive: Array, negative: Array) -> Array:
    """Compute p²/(p + n), the PageRank p from positive examples times its fraction of that from all examples."""
    total = positive + negative
    return np.asarray(positive**2 / np.where(total > 0, total, 1))
