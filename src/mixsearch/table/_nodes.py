"""The rows that are nodes of a graph, and all other rows as the nearest of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.data.reductions import RowValues, TopRows
from mixsearch.table._sampling import spread_rows

# Rows that are compared with the nodes of their component at once.
CHUNK_ROWS = 2048


@dataclass(frozen=True)
class PlacedRows(Partition):
    """Rows of a table among the components of a mixture."""

    features: Array  # (n, p)
    whitened: Array  # on a scale on which components are round, (n, b)
    resp: Array  # (n, k)


@dataclass(frozen=True)
class NodeRows(Partition):
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


def choose_nodes(rows: Partitions[PlacedRows], max_nodes: int) -> tuple[Nodes, PlacedRows, Partitions[NodeRows]]:
    """Choose the nodes of a table; return them, their values, and all rows with their nodes.

    Parameters
    ----------
    rows : Partitions of PlacedRows
        At least two of them different.
    max_nodes : int

    Returns
    -------
    nodes : Nodes
    values : PlacedRows
        Of the nodes.
    rows : Partitions of NodeRows
    """
    some = spread_rows(rows.n_rows, max_nodes)
    values = rows.take_rows(some).collect().partition
    if np.ptp(values.features, axis=0).max() == 0:
        farthest = rows.reduce(_find_farthest, values.features[0]).rows
        some = np.sort([some[0], farthest.indices[0]])
        values = rows.take_rows(some).collect().partition
    first, node = _find_distinct(values.features)
    values = values.take(first)
    # Rows that are nodes, or equal to one, need no comparison.
    known = some, node
    placed, found = rows.map_reduce(_place_rows, values.whitened, values.resp, known)
    return Nodes(some[first], found.nodes.join(), np.bincount(node)), values, placed


class _Farthest(NamedTuple):
    rows: TopRows


class _NodeOfRow(NamedTuple):
    nodes: RowValues


def _find_farthest(partition: PlacedRows, row: Array) -> _Farthest:
    distances = np.abs(partition.features - row).max(axis=1)
    index = np.array([np.argmax(distances)])
    return _Farthest(TopRows(1, distances[index], partition.first + index))


def _place_rows(
    partition: PlacedRows, nodes: Array, node_resp: Array, known: tuple[Array, Array]
) -> tuple[NodeRows, _NodeOfRow]:
    """Return rows with their nodes."""
    rows = known[0] - partition.first
    own = (rows >= 0) & (rows < partition.n_rows)
    nearest = np.zeros(partition.n_rows, dtype=np.int32)
    if own.sum() < partition.n_rows:
        nearest[:] = find_nearest(partition.whitened, partition.resp, nodes, node_resp)
    nearest[rows[own]] = known[1][own]
    return NodeRows(partition.first, partition.features, nearest), _NodeOfRow(
        RowValues.from_partition(partition, nearest)
    )


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
