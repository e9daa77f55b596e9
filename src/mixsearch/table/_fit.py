"""What a search in a table needs and no example changes: features, a mixture, a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from mixsearch._typing import Array, TableLike
from mixsearch.data.threads import one_blas_thread
from mixsearch.gaussian import SHAPES, Shape, ShapedMixture, choose_mixture
from mixsearch.table._encoding import TableEncoder
from mixsearch.table._graph import NeighbourGraph, build_graph
from mixsearch.table._nodes import Nodes, find_nearest

# The mixture is chosen on at most this many rows.
MAX_MIXTURE_ROWS = 3000
# All rows are nodes of the graph up to this number of them, else so many.
MAX_NODES, N_NODES = 20_000, 10_000
# With more features than this, neighbours are found along as many principal axes, and the mixture along fewer: noise in
# many directions hides both.
MAX_FEATURES, N_AXES = 50, 20
# Variances within components are at least this fraction of their average, which is at least this one of all variances.
MIN_WITHIN = 1e-3
# Components are parts of one group, such as of a banana, if at least this fraction of the edges of one of them lead to
# the other. Chosen on labelled tables: docs/decisions/tables.md.
MIN_LINK = 0.03


@dataclass(frozen=True)
class TableFit:
    """A table with its mixture and its graph. It depends on no example, so one serves every search."""

    table: TableLike
    encoder: TableEncoder
    X: Array  # (n, p)
    axes: Array  # along which neighbours are found, (p, a); the mixture is one along the first b of them
    mixture: ShapedMixture
    resp: Array  # (n, k)
    whitener: Array  # (b, b): after it, the average covariance within components is the identity
    nodes: Nodes
    graph: NeighbourGraph

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return len(self.X)

    def find_nodes(self, table: TableLike) -> tuple[Array, Array]:
        """Return the nearest node, (q,), and the posterior, (q, k), of rows that need not be of the fitted table."""
        signal, nodes = self._signal(self.encoder.transform(table)), self._signal(self.X[self.nodes.rows])
        resp, _ = self.mixture.posterior(signal)
        nearest = find_nearest(signal @ self.whitener, resp, nodes @ self.whitener, self.resp[self.nodes.rows])
        return nearest, resp

    @cached_property
    def component_sizes(self) -> Array:
        """The expected number of rows of each component, (k,)."""
        return np.asarray(self.resp.sum(axis=0))

    @cached_property
    def groups(self) -> Array:
        """Which components belong to which group: those that edges connect, directly or through others, (k, k)."""
        resp = self.resp[self.nodes.rows]
        edges = resp.T @ (self.graph.edges @ resp)
        of_each = edges.sum(axis=1)
        # A component without nodes has no edges.
        links = edges / np.maximum(np.minimum.outer(of_each, of_each), np.finfo(np.float64).tiny)
        _, group = connected_components(links >= MIN_LINK, directed=False)
        return np.asarray(np.eye(len(group))[group])

    def _signal(self, X: Array) -> Array:
        return np.asarray(X @ self.axes[:, : len(self.whitener)])


def fit_table(
    table: TableLike, columns: Any, id: str | None, covariance: Shape | None, max_components: int
) -> TableFit:
    """Encode a table, choose a mixture, and connect its rows with their neighbours."""
    encoder = TableEncoder()
    X = encoder.fit_transform(table, columns, id=id)
    axes = np.eye(X.shape[1])
    near = signal = X
    if X.shape[1] > MAX_FEATURES:
        axes = _principal_axes(X[:: -(-len(X) // MAX_NODES)], MAX_FEATURES)
        near = X @ axes
        signal = near[:, :N_AXES]
    some = signal[:: -(-len(X) // MAX_MIXTURE_ROWS)]
    shapes = SHAPES if covariance is None else (covariance,)
    with one_blas_thread:  # for small matrices, several threads take longer
        mixture = choose_mixture(some, shapes=shapes, max_components=max_components).mixture
    resp, _ = mixture.posterior(signal)
    whitener = _within_factor(signal, resp)
    whitened = signal @ whitener
    nodes = Nodes.choose(X, whitened, resp, len(X) if len(X) <= MAX_NODES else N_NODES)
    graph = build_graph(near[nodes.rows], whitened[nodes.rows], resp[nodes.rows], nodes.copies)
    return TableFit(table, encoder, X, axes, mixture, resp, whitener, nodes, graph)


def _within_factor(X: Array, resp: Array) -> Array:
    """Return the matrix, (p, p), after which the average covariance within components is the identity."""
    sizes = np.maximum(resp.sum(axis=0), np.finfo(np.float64).tiny)
    centers = resp.T @ X / sizes[:, None]
    within = (X.T @ X - (centers * sizes[:, None]).T @ centers) / len(X)
    average, of_all = float(np.trace(within)) / len(within), float(np.mean(X**2))
    within += np.eye(len(within)) * MIN_WITHIN * max(average, MIN_WITHIN * of_all)
    return np.asarray(np.linalg.inv(np.linalg.cholesky(within)).T)


def _principal_axes(X: Array, n_axes: int) -> Array:
    """Return the principal axes of rows, longest first, (p, n_axes)."""
    centered = X - X.mean(axis=0)
    if len(X) < X.shape[1]:
        _, _, axes = np.linalg.svd(centered, full_matrices=False)
        return np.asarray(axes[:n_axes].T)
    _, axes = np.linalg.eigh(centered.T @ centered)
    return np.asarray(axes[:, ::-1][:, :n_axes])
