"""The affinity of samples that express each other, and members by PageRank on it.

Images of one face or object lie near a subspace but do not follow a mixture of subspaces. Each of them is still best
expressed by others of its own kind (sparse and least squares subspace clustering: Elhamifar and Vidal, 2013; Lu et al.,
2012). Ridge regression keeps it in closed form, and the largest coefficients are the edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.rows import CACHED_ROWS, Chunks, row_slices
from mixsearch.graph.members import Members, find_members
from mixsearch.graph.pagerank import PageRank
from mixsearch.graph.tuning import TUNING as GRAPH_TUNING


@dataclass(frozen=True)
class Tuning:
    """Chosen on COIL20 and reported on ORL, and the other way round: benchmarks/subspace_tables.py."""

    ridge: float = 0.1  # of the squared length of a sample, which is 1; .03 to .3 change the AUC by at most .015
    n_edges: int = 5  # of each sample: to those with the largest coefficients
    max_nodes: int = 2_000  # samples in the graph; others get their membership from those that express them
    max_numbers: int = 20_000_000  # in these
    max_offset: float = 10.0  # deviations between zero and the mean; samples further away have nearly one direction
    same: float = 1 - 1e-9  # cosine of samples that are the same


TUNING = Tuning()
TINY = float(np.finfo(np.float64).tiny)


class SelfExpression(NamedTuple):
    """Samples that express each other and any other sample: the nodes of a graph."""

    units: Array  # the nodes, seen from the origin, at length 1, (m, d)
    origin: Array  # (d,)
    solver: Array  # from a direction to its coefficients, (m, d)
    affinity: sp.csr_array  # (m, m), symmetric

    @classmethod
    def of(cls, samples: Samples) -> Self:
        """Build the graph of a few thousand samples at most.

        Notes
        -----
        With P = (XX' + λI)⁻¹, the ridge regression of row i on all others has the coefficients -Pᵢⱼ / Pᵢᵢ.
        """
        rows = to_dense(samples)
        mean = rows.mean(axis=0)
        deviation, length = np.sqrt(np.mean(np.sum((rows - mean) ** 2, axis=1))), np.linalg.norm(mean)
        origin = mean * max(1 - TUNING.max_offset * deviation / max(length, TINY), 0)
        units = scale_rows(rows - origin)
        precision = np.linalg.inv(units @ units.T + TUNING.ridge * np.eye(len(units)))
        coefficients = precision / np.diag(precision)[:, None]
        np.fill_diagonal(coefficients, 0)
        edges = keep_largest(coefficients)
        return cls(units, origin, precision @ units, sp.csr_array((edges + edges.T) / 2))

    @classmethod
    def of_chunks(cls, chunks: Chunks[Any]) -> Self:
        """Build the graph of evenly spaced samples if there are many."""
        n, d = chunks.shape
        n_nodes = max(min(TUNING.max_nodes, TUNING.max_numbers // d), 1)
        return cls.of(chunks.thin(-(-n // n_nodes)).chunk.samples)

    def express(self, X: Samples) -> sp.csr_array:
        """Compute the weights of the nodes in samples, (n, m), which sum to 1: a node has weight 1 in itself."""
        units = scale_rows(to_dense(X) - self.origin)
        coefficients = units @ self.solver.T
        cosines = units @ self.units.T
        is_node = cosines.max(axis=1) > TUNING.same
        coefficients[is_node] = np.eye(len(self.units))[cosines[is_node].argmax(axis=1)]
        weights = keep_largest(coefficients)
        return sp.csr_array(sp.diags_array(1 / np.maximum(weights.sum(axis=1), TINY)) @ weights)

    def find_nodes(self, X: Samples) -> Array:
        """Find the nodes that express samples most, each once."""
        return np.unique(self.express(X).toarray().argmax(axis=1)) if X.shape[0] else np.empty(0, dtype=np.intp)

    def find_members(self, examples: Samples, not_examples: Samples) -> ExpressedMembers:
        """Find the members by PageRank from the nodes of examples, (q, d)."""
        pagerank = PageRank(self.affinity, GRAPH_TUNING.restart)
        return ExpressedMembers(self, find_members(pagerank, self.find_nodes(examples), self.find_nodes(not_examples)))


class ExpressedMembers(NamedTuple):
    """Members among the nodes, and through these among any samples."""

    expression: SelfExpression
    members: Members

    def membership(self, X: Any) -> Array:
        """Compute the membership of samples, (n,): that of the nodes that express them."""
        slices = row_slices(X.shape[0], CACHED_ROWS)
        return np.concatenate([self.expression.express(X[rows]) @ self.members.membership for rows in slices])


def to_dense(X: Any) -> Array:
    """Return rows as a dense array of floats."""
    is_sparse = sp.issparse(X)
    return np.asarray(X.toarray() if is_sparse else X, dtype=np.float64)


def scale_rows(X: Array) -> Array:
    """Scale rows to length 1; those of zeros stay as they are."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X / np.where(lengths > 0, lengths, 1))


def keep_largest(coefficients: Array) -> sp.csr_array:
    """Keep the squares of the largest coefficients of each row, relative to the largest of all, (n, m)."""
    n, m = coefficients.shape
    n_edges = min(TUNING.n_edges, m)
    columns = np.argpartition(-np.abs(coefficients), n_edges - 1, axis=1)[:, :n_edges]
    squares = np.take_along_axis(coefficients, columns, axis=1) ** 2
    squares /= np.maximum(squares.max(axis=1, keepdims=True), TINY)
    return sp.csr_array((squares.ravel(), (np.repeat(np.arange(n), n_edges), columns.ravel())), shape=(n, m))
