"""Chunks of rows that fit into cache, and sums over them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch.data.threads import is_on_one_core

# Rows per block: large enough for BLAS, small enough that a block of a few hundred features stays in cache.
CHUNK_ROWS = 8192


# Rows that stay in cache while they are read twice.
CACHED_ROWS = 512


# Non-zeros per block of sparse rows: 16 MB in single precision, and enough work to make up for adding the results.
CHUNK_NONZEROS = 2_000_000


def row_slices(n_rows: int, size: int = CHUNK_ROWS) -> Iterator[slice]:
    """Slices that cover the rows, in order; an empty one where there are none, so that sums are of the right shape."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size))


def even_slices(n_rows: int, n_slices: int) -> Iterator[slice]:
    """The rows in so many slices of the same size."""
    return row_slices(n_rows, max(-(-n_rows // n_slices), 1))


Block = TypeVar("Block")


Sums = TypeVar("Sums", bound=tuple[Any, ...])


class ArraySum(NamedTuple):
    """Sums that are one array."""

    total: Any


def add_sums(one: Sums, other: Sums) -> Sums:
    """The sums over two disjoint blocks together; sums are named tuples of arrays."""
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))


def add_all(sums: Iterable[Sums]) -> Sums:
    """The sums over many disjoint blocks together, one at least, in their order."""
    each = iter(sums)
    total, following = next(each), next(each, None)
    if following is None:
        return total
    total = add_sums(total, following)  # new arrays, which the others may be added to
    for more in each:
        total = type(total)(*map(_add_into, total, more))
    return total


def _add_into(total: Any, more: Any) -> Any:
    if isinstance(total, np.ndarray) and total.dtype == np.result_type(total, more) and total.shape == np.shape(more):
        total += more  # workers of Dask give large arrays back to the system at once: a new one for each sum is slow
        return total
    return total + more


def sum_chunks(summarize: Callable[[Block], Sums], blocks: Iterable[Block], n_threads: int = 1) -> Sums:
    """Fold blocks into sums; with several threads where the work releases the interpreter, as sparse products do."""
    if n_threads == 1:
        return add_all(map(summarize, blocks))
    with ThreadPoolExecutor(n_threads) as pool:
        return add_all(pool.map(summarize, blocks))


@dataclass(frozen=True, slots=True)
class RowChunks:
    """Sparse rows in blocks, each read when it is needed: views of memory, or parts of files.

    Where the rows are cut depends on the rows alone, so that sums over the blocks, added in their order, are the same
    to the last bit wherever the rows are kept and however many threads share the work.
    """

    slices: Sequence[slice]  # the rows of each block
    read: Callable[[int], Any]  # the number of a block -> its rows, a csr_array
    shape: tuple[int, int]
    n_nonzeros: int
    dtype: Any

    def enumerate(self) -> Iterator[tuple[int, slice]]:
        """Every block's number and rows."""
        return iter(enumerate(self.slices))


def split_rows(indptr: Any, max_nonzeros: int | None = None) -> list[slice]:
    """Slices of rows with about the same number of non-zeros, no more than a block holds, and two for two threads."""
    n_rows, n_nonzeros = len(indptr) - 1, int(indptr[-1])
    least = 1 if is_on_one_core() else 2
    n_blocks = min(max(least, -(-n_nonzeros // (max_nonzeros or CHUNK_NONZEROS))), max(n_rows, 1))
    cuts = np.searchsorted(indptr, np.linspace(0, n_nonzeros, n_blocks + 1))
    cuts[0], cuts[-1] = 0, n_rows
    return [slice(int(a), int(b)) for a, b in pairwise(cuts) if b > a] or [slice(0, 0)]


def chunk_rows(X: sp.csr_array[Any], max_nonzeros: int | None = None) -> RowChunks:
    """Rows that are in memory already, seen in blocks without a copy."""
    slices = split_rows(X.indptr, max_nonzeros)
    views = [_view(X, rows) for rows in slices]
    return RowChunks(slices, views.__getitem__, X.shape, X.nnz, X.dtype)


def _view(X: sp.csr_array[Any], rows: slice) -> sp.csr_array[Any]:
    start, stop = int(X.indptr[rows.start]), int(X.indptr[rows.stop])
    view = sp.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    # Set one by one: SciPy's constructor would copy what is less than half of the array it comes from.
    view.data, view.indices = X.data[start:stop], X.indices[start:stop]
    view.indptr = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    return view
