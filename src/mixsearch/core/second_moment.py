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
from mixsearch.data.chunks import BLOCK_ROWS, CACHED_ROWS, Product, RowBlocks, row_slices, rows_in_memory, sum_blocks
from mixsearch.data.partitions import Layout, Shards, shards_of
from mixsearch.data.threads import n_cores, one_blas_thread

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
        From a shard and what is shared to the weights of its samples, (n,), of any sign; 1/n each by default.
    *shared
        Passed to `weigh`.
    center : array of shape (d,), optional
        Zero by default.
    """
    n, d, dtype, _ = shards.layout
    whole = n if weigh is None else 1
    if is_array(shards.layout):
        return np.asarray(shards.fold(gram, weigh, shared, center).total / whole)

    def apply(Q: Array) -> Array:
        return np.asarray(shards.fold(applied, np.ascontiguousarray(Q), weigh, shared, center).total / whole)

    return symmetric(d, dtype, apply)


def is_array(layout: Layout) -> bool:
    """Whether the second moment of such samples is an array, and no operator."""
    n, d, _, is_sparse = layout
    return d <= (SPARSE_LIMIT if is_sparse else min(DENSE_LIMIT, max(n, SPARSE_LIMIT)))


def second_moment_of_rows(X: Samples, weights: Array | None = None, *, center: Array | None = None) -> Matrix:
    """The same of samples in memory, with the weight of each."""
    return second_moment(shards_of(X), None if weights is None else lambda _: weights, center=center)


def gram(shard: Any, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None) -> Product:
    """Σ wᵢ (xᵢ - center)(xᵢ - center)', (d, d), of a shard; without `weigh` all weights are 1."""
    X, weights = shard.samples, None if weigh is None else weigh(shard, *shared)
    return sum_blocks(partial(_gram_of, X, weights, center), row_slices(X.shape[0]))


def _gram_of(X: Samples, weights: Array | None, center: Array | None, rows: slice) -> Product:
    part: Any = X[rows]
    if center is not None:
        part = (part.toarray() if sp.issparse(X) else part) - center.astype(part.dtype)
    if weights is not None:
        part = _scaled(part, np.sqrt(np.abs(weights[rows])))
    # BLAS takes half the time where both factors are the same.
    has_signs = weights is not None and weights[rows].min(initial=0.0) < 0
    other = _scaled(part, np.sign(weights[rows])) if weights is not None and has_signs else part
    product = other.T @ part
    return Product(np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float64))


def _scaled(X: Any, factors: Array) -> Any:
    """Rows times a factor each."""
    column = factors[:, None].astype(X.dtype)
    return X * column if isinstance(X, np.ndarray) else X.multiply(column).tocsr()


def applied(
    shard: Any, Q: Array, weigh: Callable[..., Array] | None, shared: tuple[Any, ...], center: Array | None
) -> Product:
    """The same times Q, (d, q)."""
    X: Any = shard.samples
    weights = np.ones(X.shape[0]) if weigh is None else weigh(shard, *shared)
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

    return np.asarray(sum_blocks(work, row_slices(len(Y)), n_threads if len(Y) > 2 * BLOCK_ROWS else 1).total)


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


class Weighted(NamedTuple):
    """Sums of samples, each times its weights."""

    rows: Array  # Σ x w', (d, q)
    weights: Array  # Σ w, (q,)


def sum_weighted(X: Samples, weights: Array) -> Weighted:
    """Sums over samples of each times its weights, (n, q)."""
    return Weighted(np.asarray(X.T @ weights.astype(X.dtype, copy=False), dtype=np.float64), weights.sum(axis=0))


def seen_from(point: Array, sums: Weighted) -> Array:
    """Σ (x - point) w', (d, q)."""
    return np.asarray(sums.rows - np.outer(point, sums.weights))
