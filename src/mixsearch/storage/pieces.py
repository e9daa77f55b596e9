"""An array on disk whose rows are written by several processes, on several machines that share the folder perhaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from mixsearch.storage.arrays import HEADER_BYTES, Array, checksum_of_array, make_header, map_array
from mixsearch.storage.disk import CHUNK_BYTES, explain_os_errors, sync_handle
from mixsearch.storage.manifest import StoredArray


@dataclass(frozen=True)
class ArrayInPieces:
    """A file of known shape. It can be sent to other processes; pieces may come in any order, none over another."""

    path: Path
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def made(cls, path: Path, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Self:
        """The file, as long as it will be, with nothing in it."""
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
        """Put rows at their place, the first of them at a number."""
        if rows.shape[1:] != self.shape[1:] or first + len(rows) > self.shape[0]:
            raise ValueError(f"Rows of shape {rows.shape} from {first} on do not fit into an array of {self.shape}.")
        row_bytes = math.prod(self.shape[1:]) * np.dtype(self.dtype).itemsize
        data = np.ascontiguousarray(rows, dtype=self.dtype).reshape(-1).view(np.uint8)
        # An existing file only: where the writer of the folder has given up, nothing may come back.
        with explain_os_errors("write", self.path), open(self.path, "r+b") as file:
            file.seek(HEADER_BYTES + first * row_bytes)
            for start in range(0, len(data), CHUNK_BYTES):
                file.write(data[start : start + CHUNK_BYTES].data)
            file.flush()
            sync_handle(file.fileno())

    def finished(self) -> StoredArray:
        """What was stored, with its checksum: reads all of it."""
        unchecked = StoredArray(self.dtype, self.shape, self._size, "")
        with explain_os_errors("read", self.path):
            checksum = checksum_of_array(map_array(self.path, unchecked))
        return StoredArray(self.dtype, self.shape, self._size, checksum)
