"""What a search in a table needs and no example changes: features, a mixture, a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.data.threads import one_blas_thread
from mixsearch.gaussian import SHAPES, Shape, ShapedMixture, choose_mixture
from mixsearch.table._encoding import TableEncoder
from mixsearch.table._graph import NeighbourGraph, build_graph
from mixsearch.table._nodes import Nodes

# The mixture is chosen on at most this many rows.
MAX_MIXTURE_ROWS = 3000
# All rows are nodes of the graph up to this number of them, else so many.
MAX_NODES, N_NODES = 20_000, 10_000
# With more features than this, neighbours are found along as many principal axes, and the mixture along fewer: noise in
# many directions hides both.
MAX_FEATURES, N_AXES = 50, 20
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
        starts = np.zeros((len(self.nodes.rows), len(rows)))
        starts[self.nodes.of_row[rows], np.arange(len(rows))] = 1
        return starts


def fit_table(table: TableLike, columns: Any, covariance: Shape | None, max_components: int) -> TableFit:
    """Encode a table, choose a mixture, and connect its rows with their neighbours."""
    encoder = TableEncoder()
    X = encoder.fit_transform(table, columns)
    near, Z = X, X
    if X.shape[1] > MAX_FEATURES:
        near = X @ _principal_axes(X[:: -(-len(X) // MAX_NODES)], MAX_FEATURES)
        Z = near[:, :N_AXES]
    some = Z[:: -(-len(Z) // MAX_MIXTURE_ROWS)]
    shapes = SHAPES if covariance is None else (covariance,)
    with one_blas_thread:  # for small matrices, several threads take longer
        mixture = choose_mixture(some, shapes=shapes, max_components=max_components).mixture
    resp, _ = mixture.posterior(Z)
    whitened = Z @ _within_factor(Z, resp)
    nodes = Nodes.choose(whitened, resp, len(X) if len(X) <= MAX_NODES else N_NODES)
    graph = build_graph(near[nodes.rows], whitened[nodes.rows], resp[nodes.rows])
    return TableFit(table, encoder, X, mixture, resp, nodes, graph)


def _within_factor(X: Array, resp: Array) -> Array:
    """Return the matrix, (p, p), after which the average covariance within components is the identity."""
    sizes = np.maximum(resp.sum(axis=0), np.finfo(np.float64).tiny)
    centers = resp.T @ X / sizes[:, None]
    within = (X.T @ X - (centers * sizes[:, None]).T @ centers) / len(X)
    within += np.eye(len(within)) * MIN_WITHIN * max(float(np.trace(within)) / len(within), np.finfo(np.float64).tiny)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(within)).T)


def _principal_axes(X: Array, n_axes: int) -> Array:
    """Return the principal axes of rows, longest first, (p, n_axes)."""
    centered = X - X.mean(axis=0)
    if len(X) < X.shape[1]:
        _, _, axes = np.linalg.svd(centered, full_matrices=False)
        return np.asarray(axes[:n_axes].T)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return np.asarray(axes[:, ::-1][:, :n_axes])
