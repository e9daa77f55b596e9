"""Top eigenpairs of a symmetric matrix or operator, frames from them, and the simplex."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import LinearOperator, aslinearoperator

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
    d, kept = A.shape[0], 2 * block
    rng = np.random.default_rng(seed)
    space = np.empty((d, min(KEPT_BLOCKS * block, d)), dtype=A.dtype, order="F")
    P, _ = np.linalg.qr(rng.standard_normal((d, block)).astype(A.dtype))
    T, size, n_applications = np.zeros((0, 0)), 0, 0
    while n_applications < max_applications:
        n_applications += 1
        space[:, size : size + block] = P
        size += block
        Q, image = space[:, :size], np.asarray(A @ P)
        coupling = Q.T @ image
        T = np.block([[T, coupling[:-block]], [coupling[:-block].T, coupling[-block:]]])
        theta, S = np.linalg.eigh((T + T.T) / 2)
        theta, S = theta[::-1][:kept], S[:, ::-1][:, :kept].astype(A.dtype)
        P, C = _orthonormal_beside(Q, image - Q @ coupling)
        residuals = np.linalg.norm(C @ S[-block:, :n_pairs], axis=0)
        if np.all(residuals <= tolerance * np.abs(theta[:n_pairs])) or size + block > d:
            break
        if size + block > space.shape[1]:
            space[:, :kept] = Q @ S
            T, size = np.diag(theta), kept
    return Eigenpairs(theta[:n_pairs], orient(space[:, :size] @ S[:, :n_pairs]), n_applications)


def _orthonormal_beside(Q: Array, block: Array) -> tuple[Array, Array]:
    """P and C with block = P C, P orthonormal and orthogonal to Q, which the block is but for rounding.

    Rounding is all that is left of a direction that converged: then the block is orthogonalised once more.
    """
    P, C = _orthonormalise(block)
    sizes = np.abs(np.diag(C))
    if sizes.min() > 1e-5 * sizes.max():
        return P, C
    P, again = _orthonormalise(P - Q @ (Q.T @ P))
    return P, again @ C


def _orthonormalise(block: Array) -> tuple[Array, Array]:
    """Q and R of a tall block: by Cholesky, three times faster than Householder, where the block allows it."""
    try:
        R = scipy.linalg.cholesky(block.T @ block, overwrite_a=True)
    except scipy.linalg.LinAlgError:
        return np.linalg.qr(block)
    return scipy.linalg.solve_triangular(R, block.T, trans="T", overwrite_b=True, check_finite=False).T, R


def as_operator(matrix: Matrix) -> LinearOperator:
    """An array or an operator as an operator."""
    return matrix if isinstance(matrix, LinearOperator) else aslinearoperator(matrix)


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
    return np.asarray(np.maximum(point - excess[last], 0))
