"""An array on disk that several processes write, perhaps on several machines that share the folder."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mixsearch.errors import StorageError
from mixsearch.storage.arrays import HEADER_BYTES, Array, describe_array, make_header, map_array, sum_array
from mixsearch.storage.disk import CHUNK_BYTES, explain_os_errors, sync_handle
from mixsearch.storage.entries import StoredArray


@dataclass(frozen=True)
class SharedArray:
    """An array file of known shape. It can be pickled; processes write rows in any order, each row once.

    Parameters
    ----------
    path : Path
        The file.
    dtype : str
        Type of the array.
    shape : tuple of int
        Shape of the array.
    """

    path: Path
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def create(cls, path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Self:
        """Create the file in its full size, with zeros.

        Parameters
        ----------
        path : Path
            The file.
        dtype : dtype
            Type of the array.
        shape : tuple of int
            Shape of the array.

        Returns
        -------
        SharedArray
        """
        array = cls(path, dtype.str, shape)
        with explain_os_errors("write", path), open(path, "xb") as file:
            file.write(make_header(dtype, shape))
            file.truncate(array._size)
            sync_handle(file.fileno())
        return array

    @property
    def _size(self) -> int:
        return HEADER_BYTES + math.prod(self.shape) * np.dtype(self.dtype).itemsize

    def write(self, first: int, rows: Array) -> None:
        """Write rows.

        Parameters
        ----------
        first : int
            Index of the first of them.
        rows : array of shape (n, ...)
            The rows: each has the shape of a row of the array.
        """
        if rows.shape[1:] != self.shape[1:] or first + len(rows) > self.shape[0]:
            raise StorageError(
                "Rows of shape {rows} do not fit into an array of shape {shape} at index {first}.",
                code="bad_shape",
                rows=rows.shape,
                shape=self.shape,
                first=first,
            )
        row_bytes = math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize
        data = np.ascontiguousarray(rows, dtype=self.dtype).reshape(-1).view(np.uint8)
        # Only an existing file: if the writer of the folder has failed, the file must not reappear.
        with explain_os_errors("write", self.path), open(self.path, "r+b") as file:
            file.seek(HEADER_BYTES + first * row_bytes)
            for start in range(0, len(data), CHUNK_BYTES):
                file.write(data[start : start + CHUNK_BYTES].data)
            file.flush()
            sync_handle(file.fileno())

    def finish(self) -> StoredArray:
        """Return what was stored, with its checksum. This reads the whole file.

        Returns
        -------
        StoredArray
        """
        unchecked = StoredArray(self.dtype, self.shape, self._size, "")
        with explain_os_errors("read", self.path):
            sums = sum_array(map_array(self.path, unchecked))
        return describe_array(self.path, np.dtype(self.dtype), self.shape, sums)
