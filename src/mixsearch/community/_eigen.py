"""Largest eigenvalues of large sparse operators, one vector at a time."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.eigen import LAPACK_LIMIT, as_operator

# Products with a graph of single vectors and of blocks cost the same per vector, since its rows share no cache lines.
# So Lanczos iterations, which need the fewest vectors, take a tenth of the time of a block solver.


def lanczos_eigenpairs(
    matrix: Any, n_pairs: int, *, which: Literal["LA", "LM"], seed: int, tol: float
) -> tuple[Array, Array]:
    """Return the top eigenpairs of a symmetric matrix or operator, (k,) falling and (d, k).

    Parameters
    ----------
    matrix : array, sparse array or LinearOperator of shape (d, d)
    n_pairs : int
        k, at most d.
    which : {"LA", "LM"}
        The largest eigenvalues, or the largest absolute ones.
    seed : int
        Seed of the starting vector.
    tol : float
        Relative accuracy of the eigenvalues.

    Returns
    -------
    values, vectors : arrays
    """
    d = matrix.shape[0]
    if d <= max(LAPACK_LIMIT, 2 * n_pairs):
        values, vectors = np.linalg.eigh(_as_array(matrix))
    else:
        from scipy.sparse.linalg import eigsh  # needed by a fit, not by a search in one

        start = np.random.default_rng(seed).standard_normal(d).astype(matrix.dtype)
        operator: Any = as_operator(matrix)
        values, vectors = eigsh(operator, n_pairs, which=which, v0=start, tol=tol)
    order = np.argsort(-(np.abs(values) if which == "LM" else values), kind="stable")[:n_pairs]
    return values[order], vectors[:, order]


def _as_array(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix @ np.eye(matrix.shape[0]))
