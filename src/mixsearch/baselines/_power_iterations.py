"""Eigenpairs of a symmetric tensor of shape (k, k, k) by power iterations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.data.chunks import row_slices
from mixsearch.errors import SearchError

# Smaller changes of all coordinates are rounding errors.
MIN_CHANGE = 1e-12
# Size of a chunk of starting points, whose outer products take k² numbers each.
CHUNK_PRODUCTS = 2**20


class PowerPairs(NamedTuple):
    """Eigenpairs of a symmetric tensor.

    Attributes
    ----------
    values : array of shape (q,)
        The eigenvalues λ, in the order of discovery.
    vectors : array of shape (k, q)
        The eigenvectors, unit columns.
    """

    values: Array
    vectors: Array


def robust_power_iterations(
    tensor: Array, n_init: int, max_iter: int, rng: np.random.Generator, *, n_components: int | None = None
) -> PowerPairs:
    """Find the eigenpairs of a symmetric tensor one after the other: the robust power method.

    Parameters
    ----------
    tensor : array of shape (k, k, k)
        Symmetric and near Σ λᵢ uᵢ⊗uᵢ⊗uᵢ, with orthonormal uᵢ.
    n_init : int
        The number L of random starting points for each pair.
    max_iter : int
        The maximum number N of steps u -> T(·, u, u) / |T(·, u, u)| from each point, and again from the one with the
        largest T(u, u, u).
    rng : numpy.random.Generator
        The source of starting points.
    n_components : int, optional
        The number of pairs; k by default.

    Returns
    -------
    PowerPairs

    Notes
    -----
    Algorithm 1 of Anandkumar et al. (2014): a pair found is subtracted, T - λ u⊗u⊗u, before the next one is searched
    for. Iterations stop early when no point moves, and all starting points share one matrix product.
    """
    k = len(tensor)
    n_pairs = k if n_components is None else n_components
    check_positive_int("n_init", n_init)
    check_positive_int("max_iter", max_iter)
    if n_pairs > k:
        raise SearchError(
            "A tensor of shape {shape} has at most {k} components, but {n_components} were requested.",
            code="too_many_components",
            shape=tensor.shape,
            k=k,
            n_components=n_pairs,
        )
    residual, found = tensor, []
    for _ in range(n_pairs):
        pair = _find_strongest(residual, n_init, max_iter, rng)
        u = pair.vectors[:, 0]
        residual = residual - pair.values * np.multiply.outer(np.outer(u, u), u)
        found.append(pair)
    return PowerPairs(np.concatenate([each.values for each in found]), np.hstack([each.vectors for each in found]))


def _find_strongest(tensor: Array, n_init: int, max_iter: int, rng: np.random.Generator) -> PowerPairs:
    """Return the pair with the largest eigenvalue over all starting points."""
    k = len(tensor)
    best = PowerPairs(np.array([-np.inf]), np.zeros((k, 1)))
    for starts in row_slices(n_init, max(CHUNK_PRODUCTS // k**2, 1)):
        ends = iterate_power(tensor, rng.standard_normal((k, starts.stop - starts.start)), max_iter)
        top = int(np.argmax(ends.values))
        if ends.values[top] > best.values[0]:
            best = PowerPairs(ends.values[[top]], ends.vectors[:, [top]])
    return iterate_power(tensor, best.vectors, max_iter)


def iterate_power(tensor: Array, starts: Array, max_iter: int) -> PowerPairs:
    """Run power iterations from several starting points, (k, q)."""
    U = _normalize(starts, fallback=starts)
    for _ in range(max_iter):
        before, U = U, _normalize(_apply(tensor, U), fallback=U)
        if np.abs(U - before).max() < MIN_CHANGE:
            break
    return PowerPairs(np.sum(U * _apply(tensor, U), axis=0), U)


def _apply(tensor: Array, U: Array) -> Array:
    """Return T(·, u, u) of each column, (k, q)."""
    k = len(tensor)
    return np.asarray(tensor.reshape(k, -1) @ (U[:, None] * U).reshape(k * k, -1))


def _normalize(columns: Array, fallback: Array) -> Array:
    """Scale columns to norm one, (k, q), and replace zero columns by those of the fallback."""
    lengths = np.linalg.norm(columns, axis=0)
    return np.where(lengths > 0, columns / np.where(lengths > 0, lengths, 1.0), fallback)
