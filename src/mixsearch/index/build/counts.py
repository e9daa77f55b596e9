"""Counts on disk, by document and by word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import RowChunks, split_rows
from mixsearch.index.build.options import OnProgress
from mixsearch.io.folder import FolderWriter
from mixsearch.topics.segments import BY_DOCUMENT, BY_WORD, place_in, sparse_from

# Memory that a non-zero takes while it moves from its row to its column: value and row, of these columns and of those
# before, which were written last. A chunk of rows is small beside them.
BYTES_PER_NONZERO = 16

# Maps an array of a file. Each call makes a new map, so that pages of the last one do not stay in memory.
OpenArray = Callable[[str], Array]


class CountWriter:
    """Writes counts by document, chunk by chunk.

    Attributes
    ----------
    n_nonzeros : int
        The number of counts written so far.
    per_word : array of shape (d,)
        The number of documents with each word.
    """

    def __init__(self, out: FolderWriter, n_words: int, segment: str = "") -> None:
        self._out, self._group = out, place_in(segment, BY_DOCUMENT)
        out.save(f"{self._group}/data", np.zeros(0, dtype=np.float32))
        out.save(f"{self._group}/indices", np.zeros(0, dtype=np.int32))
        out.save(f"{self._group}/indptr", np.zeros(1, dtype=np.int64))
        self.n_nonzeros, self.per_word = 0, np.zeros(n_words, dtype=np.int64)

    def append(self, counts: sp.csr_array) -> None:
        """Add documents."""
        self._out.save(f"{self._group}/data", counts.data)
        # Rows that were picked may have wider indices.
        self._out.save(f"{self._group}/indices", counts.indices.astype(np.int32, copy=False))
        self._out.save(f"{self._group}/indptr", self.n_nonzeros + counts.indptr[1:].astype(np.int64))
        self.n_nonzeros += counts.nnz
        self.per_word += np.bincount(counts.indices, minlength=len(self.per_word))


def read_rows(out: FolderWriter, n_words: int, segment: str = "") -> RowChunks:
    """Return the counts by document that were written, in chunks that are read from disk."""
    return open_rows(partial(_open_array, out, place_in(segment, BY_DOCUMENT)), n_words)


def open_counts(out: FolderWriter, shape: tuple[int, int], segment: str = "", *, copy: bool = False) -> sp.csr_array:
    """Return the counts by document that were written, mapped or in memory."""
    parts = [_open_array(out, place_in(segment, BY_DOCUMENT), part) for part in ("data", "indices", "indptr")]
    counts: sp.csr_array = sparse_from(sp.csr_array, [np.array(part) for part in parts] if copy else parts, shape)
    return counts


def open_columns(out: FolderWriter, shape: tuple[int, int], segment: str = "") -> sp.csc_array:
    """Return the counts by word that were written, mapped."""
    parts = [_open_array(out, place_in(segment, BY_WORD), part) for part in ("data", "indices", "indptr")]
    counts: sp.csc_array = sparse_from(sp.csc_array, parts, shape)
    return counts


def store_by_word(
    out: FolderWriter, counts: RowChunks, per_word: Array, memory: int, on_progress: OnProgress, segment: str = ""
) -> None:
    """Write the counts word by word."""
    n_done, n_all, group = 0, int(per_word.sum()), place_in(segment, BY_WORD)
    out.save(f"{group}/indptr", np.concatenate([[0], np.cumsum(per_word)]).astype(np.int64))
    for values, rows in transpose_rows(counts, per_word, memory):
        out.save(f"{group}/data", values)
        out.save(f"{group}/indices", rows)
        n_done += len(rows)
        on_progress("Listing words", n_done, n_all, "counts")


def _open_array(out: FolderWriter, group: str, part: str) -> Array:
    return out.read(f"{group}/{part}")


def open_rows(open_array: OpenArray, n_columns: int) -> RowChunks:
    """Return chunks of rows from the files data, indices and indptr; each is copied into memory when it is read."""
    indptr = np.array(open_array("indptr"))
    slices = split_rows(indptr)

    def read(index: int) -> sp.csr_array:
        rows = slices[index]
        start, stop = int(indptr[rows.start]), int(indptr[rows.stop])
        pointers = (indptr[rows.start : rows.stop + 1] - start).astype(np.int32)
        data, indices = (np.array(open_array(name)[start:stop]) for name in ("data", "indices"))
        return sp.csr_array((data, indices, pointers), shape=(len(pointers) - 1, n_columns))

    return RowChunks(slices, read, (len(indptr) - 1, n_columns), int(indptr[-1]), open_array("data").dtype)


def transpose_rows(rows: RowChunks, per_column: Array, memory: int) -> Iterator[tuple[Array, Array]]:
    """Yield the values and rows of the non-zeros, column by column, in chunks that fit the memory."""
    ends = np.concatenate([[0], np.cumsum(per_column)])
    first = 0
    while first < len(per_column):
        last = int(np.searchsorted(ends, ends[first] + memory // BYTES_PER_NONZERO, side="right")) - 1
        last = max(last, first + 1)  # at least one column, however long
        yield _read_columns(rows, first, last, ends)
        first = last


def _read_columns(rows: RowChunks, first: int, last: int, ends: Array) -> tuple[Array, Array]:
    chunks = (slice_columns(rows.read(i).tocsc(), first, last, part.start) for i, part in rows.enumerate())
    return concatenate_columns(chunks, np.diff(ends[first : last + 1]), rows.dtype)


class ColumnChunk(NamedTuple):
    """The non-zeros of some columns in some of the rows, column by column."""

    lengths: Array  # non-zeros of each column
    values: Array
    rows: Array  # index of each one's row among all rows


def slice_columns(chunk: sp.csc_array, first: int, last: int, first_row: int) -> ColumnChunk:
    """Return some columns of a chunk of rows."""
    start, stop = int(chunk.indptr[first]), int(chunk.indptr[last])
    lengths = np.diff(chunk.indptr[first : last + 1])
    return ColumnChunk(lengths, chunk.data[start:stop], (chunk.indices[start:stop] + first_row).astype(np.int32))


def concatenate_columns(chunks: Iterable[ColumnChunk], per_column: Array, dtype: Any) -> tuple[Array, Array]:
    """Return the values and rows of whole columns, from chunks in the order of their rows."""
    ends = np.cumsum(per_column)
    values, owners = np.empty(int(ends[-1]), dtype=dtype), np.empty(int(ends[-1]), dtype=np.int32)
    next_free = (ends - per_column).astype(np.int64)
    for lengths, own_values, own_rows in chunks:
        positions = np.repeat(next_free - np.cumsum(lengths) + lengths, lengths) + np.arange(len(own_values))
        values[positions], owners[positions] = own_values, own_rows
        next_free += lengths
    return values, owners
