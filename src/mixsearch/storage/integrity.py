"""Which files of an open folder are known to be as they were written, and how the others are checked."""

from __future__ import annotations

from collections.abc import Mapping
from mmap import mmap
from pathlib import Path
from typing import NamedTuple

from mixsearch.storage.arrays import Array, sum_array, verify_array
from mixsearch.storage.block_sums import MIN_BYTES, BlockReader, StoredSums
from mixsearch.storage.damage import damage_error
from mixsearch.storage.entries import StoredArray, StoredFile
from mixsearch.storage.files import verify_file


class MappedFile(NamedTuple):
    """A file of an open folder.

    Parameters
    ----------
    path : Path
        Where it was when the folder was opened.
    stored : StoredArray or StoredFile
        What was written.
    data : array
        What was summed of it: the array, or all bytes of a file in a format of its own.
    map : mmap
        The map behind it.
    """

    path: Path
    stored: StoredArray | StoredFile
    data: Array
    map: mmap


class Integrity:
    """Compares the files of a folder with their checksums: at once, when they are used, or block by block.

    Parameters
    ----------
    files : mapping of str to MappedFile
        The files by their names. A writer may remove them at any time, so that their maps are checked.
    """

    def __init__(self, files: Mapping[str, MappedFile]) -> None:
        self._files = files
        self._sums = {name: StoredSums(file.path, file.stored) for name, file in files.items() if file.stored.sums}
        self._verified: set[str] = set()
        self._postponed: set[str] = set()

    def verify_smallest(self, n_bytes: int) -> None:
        """Verify the smallest files, of this size together."""
        for name, file in sorted(self._files.items(), key=lambda each: each[1].stored.size):
            n_bytes -= file.stored.size
            if n_bytes < 0:
                return
            verify_stored(file.path, file.stored)
            self._verified.add(name)

    def check(self, name: str) -> None:
        """Compare a file with its checksums, once. Before 1.0, large ones had none that are fast."""
        if name in self._verified:
            return
        file = self._files[name]
        if name in self._sums:
            BlockReader(file.path, file.data, self._sums[name]).check_all()
        elif file.stored.size < MIN_BYTES and sum_array(file.data).hexdigest() != file.stored.checksum:
            raise damage_error(
                "'{path}' is damaged: its bytes have changed since they were written.", path=str(file.path)
            )
        self._verified.add(name)

    def postpone(self, name: str) -> None:
        """Check a file when `check_postponed` is called."""
        self._postponed.add(name)

    def check_postponed(self) -> None:
        """Check the files whose check was postponed."""
        for name in tuple(self._postponed):  # another thread may do the same
            self.check(name)
            self._postponed.discard(name)

    def read_blocks(self, name: str, bound: int | None) -> BlockReader:
        """Return what checks the blocks of an array when they are first read."""
        sums = None if name in self._verified else self._sums.get(name)
        return BlockReader(self._files[name].path, self._files[name].data, sums, bound)

    def check_sizes(self) -> None:
        """Raise `DamagedFolderError` if a file was cut in place: reading what is gone would end the process."""
        for file in self._files.values():
            # The size of the file, also of one that has lost its name.
            if file.map.size() < len(file.map):
                raise damage_error("'{path}' was cut while it was in use.", path=str(file.path))

    def times(self) -> tuple[int, ...]:
        """Return when each file was changed, in nanoseconds; 0 for one that is gone."""
        return tuple(_read_time(file.path) for file in self._files.values())


def verify_stored(path: Path, stored: StoredArray | StoredFile) -> None:
    """Read a whole file and its sums, and raise `DamagedFolderError` if any byte has changed."""
    if isinstance(stored, StoredArray):
        verify_array(path, stored)
    else:
        verify_file(path, stored)
    if stored.sums:
        StoredSums(path, stored).verify()


def _read_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
