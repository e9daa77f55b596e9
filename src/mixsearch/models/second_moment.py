"""The weighted second moment of samples: an array where the dimension is small, an operator where it is not."""

from __future__ import annotations

import os
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from mixsearch.blocks import row_slices, sum_blocks
from mixsearch.types import Array, Matrix, Samples

# Up to here the d x d array and LAPACK beat products with blocks of vectors (benchmarks/second_moment.py).
DENSE_LIMIT = 1000
SPARSE_LIMIT = 300


class Product(NamedTuple):
    """A sum over samples that is one array."""

    total: Array


def second_moment(X: Samples, weights: Array) -> Matrix:
    """Σ wᵢ xᵢxᵢ', (d, d), without ever forming it where d is large.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    weights : array of shape (n,)
        Of the samples; 1/n each for the plain average.
    """
    n, d = X.shape
    if d > (SPARSE_LIMIT if sp.issparse(X) else min(DENSE_LIMIT, max(n, SPARSE_LIMIT))):
        return WeightedGram(X, weights)
    return sum_blocks(partial(_gram, X, weights), row_slices(n)).total


def _gram(X: Samples, weights: Array, rows: slice) -> Product:
    part, root = X[rows], np.sqrt(weights[rows])[:, None]
    if sp.issparse(part):
        scaled = part.multiply(root).tocsr()
        return Product(np.asarray((scaled.T @ scaled).todense(), dtype=np.float64))
    scaled = part * root.astype(part.dtype)
    return Product((scaled.T @ scaled).astype(np.float64))


class WeightedGram(LinearOperator):
    """Q -> Σ wᵢ xᵢ(xᵢ'Q): one pass over the samples for a whole block of vectors."""

    def __init__(self, X: Samples, weights: Array) -> None:
        super().__init__(np.dtype(X.dtype), (X.shape[1], X.shape[1]))
        self._X, self._weights = X, weights.astype(X.dtype)
        # BLAS already runs on all cores; the sparse product does not.
        self._n_threads = (os.cpu_count() or 1) if sp.issparse(X) else 1

    def _matmat(self, Q: Array) -> Array:
        n = self._X.shape[0]
        size = -(-n // self._n_threads) if self._n_threads > 1 else n
        return sum_blocks(partial(self._apply, Q), row_slices(n, size), self._n_threads).total

    def _apply(self, Q: Array, rows: slice) -> Product:
        part = self._X[rows]
        return Product(np.asarray(part.T @ (self._weights[rows, None] * (part @ Q))))

    def _matvec(self, q: Array) -> Array:
        return self._matmat(q.reshape(-1, 1)).ravel()

    def _adjoint(self) -> WeightedGram:
        return self


class Changed(LinearOperator):
    """A symmetric operator, rescaled on both sides, with a diagonal taken off and a rank-one term taken off.

    scale (S A S - diag(diagonal)) - direction direction', with S diagonal: all that the models do to a plain
    second moment.
    """

    def __init__(self, base: Matrix, *, scale: float, metric: Array, diagonal: Array, direction: Array) -> None:
        super().__init__(np.dtype(base.dtype), base.shape)
        self._base, self._scale = base, scale
        self._metric, self._diagonal, self._direction = (
            part[:, None].astype(base.dtype) for part in (metric, diagonal, direction)
        )

    def _matmat(self, Q: Array) -> Array:
        image: Any = self._metric * (self._base @ (self._metric * Q))
        image -= self._diagonal * Q
        image *= self._scale
        image -= self._direction * (self._direction.T @ Q)
        return np.asarray(image)

    def _matvec(self, q: Array) -> Array:
        return self._matmat(q.reshape(-1, 1)).ravel()

    def _adjoint(self) -> Changed:
        return self


def change(base: Matrix, *, scale: float, metric: Array, diagonal: Array, direction: Array) -> Matrix:
    """The same for an array or an operator: scale (S A S - diag(diagonal)) - direction direction'."""
    if isinstance(base, LinearOperator):
        return Changed(base, scale=scale, metric=metric, diagonal=diagonal, direction=direction)
    return scale * (base * np.outer(metric, metric) - np.diag(diagonal)) - np.outer(direction, direction)
