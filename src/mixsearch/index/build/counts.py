"""Counts on their way to disk: by document as they come, then by word."""

from __future__ import annotations

from functools import partial
from typing import Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import RowChunks
from mixsearch.index.build.options import OnProgress
from mixsearch.index.build.transpose import open_rows, transpose_rows
from mixsearch.storage import FolderWriter
from mixsearch.topics import BY_DOCUMENT, BY_WORD, place_in, sparse_from


class CountWriter:
    """Writes counts by document, chunk by chunk.

    Parameters
    ----------
    out : FolderWriter
        The folder of the index.
    n_words : int
        The number of columns.
    segment : str, default=""
        The name of the segment.

    Attributes
    ----------
    n_nonzeros : int
        The number of counts written so far.
    per_word : array of shape (d,)
        The number of documents with each word.
    """

    def __init__(self, out: FolderWriter, n_words: int, segment: str = "") -> None:
        group = place_in(segment, BY_DOCUMENT)
        self._data = out.stream(f"{group}/data", np.float32)
        self._indices = out.stream(f"{group}/indices", np.int32)
        self._indptr = out.stream(f"{group}/indptr", np.int64)
        self._indptr.append(np.zeros(1, dtype=np.int64))
        self.n_nonzeros, self.per_word = 0, np.zeros(n_words, dtype=np.int64)

    def append(self, counts: sp.csr_array) -> None:
        """Add documents."""
        self._data.append(counts.data)
        # Rows that were picked may have wider indices.
        self._indices.append(counts.indices.astype(np.int32, copy=False))
        self._indptr.append(self.n_nonzeros + counts.indptr[1:].astype(np.int64))
        self.n_nonzeros += counts.nnz
        self.per_word += np.bincount(counts.indices, minlength=len(self.per_word))

    def close(self) -> None:
        """Complete the files."""
        for stream in (self._data, self._indices, self._indptr):
            stream.close()

    def abandon(self) -> None:
        """Close the files, which are not complete."""
        for stream in (self._data, self._indices, self._indptr):
            stream.abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


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
    with (
        out.stream(f"{group}/data", np.float32) as data,
        out.stream(f"{group}/indices", np.int32) as indices,
    ):
        for values, rows in transpose_rows(counts, per_word, memory):
            data.append(values)
            indices.append(rows)
            n_done += len(rows)
            on_progress("Listing words", n_done, n_all, "counts")


def _open_array(out: FolderWriter, group: str, part: str) -> Array:
    return out.read(f"{group}/{part}")
