"""Checksums of the blocks of a file: large arrays are checked as they are read, block by block."""

from __future__ import annotations

from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mixsearch.storage.damage import damage_error
from mixsearch.storage.disk import explain_os_errors, sync_handle
from mixsearch.storage.entries import CHECKSUM_BYTES, StoredArray, StoredFile, compute_checksum, locate_sums

Array = npt.NDArray[Any]

# About as much as the counts of one document take: a search reads documents here and there.
BLOCK_BYTES = 1 << 10
# Smaller files have no sums of blocks: they are verified as a whole in a millisecond.
MIN_BYTES = 1 << 20
# Blocks that are summed together: they stay in cache, and copies of them are small enough that the C library does not
# ask the system for their memory each time, which would take longer than the sums.
_CHUNK_BLOCKS = 112
_WORDS = BLOCK_BYTES // 8


def _make_weights() -> Array:
    """Return odd numbers that look random, and are the same on every machine."""
    mixed = np.arange(1, _WORDS + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed | np.uint64(1)


_WEIGHTS = _make_weights()


def _sum_blocks(blocks: Array) -> Array:
    """Return the checksum of each block, (n,): a weighted sum of its words modulo 2^64, four times as fast as a CRC.

    Odd weights notice every change of a single word. Other changes cancel with a probability of 2^-64, but for the
    highest bits, of which a product keeps little: one in 2,000 pairs of flipped bits in a block is not noticed.
    """
    return np.asarray(np.einsum("ij,j->i", blocks, _WEIGHTS))


def _pad(data: Array) -> Array:
    """Return bytes as blocks, the last one with zeros at its end."""
    n_missing = -len(data) % BLOCK_BYTES
    padded = np.concatenate([data, np.zeros(n_missing, np.uint8)]) if n_missing else data
    return padded.view(np.uint64).reshape(-1, _WORDS)


def _sum_sums(sums: bytes) -> str:
    """Return the checksum of the sums of blocks, by way of their own blocks: they are a hundredth of a large file."""
    return compute_checksum(_sum_blocks(_pad(np.frombuffer(sums, np.uint8))).astype("<u8").tobytes())


class Checksums:
    """The checksum of a file and of its blocks, summed while it is written or read."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=CHECKSUM_BYTES)
        self._sums: list[Array] = []
        self._rest = np.empty(0, np.uint8)

    def update(self, data: Array) -> None:
        """Add bytes at the end.

        Parameters
        ----------
        data : array of shape (n,), of uint8
            The bytes.
        """
        self._hash.update(data.data)
        joined = np.concatenate([self._rest, data]) if len(self._rest) else data
        n_whole = len(joined) - len(joined) % BLOCK_BYTES
        self._sums.append(_sum_blocks(_pad(joined[:n_whole])))
        self._rest = joined[n_whole:].copy()

    def hexdigest(self) -> str:
        """Return the checksum of all bytes."""
        return self._hash.hexdigest()

    def block_sums(self) -> Array:
        """Return the sums of the blocks, (n_blocks,); the last one may not be full."""
        return np.concatenate([*self._sums, _sum_blocks(_pad(self._rest))])

    def store(self, path: Path, size: int) -> str:
        """Write the sums of the blocks next to the file that has these bytes, if it is large.

        Parameters
        ----------
        path : Path
            The file.
        size : int
            Its size in bytes.

        Returns
        -------
        str
            The checksum of the sums; empty if they were not written.
        """
        if size < MIN_BYTES:
            return ""
        sums = self.block_sums().astype("<u8").tobytes()
        with explain_os_errors("write", path), open(locate_sums(path), "xb") as file:
            file.write(sums)
            file.flush()
            sync_handle(file.fileno())
        return _sum_sums(sums)


class StoredSums:
    """The sums of the blocks of a file, mapped when the folder is opened and verified when they are first used.

    Parameters
    ----------
    path : Path
        The file.
    stored : StoredArray or StoredFile
        What is known about it.
    """

    def __init__(self, path: Path, stored: StoredArray | StoredFile) -> None:
        self._path, self._checksum = locate_sums(path), stored.sums
        n_bytes = stored.n_bytes if isinstance(stored, StoredArray) else stored.size
        size, needed = self._path.stat().st_size, -(-n_bytes // BLOCK_BYTES) * 8
        if size != needed:
            raise damage_error(
                "'{path}' has {n_bytes:,} bytes, but {n_written:,} were written.",
                path=str(self._path),
                n_bytes=size,
                n_written=needed,
            )
        self._sums = np.memmap(self._path, dtype="<u8", mode="r") if size else np.empty(0, "<u8")

    @cached_property
    def values(self) -> Array:
        """The sums, (n_blocks,)."""
        return self.verify()

    def verify(self) -> Array:
        """Return the sums, and raise `DamagedFolderError` if any has changed."""
        data = self._sums.tobytes()
        if _sum_sums(data) != self._checksum:
            raise damage_error(
                "'{path}' is damaged: its bytes have changed since they were written.", path=str(self._path)
            )
        return np.frombuffer(data, "<u8")


class BlockReader:
    """Compares blocks of a mapped array with their sums when they are first used, each once in a process.

    Parameters
    ----------
    path : Path
        The file of the array.
    data : array of any shape
        Its data, mapped.
    sums : StoredSums, optional
        The sums of its blocks. Without them, only the bound is checked.
    bound : int, optional
        If the array holds indices: they must be from 0 to below it, since compiled code follows them.
    """

    def __init__(self, path: Path, data: Array, sums: StoredSums | None = None, bound: int | None = None) -> None:
        self._path, self._sums, self._bound = path, sums, bound
        self._bytes, self._dtype = data.reshape(-1).view(np.uint8), data.dtype
        n_blocks = -(-len(self._bytes) // BLOCK_BYTES)
        self._is_open = np.full(n_blocks, sums is not None or bound is not None)
        self._n_whole = len(self._bytes) // BLOCK_BYTES
        self._whole = self._bytes[: self._n_whole * BLOCK_BYTES].view(np.uint64).reshape(-1, _WORDS)
        self._is_done = not self._is_open.any()

    def check(self, starts: Array, stops: Array) -> None:
        """Check the blocks of some sections of the array, and raise `DamagedFolderError` if one has changed.

        Parameters
        ----------
        starts, stops : arrays of int of shape (m,)
            The first item of each section, and the one after its last.
        """
        if self._is_done:
            return
        size = self._dtype.itemsize
        first, last = starts * size // BLOCK_BYTES, -(-stops * size // BLOCK_BYTES)
        lengths = np.where(stops > starts, last - first, 0)
        before = np.cumsum(lengths) - lengths
        blocks = np.repeat(first - before, lengths) + np.arange(lengths.sum())
        blocks = blocks[self._is_open[blocks]]
        if len(blocks):
            self._check_blocks(np.unique(blocks))

    def check_all(self) -> None:
        """Check all blocks."""
        if not self._is_done:
            self._check_blocks(np.flatnonzero(self._is_open))
            self._is_done = True

    def _check_blocks(self, blocks: Array) -> None:
        for start in range(0, len(blocks), _CHUNK_BLOCKS):
            own = blocks[start : start + _CHUNK_BLOCKS]
            self._compare(own, self._read(own))
            self._is_open[own] = False

    def _read(self, blocks: Array) -> Array:
        if blocks[-1] < self._n_whole:
            is_run = blocks[-1] - blocks[0] + 1 == len(blocks)
            return self._whole[blocks[0] : blocks[-1] + 1] if is_run else self._whole.take(blocks, axis=0)
        last = _pad(self._bytes[self._n_whole * BLOCK_BYTES :])
        return np.concatenate([self._whole[blocks[:-1]], last])

    def _compare(self, own: Array, found: Array) -> None:
        if self._sums is not None and (_sum_blocks(found) != self._sums.values[own]).any():
            raise damage_error(
                "'{path}' is damaged: its bytes have changed since they were written.", path=str(self._path)
            )
        # Negative numbers are large ones without their sign; the last block ends with zeros, which are always right.
        if self._bound is not None and found.view(f"u{self._dtype.itemsize}").max() >= self._bound:
            raise damage_error("'{path}' is damaged: an index is out of range.", path=str(self._path))
