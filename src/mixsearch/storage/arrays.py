"""Files of a folder: arrays as `.npy`, others as they come. Written once, mapped for reading, verified on request."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import blake2b
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

import numpy as np
import numpy.typing as npt

from mixsearch.errors import StorageError
from mixsearch.storage.disk import CHUNK_BYTES, explain_os_errors, reserve_bytes, sync_handle
from mixsearch.storage.manifest import CHECKSUM_BYTES, StoredArray, StoredFile, damage_error

Array = npt.NDArray[Any]
OnClose = Callable[[str, StoredArray], None]

# Room for the header of any shape, so that it can be written last; a multiple of 64, which keeps the data aligned.
HEADER_BYTES = 384


def make_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Return the header of a `.npy` file in C order, of fixed length; `numpy.load` reads it."""
    fields = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    prefix = b"\x93NUMPY\x01\x00" + (HEADER_BYTES - 10).to_bytes(2, "little")
    return prefix + repr(fields).encode("ascii").ljust(HEADER_BYTES - 11) + b"\n"


class Stream:
    """What is written piece by piece: complete at the end of a `with` block, discarded after an error."""

    def append(self, rows: Any) -> None:
        """Add rows at the end."""
        raise NotImplementedError

    def close(self) -> None:
        """Complete what was written."""
        raise NotImplementedError

    def abandon(self) -> None:
        """Discard what was written, unless it was closed."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


class ArrayStream(Stream):
    """An array of any length that is written row by row, in bounded memory."""

    def __init__(
        self,
        name: str,
        path: Path,
        generation: str,
        dtype: np.dtype[Any],
        row_shape: tuple[int, ...],
        on_close: OnClose,
    ) -> None:
        self._name, self._path, self._generation, self._on_close = name, path, generation, on_close
        self._dtype, self._row_shape = dtype, row_shape
        self._hash, self._rows = blake2b(digest_size=CHECKSUM_BYTES), 0
        with explain_os_errors("write", path):
            self._file: BinaryIO = open(path, "xb", buffering=1 << 20)  # noqa: SIM115
            self._write(bytes(HEADER_BYTES))

    def append(self, rows: npt.ArrayLike) -> None:
        """Add rows at the end."""
        added = np.asarray(rows)
        self._check(added)
        step = max(1, CHUNK_BYTES * len(added) // max(added.nbytes, 1))
        for start in range(0, len(added), step):
            chunk = np.ascontiguousarray(added[start : start + step], dtype=self._dtype).reshape(-1).view(np.uint8)
            with explain_os_errors("write", self._path):
                self._write(chunk.data)
            self._hash.update(chunk.data)
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
        self._on_close(self._name, _describe_array(self._generation, self._dtype, shape, self._hash.hexdigest()))

    def abandon(self) -> None:
        """Discard the array, unless the stream was closed."""
        if self._file.closed:
            return
        with suppress(OSError):
            self._file.close()  # flushes first, which fails again on a full disk
        with suppress(OSError):
            self._path.unlink()

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
    name: str, path: Path, generation: str, dtype: np.dtype[Any], shape: tuple[int, ...], on_close: OnClose
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
            with open(path, "rb+") as written:
                sync_handle(written.fileno())
            checksum = _hash_file(path, HEADER_BYTES)
    except BaseException:
        with suppress(OSError):
            path.unlink()
        raise
    on_close(name, _describe_array(generation, dtype, shape, checksum))


@dataclass(frozen=True)
class SharedArray:
    """An array file of known shape that several processes write, perhaps on several machines that share the folder.

    It can be pickled. The processes write rows in any order, each row once.
    """

    path: Path
    generation: str
    dtype: str
    shape: tuple[int, ...]

    @classmethod
    def create(cls, path: Path, generation: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Self:
        """Create the file in its full size, with zeros."""
        with explain_os_errors("write", path), open(path, "xb") as file:
            file.write(make_header(dtype, shape))
            file.truncate(HEADER_BYTES + math.prod(shape) * dtype.itemsize)
            sync_handle(file.fileno())
        return cls(path, generation, dtype.str, shape)

    def write(self, first: int, rows: Array) -> None:
        """Write rows."""
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
        """Return what was stored, with its checksum. This reads the whole file."""
        with explain_os_errors("read", self.path):
            checksum = _hash_file(self.path, HEADER_BYTES)
        return _describe_array(self.generation, np.dtype(self.dtype), self.shape, checksum)


def _describe_array(generation: str, dtype: np.dtype[Any], shape: tuple[int, ...], checksum: str) -> StoredArray:
    size = HEADER_BYTES + math.prod(shape) * dtype.itemsize
    return StoredArray(size=size, checksum=checksum, generation=generation, dtype=dtype.str, shape=shape)


def store_file(path: Path, generation: str) -> StoredFile:
    """Sync a file that is complete, and return its size and checksum."""
    with open(path, "rb+") as file:
        sync_handle(file.fileno())
    return StoredFile(size=path.stat().st_size, checksum=_hash_file(path), generation=generation)


def map_array(path: Path, stored: StoredArray) -> Array:
    """Map an array read-only, after a check of the file size. Pages are read when they are used.

    The base of the result is a `numpy.memmap`, so joblib passes it to other processes by name.
    """
    _check_size(path, path.stat().st_size, stored)
    if stored.size != HEADER_BYTES + stored.n_bytes:
        raise damage_error(
            "'{path}' has {n_bytes:,} bytes, which is not an array of shape {shape}.",
            path=str(path),
            n_bytes=stored.size,
            shape=stored.shape,
        )
    return np.asarray(np.memmap(path, dtype=np.dtype(stored.dtype), mode="r", offset=HEADER_BYTES, shape=stored.shape))


def find_map(array: Array) -> mmap:
    """Return the map behind an array of `map_array`."""
    mapped: Any = array.base
    return cast(mmap, mapped._mmap)


def map_file(path: Path, stored: StoredFile) -> mmap:
    """Map a file read-only, after a check of its size."""
    _check_size(path, path.stat().st_size, stored)  # a pipe would block when it is opened
    with open(path, "rb") as file:
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def _check_size(path: Path, size: int, stored: StoredFile) -> None:
    if size != stored.size:
        raise damage_error(
            "'{path}' has {n_bytes:,} bytes, but {n_written:,} were written.",
            path=str(path),
            n_bytes=size,
            n_written=stored.size,
        )


def verify_file(path: Path, stored: StoredFile) -> None:
    """Read a whole file, and raise `DamagedFolderError` if any byte has changed."""
    header = make_header(np.dtype(stored.dtype), stored.shape) if isinstance(stored, StoredArray) else b""
    # Read, not mapped: a failing disk then raises an error instead of killing the process.
    with open(path, "rb") as file:
        is_same = file.read(len(header)) == header
    if not is_same or path.stat().st_size != stored.size or _hash_file(path, len(header)) != stored.checksum:
        raise damage_error("'{path}' is damaged: its bytes have changed since they were written.", path=str(path))


def _hash_file(path: Path, start: int = 0) -> str:
    """Return the checksum of a file from some byte on."""
    found = blake2b(digest_size=CHECKSUM_BYTES)
    with open(path, "rb") as file:
        file.seek(start)
        while chunk := file.read(CHUNK_BYTES):
            found.update(chunk)
    return found.hexdigest()
