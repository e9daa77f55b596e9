"""Rows of a table as a graph of neighbours."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from mixsearch._typing import Array
from mixsearch.core.walk import Walk, row_of_edge

N_NEIGHBOURS = 10
# An edge between two components also keeps q / (q + 80) of its weight with q examples: one example needs the mixture to
# know where its class ends, many show it themselves.
EXAMPLES_FOR_EDGES = 80
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
        return Walk.on(self.edges, self.edges.data * (self.same + kept))


def build_graph(X: Array, whitened: Array, resp: Array, copies: Array) -> NeighbourGraph:
    """Build the graph of nearest neighbours of rows, weighted by a mixture.

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
