"""Self-expression: rows as combinations of each other, the graph that these make, and members by walks on it.

Images of one face or object lie near a subspace but do not follow a mixture of subspaces. Each of them is still best
expressed by others of its own kind (sparse and least squares subspace clustering: Elhamifar and Vidal, 2013; Lu et al.,
2012). Ridge regression keeps it in closed form, and the largest coefficients are the edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.rows import CACHED_ROWS, row_slices
from mixsearch.graph.walk import Members, Visits, Walk, find_members, start_at

# Ridge relative to the squared length of a row, which is 1. At .01 and 1, the AUC on ORL and COIL20 from one example
# changes by -.026 to +.006; smaller values spread coefficients over rows of many subspaces.
RIDGE = 0.1
# Edges of each row: those to the rows with the largest coefficients.
N_EDGES = 5
# Nodes of the graph, at most, and numbers in them: other rows get their membership from the nodes that express them.
MAX_NODES, MAX_NUMBERS = 2_000, 20_000_000
# Rows further from zero than this many times their deviation are seen from a point nearer to them: otherwise all of
# them have the same direction.
MAX_OFFSET = 10.0
# Rows whose directions have this cosine are the same.
SAME = 1 - 1e-9
TINY = float(np.finfo(np.float64).tiny)


class SelfExpression(NamedTuple):
    """Rows that express each other and any other row: the nodes of a graph."""

    samples: Array  # the nodes, (m, d)
    units: Array  # the same, seen from the origin, at length 1, (m, d)
    origin: Array  # (d,)
    solver: Array  # from a direction to its coefficients, (m, d)
    walk: Walk

    @classmethod
    def of(cls, samples: Samples) -> Self:
        """Build the graph of a few thousand rows at most.

        Notes
        -----
        With P = (XX' + λI)⁻¹, the ridge regression of row i on all others has the coefficients -Pᵢⱼ / Pᵢᵢ.
        """
        rows = to_dense(samples)
        origin = _choose_origin(rows)
        units = _scale_rows(rows, origin)
        precision = np.linalg.inv(units @ units.T + RIDGE * np.eye(len(units)))
        coefficients = precision / np.diag(precision)[:, None]
        np.fill_diagonal(coefficients, 0)
        edges = _largest_squares(coefficients)
        edges = sp.csr_array((edges + edges.T) / 2)
        return cls(rows, units, origin, precision @ units, Walk.on(edges, edges.data))

    def express(self, X: Samples) -> sp.csr_array:
        """Compute the weights of the nodes in rows, (n, m), which sum to 1: a node has weight 1 in itself."""
        units = _scale_rows(to_dense(X), self.origin)
        cosines = units @ self.units.T
        nearest = cosines.argmax(axis=1)
        is_node = cosines.max(axis=1) > SAME
        n = len(units)
        itself = sp.csr_array((np.ones(n), (np.arange(n), nearest)), shape=cosines.shape)
        weights = _largest_squares(units @ self.solver.T)
        totals = np.maximum(np.asarray(weights.sum(axis=1)), TINY)
        mixed = sp.diags_array(np.where(is_node, 0, 1 / totals)) @ weights
        return sp.csr_array(sp.diags_array(is_node.astype(np.float64)) @ itself + mixed)


class WalkMembers(NamedTuple):
    """Members by walks from examples."""

    expression: SelfExpression
    members: Members
    ranks: Array  # share of the nodes that walks from the other examples visit before each one, (q,); empty for one

    def membership(self, X: Any) -> Array:
        """Compute the probability that rows are members, (n,)."""
        nodes = self.members.membership
        slices = row_slices(X.shape[0], CACHED_ROWS)
        return np.concatenate([self.expression.express(X[rows]) @ nodes for rows in slices])


def walk_from_examples(expression: SelfExpression, examples: Samples, expected: float) -> WalkMembers:
    """Find the members by walks from examples, (q, d), where `expected` is a rough share of members among all rows."""
    m = len(expression.units)
    nodes = np.asarray(expression.express(examples).toarray().argmax(axis=1))
    visits = Visits.of(expression.walk, start_at(nodes, m), start_at(nodes[:0], m))
    members = find_members(expression.walk, visits, nodes, np.ones(m), max(expected * m, 1.0))
    if len(nodes) == 1:
        return WalkMembers(expression, members, np.empty(0))
    scores, tested = visits.left_out(), nodes[visits.tested]
    reached = scores[tested, np.arange(len(tested))]
    ranks = np.mean(scores > reached, axis=0) + 0.5 * np.mean(scores == reached, axis=0)
    return WalkMembers(expression, members, ranks)


def _choose_origin(X: Array) -> Array:
    """Choose a point from which rows have different directions, (d,): zero if they are near it."""
    mean = X.mean(axis=0)
    deviation = float(np.sqrt(np.mean(np.sum((X - mean) ** 2, axis=1))))
    length = float(np.linalg.norm(mean))
    return np.asarray(mean * (1 - MAX_OFFSET * deviation / length) if length > MAX_OFFSET * deviation else 0 * mean)


def to_dense(X: Any) -> Array:
    """Return rows as a dense array of floats."""
    is_sparse = sp.issparse(X)
    return np.asarray(X.toarray() if is_sparse else X, dtype=np.float64)


def _scale_rows(X: Array, origin: Array) -> Array:
    """Scale rows, seen from a point, to length 1."""
    away = X - origin
    lengths = np.linalg.norm(away, axis=1, keepdims=True)
    return np.asarray(away / np.where(lengths > 0, lengths, 1))


def _largest_squares(coefficients: Array) -> sp.csr_array:
    """Keep the squares of the largest coefficients of each row, relative to the largest of all, (n, m)."""
    n, m = coefficients.shape
    n_edges = min(N_EDGES, m)
    columns = np.argpartition(-np.abs(coefficients), n_edges - 1, axis=1)[:, :n_edges]
    squares = np.take_along_axis(coefficients, columns, axis=1) ** 2
    squares /= np.maximum(squares.max(axis=1, keepdims=True), TINY)
    return sp.csr_array((squares.ravel(), (np.repeat(np.arange(n), n_edges), columns.ravel())), shape=(n, m))
