"""Counts that are mapped from files, and compared with their checksums as they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.storage import BlockReader


class _CheckedCounts:
    """Counts of which rows, or columns, are checked when they are chosen; all of them, if anything else is done.

    SciPy reads `data` and `indices` for everything, so these check all. Choices are left to a plain sparse array.
    """

    indptr: Array
    shape: Any
    _readers: Sequence[BlockReader] = ()
    _plain: Any = None
    _is_new: Array

    @property
    def data(self) -> Array:
        self._check_all()
        return self._data

    @data.setter
    def data(self, values: Array) -> None:
        self._data = values

    @property
    def indices(self) -> Array:
        self._check_all()
        return self._indices

    @indices.setter
    def indices(self, values: Array) -> None:
        self._indices = values

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._data.dtype

    @dtype.setter
    def dtype(self, kind: Any) -> None:
        self._data = self._data.view(kind)

    def __reduce__(self) -> Any:
        return type(self._plain), ((self.data, self.indices, self.indptr), self.shape)

    def _check(self, chosen: Any) -> None:
        """Check the rows, or columns, of a choice that were never chosen before."""
        rows = np.atleast_1d(np.arange(len(self._is_new))[chosen] if isinstance(chosen, slice) else np.asarray(chosen))
        rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.intp, copy=False)
        rows = rows[self._is_new[rows]]
        if len(rows) == 0:
            return
        # Two views of equal length, so that negative indices mean the same in both.
        starts, stops = (ends[rows].astype(np.int64) for ends in (self.indptr[:-1], self.indptr[1:]))
        for reader in self._readers:
            reader.check(starts, stops)
        self._is_new[rows] = False

    def _check_all(self) -> None:
        for reader in self._readers:
            reader.check_all()


class _CheckedRows(_CheckedCounts, sp.csr_array):
    """Counts by row."""

    def __getitem__(self, key: Any) -> Any:
        if self._plain is None or isinstance(key, tuple):
            return super().__getitem__(key)
        self._check(key)
        return self._plain[key]


class _CheckedColumns(_CheckedCounts, sp.csc_array):
    """Counts by column."""

    def __getitem__(self, key: Any) -> Any:
        if self._plain is None or not (isinstance(key, tuple) and isinstance(key[0], slice) and key[0] == slice(None)):
            return super().__getitem__(key)
        self._check(key[1])
        return self._plain[key]


def check_when_read(counts: Any, readers: Sequence[BlockReader]) -> Any:
    """Return counts that are compared with their checksums when they are first read.

    Parameters
    ----------
    counts : csr_array or csc_array of shape (n, d)
        The counts, mapped from files.
    readers : sequence of BlockReader
        Those of its data and of its indices.

    Returns
    -------
    csr_array or csc_array of shape (n, d)
        The same counts. A choice of rows of the first, or of columns of the second, checks only those.
    """
    checked = (_CheckedRows if counts.format == "csr" else _CheckedColumns)(counts)
    checked.has_sorted_indices = checked.has_canonical_format = True
    checked._plain, checked._readers = counts, tuple(readers)
    checked._is_new = np.ones(len(counts.indptr) - 1, dtype=bool)
    return checked
