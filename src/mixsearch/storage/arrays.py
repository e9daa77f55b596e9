"""Arrays as `.npy` files: written as a stream or in any order, memory-mapped for reading, verified on request."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from mmap import mmap
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, cast

import numpy as np
import numpy.typing as npt

from mixsearch.errors import StorageError
from mixsearch.storage.block_sums import Checksums
from mixsearch.storage.damage import damage_error
from mixsearch.storage.disk import CHUNK_BYTES, explain_os_errors, reserve_bytes, sync_handle
from mixsearch.storage.entries import CHECKSUM_BYTES, StoredArray

Array = npt.NDArray[Any]
OnClose = Callable[[str, StoredArray], None]

# Room for the header of any shape, so that it can be written last; a multiple of 64, which keeps the data aligned.
HEADER_BYTES = 384


def make_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header of a `.npy` file in C order, of fixed length; `numpy.load` reads it."""
    fields = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    prefix = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    return prefix + repr(fields).encode("ascii").ljust(HEADER_BYTES - 11) + b"\n"


class ArrayStream:
    """An array of any length that is written row by row, in bounded memory.

    Parameters
    ----------
    name : str
        Name of the array.
    path : Path
        The file to create.
    dtype : dtype
        Type of the array.
    row_shape : tuple of int
        Shape of one row.
    on_close : callable
        Called with the name and what was stored when the stream is closed.
    """

    def __init__(
        self, name: str, path: Path, dtype: np.dtype[Any], row_shape: tuple[int, ...], on_close: OnClose
    ) -> None:
        self._name, self._path, self._on_close = name, path, on_close
        self._dtype, self._row_shape = dtype, row_shape
        self._sums, self._rows = Checksums(), 0
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
        added = np.asarray(rows)
        self._check(added)
        step = max(1, CHUNK_BYTES * len(added) // max(added.nbytes, 1))
        for start in range(0, len(added), step):
            chunk = np.ascontiguousarray(added[start : start + step], dtype=self._dtype).reshape(-1).view(np.uint8)
            with explain_os_errors("write", self._path):
                self._write(chunk.data)
            self._sums.update(chunk)
        self._rows += len(added)

    def close(self) -> None:
        """Write everything to the disk, the header last. Closing twice does nothing."""
        if self._file.closed:
            return
        shape = (self._rows, *self._row_shape)
        with explain_os_errors("write", self._path):
            try:
                self._file.seek(0)
                self._file.write(make_header(self._dtype, shape))
                self._file.flush()
                sync_handle(self._file.fileno())
                self._file.close()
            except BaseException:
                self.abandon()
                raise
        self._on_close(self._name, describe_array(self._path, self._dtype, shape, self._sums))

    def abandon(self) -> None:
        """Discard the array, unless the stream was closed."""
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
            # Part of it may have been written, so the checksum no longer matches the file.
            self.abandon()
            raise

    def _check(self, added: Array) -> None:
        if self._file.closed:
            raise StorageError("'{name}' is closed; nothing can be appended.", code="array_closed", name=self._name)
        if added.ndim == 0 or added.shape[1:] != self._row_shape:
            raise StorageError(
                "'{name}' needs rows of shape ({needed}), got {shape}.",
                code="bad_shape",
                name=self._name,
                needed=", ".join(["n", *map(str, self._row_shape)]),
                shape=added.shape,
            )
        if added.size and not np.can_cast(added.dtype, self._dtype, "safe"):
            raise TypeError(f"'{self._name}' holds {self._dtype}, got {added.dtype}. Convert the rows first.")


@contextmanager
def allocate_array(
    name: str, path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], on_close: OnClose
) -> Iterator[Array]:
    """Yield an array of zeros on disk to fill in any order; leaving the block stores it and makes it read-only."""
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
    on_close(name, describe_array(path, dtype, shape, sum_array(filled)))


def _sync_path(path: Path) -> None:
    with open(path, "rb+") as file:
        sync_handle(file.fileno())


def sum_array(array: Array) -> Checksums:
    """Return the checksums of the bytes of an array, read in chunks."""
    data, sums = array.reshape(-1).view(np.uint8), Checksums()
    for start in range(0, len(data), CHUNK_BYTES):
        sums.update(data[start : start + CHUNK_BYTES])
    return sums


def describe_array(path: Path, dtype: np.dtype[Any], shape: tuple[int, ...], sums: Checksums) -> StoredArray:
    """Return what was stored in a complete file, after writing the sums of its blocks next to it."""
    size = HEADER_BYTES + math.prod(shape) * dtype.itemsize
    return StoredArray(dtype.str, shape, size, sums.hexdigest(), sums=sums.store(path, size))


def map_array(path: Path, stored: StoredArray) -> Array:
    """Map an array read-only, after a check of the file size. Pages are read when they are used.

    The base of the result is a `numpy.memmap`, so joblib passes it to other processes by name.
    """
    size = path.stat().st_size
    if size != stored.size:
        raise damage_error(
            "'{path}' has {n_bytes:,} bytes, but {n_written:,} were written.",
            path=str(path),
            n_bytes=size,
            n_written=stored.size,
        )
    if size != HEADER_BYTES + stored.n_bytes:
        raise damage_error(
            "'{path}' has {n_bytes:,} bytes, which is no array of shape {shape}.",
            path=str(path),
            n_bytes=size,
            shape=stored.shape,
        )
    return np.asarray(np.memmap(path, dtype=np.dtype(stored.dtype), mode="r", offset=HEADER_BYTES, shape=stored.shape))


def find_map(array: Array) -> mmap:
    """Return the map behind an array of `map_array`."""
    mapped: Any = array.base
    return cast(mmap, mapped._mmap)


def verify_array(path: Path, stored: StoredArray) -> None:
    """Read a whole file, and raise `DamagedFolderError` if any byte has changed."""
    sums = blake2b(digest_size=CHECKSUM_BYTES)
    # Read, not mapped: a failing disk then raises an error instead of killing the process.
    with open(path, "rb") as file:
        header = file.read(HEADER_BYTES)
        while chunk := file.read(CHUNK_BYTES):
            sums.update(chunk)
    if header != make_header(np.dtype(stored.dtype), stored.shape) or sums.hexdigest() != stored.checksum:
        raise damage_error("'{path}' is damaged: its bytes have changed since they were written.", path=str(path))
