"""Top eigenpairs of a symmetric matrix or operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.rows import even_slices, sum_chunks

# More starting vectors than eigenvectors asked for: the last ones asked for converge as fast as the first.
OVERSAMPLING = 10


# Up to here all eigenvectors cost less than the first few by iteration.
LAPACK_LIMIT = 250


class Eigenpairs(NamedTuple):
    """The largest eigenvalues of a symmetric operator, with the number of times that it was applied to a block."""

    values: Array  # (k,), falling
    vectors: Array  # (d, k)
    n_applications: int


def top_eigenpairs(
    matrix: Matrix,
    n_pairs: int,
    *,
    n_converged: int | None = None,
    seed: int = 0,
    tol: float = 1e-6,
    max_applications: int = 60,
    block: int | None = None,
    n_threads: int = 1,
    on_application: Callable[[int], None] | None = None,
) -> Eigenpairs:
    """Return the eigenpairs with the largest (signed) eigenvalues."""
    needed = n_pairs if n_converged is None else n_converged
    d, wide = matrix.shape[0], needed + OVERSAMPLING
    if n_pairs == 0:
        return Eigenpairs(np.zeros(0), np.zeros((d, 0)), 0)
    if d <= max(5 * wide, LAPACK_LIMIT):
        dense = matrix if isinstance(matrix, np.ndarray) else matrix @ np.eye(d, dtype=matrix.dtype)
        values, vectors = np.linalg.eigh(dense)
        return Eigenpairs(values[::-1][:n_pairs], orient(vectors[:, ::-1][:, :n_pairs]), 1)
    if isinstance(matrix, np.ndarray):
        tol, max_applications = 1e-12, 1000
    callback = on_application or (lambda _: None)
    pairs = _block_lanczos(matrix, needed, block or wide, seed, tol, max_applications, n_threads, callback)
    return Eigenpairs(pairs.values[:n_pairs], orient(pairs.vectors[:, :n_pairs]), pairs.n_applications)


def _block_lanczos(
    A: Matrix,
    n_pairs: int,
    block: int,
    seed: int,
    tol: float,
    max_applications: int,
    n_threads: int,
    callback: Callable[[int], None],
) -> Eigenpairs:
    """Block Lanczos with full reorthogonalization, compressed when the basis grows past its limit.

    Holds A Q = Q T + P C E' throughout, with Q the basis, T = Q'AQ, P the next block and E the last block of the
    identity; so the residual of the Ritz pair (θ, Q s) is |C E's| and costs nothing. All of it is NumPy's own linear
    algebra: SciPy may bring a second BLAS, whose threads would get in the way of the first one's.
    """
    d, kept = A.shape[0], n_pairs + OVERSAMPLING + block
    capacity = kept + block * max(2 * (n_pairs + OVERSAMPLING) // block, 1)
    rng = np.random.default_rng(seed)
    space = np.empty((d, capacity), dtype=A.dtype, order="F")
    P, _ = np.linalg.qr(rng.standard_normal((d, block)).astype(A.dtype))
    T, size, n_applications = np.zeros((0, 0)), 0, 0

    def inner(Q: Array, Z: Array) -> Array:
        """Compute Q'Z for tall matrices."""
        return sum_chunks(lambda rows: Q[rows].T @ Z[rows], even_slices(d, n_threads), n_threads)

    def subtract(Z: Array, Q: Array, coupling: Array) -> Array:
        """Subtract Q coupling from Z in place; return the Gram matrix, which the same pass gives."""

        def work(rows: slice) -> Array:
            part = Z[rows]
            part -= Q[rows] @ coupling
            return np.asarray(part.T @ part)

        return sum_chunks(work, even_slices(d, n_threads), n_threads)

    while True:
        n_applications += 1
        space[:, size : size + block] = P
        size += block
        Q, image = space[:, :size], np.array(A @ P)  # a copy: it is written to, and an operator may keep its own
        callback(n_applications)
        coupling = inner(Q, image)
        T = np.block([[T, coupling[:-block]], [coupling[:-block].T, coupling[-block:]]])
        P, C = orthonormalize(image, subtract(image, Q, coupling))
        # Each step multiplies what rounding leaves by a small factor, so every third block is orthogonalised twice; and
        # so is one with a direction that converged, since rounding is all that is left of it.
        if n_applications % 3 == 0 or not _is_well_conditioned(C):
            P, again = orthonormalize(P, subtract(P, Q, inner(Q, P)))
            C = again @ C
        full = size + block > capacity
        if not full and block < n_pairs:
            continue  # a look at the Ritz pairs costs as much as a narrow product
        theta, S = np.linalg.eigh((T + T.T) / 2)
        theta, S = theta[::-1][:kept], S[:, ::-1][:, :kept].astype(A.dtype)
        residuals = np.linalg.norm(C @ S[-block:, :n_pairs], axis=0)
        # An eigenvalue of zero is found to rounding, never to a part of itself.
        goal = np.maximum(tol * np.abs(theta[:n_pairs]), 10 * np.finfo(A.dtype).eps * np.abs(theta).max())
        if np.all(residuals <= goal) or n_applications >= max_applications:
            wide = n_pairs + OVERSAMPLING
            return Eigenpairs(theta[:wide], Q @ S[:, :wide], n_applications)
        if full:
            space[:, :kept] = Q @ S
            T, size = np.diag(theta), kept


def orthonormalize(block: Array, gram: Array) -> tuple[Array, Array]:
    """Return Q and R of a tall block: by Cholesky, three times faster than Householder, where the block allows it."""
    try:
        R = np.linalg.cholesky(gram).T
    except np.linalg.LinAlgError:
        return np.linalg.qr(block)
    return (block @ np.linalg.inv(R), R) if _is_well_conditioned(R) else np.linalg.qr(block)


def _is_well_conditioned(R: Array) -> bool:
    """Return whether a triangular factor preserves half the digits."""
    sizes = np.abs(np.diag(R))
    return bool(sizes.min() > np.sqrt(np.finfo(R.dtype).eps) * 1e3 * sizes.max())


def orient(vectors: Array) -> Array:
    """Make the largest entry of every column positive, so that the same data give the same signs."""
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[None, :], axis=0)
    return np.ascontiguousarray(vectors * np.where(largest < 0, -1, 1).astype(vectors.dtype))
