"""Counts on disk, row by row, seen in blocks and turned into columns, without ever holding all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp

from mixsearch.blocks import RowBlocks, cut_rows
from mixsearch.types import Array

# Of a non-zero while it moves from its row to its column: value, row, place, and the block it comes from.
BYTES_PER_MOVE = 40

# Gives an array of a file, mapped anew: what was mapped before does not stay in memory.
Opened = Callable[[str], Array]


def rows_on_disk(opened: Opened, n_columns: int) -> RowBlocks:
    """Blocks of rows from the files data, indices and indptr, each copied into memory when it is its turn."""
    indptr = np.array(opened("indptr"))
    slices = cut_rows(indptr)

    def read(number: int) -> sp.csr_array:
        rows = slices[number]
        start, stop = int(indptr[rows.start]), int(indptr[rows.stop])
        pointers = (indptr[rows.start : rows.stop + 1] - start).astype(np.int32)
        data, indices = (np.array(opened(name)[start:stop]) for name in ("data", "indices"))
        return sp.csr_array((data, indices, pointers), shape=(len(pointers) - 1, n_columns))

    return RowBlocks(slices, read, (len(indptr) - 1, n_columns), int(indptr[-1]), opened("data").dtype)


def columns_of(rows: RowBlocks, per_column: Array, memory: int) -> Iterator[tuple[Array, Array]]:
    """The values and rows of the non-zeros, column after column, in pieces that fit the memory.

    Parameters
    ----------
    rows : RowBlocks of shape (n, d)
        Passed over once for each piece.
    per_column : array of shape (d,)
        How many non-zeros each column has.
    memory : int
        Bytes that a piece may take.
    """
    ends = np.concatenate([[0], np.cumsum(per_column)])
    first = 0
    while first < len(per_column):
        last = int(np.searchsorted(ends, ends[first] + memory // BYTES_PER_MOVE, side="right")) - 1
        last = max(last, first + 1)  # at least one column, however long
        yield _collect(rows, first, last, ends)
        first = last


def _collect(rows: RowBlocks, first: int, last: int, ends: Array) -> tuple[Array, Array]:
    size = int(ends[last] - ends[first])
    values, owners = np.empty(size, dtype=rows.dtype), np.empty(size, dtype=np.int32)
    next_place = (ends[first:last] - ends[first]).astype(np.int64)
    for number, part in rows.numbered():
        block = rows.read(number).tocsc()
        start, stop = int(block.indptr[first]), int(block.indptr[last])
        lengths = np.diff(block.indptr[first : last + 1])
        places = np.repeat(next_place - block.indptr[first:last], lengths) + np.arange(start, stop)
        values[places] = block.data[start:stop]
        owners[places] = block.indices[start:stop] + part.start
        next_place += lengths
    return values, owners
