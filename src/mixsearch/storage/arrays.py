"""One array per `.npy` file: written in a stream or out of order, mapped when read, checked byte by byte on request."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from mixsearch.errors import DamagedFolderError
from mixsearch.storage.disk import CHUNK_BYTES, explain_os_errors, reserve_bytes, sync_handle
from mixsearch.storage.manifest import CHECKSUM_BYTES, REMEDY, StoredArray

Array = npt.NDArray[Any]
Finished = Callable[[str, StoredArray], None]

# Room for the header of any shape, so that it can be written last; a multiple of 64, which keeps the data aligned.
HEADER_BYTES = 384


def make_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """The header of a `.npy` file in C order, of fixed length; `numpy.load` reads it."""
    fields = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    prefix = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    return prefix + repr(fields).encode("ascii").ljust(HEADER_BYTES - 11) + b"\n"


class ArrayStream:
    """An array that grows row by row, of any length, in bounded memory.

    Parameters
    ----------
    name : str
        Name of the array.
    path : Path
        The file to make.
    dtype : dtype
        Type of all blocks.
    row_shape : tuple of int
        Shape of one row.
    finished : callable
        Is told the name and what was stored when the stream is closed.
    """

    def __init__(
        self, name: str, path: Path, dtype: np.dtype[Any], row_shape: tuple[int, ...], finished: Finished
    ) -> None:
        self._name, self._path, self._finished = name, path, finished
        self._dtype, self._row_shape = dtype, row_shape
        self._hash, self._rows = blake2b(digest_size=CHECKSUM_BYTES), 0
        with explain_os_errors("write", path):
            self._file: BinaryIO = open(path, "xb", buffering=1 << 20)  # noqa: SIM115
            self._write(bytes(HEADER_BYTES))

    def append(self, rows: npt.ArrayLike) -> None:
        """Add rows at the end.

        Parameters
        ----------
        rows : array of shape (n, *row_shape)
            Their type must convert to that of the stream without loss.
        """
        block = np.asarray(rows)
        self._check(block)
        step = max(1, CHUNK_BYTES * len(block) // max(block.nbytes, 1))
        for start in range(0, len(block), step):
            part = np.ascontiguousarray(block[start : start + step], dtype=self._dtype).reshape(-1).view(np.uint8)
            with explain_os_errors("write", self._path):
                self._write(part.data)
            self._hash.update(part.data)
        self._rows += len(block)

    def close(self) -> None:
        """Put everything on the disk, header last; again is no harm."""
        if self._file.closed:
            return
        shape = (self._rows, *self._row_shape)
        with explain_os_errors("write", self._path):
            try:
                size = self._file.seek(0, os.SEEK_END)
                self._file.seek(0)
                self._file.write(make_header(self._dtype, shape))
                self._file.flush()
                sync_handle(self._file.fileno())
                self._file.close()
            except BaseException:
                self.abandon()
                raise
        self._finished(self._name, StoredArray(self._dtype.str, shape, size, self._hash.hexdigest()))

    def abandon(self) -> None:
        """Forget the array; a stream that was closed stays as it is."""
        if self._file.closed:
            return
        with suppress(OSError):
            self._file.close()  # flushes first, which fails again on a full disk
        with suppress(OSError):
            self._path.unlink()

    def __enter__(self) -> ArrayStream:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def _write(self, data: bytes | memoryview) -> None:
        try:
            self._file.write(data)
        except BaseException:
            # Some of it may have been written: what the checksum covers can no longer be told.
            self.abandon()
            raise

    def _check(self, block: Array) -> None:
        if self._file.closed:
            raise ValueError(f"'{self._name}' is closed: nothing can be appended any more.")
        if block.ndim == 0 or block.shape[1:] != self._row_shape:
            needed = ", ".join(["n", *map(str, self._row_shape)])
            raise ValueError(f"'{self._name}' was given a block of shape {block.shape}, and needs ({needed}).")
        if block.size and not np.can_cast(block.dtype, self._dtype, "safe"):
            raise TypeError(
                f"'{self._name}' holds {self._dtype}, and was given {block.dtype}: convert the block first."
            )


@contextmanager
def allocate_array(
    name: str, path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], finished: Finished
) -> Iterator[Array]:
    """Give an array of zeros on disk to fill in any order; leaving the block stores it and makes it read-only."""
    size = HEADER_BYTES + math.prod(shape) * dtype.itemsize
    with explain_os_errors("write", path):
        file = open(path, "xb")  # noqa: SIM115
    try:
        with explain_os_errors("write", path), file:
            reserve_bytes(file.fileno(), size)
            file.seek(0)
            file.write(make_header(dtype, shape))
            file.close()
            mapped = np.memmap(path, dtype=dtype, mode="r+", offset=HEADER_BYTES, shape=shape)
        filled = np.asarray(mapped)
        yield filled
        filled.flags.writeable = False
        with explain_os_errors("write", path):
            mapped.flush()
            _sync_path(path)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    finished(name, StoredArray(dtype.str, shape, size, checksum_of_array(filled)))


def _sync_path(path: Path) -> None:
    with open(path, "rb+") as file:
        sync_handle(file.fileno())


def checksum_of_array(array: Array) -> str:
    """Of the bytes of an array, a chunk at a time."""
    data, sums = array.reshape(-1).view(np.uint8), blake2b(digest_size=CHECKSUM_BYTES)
    for start in range(0, len(data), CHUNK_BYTES):
        sums.update(data[start : start + CHUNK_BYTES].data)
    return sums.hexdigest()


def map_array(path: Path, stored: StoredArray) -> Array:
    """Map an array read-only, after comparing the size of its file; its pages are read when they are used.

    The base of the result is a `numpy.memmap`, so that joblib hands it to other processes by name.
    """
    size = path.stat().st_size
    if size != stored.size:
        raise DamagedFolderError(f"'{path}' has {size:,} bytes, where {stored.size:,} were written. {REMEDY}")
    dtype = np.dtype(stored.dtype)
    return np.asarray(np.memmap(path, dtype=dtype, mode="r", offset=HEADER_BYTES, shape=stored.shape))


def verify_array(path: Path, stored: StoredArray) -> None:
    """Read a file from end to end, and raise `DamagedFolderError` if any byte is not the one that was written."""
    sums = blake2b(digest_size=CHECKSUM_BYTES)
    # Read, not mapped: a disk that fails then gives an error instead of a signal.
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
        while chunk := file.read(CHUNK_BYTES):
            sums.update(chunk)
    if header != make_header(np.dtype(stored.dtype), stored.shape) or sums.hexdigest() != stored.checksum:
        raise DamagedFolderError(f"'{path}' is damaged: its bytes are not the ones that were written. {REMEDY}")
