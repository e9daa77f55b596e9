"""The fit of a table, which does not depend on examples: features, and a graph of the nearest neighbours of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors

from mixsearch._typing import Array
from mixsearch.graph.affinity import build_affinity, select_mixture
from mixsearch.graph.pagerank import PageRank
from mixsearch.graph.tuning import TUNING
from mixsearch.machine import one_blas_thread
from mixsearch.table.rows import spread_rows

# Rows whose distances to all nodes are computed at once.
CHUNK_ROWS = 2048
# Rows this close to a node, relative to its neighbours, are copies of it.
SAME = 1e-6


@dataclass(frozen=True)
class FittedRows:
    """The rows of a table as nodes of a graph: one for rows with the same values; of many rows, some stand for all."""

    features: Array  # of the nodes, (m, p)
    pca: PCA | None  # from encoded rows to features; None if these are the same
    node_of_row: Array  # (n,)
    sizes: Array  # number of rows of each node, (m,)
    neighbors: NearestNeighbors
    pagerank: PageRank

    def project(self, encoded: Array) -> Array:
        """Compute the features of encoded rows, (q, p)."""
        return _project(self.pca, encoded)

    def nearest_nodes(self, encoded: Array) -> Array:
        """Find the nearest node of each row, (q,)."""
        return np.asarray(self.neighbors.kneighbors(self.project(encoded), 1, return_distance=False)[:, 0])

    def smooth(self, encoded: Array, values: Array) -> Array:
        """Compute the mean of a value of nodes, (m,), over the neighbours of rows, (q,); copies of a node have its own.

        Neighbours count as their edges do: by their distance relative to that of the last one.
        """
        distances, nodes = self.neighbors.kneighbors(self.project(encoded))
        scale = np.maximum(distances[:, -1:], np.finfo(np.float64).tiny)
        weights = np.exp(-((distances / scale) ** 2))
        is_copy = distances <= SAME * scale
        weights = np.where(is_copy.any(axis=1, keepdims=True), is_copy, weights)
        return np.asarray(np.sum(weights * values[nodes], axis=1) / weights.sum(axis=1))


def fit_rows(encoded: Array) -> FittedRows:
    """Fit a mixture to encoded rows, and connect them with their neighbours."""
    n = len(encoded)
    # 1) the nodes: distinct rows, or some of them
    rows = spread_rows(n, TUNING.max_nodes)
    nodes, copy_of = _find_distinct(encoded[rows])
    # 2) at most some dozen features: noise in many directions hides neighbours
    pca = _fit_pca(nodes)
    features = _project(pca, nodes)
    # 3) a mixture, of columns of many values: in others, a Gaussian may have any density
    is_continuous = np.array([len(np.unique(column)) > TUNING.min_values for column in nodes.T])
    predict, resp = _fit_mixture(nodes, is_continuous)
    # 4) the node of each row
    if len(rows) == n:
        node_of_row = copy_of
    else:
        node_of_row = _assign(encoded, predict, pca, features, resp.argmax(axis=1))
        node_of_row[rows] = copy_of
    # 5) the graph
    affinity = build_affinity(features, resp, np.bincount(copy_of))
    return FittedRows(
        features,
        pca,
        node_of_row,
        np.bincount(node_of_row, minlength=len(features)).astype(np.float64),
        NearestNeighbors(n_neighbors=min(TUNING.n_neighbors, len(features))).fit(features),
        PageRank(affinity, TUNING.restart),
    )


def _fit_pca(X: Array) -> PCA | None:
    """Fit principal axes if there are too many features."""
    n_axes = min(TUNING.max_features, len(X))
    return PCA(n_axes, random_state=0).fit(X) if X.shape[1] > TUNING.max_features else None


def _project(pca: PCA | None, encoded: Array) -> Array:
    return encoded if pca is None else np.asarray(pca.transform(encoded))


def _fit_mixture(nodes: Array, is_continuous: Array) -> tuple[Callable[[Array], Array], Array]:
    """Fit a mixture to some features: a function from rows to their likeliest component, and that of nodes, (m, k)."""
    if not is_continuous.any():
        return lambda rows: np.zeros(len(rows), dtype=np.intp), np.ones((len(nodes), 1))
    pca = _fit_pca(nodes[:, is_continuous])
    X = _project(pca, nodes[:, is_continuous])
    mixture = select_mixture(X)
    return lambda rows: mixture.predict(_project(pca, rows[:, is_continuous])), mixture.predict_proba(X)


def _find_distinct(X: Array) -> tuple[Array, Array]:
    """Find the distinct rows in order of appearance, (m, p), and for each row the index of its own, (n,)."""
    _, first, value = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    index = np.empty_like(order)
    index[order] = np.arange(len(order))
    return X[np.sort(first)], index[value.ravel()]


def _assign(
    encoded: Array, predict: Callable[[Array], Array], pca: PCA | None, nodes: Array, component_of_node: Array
) -> Array:
    """Find the nearest node of the likeliest component of each row, (n,): with k components a kth of the work."""
    nearest = np.zeros(len(encoded), dtype=np.intp)
    center = nodes.mean(axis=0)
    points = (nodes - center).astype(np.float32)
    groups = {i: np.flatnonzero(component_of_node == i) for i in np.unique(component_of_node)}
    squares = {i: 0.5 * np.einsum("ij,ij->i", points[group], points[group]) for i, group in groups.items()}
    groups[-1], squares[-1] = np.arange(len(nodes)), 0.5 * np.einsum("ij,ij->i", points, points)
    with one_blas_thread:
        for start in range(0, len(encoded), CHUNK_ROWS * 16):
            chunk = encoded[start : start + CHUNK_ROWS * 16]
            component = predict(chunk)
            centered = (_project(pca, chunk) - center).astype(np.float32)
            for i in np.unique(component):
                group, of_component = groups.get(i, groups[-1]), np.flatnonzero(component == i)
                half = squares[i] if i in groups else squares[-1]
                for rows in np.array_split(of_component, -(-len(of_component) // CHUNK_ROWS)):
                    nearest[start + rows] = group[np.argmax(centered[rows] @ points[group].T - half, axis=1)]
    return nearest
