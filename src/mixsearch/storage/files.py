"""Files in formats of their own, such as Parquet: written, mapped and verified like arrays."""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from pathlib import Path

import numpy as np

from mixsearch.storage.block_sums import Checksums
from mixsearch.storage.damage import damage_error
from mixsearch.storage.disk import CHUNK_BYTES, sync_handle
from mixsearch.storage.entries import StoredFile


def store_file(path: Path, generation: str) -> StoredFile:
    """Sync a file that is complete, and return its size and checksum."""
    with open(path, "rb+") as file:
        sync_handle(file.fileno())
    size, sums = path.stat().st_size, _sum_file(path)
    return StoredFile(size, sums.hexdigest(), generation, sums.store(path, size))


def map_file(path: Path, stored: StoredFile) -> mmap:
    """Map a file read-only, after a check of its size."""
    with open(path, "rb") as file:
        size = file.seek(0, 2)
        if size != stored.size:
            raise damage_error(
                "'{path}' has {n_bytes:,} bytes, but {n_written:,} were written.",
                path=str(path),
                n_bytes=size,
                n_written=stored.size,
            )
        return mmap(file.fileno(), 0, access=ACCESS_READ)


def verify_file(path: Path, stored: StoredFile) -> None:
    """Read a whole file, and raise `DamagedFolderError` if any byte has changed."""
    if path.stat().st_size != stored.size or _sum_file(path).hexdigest() != stored.checksum:
        raise damage_error("'{path}' is damaged: its bytes have changed since they were written.", path=str(path))


def _sum_file(path: Path) -> Checksums:
    sums = Checksums()
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            sums.update(np.frombuffer(chunk, np.uint8))
    return sums
