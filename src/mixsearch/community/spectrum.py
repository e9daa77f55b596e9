"""Eigenvalues of a graph, and how many communities its links can show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.eigen import LAPACK_LIMIT, as_operator
from mixsearch.display import Card

_TOL = 1e-3
# Without communities, eigenvalues of large graphs end at the threshold, beyond which chance lifts one in about 1 of 20
# graphs. Its scale is n^(-2/3), as for other random matrices; this multiple leaves 1 in 100 (measured). Those of
# smaller graphs stay below the threshold.
_MARGIN, _LARGE = 0.5, 1000
# Of squares of weights relative to r²: a few heavy links must not be taken for communities of two.
_MAX_SQUARE = 0.5
# In units of the root of the number of link ends: two nodes beyond 1 would have more than one link with each other by
# chance. A graph has at most one, so that such hubs avoid each other; and one of them alone can hide all communities.
_MAX_HUB = 2.0
_FIRST_TRIED = 16
# Beyond, moments of order three have too few links for each community.
MAX_COMMUNITIES = 256


def lanczos_eigenpairs(
    matrix: Any, n_pairs: int, *, which: Literal["LA", "LM"], seed: int, tol: float
) -> tuple[Array, Array]:
    """Return the top eigenpairs of a symmetric matrix or operator, (k,) falling and (d, k)."""
    d = matrix.shape[0]
    if d <= max(LAPACK_LIMIT, 2 * n_pairs):
        values, vectors = np.linalg.eigh(_as_array(matrix))
    else:
        from scipy.sparse.linalg import eigsh  # needed by a fit, not by a search in one

        # Products with a graph of single vectors and of blocks cost the same per vector, since its rows share no cache
        # lines. So Lanczos iterations, which need the fewest vectors, take a tenth of the time of a block solver.
        start = np.random.default_rng(seed).standard_normal(d).astype(matrix.dtype)
        operator: Any = as_operator(matrix)
        values, vectors = eigsh(operator, n_pairs, which=which, v0=start, tol=tol)
    order = np.argsort(-(np.abs(values) if which == "LM" else values), kind="stable")[:n_pairs]
    return values[order], vectors[:, order]


def _as_array(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix @ np.eye(matrix.shape[0]))


@dataclass(frozen=True, eq=False)
class GraphSpectrum:
    """Eigenvalues of a graph, and the largest that links without communities would give.

    Attributes
    ----------
    values : array of shape (q,)
        The largest absolute eigenvalues of the regularised adjacency matrix, falling.
    edge : float
        The detection threshold, 1 up to chance: links without communities do not reach it.

    Notes
    -----
    Links of weight w enter as w/r / (1 - w²/r²), divided by the roots of 1 + Σ w²/r² / (1 - w²/r²) over the links of
    both ends; r² is how fast walks that never turn back branch out. The matrix has as many eigenvalues above 1 as the
    Bethe Hessian has below 0 (Sylvester): one for each community that can be detected from the links at all, the
    Kesten-Stigum threshold. Those below -1 are communities whose members avoid each other.
    """

    values: Array
    edge: float

    @property
    def n_components(self) -> int:
        """Number of communities that stand out; 1 if there are none."""
        return max(int(np.count_nonzero(self.values > self.edge)), 1)

    @property
    def is_full(self) -> bool:
        """Whether every eigenvalue computed stands out, so that there may be more."""
        return bool(np.all(self.values > self.edge))

    def __repr__(self) -> str:
        return Card(
            title=f"Spectrum with {self.n_components} of {len(self.values)} eigenvalues beyond the detection threshold",
            facts=[("threshold", f"{self.edge:.3g}")],
            bars=[(f"{i + 1}", float(value)) for i, value in enumerate(self.values[:15])],
            bars_title="eigenvalues of the graph",
        ).text()


def find_spectrum(
    adjacency: Any, n_values: int | None = None, *, max_values: int = MAX_COMMUNITIES, seed: int
) -> GraphSpectrum:
    """Find the eigenvalues of a graph beyond the detection threshold."""
    adjacency = _without_hubs(adjacency)
    matrix = _whiten_links(adjacency)
    n = adjacency.shape[0]
    limit = min(max_values, n)
    edge = 1 + (_MARGIN * n ** (-2 / 3) if n >= _LARGE else 0)
    n_tried = min(n_values or _FIRST_TRIED, limit)
    while True:
        values, _ = lanczos_eigenpairs(matrix, n_tried, which="LM", seed=seed, tol=_TOL)
        spectrum = GraphSpectrum(np.abs(values), edge)
        if n_values is not None or not spectrum.is_full or n_tried == limit:
            return spectrum
        n_tried = min(4 * n_tried, limit)


def count_apart(adjacency: Any, posterior: Array) -> int:
    """Return the number of communities that are left if those linked more than by chance are merged.

    Notes
    -----
    Graphs of near things have communities within communities, each of which lifts an eigenvalue beyond the threshold.
    Two with more links between them than nodes of the same degrees would have are parts of one; merging the most linked
    pair first is the last step of greedy modularity.
    """
    strengths = np.asarray(adjacency.sum(axis=1))
    total = float(strengths.sum())
    links, ends = posterior.T @ (adjacency @ posterior) / total, strengths @ posterior / total
    while len(ends) > 1:
        excess = links - np.outer(ends, ends)
        np.fill_diagonal(excess, -np.inf)
        one, other = np.unravel_index(np.argmax(excess), excess.shape)
        if excess[one, other] <= 0:
            break
        merge = np.delete(np.eye(len(ends)), other, axis=1)
        merge[other, one - (other < one)] = 1
        links, ends = merge.T @ links @ merge, ends @ merge
    return len(ends)


def _without_hubs(adjacency: Any) -> Any:
    """Return the graph without nodes of more links than a block model allows for."""
    strengths = np.asarray(adjacency.sum(axis=1))
    kept = np.flatnonzero(strengths <= _MAX_HUB * np.sqrt(strengths.sum()))
    rest = adjacency if len(kept) == len(strengths) else adjacency[kept][:, kept]
    return rest if rest.nnz else adjacency


def _whiten_links(adjacency: Any) -> Any:
    """Return the matrix whose eigenvalues beyond ±1 are the communities that can be detected."""
    squares, fourth = (np.asarray(adjacency.power(power).sum(axis=1)) for power in (2, 4))
    # Where a walk that never turns back arrives by chance: over a link to a node, and on over its other links.
    branching = max(float(np.sum(squares**2 - fourth) / squares.sum()), float(np.max(adjacency.data)) ** 2)
    weights = np.minimum(adjacency.data**2 / branching, _MAX_SQUARE)
    links = adjacency.copy()
    links.data = weights / (1 - weights)
    scale = 1 / np.sqrt(1 + np.asarray(links.sum(axis=1)))
    links.data = np.sqrt(weights) / (1 - weights)
    links.data *= np.repeat(scale, np.diff(links.indptr)) * scale[links.indices]
    # Single precision is far more than the count of eigenvalues needs, and takes half the time.
    return links.astype(np.float32)
