"""Rows of a table as nodes of a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.neighbors import NearestNeighbors

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk, Chunks, RowValues, TopRows, row_slices
from mixsearch.graph.walk import Walk, row_of_edge
from mixsearch.table.rows import spread_rows

# Rows that are compared with the nodes of their component at once.
CHUNK_ROWS = 2048
N_NEIGHBOURS = 10
# An edge between two components also keeps q / (q + 80) of its weight with q examples: one example needs the mixture to
# know where its class ends, many show it themselves.
EXAMPLES_FOR_EDGES = 80
# The largest weight of neighbours after whitening, and the least agreement of neighbours with a mixture.
MAX_WHITENED, MIN_AGREEMENT = 3.0, 0.2
# A fraction of edges between components below this one is none.
MIN_BETWEEN = 1e-3


@dataclass(frozen=True)
class PlacedRows(Chunk):
    """Rows of a table among the components of a mixture."""

    features: Array  # (n, p)
    whitened: Array  # on a scale on which components are round, (n, b)
    resp: Array  # (n, k)


@dataclass(frozen=True)
class NodeRows(Chunk):
    """Rows of a table, each with its node."""

    features: Array  # (n, p)
    nodes: Array  # (n,)


class Nodes(NamedTuple):
    """Some rows of a table, evenly spread over it; all of them if there are not too many.

    No two nodes are equal: a row with more copies than neighbours would have no other neighbours.
    """

    rows: Array  # (m,)
    of_row: Array  # the index of the node that stands for each row, (n,)
    copies: Array  # how many of the rows that were considered are equal to each node, (m,)

    @property
    def sizes(self) -> Array:
        """The number of rows of each node, (m,)."""
        return np.bincount(self.of_row, minlength=len(self.rows)).astype(np.float64)


def choose_nodes(rows: Chunks[PlacedRows], max_nodes: int) -> tuple[Nodes, PlacedRows, Chunks[NodeRows]]:
    """Choose the nodes of a table; return them, their values, and all rows with their nodes."""
    some = spread_rows(rows.n_rows, max_nodes)
    values = rows.take_rows(some).collect().chunk
    if np.ptp(values.features, axis=0).max() == 0:
        farthest = rows.sum(_find_farthest, values.features[0]).rows
        some = np.sort([some[0], farthest.indices[0]])
        values = rows.take_rows(some).collect().chunk
    first, node = _find_distinct(values.features)
    values = values.take(first)
    # Rows that are nodes, or equal to one, need no comparison.
    known = some, node
    placed, found = rows.map_sum(_place_rows, values.whitened, values.resp, known)
    return Nodes(some[first], found.nodes.join(), np.bincount(node)), values, placed


class _Farthest(NamedTuple):
    rows: TopRows


class _NodeOfRow(NamedTuple):
    nodes: RowValues


def _find_farthest(chunk: PlacedRows, row: Array) -> _Farthest:
    distances = np.abs(chunk.features - row).max(axis=1)
    index = np.array([np.argmax(distances)])
    return _Farthest(TopRows(1, distances[index], chunk.first + index))


def _place_rows(
    chunk: PlacedRows, nodes: Array, node_resp: Array, known: tuple[Array, Array]
) -> tuple[NodeRows, _NodeOfRow]:
    """Return rows with their nodes."""
    rows = known[0] - chunk.first
    own = (rows >= 0) & (rows < chunk.n_rows)
    nearest = np.zeros(chunk.n_rows, dtype=np.int32)
    if own.sum() < chunk.n_rows:
        nearest[:] = find_nearest(chunk.whitened, chunk.resp, nodes, node_resp)
    nearest[rows[own]] = known[1][own]
    return NodeRows(chunk.first, chunk.features, nearest), _NodeOfRow(RowValues.from_chunk(chunk, nearest))


def _find_distinct(X: Array) -> tuple[Array, Array]:
    """Return the first row of each value, in their order, (m,), and for each row the index of its value, (n,)."""
    _, first, value = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    index = np.empty_like(order)
    index[order] = np.arange(len(order))
    return first[order], index[value.ravel()]


def find_nearest(X: Array, resp: Array, nodes: Array, node_resp: Array) -> Array:
    """Return the index of the nearest node of the likeliest component of each row, (n,).

    Only these are compared: with k components of about the same size, that is a kth of the work.
    """
    component, of_node = resp.argmax(axis=1), node_resp.argmax(axis=1)
    nearest = np.zeros(len(X), dtype=np.intp)
    for index in np.unique(component):
        own = np.flatnonzero(component == index)
        among = np.flatnonzero(of_node == index)
        among = among if len(among) else np.arange(len(nodes))
        center = nodes[among].mean(axis=0)  # near which 32 bits suffice
        points = (nodes[among] - center).astype(np.float32)
        squares = 0.5 * np.einsum("ij,ij->i", points, points)
        for rows in row_slices(len(own), CHUNK_ROWS):
            products = (X[own[rows]] - center).astype(np.float32) @ points.T
            nearest[own[rows]] = among[np.argmax(products - squares, axis=1)]
    return nearest


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
