"""The weighted second moment of samples: an array if the dimension is small, an operator otherwise."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from mixsearch._typing import Array, Matrix, Samples
from mixsearch.data.chunks import CACHED_ROWS, CHUNK_ROWS, ArraySum, RowChunks, chunk_rows, row_slices, sum_chunks
from mixsearch.data.partitions import Layout, Partitions, partition_in_memory
from mixsearch.data.threads import n_cores, one_blas_thread

# Up to here the d x d array beats products with blocks of vectors (benchmarks/second_moment.py).
DENSE_LIMIT = 1000


SPARSE_LIMIT = 300


def second_moment(
    partitions: Partitions[Any], weigh: Callable[..., Array] | None = None, *shared: Any, center: Array | None = None
) -> Matrix:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)', (d, d), without ever forming it where d is large.

    Parameters
    ----------
    partitions : Shards of samples
    weigh : callable, optional
        From a shard and what is shared to the weights of its samples, (n,), of any sign; 1/n each by default.
    *shared
        Passed to `weigh`.
    center : array of shape (d,), optional
        Zero by default.
    """
    n, d, dtype, _ = partitions.layout
    whole = n if weigh is None else 1
    if is_dense(partitions.layout):
        return np.asarray(partitions.reduce(gram, weigh, shared, center).total / whole)

    def apply(Q: Array) -> Array:
        return np.asarray(partitions.reduce(applied, np.ascontiguousarray(Q), weigh, shared, center).total / whole)

    return symmetric_operator(d, dtype, apply)


def is_dense(layout: Layout) -> bool:
    """Whether the second moment of such samples is an array, and no operator."""
    n, d, _, is_sparse = layout
    return d <= (SPARSE_LIMIT if is_sparse else min(DENSE_LIMIT, max(n, SPARSE_LIMIT)))


def second_moment_of_rows(X: Samples, weights: Array | None = None, *, center: Array | None = None) -> Matrix:
    """The same of samples in memory, with the weight of each."""
    return second_moment(partition_in_memory(X), None if weights is None else lambda _: weights, center=center)


def gram(partition: Any, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None) -> ArraySum:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)', (d, d), of a shard; without `weigh` all weights are 1."""
    X, weights = partition.samples, None if weigh is None else weigh(partition, *shared)
    return sum_chunks(partial(_gram_of, X, weights, center), row_slices(X.shape[0]))


def _gram_of(X: Samples, weights: Array | None, center: Array | None, rows: slice) -> ArraySum:
    part: Any = X[rows]
    if center is not None:
        part = (part.toarray() if sp.issparse(X) else part) - center.astype(part.dtype)
    if weights is not None:
        part = _scaled(part, np.sqrt(np.abs(weights[rows])))
    # BLAS takes half the time where both factors are the same.
    has_signs = weights is not None and weights[rows].min(initial=0.0) < 0
    other = _scaled(part, np.sign(weights[rows])) if weights is not None and has_signs else part
    product = other.T @ part
    return ArraySum(np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64))


def _scaled(X: Any, factors: Array) -> Any:
    """Rows times a factor each."""
    column = factors[:, None].astype(X.dtype)
    return X * column if isinstance(X, np.ndarray) else X.multiply(column).tocsr()


def applied(
    partition: Any, Q: Array, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None
) -> ArraySum:
    """The same times Q, (d, q)."""
    X: Any = partition.samples
    weights = np.ones(X.shape[0]) if weigh is None else weigh(partition, *shared)
    if isinstance(X, np.ndarray):
        # BLAS already runs on all cores: one block.
        whole = RowChunks([slice(0, len(X))], [X].__getitem__, X.shape, X.size, X.dtype)
        return multiply_gram_chunks(whole, Q, weights, center=center, n_threads=1)
    return multiply_gram_chunks(chunk_rows(sp.csr_array(X)), Q, weights, center=center)


def multiply_gram_chunks(
    blocks: RowChunks, Q: Array, weights: Array, *, center: Array | None = None, n_threads: int | None = None
) -> ArraySum:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)'Q, (d, q): one pass over the samples for a whole block of vectors."""
    shares = weights[:, None].astype(blocks.dtype)
    middle = None if center is None else center.astype(blocks.dtype)
    return sum_chunks(partial(_apply, blocks, Q, shares, middle), blocks.enumerate(), n_threads or n_cores())


def _apply(blocks: RowChunks, Q: Array, shares: Array, center: Array | None, block: tuple[int, slice]) -> ArraySum:
    number, rows = block
    X, weights = blocks.read(number), shares[rows]
    image = np.asarray(X @ Q)
    if center is None:
        image *= weights
        return ArraySum(np.asarray(X.T @ image))
    image -= center @ Q
    image *= weights
    return ArraySum(np.asarray(X.T @ image) - np.outer(center, image.sum(axis=0)))


def symmetric_operator(d: int, dtype: Any, apply: Callable[[Array], Array]) -> LinearOperator:
    """A symmetric operator from what it does to a block of vectors."""

    def apply_to_one(q: Array) -> Array:
        return apply(q.reshape(-1, 1)).ravel()

    return LinearOperator((d, d), matvec=apply_to_one, rmatvec=apply_to_one, matmat=apply, rmatmat=apply, dtype=dtype)


def change(base: Matrix, *, scale: float, metric: Array, diagonal: Array, direction: Array) -> Matrix:
    """A rescaled and corrected: scale (S A S - diag(diagonal)) - direction direction', with S = diag(metric)."""
    if isinstance(base, LinearOperator):
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
    """Σ wᵢ yᵢyᵢ', (k, k), for samples of few coordinates and weights of any sign; added up in double precision."""

    def work(rows: slice) -> ArraySum:
        part = Y[rows].astype(precision, copy=False)
        return ArraySum(np.asarray((part * weights[rows, None].astype(precision)).T @ part, dtype=np.float64))

    return np.asarray(sum_chunks(work, row_slices(len(Y)), n_threads if len(Y) > 2 * CHUNK_ROWS else 1).total)


def sample_mean_of(partitions: Partitions[Any]) -> Array:
    """The mean of all samples, (d,)."""
    return np.asarray(partitions.reduce(_total).total / partitions.n_rows)


def _total(partition: Any) -> ArraySum:
    return ArraySum(np.asarray(partition.samples.sum(axis=0, dtype=np.float64)))


def squared_distances(X: Samples, point: Array) -> Array:
    """|xᵢ - point|², (n,), block by block."""
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64)
        return np.asarray(squares - 2 * (X @ point) + point @ point)
    parts = (X[rows] - point.astype(X.dtype) for rows in row_slices(X.shape[0], CACHED_ROWS))
    return np.asarray(np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts]), dtype=np.float64)


def blas_threads_for(partitions: Partitions[Any]) -> AbstractContextManager[Any]:
    """Leave the cores to the threads of sparse products: those of BLAS go on spinning for a while after each call."""
    return one_blas_thread if partitions.layout.is_sparse else nullcontext()


class WeightedSums(NamedTuple):
    """Sums of samples, each times its weights."""

    rows: Array  # Σ x w', (d, q)
    weights: Array  # Σ w, (q,)


def weighted_sums(X: Samples, weights: Array) -> WeightedSums:
    """Sums over samples of each times its weights, (n, q)."""
    return WeightedSums(np.asarray(X.T @ weights.astype(X.dtype, copy=False), dtype=np.float64), weights.sum(axis=0))


def centered_sums(point: Array, sums: WeightedSums) -> Array:
    """Σ (x - point) w', (d, q)."""
    return np.asarray(sums.rows - np.outer(point, sums.weights))
