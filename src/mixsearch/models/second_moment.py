"""The weighted second moment of samples: an array where the dimension is small, an operator where it is not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from mixsearch.blocks import (
    BLOCK_ROWS,
    CACHED_ROWS,
    Product,
    RowBlocks,
    n_cores,
    one_blas_thread,
    row_slices,
    rows_in_memory,
    sum_blocks,
)
from mixsearch.shards import Shards, shards_of
from mixsearch.types import Array, Matrix, Samples

# Up to here the d x d array beats products with blocks of vectors (benchmarks/second_moment.py).
DENSE_LIMIT = 1000
SPARSE_LIMIT = 300


def second_moment(
    shards: Shards[Any], weigh: Callable[..., Array] | None = None, *shared: Any, center: Array | None = None
) -> Matrix:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)', (d, d), without ever forming it where d is large.

    Parameters
    ----------
    shards : Shards of samples
    weigh : callable, optional
        From a shard and what is shared to the weights of its samples, (n,), not negative; 1/n each by default.
    *shared
        Passed to `weigh`.
    center : array of shape (d,), optional
        Zero by default.
    """
    n, d, dtype, is_sparse = shards.layout
    if d > (SPARSE_LIMIT if is_sparse else min(DENSE_LIMIT, max(n, SPARSE_LIMIT))):

        def apply(Q: Array) -> Array:
            return np.asarray(shards.fold(_applied, np.ascontiguousarray(Q), n, weigh, shared, center).total)

        return symmetric(d, dtype, apply)
    total = np.asarray(shards.fold(_gram, weigh, shared, center).total)
    return total / n if weigh is None else total


def second_moment_of_rows(X: Samples, weights: Array | None = None, *, center: Array | None = None) -> Matrix:
    """The same of samples in memory, with the weight of each."""
    return second_moment(shards_of(X), None if weights is None else lambda _: weights, center=center)


def _gram(shard: Any, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None) -> Product:
    X, weights = shard.samples, None if weigh is None else weigh(shard, *shared)
    return sum_blocks(partial(_gram_of, X, weights, center), row_slices(X.shape[0]))


def _gram_of(X: Samples, weights: Array | None, center: Array | None, rows: slice) -> Product:
    part: Any = X[rows]
    if center is not None:
        part = (part.toarray() if sp.issparse(X) else part) - center.astype(part.dtype)
    if weights is not None:
        root = np.sqrt(weights[rows])[:, None].astype(part.dtype)
        part = part * root if isinstance(part, np.ndarray) else part.multiply(root).tocsr()
    gram = part.T @ part
    return Product(np.asarray(gram if isinstance(gram, np.ndarray) else gram.toarray(), dtype=np.float64))


def _applied(
    shard: Any,
    Q: Array,
    n_rows: int,
    weigh: Callable[..., Array] | None,
    shared: tuple[Any, ...],
    center: Array | None,
) -> Product:
    X: Any = shard.samples
    weights = np.full(X.shape[0], 1 / n_rows) if weigh is None else weigh(shard, *shared)
    if isinstance(X, np.ndarray):
        # BLAS already runs on all cores: one block.
        whole = RowBlocks([slice(0, len(X))], [X].__getitem__, X.shape, X.size, X.dtype)
        return apply_to_blocks(whole, Q, weights, center=center, n_threads=1)
    return apply_to_blocks(rows_in_memory(sp.csr_array(X)), Q, weights, center=center)


def apply_to_blocks(
    blocks: RowBlocks, Q: Array, weights: Array, *, center: Array | None = None, n_threads: int | None = None
) -> Product:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)'Q, (d, q): one pass over the samples for a whole block of vectors."""
    shares = weights[:, None].astype(blocks.dtype)
    middle = None if center is None else center.astype(blocks.dtype)
    return sum_blocks(partial(_apply, blocks, Q, shares, middle), blocks.numbered(), n_threads or n_cores())


def second_moment_of_blocks(blocks: RowBlocks, weights: Array) -> LinearOperator:
    """Q -> Σ wᵢ xᵢxᵢ'Q: one pass over the samples for a whole block of vectors."""

    def apply(Q: Array) -> Array:
        return np.asarray(apply_to_blocks(blocks, np.ascontiguousarray(Q), weights).total)

    return symmetric(blocks.shape[1], blocks.dtype, apply)


def _apply(blocks: RowBlocks, Q: Array, shares: Array, center: Array | None, block: tuple[int, slice]) -> Product:
    number, rows = block
    X, weights = blocks.read(number), shares[rows]
    image = np.asarray(X @ Q)
    if center is None:
        image *= weights
        return Product(np.asarray(X.T @ image))
    image -= center @ Q
    image *= weights
    return Product(np.asarray(X.T @ image) - np.outer(center, image.sum(axis=0)))


def symmetric(d: int, dtype: Any, apply: Callable[[Array], Array]) -> LinearOperator:
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

        return symmetric(base.shape[0], base.dtype, apply)
    rescaled = scale * (base * np.outer(metric, metric) - np.diag(diagonal))
    return np.asarray(rescaled - np.outer(direction, direction))


def weighted_gram(Y: Array, weights: Array, *, precision: Any = np.float64, n_threads: int = 1) -> Array:
    """Σ wᵢ yᵢyᵢ', (k, k), for samples of few coordinates and weights of any sign; added up in double precision."""

    def work(rows: slice) -> Product:
        part = Y[rows].astype(precision, copy=False)
        return Product(np.asarray((part * weights[rows, None].astype(precision)).T @ part, dtype=np.float64))

    return np.asarray(sum_blocks(work, row_slices(len(Y)), n_threads if len(Y) > BLOCK_ROWS else 1).total)


def mean_of(shards: Shards[Any]) -> Array:
    """The mean of all samples, (d,)."""
    return np.asarray(shards.fold(_total).total / shards.n_rows)


def _total(shard: Any) -> Product:
    return Product(np.asarray(shard.samples.sum(axis=0, dtype=np.float64)))


def squared_distances(X: Samples, point: Array) -> Array:
    """|xᵢ - point|², (n,), block by block."""
    if sp.issparse(X):
        squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64)
        return np.asarray(squares - 2 * (X @ point) + point @ point)
    parts = (X[rows] - point.astype(X.dtype) for rows in row_slices(X.shape[0], CACHED_ROWS))
    return np.asarray(np.concatenate([np.einsum("ij,ij->i", part, part) for part in parts]), dtype=np.float64)


def cores_for(shards: Shards[Any]) -> AbstractContextManager[Any]:
    """Leave the cores to the threads of sparse products: those of BLAS go on spinning for a while after each call."""
    return one_blas_thread if shards.layout.is_sparse else nullcontext()
