"""The weighted second moment of samples: an array if the dimension is small, an operator otherwise."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.data.chunks import CACHED_ROWS, CHUNK_ROWS, ArraySum, RowChunks, chunk_rows, row_slices, sum_chunks
from mixsearch.data.rows import Chunks, Layout, SampleChunk
from mixsearch.data.threads import n_cores, one_blas_thread

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

# Up to here the d x d array beats products with blocks of vectors (benchmarks/second_moment.py).
DENSE_LIMIT = 1000


SPARSE_LIMIT = 300


def second_moment(
    chunks: Chunks[Any], weigh: Callable[..., Array] | None = None, *shared: Any, center: Array | None = None
) -> Matrix:
    """Return Σ wᵢ (xᵢ - center)(xᵢ - center)', (d, d): an array, or an operator if d is large."""
    n, d, dtype, _ = chunks.layout
    whole = n if weigh is None else 1
    if is_dense(chunks.layout):
        return np.asarray(chunks.sum(gram, weigh, shared, center).total / whole)

    def apply(Q: Array) -> Array:
        return np.asarray(chunks.sum(multiply_gram, np.ascontiguousarray(Q), weigh, shared, center).total / whole)

    return symmetric_operator(d, dtype, apply)


def is_dense(layout: Layout) -> bool:
    """Return whether the second moment of such samples is an array rather than an operator."""
    n, d, _, is_sparse = layout
    return d <= (SPARSE_LIMIT if is_sparse else min(DENSE_LIMIT, max(n, SPARSE_LIMIT)))


def gram(chunk: Any, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None) -> ArraySum:
    """Sum wᵢ (xᵢ - center)(xᵢ - center)', (d, d), over a chunk; without `weigh` all weights are 1."""
    X, weights = chunk.samples, None if weigh is None else weigh(chunk, *shared)
    total = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_slices(X.shape[0]):
        part: Any = X[rows]
        if center is not None:
            part = (part.toarray() if sp.issparse(X) else part) - center.astype(part.dtype)
        if weights is not None:
            part = _scaled(part, np.sqrt(np.abs(weights[rows])))
        # BLAS takes half the time if both factors are the same array.
        has_signs = weights is not None and weights[rows].min(initial=0.0) < 0
        other = _scaled(part, np.sign(weights[rows])) if weights is not None and has_signs else part
        product = other.T @ part
        total += product if isinstance(product, np.ndarray) else product.toarray()
    return ArraySum(total)


def _scaled(X: Any, factors: Array) -> Any:
    """Scale every row by a factor."""
    column = factors[:, None].astype(X.dtype)
    return X * column if isinstance(X, np.ndarray) else X.multiply(column).tocsr()


def multiply_gram(
    chunk: Any, Q: Array, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None
) -> ArraySum:
    """Sum wᵢ (xᵢ - center)(xᵢ - center)'Q, (d, q), over a chunk."""
    X: Any = chunk.samples
    weights = np.ones(X.shape[0]) if weigh is None else weigh(chunk, *shared)
    if isinstance(X, np.ndarray):
        # BLAS already runs on all cores: one chunk.
        whole = RowChunks([slice(0, len(X))], [X].__getitem__, X.shape, X.size, X.dtype)
        return multiply_gram_chunks(whole, Q, weights, center=center, n_threads=1)
    return multiply_gram_chunks(chunk_rows(sp.csr_array(X)), Q, weights, center=center)


def multiply_gram_chunks(
    chunks: RowChunks, Q: Array, weights: Array, *, center: Array | None = None, n_threads: int | None = None
) -> ArraySum:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)'Q, (d, q): one pass over the samples serves a whole block of vectors."""
    shares = weights[:, None].astype(chunks.dtype)
    middle = None if center is None else center.astype(chunks.dtype)
    return sum_chunks(partial(_apply, chunks, Q, shares, middle), chunks.enumerate(), n_threads or n_cores())


def _apply(chunks: RowChunks, Q: Array, shares: Array, center: Array | None, chunk: tuple[int, slice]) -> ArraySum:
    index, rows = chunk
    X, weights = chunks.read(index), shares[rows]
    image = np.asarray(X @ Q)
    if center is None:
        image *= weights
        return ArraySum(np.asarray(X.T @ image))
    image -= center @ Q
    image *= weights
    return ArraySum(np.asarray(X.T @ image) - np.outer(center, image.sum(axis=0)))


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


def weighted_gram(Y: Array, weights: Array, *, precision: Any = np.float64, n_threads: int = 1) -> Array:
    """Σ wᵢ yᵢyᵢ', (k, k), for few coordinates and weights of any sign, in double precision."""
    # The product of a matrix with itself takes half the time of one with another.
    roots = np.sqrt(weights) if np.all(weights >= 0) else None

    def work(rows: slice) -> ArraySum:
        part = Y[rows].astype(precision, copy=False)
        if roots is None:
            return ArraySum(np.asarray((part * weights[rows, None].astype(precision)).T @ part, dtype=np.float64))
        scaled = part * roots[rows, None].astype(precision)
        return ArraySum(np.asarray(scaled.T @ scaled, dtype=np.float64))

    return np.asarray(sum_chunks(work, row_slices(len(Y)), n_threads if len(Y) > 2 * CHUNK_ROWS else 1).total)


def sample_mean_of(chunks: Chunks[Any]) -> Array:
    """Return the mean of all samples, (d,)."""
    return np.asarray(chunks.sum(_total).total / chunks.n_rows)


def _total(chunk: Any) -> ArraySum:
    return ArraySum(np.asarray(chunk.samples.sum(axis=0, dtype=np.float64)))


def squared_distances(X: Samples, point: Array) -> Array:
    """Return |xᵢ - point|², (n,), chunk by chunk."""
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64)
        return np.asarray(squares - 2 * (X @ point) + point @ point)
    parts = (X[rows] - point.astype(X.dtype) for rows in row_slices(X.shape[0], CACHED_ROWS))
    return np.asarray(np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts]), dtype=np.float64)


@dataclass(frozen=True)
class MeasuredChunk(SampleChunk):
    """Samples with their squared distance from a center."""

    squares: Any = None  # (n,)


class MeasuredSamples(NamedTuple):
    """The mean of samples, (d,), and the samples with their squared distance from it."""

    mean: Array
    chunks: Chunks[MeasuredChunk]


def measure_samples(chunks: Chunks[SampleChunk]) -> MeasuredSamples:
    """Return samples with their squared distance from their mean."""
    mean = sample_mean_of(chunks)
    return MeasuredSamples(mean, chunks.map(_measure, mean))


def _measure(chunk: SampleChunk, center: Array) -> MeasuredChunk:
    squares = squared_distances(chunk.samples, center)
    return MeasuredChunk(chunk.first, chunk.samples, chunk.responses, squares)


def blas_threads_for(chunks: Chunks[Any]) -> AbstractContextManager[Any]:
    """Return a context that leaves the cores to sparse products: BLAS threads keep spinning after each call."""
    return one_blas_thread if chunks.layout.is_sparse else nullcontext()


class WeightedSums(NamedTuple):
    """Weighted sums of samples."""

    rows: Array  # Σ x w', (d, q)
    weights: Array  # Σ w, (q,)


def weighted_sums(X: Samples, weights: Array) -> WeightedSums:
    """Sum samples with weights, (n, q)."""
    return WeightedSums(np.asarray(X.T @ weights.astype(X.dtype, copy=False), dtype=np.float64), weights.sum(axis=0))


def centered_sums(point: Array, sums: WeightedSums) -> Array:
    """Return Σ (x - point) w', (d, q)."""
    return np.asarray(sums.rows - np.outer(point, sums.weights))
