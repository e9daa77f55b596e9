"""Self-expression: samples as combinations of each other, by ridge regression, and the graph that these make."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.second_moment import squared_distances
from mixsearch.core.walk import Walk

# Ridges that are tried: powers of ten, then the halves next to the best one.
EXPONENTS = range(-8, 3)
# Coefficients that predict best are spread over samples of many subspaces: a larger ridge points to one's own. Chosen
# on COIL20 and generated samples, with ORL in sight: docs/decisions/subspaces.md.
RIDGE_FACTOR = 10.0
# Edges of each sample: those to the samples with the largest coefficients.
N_EDGES = 5
# Samples further from zero than this many times their deviation are taken from a point nearer to them: otherwise all of
# them have the same direction.
MAX_OFFSET = 10.0
# Samples whose directions have this cosine are the same.
SAME = 1 - 1e-9
TINY = float(np.finfo(np.float64).tiny)


class SelfExpression(NamedTuple):
    """Samples that express each other and any other sample: the nodes of a graph."""

    units: Array  # the nodes seen from the origin, at length 1, (m, d)
    origin: Array  # (d,)
    solver: Array  # from a direction to its coefficients, (m, d)
    walk: Walk

    def express(self, X: Samples) -> sp.csr_array:
        """Return the weights of the nodes in samples, (n, m), which sum to 1: a node has weight 1 in itself."""
        units = unit_rows(X, self.origin)
        near = units @ self.units.T
        weights = largest_squares(units @ self.solver.T)
        own = near.argmax(axis=1)
        is_node = near[np.arange(len(near)), own] > SAME
        alone = sp.csr_array((np.ones(len(own)), (np.arange(len(own)), own)), shape=weights.shape)
        mixed = sp.diags_array((~is_node).astype(np.float64)) @ _rows_to_one(weights)
        return sp.csr_array(sp.diags_array(is_node.astype(np.float64)) @ alone + mixed)


class Ridge(NamedTuple):
    """A ridge, and how well samples are predicted with it."""

    value: float
    errors: Array  # squared errors in features that were held out, of each sample at length 1, (m,)


class Nodes(NamedTuple):
    """Samples that express each other."""

    samples: Array  # (m, d)
    origin: Array  # the point from which they are seen, (d,)
    units: Array  # seen from there at length 1, (m, d)

    @classmethod
    def of(cls, samples: Samples) -> Nodes:
        rows = np.asarray(samples.toarray() if sp.issparse(samples) else samples, dtype=np.float64)
        origin = _viewpoint(rows)
        return cls(rows, origin, unit_rows(rows, origin))

    def take(self, rows: Array) -> Nodes:
        """Return some of the nodes."""
        return Nodes(self.samples[rows], self.origin, self.units[rows])

    @property
    def halves(self) -> tuple[Array, Array]:
        """Two halves of the features, at random: neighbours may be coordinates of the same point."""
        order = np.random.default_rng(0).permutation(self.units.shape[1])
        return order[: len(order) // 2], order[len(order) // 2 :]

    def express(self, ridge: Ridge) -> SelfExpression:
        """Return the graph of nodes that express each other.

        Notes
        -----
        With P = (XX' + λI)⁻¹, the ridge regression of sample i on all others has the coefficients -Pᵢⱼ / Pᵢᵢ.
        """
        value = RIDGE_FACTOR * ridge.value
        factor = _Factor.of(self.units)
        precision = factor.solve(np.eye(len(self.units)), value)
        coefficients = precision / np.maximum(np.diag(precision), TINY)[:, None]
        np.fill_diagonal(coefficients, 0)
        edges = largest_squares(coefficients)
        edges = sp.csr_array((edges + edges.T) / 2)
        return SelfExpression(self.units, self.origin, factor.solve(self.units, value), Walk.on(edges, edges.data))


def choose_ridge(nodes: Nodes) -> Ridge:
    """Choose the ridge with which coefficients from one half of the features predict the other half best."""
    units, halves = nodes.units, nodes.halves
    factors = [_Factor.of(units[:, half] * np.sqrt(units.shape[1] / len(half))) for half in halves]

    def predict(exponent: float) -> Ridge:
        value = 10.0**exponent
        squares = np.zeros(len(units))
        for factor, other in zip(factors, halves[::-1], strict=True):
            residuals = factor.solve(units[:, other], value) / factor.diagonal(value)[:, None]
            squares += np.einsum("ij,ij->i", residuals, residuals)
        return Ridge(value, squares)

    def error(ridge: Ridge) -> float:
        return float(ridge.errors.sum())

    best = min(map(predict, EXPONENTS), key=error)
    middle = np.log10(best.value)
    return min((best, predict(middle - 0.5), predict(middle + 0.5)), key=error)


class _Factor(NamedTuple):
    """Eigenvectors of XX' with positive eigenvalues."""

    vectors: Array  # Q, (m, r)
    values: Array  # (r,)
    rest: Array  # what of each sample is outside of them, diag(I - QQ'), (m,)

    @classmethod
    def of(cls, X: Array) -> _Factor:
        m, d = X.shape
        values, vectors = np.linalg.eigh(X @ X.T if m <= d else X.T @ X)
        kept = values > 1e-13 * max(float(values[-1]), TINY)
        values, vectors = values[kept], vectors[:, kept]
        if m > d:
            vectors = X @ vectors / np.sqrt(values)
        return cls(vectors, values, np.maximum(1 - np.einsum("ij,ij->i", vectors, vectors), 0))

    def solve(self, right: Array, ridge: float) -> Array:
        """Return (XX' + λI)⁻¹ times a matrix, (m, q)."""
        inside = self.vectors.T @ right
        outside = right - self.vectors @ inside
        return np.asarray(outside / ridge + self.vectors @ (inside / (self.values + ridge)[:, None]))

    def diagonal(self, ridge: float) -> Array:
        """Return the diagonal of (XX' + λI)⁻¹, (m,)."""
        return np.asarray(self.rest / ridge + self.vectors**2 @ (1 / (self.values + ridge)))


def _viewpoint(X: Array) -> Array:
    """Return the point from which samples, (m, d), have different directions, (d,): zero if they are near it."""
    mean = X.mean(axis=0)
    deviation = float(np.sqrt(np.mean(np.sum((X - mean) ** 2, axis=1))))
    length = float(np.linalg.norm(mean))
    return np.asarray(mean * (1 - MAX_OFFSET * deviation / length) if length > MAX_OFFSET * deviation else 0 * mean)


def unit_rows(X: Samples, origin: Array) -> Array:
    """Return samples seen from a point, at length 1, (n, d)."""
    rows = np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
    lengths = np.sqrt(squared_distances(rows, origin))
    return np.asarray((rows - origin) / np.where(lengths > 0, lengths, 1)[:, None])


def largest_squares(coefficients: Array) -> sp.csr_array:
    """Return the squares of the largest coefficients of each row, relative to the largest of all, (n, m)."""
    n, m = coefficients.shape
    n_edges = min(N_EDGES, m)
    columns = np.argpartition(-np.abs(coefficients), n_edges - 1, axis=1)[:, :n_edges]
    squares = np.take_along_axis(coefficients, columns, axis=1) ** 2
    squares /= np.maximum(squares.max(axis=1, keepdims=True), TINY)
    return sp.csr_array((squares.ravel(), (np.repeat(np.arange(n), n_edges), columns.ravel())), shape=(n, m))


def _rows_to_one(weights: sp.csr_array) -> sp.csr_array:
    totals = np.asarray(weights.sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / np.where(totals > 0, totals, 1)) @ weights)
