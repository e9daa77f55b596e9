"""Moments of a mixture: as a hint contracts them, and as sums over samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.core.rows import (
    CACHED_ROWS,
    CHUNK_ROWS,
    Chunks,
    SampleChunk,
    row_slices,
    split_rows,
    sum_chunks,
)
from mixsearch.machine import n_cores, one_blas_thread


@dataclass(frozen=True, slots=True)
class Hinted:
    """The moments of a mixture in its frame, contracted with a hint."""

    matrix: Array  # R = W'BW, (k, k)
    mean: Array  # W'm, (k,)
    hint: Array  # c = W'Av, (k,): the hint in the frame; one column each for several points, (k, q)


class Replicates(NamedTuple):
    """The moments of all samples but one group, for each of B groups, in the frame of all samples."""

    second: Array  # W'AW, (B, k, k): near the identity
    hinted: Array  # R = W'BW, (B, k, k)
    mean: Array  # W'm, (B, k)


if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

# Up to here the d x d array beats products with blocks of vectors, for dense and for sparse samples.
DENSE_LIMIT, SPARSE_LIMIT = 1000, 300

Weigh = Callable[[Any], Array]

# ---- Second moments -------------------------------------------------------------------------------------------------


def second_moment(chunks: Chunks[Any], weigh: Weigh | None = None, *, center: Array | None = None) -> Matrix:
    """Return Σ wᵢ (xᵢ - center)(xᵢ - center)', (d, d): an array, or an operator if d is large.

    `weigh` maps a chunk to weights that are not negative; by default they are 1/n.
    """
    n, d, dtype, is_sparse = chunks.layout
    whole = n if weigh is None else 1
    if d <= (SPARSE_LIMIT if is_sparse else min(DENSE_LIMIT, max(n, SPARSE_LIMIT))):
        return np.asarray(chunks.sum(lambda chunk: gram(chunk, weigh, center)) / whole)

    def multiply(chunk: Any, Q: Array) -> Array:
        X = chunk.samples
        pieces = split_rows(X) if sp.issparse(X) else [(slice(None), X)]  # BLAS already runs on all cores
        return multiply_gram(pieces, Q, np.ones(X.shape[0]) if weigh is None else weigh(chunk), center)

    return symmetric_operator(d, dtype, lambda Q: np.asarray(chunks.sum(multiply, Q) / whole))


def gram(chunk: Any, weigh: Weigh | None, center: Array | None) -> Array:
    """Sum wᵢ (xᵢ - center)(xᵢ - center)', (d, d), over a chunk; without `weigh` all weights are 1."""
    X, roots = chunk.samples, None if weigh is None else np.sqrt(weigh(chunk))
    total = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_slices(X.shape[0]):
        part: Any = X[rows]
        if center is not None:
            part = (part.toarray() if sp.issparse(X) else part) - center.astype(part.dtype)
        if roots is not None:
            column = roots[rows, None].astype(part.dtype)
            part = part * column if isinstance(part, np.ndarray) else part.multiply(column).tocsr()
        product = part.T @ part  # BLAS takes half the time if both factors are the same array
        total += product if isinstance(product, np.ndarray) else product.toarray()
    return total


def multiply_gram(
    pieces: Sequence[tuple[slice, Samples]], Q: Array, weights: Array, center: Array | None = None
) -> Array:
    """Sum wᵢ (xᵢ - center)(xᵢ - center)'Q, (d, q): one pass over the samples serves a whole block of vectors."""
    Q, dtype = np.ascontiguousarray(Q), pieces[0][1].dtype
    middle = None if center is None else center.astype(dtype)

    def multiply(piece: tuple[slice, Any]) -> Array:
        rows, X = piece
        image = np.asarray(X @ Q)
        if middle is not None:
            image -= middle @ Q
        image *= weights[rows, None].astype(dtype)
        product = np.asarray(X.T @ image)
        return product if middle is None else product - np.outer(middle, image.sum(axis=0))

    return np.asarray(sum_chunks(multiply, pieces, n_cores() if len(pieces) > 1 else 1))


def symmetric_operator(d: int, dtype: Any, apply: Callable[[Array], Array]) -> LinearOperator:
    """Return a symmetric operator, given its product with a block of vectors."""
    from scipy.sparse.linalg import LinearOperator  # needed by a fit, not by a search in one

    def apply_to_one(q: Array) -> Array:
        return apply(q.reshape(-1, 1)).ravel()

    return LinearOperator((d, d), matvec=apply_to_one, rmatvec=apply_to_one, matmat=apply, rmatmat=apply, dtype=dtype)


def rescale(base: Matrix, *, scale: float, metric: Array, diagonal: Array, direction: Array) -> Matrix:
    """Return A rescaled and corrected: scale (S A S - diag(diagonal)) - direction direction', with S = diag(metric)."""
    if not isinstance(base, np.ndarray):
        S, diag, u = (part[:, None].astype(base.dtype) for part in (metric, diagonal, direction))

        def apply(Q: Array) -> Array:
            image = np.asarray(base @ (S * Q))
            image *= S
            image -= diag * Q
            image *= scale
            image -= u * (u.T @ Q)
            return image

        return symmetric_operator(base.shape[0], base.dtype, apply)
    rescaled = scale * (base * np.outer(metric, metric) - np.diag(diagonal))
    return np.asarray(rescaled - np.outer(direction, direction))


def weighted_gram(Y: Array, weights: Array) -> Array:
    """Σ wᵢ yᵢyᵢ', (k, k), for few coordinates and weights of any sign, in double precision."""
    # The product of a matrix with itself takes half the time of one with another.
    roots = np.sqrt(weights) if np.all(weights >= 0) else None

    def work(rows: slice) -> Any:
        part = Y[rows].astype(np.float64, copy=False)
        if roots is None:
            return (part * weights[rows, None]).T @ part
        scaled = part * roots[rows, None]
        return scaled.T @ scaled

    return np.asarray(sum_chunks(work, row_slices(len(Y))))


def sample_mean_of(chunks: Chunks[Any]) -> Array:
    """Return the mean of all samples, (d,)."""
    return np.asarray(chunks.sum(lambda chunk: np.asarray(chunk.samples.sum(axis=0, dtype=np.float64))) / chunks.n_rows)


def squared_distances(X: Samples, point: Array) -> Array:
    """Return |xᵢ - point|², (n,), chunk by chunk."""
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64)
        return np.asarray(squares - 2 * (X @ point) + point @ point)
    parts = (X[rows] - point.astype(X.dtype) for rows in row_slices(X.shape[0], CACHED_ROWS))
    return np.asarray(np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts]), dtype=np.float64)


def total_variance(covariance: Matrix, chunks: Chunks[SampleChunk], center: Array) -> float:
    """Return the trace of a covariance, which operators do not show, from the samples."""
    if isinstance(covariance, np.ndarray):
        return float(np.trace(covariance))
    return float(chunks.sum(lambda chunk: squared_distances(chunk.samples, center).sum())) / chunks.n_rows


def blas_threads_for(chunks: Chunks[Any]) -> AbstractContextManager[Any]:
    """Return a context that leaves the cores to sparse products: BLAS threads keep spinning after each call."""
    return one_blas_thread if chunks.layout.is_sparse else nullcontext()


def centered_product(X: Samples, weights: Array, center: Array) -> Array:
    """Return Σ (xᵢ - center) wᵢ', (d, q), with weights, (n, q)."""
    product = np.asarray(X.T @ weights.astype(X.dtype, copy=False), dtype=np.float64)
    return np.asarray(product - np.multiply.outer(center, weights.sum(axis=0)))


# Numbers in a chunk of outer products: they stay in cache until they are summed.
CACHED_PRODUCTS = 2**18


def sum_cubes(Y: Array, Z: Array, weights: Array) -> Array:
    """Return Σ wᵢ yᵢ⊗yᵢ⊗zᵢ, (k, k, k), chunk by chunk in double precision."""
    k = Y.shape[1]

    def sum_rows(rows: slice) -> Any:
        part, last = Y[rows].astype(np.float64, copy=False), Z[rows].astype(np.float64, copy=False)
        squares = part[:, :, None] * part[:, None, :]
        return squares.reshape(len(part), k * k).T @ (last * weights[rows, None])

    slices = row_slices(len(Y), int(np.clip(CACHED_PRODUCTS // k**2, 1, CHUNK_ROWS)))
    return np.asarray(sum_chunks(sum_rows, slices)).reshape(k, k, k)


def symmetrize(tensor: Array) -> Array:
    """Sum the three cyclic permutations of a tensor that is symmetric in its first two indices, (k, k, k)."""
    return np.asarray(tensor + tensor.transpose(1, 2, 0) + tensor.transpose(2, 0, 1))
