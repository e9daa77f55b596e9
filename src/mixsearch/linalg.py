"""Top eigenpairs of a symmetric matrix or operator, frames from them, and the simplex."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator

from mixsearch.errors import RankError
from mixsearch.types import Array, Frame, Matrix

# More starting vectors than eigenvectors asked for: the last ones asked for converge as fast as the first.
OVERSAMPLING = 10
# Blocks of vectors kept before the basis is compressed to its best Ritz vectors.
KEPT_BLOCKS = 4


class Eigenpairs(NamedTuple):
    """The largest eigenvalues of a symmetric operator, with the number of times that it was applied to a block."""

    values: Array  # (k,), falling
    vectors: Array  # (d, k)
    n_applications: int


def top_eigenpairs(
    matrix: Matrix, n_pairs: int, *, seed: int = 0, tolerance: float = 1e-6, max_applications: int = 60
) -> Eigenpairs:
    """The eigenpairs with the largest (signed) eigenvalues.

    Parameters
    ----------
    matrix : array or LinearOperator of shape (d, d)
        Symmetric. An array is decomposed by LAPACK; an operator only ever meets (d, k + 10) blocks.
    n_pairs : int
        How many.
    seed : int
        Of the starting block of an operator.
    tolerance : float
        Stop when every residual |A y - θ y| is below this part of its own eigenvalue.
    max_applications : int
        Stop after this many products with a block, whatever the residuals.
    """
    d = matrix.shape[0]
    if isinstance(matrix, LinearOperator):
        block = n_pairs + OVERSAMPLING
        if d > 2 * block:
            return _block_lanczos(matrix, n_pairs, block, seed, tolerance, max_applications)
        matrix = np.asarray(matrix @ np.eye(d, dtype=matrix.dtype))
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(d - n_pairs, d - 1))
    return Eigenpairs(values[::-1], orient(vectors[:, ::-1]), 1)


def _block_lanczos(
    A: LinearOperator, n_pairs: int, block: int, seed: int, tolerance: float, max_applications: int
) -> Eigenpairs:
    """Block Lanczos with full reorthogonalisation, compressed when the basis grows past its limit.

    Holds A Q = Q T + P C E' throughout, with Q the basis, T = Q'AQ, P the next block and E the last block of the
    identity; so the residual of the Ritz pair (θ, Q s) is |C E's| and costs nothing.
    """
    rng = np.random.default_rng(seed)
    P, _ = np.linalg.qr(rng.standard_normal((A.shape[0], block)).astype(A.dtype))
    Q, T = P[:, :0], np.zeros((0, 0))
    for n_applications in range(1, max_applications + 1):
        image = np.asarray(A @ P)
        Q = np.hstack([Q, P])
        coupling = Q.T @ image
        T = np.block([[T, coupling[:-block]], [coupling[:-block].T, coupling[-block:]]])
        theta, S = np.linalg.eigh((T + T.T) / 2)
        theta, S = theta[::-1], S[:, ::-1]
        rest = image - Q @ coupling
        rest -= Q @ (Q.T @ rest)  # twice is enough to stay orthogonal
        P, C = np.linalg.qr(rest)
        residuals = np.linalg.norm(C @ S[-block:, :n_pairs], axis=0)
        converged = bool(np.all(residuals <= tolerance * np.abs(theta[:n_pairs])))
        full = Q.shape[1] + block > A.shape[0]
        if converged or full or n_applications == max_applications:
            break
        if Q.shape[1] >= KEPT_BLOCKS * block:
            Q, T = Q @ S[:, : 2 * block].astype(Q.dtype), np.diag(theta[: 2 * block])
    return Eigenpairs(theta[:n_pairs], orient(Q @ S[:, :n_pairs].astype(Q.dtype)), n_applications)


def orient(vectors: Array) -> Array:
    """Columns with their entry of largest size made positive, so that the same data give the same signs."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None, :], axis=0)
    return np.ascontiguousarray(vectors * np.where(largest < 0, -1, 1).astype(vectors.dtype))


def count_above_noise(values: Array) -> int:
    """How many falling eigenvalues are positive beyond rounding."""
    floor = np.finfo(values.dtype).eps * 1e4 * max(float(values[0]), 0.0)
    return int(np.searchsorted(-values, -floor, side="left"))


def frame_of_rank(values: Array, vectors: Array, n_components: int, metric: Array | None = None) -> Frame:
    """The frame of these eigenpairs of A, or an error that says how many of them carry signal."""
    rank = count_above_noise(values)
    if rank < n_components:
        raise RankError(
            f"The second moment has rank {rank}, but {n_components} components need rank {n_components}: "
            f"its eigenvalues fall from {values[0]:.3g} to {values[-1]:.3g}. "
            f"Ask for at most {max(rank, 1)} components, or check the data for constant or repeated samples."
        )
    return Frame(basis=vectors, values=values, metric=metric)


def project_to_simplex(point: Array) -> Array:
    """The probability vector nearest to a point of R^d, (d,)."""
    falling = np.sort(point)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    last = np.flatnonzero(falling > excess)[-1]
    return np.maximum(point - excess[last], 0)
