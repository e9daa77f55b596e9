"""What a search in a table needs and no example changes: features, a mixture, a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.gaussian import SHAPES, Shape, ShapedMixture, choose_mixture
from mixsearch.table._encoding import TableEncoder
from mixsearch.table._graph import NeighbourGraph, build_graph
from mixsearch.table._nodes import Nodes, find_nearest

# The mixture is chosen on at most this many rows, and the graph has at most this many nodes.
MAX_MIXTURE_ROWS, MAX_NODES = 3000, 20_000
# Variances within components are at least this fraction of their average, which is at least this one of all variances.
MIN_WITHIN = 1e-3


@dataclass(frozen=True)
class TableFit:
    """A table with its mixture and its graph. It depends on no example, so one serves every search."""

    table: TableLike
    encoder: TableEncoder
    X: Array  # (n, p)
    mixture: ShapedMixture
    resp: Array  # (n, k)
    whitener: Array  # (p, p): after it, the average covariance within components is the identity
    nodes: Nodes
    graph: NeighbourGraph

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return len(self.X)

    def find_nodes(self, table: TableLike) -> tuple[Array, Array]:
        """Return the nearest node, (q,), and the posterior, (q, k), of rows that need not be of the fitted table."""
        X = self.encoder.transform(table)
        resp, _ = self.mixture.posterior(X)
        rows = self.nodes.rows
        return find_nearest(X @ self.whitener, resp, self.X[rows] @ self.whitener, self.resp[rows]), resp


def fit_table(table: TableLike, columns: Any, covariance: Shape | None, max_components: int) -> TableFit:
    """Encode a table, choose a mixture, and connect its rows with their neighbours."""
    encoder = TableEncoder()
    X = encoder.fit_transform(table, columns)
    some = X[:: -(-len(X) // MAX_MIXTURE_ROWS)]
    shapes = SHAPES if covariance is None else (covariance,)
    mixture = choose_mixture(some, shapes=shapes, max_components=max_components).mixture
    resp, _ = mixture.posterior(X)
    whitener = _within_factor(X, resp)
    whitened = X @ whitener
    nodes = Nodes.choose(X, whitened, resp, MAX_NODES)
    graph = build_graph(X[nodes.rows], whitened[nodes.rows], resp[nodes.rows], nodes.copies)
    return TableFit(table, encoder, X, mixture, resp, whitener, nodes, graph)


def _within_factor(X: Array, resp: Array) -> Array:
    """Return the matrix, (p, p), after which the average covariance within components is the identity."""
    sizes = np.maximum(resp.sum(axis=0), np.finfo(np.float64).tiny)
    centers = resp.T @ X / sizes[:, None]
    within = (X.T @ X - (centers * sizes[:, None]).T @ centers) / len(X)
    average, of_all = float(np.trace(within)) / len(within), float(np.mean(X**2))
    within += np.eye(len(within)) * MIN_WITHIN * max(average, MIN_WITHIN * of_all)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(within)).T)
