"""Counts on disk, row by row, seen in blocks and turned into columns, without ever holding all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import RowChunks, split_rows

# Of a non-zero while it moves from its row to its column: value, row, place, and the block it comes from.
BYTES_PER_MOVE = 40

# Gives an array of a file, mapped anew: what was mapped before does not stay in memory.
Opened = Callable[[str], Array]


def rows_on_disk(opened: Opened, n_columns: int) -> RowChunks:
    """Blocks of rows from the files data, indices and indptr, each copied into memory when it is its turn."""
    indptr = np.array(opened("indptr"))
    slices = split_rows(indptr)

    def read(number: int) -> sp.csr_array:
        rows = slices[number]
        start, stop = int(indptr[rows.start]), int(indptr[rows.stop])
        pointers = (indptr[rows.start : rows.stop + 1] - start).astype(np.int32)
        data, indices = (np.array(opened(name)[start:stop]) for name in ("data", "indices"))
        return sp.csr_array((data, indices, pointers), shape=(len(pointers) - 1, n_columns))

    return RowChunks(slices, read, (len(indptr) - 1, n_columns), int(indptr[-1]), opened("data").dtype)


def columns_of(rows: RowChunks, per_column: Array, memory: int) -> Iterator[tuple[Array, Array]]:
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


def _collect(rows: RowChunks, first: int, last: int, ends: Array) -> tuple[Array, Array]:
    pieces = (cut_columns(rows.read(number).tocsc(), first, last, part.start) for number, part in rows.enumerate())
    return join_columns(pieces, np.diff(ends[first : last + 1]), rows.dtype)


class ColumnPiece(NamedTuple):
    """The non-zeros of some columns in some of the rows, column after column."""

    lengths: Array  # how many each column has
    values: Array
    rows: Array  # the number of each one's row among all


def cut_columns(block: sp.csc_array, first: int, last: int, first_row: int) -> ColumnPiece:
    """Some columns of a block of rows."""
    start, stop = int(block.indptr[first]), int(block.indptr[last])
    lengths = np.diff(block.indptr[first : last + 1])
    return ColumnPiece(lengths, block.data[start:stop], (block.indices[start:stop] + first_row).astype(np.int32))


def join_columns(pieces: Iterable[ColumnPiece], per_column: Array, dtype: Any) -> tuple[Array, Array]:
    """The values and rows of whole columns, from pieces in the order of their rows."""
    ends = np.cumsum(per_column)
    values, owners = np.empty(int(ends[-1]), dtype=dtype), np.empty(int(ends[-1]), dtype=np.int32)
    next_place = (ends - per_column).astype(np.int64)
    for lengths, own_values, own_rows in pieces:
        places = np.repeat(next_place - np.cumsum(lengths) + lengths, lengths) + np.arange(len(own_values))
        values[places], owners[places] = own_values, own_rows
        next_place += lengths
    return values, owners
