"""The fit of a table, which does not depend on examples: features, a mixture, a graph of neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array, TableLike
from mixsearch.core.rows import Chunk, Chunks, SampleChunk
from mixsearch.machine import one_blas_thread
from mixsearch.table.encoding import TableEncoder
from mixsearch.table.graph import NeighbourGraph, NodeRows, Nodes, PlacedRows, build_graph, choose_nodes, find_nearest
from mixsearch.table.rows import spread_rows
from mixsearch.table.shapes import SHAPES, Shape, ShapedMixture, choose_mixture
from mixsearch.table.source import TableSource, open_source

# The mixture is chosen on at most this many rows.
MAX_MIXTURE_ROWS = 3000
# Up to the first number, all rows are nodes of the graph; beyond it, the second number of them.
MAX_NODES, N_NODES = 20_000, 10_000
# With more features than this, neighbours are found along as many principal axes, and the mixture along fewer: noise in
# many directions hides both.
MAX_FEATURES, N_AXES = 50, 20
# Variances within components are at least this fraction of their average, which is at least this one of all variances.
MIN_WITHIN = 1e-3
# Components are parts of one group, such as of a banana, if at least this fraction of the edges of one of them lead to
# the other; groups, if edges between them are at least this fraction of those of the largest component of one of them.
# Chosen on labelled tables: docs/decisions/tables.md.
MIN_LINK = 0.03
# The part of the noise of a mixture that neighbours have: without any, rows of different categories are never
# neighbours, and a group falls apart into its categories. Chosen on planted tables: docs/decisions/tables.md.
NEAR_NOISE = 0.5


class ColumnChoice(NamedTuple):
    """Which columns of a table are used."""

    columns: Any
    without: Any
    id: str | None
    vectors: str | None


@dataclass(frozen=True)
class TableFit:
    """A table with its mixture and its graph. It depends on no example, so one serves every search."""

    source: TableSource
    encoder: TableEncoder
    rows: Chunks[NodeRows]
    axes: Array  # along which neighbours are found, (p, a); the mixture is one along the first b of them
    mixture: ShapedMixture
    component_sizes: Array  # the expected number of rows of each component, (k,)
    whitener: Array  # (b, b): after it, the average covariance within components is the identity
    nodes: Nodes
    node_features: Array  # (m, p)
    node_resp: Array  # (m, k)
    graph: NeighbourGraph
    id: str | None = None  # the column that names the rows

    @property
    def table(self) -> TableLike:
        """The table of the fit."""
        return self.source.table

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return self.rows.n_rows

    def take_features(self, rows: Array) -> Array:
        """Return the features of a few rows, in any order, (q, p)."""
        positions, index = np.unique(rows, return_inverse=True)
        return np.asarray(self.rows.take_rows(positions).collect().chunk.features[index])

    def posterior(self, features: Array) -> Array:
        """Return the probability of each component for rows, (q, k)."""
        resp, _ = self.mixture.posterior(self._signal(features))
        return resp

    def find_nodes(self, table: TableLike) -> tuple[Array, Array]:
        """Return the nearest node, (q,), and the posterior, (q, k), of rows that need not be of the fitted table."""
        features = self.encoder.transform(table)
        resp = self.posterior(features)
        whitened, nodes = map(self.whiten, (features, self.node_features))
        return find_nearest(whitened, resp, nodes, self.node_resp), resp

    @cached_property
    def groups(self) -> Array:
        """Which components belong to which group: those that edges connect, directly or through others, (k, k)."""
        return _merge_linked(self.node_resp.T @ (self.graph.edges @ self.node_resp))

    def whiten(self, features: Array) -> Array:
        """Return features on a scale on which components are round, (q, b)."""
        return np.asarray(self._signal(features) @ self.whitener)

    def _signal(self, X: Array) -> Array:
        return project(X, self.axes[:, : len(self.whitener)])


def fit_table(table: TableLike, use: ColumnChoice, covariance: Shape | None, max_components: int) -> TableFit:
    """Encode a table, choose a mixture, and connect its rows with their neighbours."""
    source, encoder = open_source(table), TableEncoder()
    encoded = encoder._fit_rows(source, *use)
    n_features = len(encoder.feature_names_)
    if n_features > MAX_FEATURES:
        axes = _principal_axes(_take_some(encoded, MAX_NODES), MAX_FEATURES)
        signal_axes = axes[:, :N_AXES]
    else:
        axes = signal_axes = np.eye(n_features)
    some = project(_add_noise(_take_some(encoded, MAX_MIXTURE_ROWS), encoder.jitter), signal_axes)
    shapes = SHAPES if covariance is None else (covariance,)
    with one_blas_thread:  # for small matrices, several threads take longer
        mixture = choose_mixture(some, shapes=shapes, max_components=max_components).mixture
    expected, sums = encoded.map_sum(_expect, signal_axes, mixture)
    whitener = _within_factor(sums, encoded.n_rows)
    nodes, values, rows = choose_nodes(
        expected.map(_whiten, signal_axes, whitener), encoded.n_rows if encoded.n_rows <= MAX_NODES else N_NODES
    )
    near = _add_noise(values.features, NEAR_NOISE * encoder.jitter)
    graph = build_graph(project(near, axes), project(near, signal_axes) @ whitener, values.resp, nodes.copies)
    return TableFit(
        source,
        encoder,
        rows,
        axes,
        mixture,
        sums.sizes,
        whitener,
        nodes,
        values.features,
        values.resp,
        graph,
        use.id,
    )


def _merge_linked(edges: Array) -> Array:
    """Return which components belong to which group, (k, k), by the weight of the edges between them, (k, k).

    The pair of groups with the strongest link is merged first. A small component between two large ones, such as that
    of rows with missing values, joins only one of them: the other has too few edges to it for its size.
    """
    between, groups, largest = edges.copy(), np.eye(len(edges)), edges.sum(axis=1)
    while True:
        # A component without nodes has no edges.
        links = between / np.maximum(np.minimum.outer(largest, largest), np.finfo(np.float64).tiny)
        np.fill_diagonal(links, 0.0)
        kept, merged = sorted(np.unravel_index(np.argmax(links), links.shape))
        if links[kept, merged] < MIN_LINK:
            return groups
        between[kept] += between[merged]
        between[:, kept] += between[:, merged]
        between[merged] = between[:, merged] = 0.0
        groups[:, kept] += groups[:, merged]
        groups[:, merged] = 0.0
        largest[kept] = max(largest[kept], largest[merged])


def project(X: Array, axes: Array) -> Array:
    """Return coordinates along axes, (n, a); the same array if there are as many axes as features."""
    return X if axes.shape[0] == axes.shape[1] else np.asarray(X @ axes)


class _Sums(NamedTuple):
    sizes: Array  # of the components, (k,)
    totals: Array  # of their rows, (k, b)
    products: Array  # (b, b)


@dataclass(frozen=True)
class _ExpectedRows(Chunk):
    features: Array  # (n, p)
    resp: Array  # (n, k)


def _take_some(rows: Chunks[SampleChunk], max_rows: int) -> Array:
    """Return at most a number of rows, evenly spread."""
    return np.asarray(rows.take_rows(spread_rows(rows.n_rows, max_rows)).collect().chunk.samples)


def _add_noise(X: Array, deviations: Array) -> Array:
    """Return rows with Gaussian noise, the same at every call; the same array if it is 0."""
    return X + deviations * np.random.default_rng(0).normal(size=X.shape) if deviations.any() else X


def _expect(chunk: SampleChunk, axes: Array, mixture: ShapedMixture) -> tuple[_ExpectedRows, _Sums]:
    """Return the rows with their posterior, and what the covariance within components is made of."""
    signal = project(chunk.samples, axes)
    resp, _ = mixture.posterior(signal)
    rows = _ExpectedRows(chunk.first, chunk.samples, resp)
    return rows, _Sums(resp.sum(axis=0), resp.T @ signal, signal.T @ signal)


def _whiten(chunk: _ExpectedRows, axes: Array, whitener: Array) -> PlacedRows:
    whitened = project(chunk.features, axes) @ whitener
    return PlacedRows(chunk.first, chunk.features, whitened, chunk.resp)


def _within_factor(sums: _Sums, n_rows: int) -> Array:
    """Return the matrix, (p, p), after which the average covariance within components is the identity."""
    sizes = np.maximum(sums.sizes, np.finfo(np.float64).tiny)
    centers = sums.totals / sizes[:, None]
    within = (sums.products - (centers * sizes[:, None]).T @ centers) / n_rows
    average = float(np.trace(within)) / len(within)
    of_all = float(np.trace(sums.products)) / n_rows / len(within)
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
