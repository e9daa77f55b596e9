"""Rows of a table as a graph of neighbours, and the random walk that carries a label along it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from mixsearch._typing import Array

N_NEIGHBOURS = 10
# The walk goes on with this probability, and else starts again at an example.
STAY = 0.98
# An edge between two components also keeps q / (q + 80) of its weight with q examples: one example needs the mixture to
# know where its class ends, many show it themselves.
EXAMPLES_FOR_EDGES = 80
# Conjugate gradients end at this fraction of the first residual.
TOLERANCE, MAX_ITER = 1e-4, 100
# The largest weight of neighbours after whitening, and the least agreement of neighbours with a mixture.
MAX_WHITENED, MIN_AGREEMENT = 3.0, 0.2
# A fraction of edges between components below this one is none.
MIN_BETWEEN = 1e-3


class NeighbourGraph(NamedTuple):
    """Edges between neighbours, and the probability that both ends of each are of the same component of a mixture."""

    edges: sp.csr_array  # (n, n), symmetric
    same: Array  # of each stored edge
    kept_between: float  # what an edge between two components keeps of its weight, whatever the number of examples

    def with_examples(self, n_examples: int) -> Walk:
        """Return the walk for a number of examples."""
        kept = self.kept_between + n_examples / (n_examples + EXAMPLES_FOR_EDGES)
        weights = self.edges.data * (self.same + kept)
        indices, indptr, shape = self.edges.indices, self.edges.indptr, self.edges.shape
        degrees: Array = sp.csr_array((weights, indices, indptr), shape=shape).sum(axis=1)
        scale = 1 / np.sqrt(np.maximum(degrees, np.finfo(np.float64).tiny))
        normalized = weights * scale[row_of_edge(self.edges)] * scale[indices]
        return Walk(sp.csr_array((normalized, indices, indptr), shape=shape), scale)


class Walk(NamedTuple):
    """A random walk with restart on a graph of neighbours."""

    graph: sp.csr_array  # (n, n), scaled by the root of the degrees on both sides
    scale: Array  # one over the root of the degrees, (n,)

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


def build_graph(X: Array, whitened: Array, resp: Array, copies: Array) -> NeighbourGraph:
    """Return the graph of nearest neighbours of rows, with a mixture that says which neighbours belong together.

    Parameters
    ----------
    X : array of shape (n, p)
        Rows, on the scale of their features.
    whitened : array of shape (n, p)
        The same rows, on a scale on which components are round.
    resp : array of shape (n, k)
        The probability of each component of a mixture for each row.
    copies : array of shape (n,)
        How many rows each row stands for that are equal to it; the others are neighbours by an edge to itself.

    Returns
    -------
    NeighbourGraph

    Notes
    -----
    Neighbours after whitening count as far as fewer of them are of different components, since whitening also enlarges
    noise. The mixture counts as far as neighbours agree with it: if many of them are of different components, its
    components are no clusters, and the graph alone says where they end.
    """
    near, near_whitened = _neighbour_edges(X), _neighbour_edges(whitened)
    between, between_whitened = (1 - _mean_same(edges, resp) for edges in (near, near_whitened))
    weight = np.clip(between / max(between_whitened, MIN_BETWEEN) - 1, 0, MAX_WHITENED)
    edges = near + near_whitened * weight if weight else near
    if copies.max() > 1:
        edges = (edges + sp.diags_array(np.minimum(copies - 1.0, N_NEIGHBOURS))).tocsr()
    same = _same_component(edges, resp)
    by_chance = float(np.sum(resp.mean(axis=0) ** 2))
    agreement = (float(edges.data @ same) / float(edges.data.sum()) - by_chance) / max(1 - by_chance, MIN_BETWEEN)
    agreement = float(np.clip(agreement, MIN_AGREEMENT, 1))
    return NeighbourGraph(edges, same, ((1 - agreement) / agreement) ** 2)


def row_of_edge(edges: sp.csr_array) -> Array:
    """Return the row of each stored edge."""
    return np.repeat(np.arange(edges.shape[0]), np.diff(edges.indptr))


def _same_component(edges: sp.csr_array, resp: Array) -> Array:
    """Return the probability that the two ends of each edge are of the same component."""
    return np.asarray(np.einsum("ij,ij->i", resp[row_of_edge(edges)], resp[edges.indices]))


def _mean_same(edges: sp.csr_array, resp: Array) -> float:
    return float(edges.data @ _same_component(edges, resp)) / float(edges.data.sum())


def _neighbour_edges(X: Array) -> sp.csr_array:
    """Return edges to the nearest neighbours, weighted by their distance relative to that of the last one, (n, n)."""
    n = len(X)
    n_neighbours = min(N_NEIGHBOURS, n - 1)
    distances, indices = NearestNeighbors(n_neighbors=n_neighbours).fit(X).kneighbors(return_distance=True)
    weights = np.exp(-((distances / np.maximum(distances[:, -1:], np.finfo(np.float64).tiny)) ** 2))
    rows = np.repeat(np.arange(n), n_neighbours)
    edges = sp.csr_array((weights.ravel(), (rows, indices.ravel())), shape=(n, n))
    return edges.maximum(edges.T).tocsr()
