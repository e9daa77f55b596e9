"""What a search in a table needs and no example changes: features, a mixture, a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.gaussian import SHAPES, Shape, ShapedMixture, choose_mixture
from mixsearch.table._encoding import TableEncoder
from mixsearch.table._graph import NeighbourGraph, build_graph
from mixsearch.table._nodes import Nodes

# The mixture is chosen on at most this many rows, and the graph has at most this many nodes.
MAX_MIXTURE_ROWS, MAX_NODES = 3000, 20_000
# Variances within components are at least this fraction of their average.
MIN_WITHIN = 1e-3


@dataclass(frozen=True)
class TableFit:
    """A table with its mixture and its graph. It depends on no example, so one serves every search."""

    table: TableLike
    encoder: TableEncoder
    X: Array  # (n, p)
    mixture: ShapedMixture
    resp: Array  # (n, k)
    nodes: Nodes
    graph: NeighbourGraph

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return len(self.X)

    def starts(self, rows: Array) -> Array:
        """Return where walks from rows of the table start on the graph, (n_nodes, q)."""
        return np.asarray(self.nodes.values[rows].T.toarray())


def fit_table(
    table: TableLike, columns: Any, id: str | None, covariance: Shape | None, max_components: int
) -> TableFit:
    """Encode a table, choose a mixture, and connect its rows with their neighbours."""
    encoder = TableEncoder()
    X = encoder.fit_transform(table, columns, id=id)
    some = X[:: -(-len(X) // MAX_MIXTURE_ROWS)]
    shapes = SHAPES if covariance is None else (covariance,)
    mixture = choose_mixture(some, shapes=shapes, max_components=max_components).mixture
    resp, _ = mixture.posterior(X)
    whitened = X @ _within_factor(X, resp)
    nodes = Nodes.choose(whitened, resp, MAX_NODES)
    graph = build_graph(X[nodes.rows], whitened[nodes.rows], resp[nodes.rows])
    return TableFit(table, encoder, X, mixture, resp, nodes, graph)


def _within_factor(X: Array, resp: Array) -> Array:
    """Return the matrix, (p, p), after which the average covariance within components is the identity."""
    sizes = np.maximum(resp.sum(axis=0), np.finfo(np.float64).tiny)
    centers = resp.T @ X / sizes[:, None]
    within = (X.T @ X - (centers * sizes[:, None]).T @ centers) / len(X)
    within += np.eye(len(within)) * MIN_WITHIN * max(float(np.trace(within)) / len(within), np.finfo(np.float64).tiny)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(within)).T)
