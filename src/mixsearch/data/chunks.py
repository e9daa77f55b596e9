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

# Rows per chunk: large enough for BLAS, small enough that a chunk with a few hundred features stays in cache.
CHUNK_ROWS = 8192
# Rows that stay in cache while they are read twice.
CACHED_ROWS = 512
# Non-zeros per chunk of sparse rows: 16 MB in single precision, and enough work to outweigh adding the results.
CHUNK_NONZEROS = 2_000_000

Item = TypeVar("Item")
Sums = TypeVar("Sums", bound=tuple[Any, ...])


def row_slices(n_rows: int, size: int = CHUNK_ROWS) -> Iterator[slice]:
    """Yield slices that cover all rows, in order; one empty slice if there are no rows, so that sums have a shape."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, max(n_rows, 1), size))


def even_slices(n_rows: int, n_slices: int) -> Iterator[slice]:
    """Yield slices of equal size that cover all rows; the last may be shorter."""
    return row_slices(n_rows, max(-(-n_rows // n_slices), 1))


class ArraySum(NamedTuple):
    """Sums that consist of one array, or of anything else that can be added."""

    total: Any


def add_sums(one: Sums, other: Sums) -> Sums:
    """Add the sums of two disjoint sets of rows, field by field."""
    return type(one)(*(a + b for a, b in zip(one, other, strict=True)))


def add_all(sums: Iterable[Sums]) -> Sums:
    """Add the sums of disjoint sets of rows, in their order."""
    remaining = iter(sums)
    total, second = next(remaining), next(remaining, None)
    if second is None:
        return total
    total = add_sums(total, second)  # new arrays, so the others can be added in place
    for more in remaining:
        total = type(total)(*map(_add_into, total, more))
    return total


def _add_into(total: Any, more: Any) -> Any:
    if isinstance(total, np.ndarray) and total.dtype == np.result_type(total, more) and total.shape == np.shape(more):
        total += more  # Dask workers return large arrays to the system at once, so new arrays cost page faults
        return total
    return total + more


def sum_chunks(summarize: Callable[[Item], Sums], chunks: Iterable[Item], n_threads: int = 1) -> Sums:
    """Sum a function over chunks, in their order."""
    if n_threads == 1:
        return add_all(map(summarize, chunks))
    with ThreadPoolExecutor(n_threads) as pool:
        return add_all(pool.map(summarize, chunks))


@dataclass(frozen=True, slots=True)
class RowChunks:
    """Sparse rows in chunks that are read on demand: views of memory, or sections of files.

    The bounds of the chunks depend on the rows alone. So sums over the chunks, added in their order, are the same to
    the last bit wherever the rows are stored and however many threads share the work.
    """

    slices: Sequence[slice]  # the rows of each chunk
    read: Callable[[int], Any]  # the index of a chunk -> its rows, a csr_array
    shape: tuple[int, int]
    n_nonzeros: int
    dtype: Any

    def enumerate(self) -> Iterator[tuple[int, slice]]:
        """Iterate over the index and the rows of every chunk."""
        return iter(enumerate(self.slices))


def split_rows(indptr: Any, max_nonzeros: int | None = None) -> list[slice]:
    """Split sparse rows into slices with about the same number of non-zeros."""
    n_rows, n_nonzeros = len(indptr) - 1, int(indptr[-1])
    min_chunks = 1 if is_on_one_core() else 2
    n_chunks = min(max(min_chunks, -(-n_nonzeros // (max_nonzeros or CHUNK_NONZEROS))), max(n_rows, 1))
    cuts = np.searchsorted(indptr, np.linspace(0, n_nonzeros, n_chunks + 1))
    cuts[0], cuts[-1] = 0, n_rows
    return [slice(int(a), int(b)) for a, b in pairwise(cuts) if b > a] or [slice(0, 0)]


def chunk_rows(X: sp.csr_array[Any], max_nonzeros: int | None = None) -> RowChunks:
    """Split rows in memory into chunks, without a copy."""
    slices = split_rows(X.indptr, max_nonzeros)
    views = [_view(X, rows) for rows in slices]
    return RowChunks(slices, views.__getitem__, X.shape, X.nnz, X.dtype)


def _view(X: sp.csr_array[Any], rows: slice) -> sp.csr_array[Any]:
    start, stop = int(X.indptr[rows.start]), int(X.indptr[rows.stop])
    view = sp.csr_array((rows.stop - rows.start, X.shape[1]), dtype=X.dtype)
    # Set the attributes one by one: SciPy's constructor copies a view of less than half of its base array.
    view.data, view.indices = X.data[start:stop], X.indices[start:stop]
    view.indptr = X.indptr[rows.start : rows.stop + 1] - X.indptr[rows.start]
    return view
