"""Third moments of samples of few coordinates, (k, k, k): every contraction of a tensor in one pass."""

from __future__ import annotations

import numpy as np

from mixsearch.blocks import BLOCK_ROWS, Product, row_slices, sum_blocks
from mixsearch.types import Array

# Numbers in a block of outer products: they stay in cache until they are summed.
CACHED_PRODUCTS = 2**18


def sum_products(Y: Array, Z: Array, weights: Array) -> Array:
    """Σ wᵢ yᵢ⊗yᵢ⊗zᵢ, (k, k, k), block by block in double precision."""
    k = Y.shape[1]

    def work(rows: slice) -> Product:
        part, last = Y[rows].astype(np.float64, copy=False), Z[rows].astype(np.float64, copy=False)
        squares = part[:, :, None] * part[:, None, :]
        return Product(squares.reshape(len(part), k * k).T @ (last * weights[rows, None]))

    slices = row_slices(len(Y), int(np.clip(CACHED_PRODUCTS // k**2, 1, BLOCK_ROWS)))
    return np.asarray(sum_blocks(work, slices).total).reshape(k, k, k)


def in_every_place(tensor: Array) -> Array:
    """A tensor that is symmetric in its first two places, with its third moved to every place, (k, k, k), summed."""
    return np.asarray(tensor + tensor.transpose(1, 2, 0) + tensor.transpose(2, 0, 1))
