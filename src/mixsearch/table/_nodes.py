"""The rows that are nodes of a graph, and all other rows as the nearest of these."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices

# Rows that are compared with the nodes of their component at once.
CHUNK_ROWS = 2048


class Nodes(NamedTuple):
    """Some rows of a table, evenly spread over it; all of them if there are not too many."""

    rows: Array  # (m,)
    of_row: Array  # the index of the node that stands for each row, (n,)

    @property
    def sizes(self) -> Array:
        """The number of rows that each node stands for, (m,)."""
        return np.bincount(self.of_row, minlength=len(self.rows)).astype(np.float64)

    @classmethod
    def choose(cls, X: Array, resp: Array, max_nodes: int) -> Self:
        """Return the nodes of a table, and the node that stands for each other row.

        Parameters
        ----------
        X : array of shape (n, p)
            Rows, on a scale on which components are round.
        resp : array of shape (n, k)
        max_nodes : int

        Returns
        -------
        Nodes
        """
        n = len(X)
        rows = np.arange(0, n, -(-n // max_nodes))
        nearest = np.arange(n) if len(rows) == n else find_nearest(X, resp, X[rows], resp[rows])
        nearest[rows] = np.arange(len(rows))
        return cls(rows, nearest)


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
        points = nodes[among].astype(np.float32)
        squares = 0.5 * np.einsum("ij,ij->i", points, points)
        for rows in row_slices(len(own), CHUNK_ROWS):
            products = X[own[rows]].astype(np.float32) @ points.T
            nearest[own[rows]] = among[np.argmax(products - squares, axis=1)]
    return nearest
