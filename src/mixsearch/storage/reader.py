"""Reading a folder: manifest and sizes at once, arrays when they are used, every byte on request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import Coded, NewerFolderError, StorageError
from mixsearch.storage.arrays import Array, find_map, map_array
from mixsearch.storage.block_sums import BlockReader
from mixsearch.storage.damage import damage_error, describe_missing, find_missing
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.entries import StoredArray, StoredFile, locate_array, locate_file
from mixsearch.storage.files import map_file
from mixsearch.storage.integrity import Integrity, MappedFile, verify_stored
from mixsearch.storage.manifest import Manifest, check_kind, read_manifest
from mixsearch.storage.texts import TEXT_ARRAYS, Texts

# The smallest files are verified when a folder is opened, up to this size in all: some 20 milliseconds.
VERIFIED_BYTES = 1 << 24


class Folder(Mapping[str, Array]):
    """An open folder: arrays by name, mapped read-only. It does not change when the folder on disk is replaced.

    Parameters
    ----------
    path : Path
        Where the folder is.
    manifest : Manifest
        What it holds.

    Attributes
    ----------
    path : Path
        Where the folder is.
    kind, version, written_by, created : str, int, str, str
        What it holds, in which format, by which version of the package, and when.
    generation : str
        Changes with every write.
    facts : dict
        Facts that the writer stored, as JSON has them.
    arrays : dict of StoredArray
        Type, shape, size and checksum of each array.
    files : dict of StoredFile
        Size and checksum of each file in a format of its own.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self._manifest = path, manifest
        self.kind, self.version = manifest.kind, manifest.version
        self.written_by, self.created = manifest.written_by, manifest.created
        self.generation = manifest.generation
        self.facts: Mapping[str, Any] = manifest.facts
        self.arrays: Mapping[str, StoredArray] = manifest.arrays
        self.files: Mapping[str, StoredFile] = manifest.files
        # Map all files now: a writer may remove them at any time, but a map keeps them.
        self._arrays = {name: map_array(self._array_path(name), stored) for name, stored in self.arrays.items()}
        self._files = {name: map_file(self._file_path(name), stored) for name, stored in self.files.items()}
        self._integrity = Integrity(dict(self._list_mapped()))
        self._integrity.verify_smallest(VERIFIED_BYTES)

    def __getitem__(self, name: str) -> Array:
        array = self.map(name)
        self._integrity.check(name)
        return array

    def map(self, name: str) -> Array:
        """Return an array whose bytes may have changed: the caller compares what it reads, as `blocks` does.

        Parameters
        ----------
        name : str
            Name of the array.

        Returns
        -------
        array
        """
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"no array '{name}' in '{self.path}', which has: {', '.join(self)}") from None

    def blocks(self, name: str, bound: int | None = None) -> BlockReader:
        """Return what compares the blocks of an array with their checksums when they are first read.

        Parameters
        ----------
        name : str
            Name of the array.
        bound : int, optional
            If it holds indices, which must be from 0 to below this: checked at the same time.

        Returns
        -------
        BlockReader
        """
        return self._integrity.read_blocks(name, bound)

    def postpone(self, name: str) -> Array:
        """Return an array that `check_postponed` compares with its checksums.

        Parameters
        ----------
        name : str
            Name of the array.

        Returns
        -------
        array
        """
        self._integrity.postpone(name)
        return self.map(name)

    def check_postponed(self) -> None:
        """Check the arrays whose check was postponed until they are used."""
        self._integrity.check_postponed()

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        total = sum(self.sizes().values())
        return f"<Folder '{self.path}': {self.kind}, {len(self)} arrays, {total:,} bytes>"

    def texts(self, name: str) -> Texts:
        """Return a column of texts. Keep it: it caches decompressed blocks.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        Texts
        """
        # Compressed blocks have checksums of their own, which are compared when they are unpacked.
        parts = {
            part: self.map(part) if part.endswith("bytes") else self[part]
            for part in (f"{name}/{each}" for each in TEXT_ARRAYS)
        }
        return Texts(parts, name)

    def file(self, name: str) -> mmap:
        """Return the bytes of a file in a format of its own.

        Parameters
        ----------
        name : str
            Name of the file, with its extension.

        Returns
        -------
        mmap
        """
        self._integrity.check(name)
        return self._files[name]

    def sizes(self) -> dict[str, int]:
        """Return the bytes on disk per group of arrays, the group being the first part of their names.

        Returns
        -------
        dict of str to int
        """
        sums: dict[str, int] = {}
        sizes = [(name, stored.size) for name, stored in self.arrays.items()]
        sizes += [(name.rpartition(".")[0], stored.size) for name, stored in self.files.items()]
        for name, size in sizes:
            group = name.partition("/")[0]
            sums[group] = sums.get(group, 0) + size
        return sums

    def verify(self) -> None:
        """Read every byte, and raise `DamagedFolderError` for the first file that has changed."""
        for path, stored in self._manifest.list_files(self.path):
            with self._explain_missing(path, stored):
                verify_stored(path, stored)
        self._check_current()

    def check_sizes(self) -> None:
        """Raise `DamagedFolderError` if a file was cut in place: reading what is gone would end the process."""
        self._integrity.check_sizes()

    def times(self) -> tuple[int, ...]:
        """Return when each file was changed, in nanoseconds; 0 for one that is gone.

        Returns
        -------
        tuple of int
        """
        return self._integrity.times()

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Say that the folder is damaged if it is, instead of an unexpected error that follows from it.

        Yields
        ------
        None
        """
        self.check_sizes()
        self.check_postponed()
        try:
            yield
        except Coded:
            raise
        except Exception as error:
            self.verify()
            is_unreadable = type(error).__module__.startswith("pyarrow")  # an extra, so not imported here
            if is_unreadable or isinstance(error, OSError | np.linalg.LinAlgError):
                raise damage_error(
                    "'{path}' cannot be read ({error}).", path=str(self.path), error=str(error).strip()
                ) from error
            raise

    @contextmanager
    def _explain_missing(self, path: Path, stored: StoredArray | StoredFile) -> Iterator[Path]:
        with explain_os_errors("read", path):
            try:
                yield path
            except FileNotFoundError as error:
                self._check_current()
                raise describe_missing(path, stored) from error

    def _list_mapped(self) -> Iterator[tuple[str, MappedFile]]:
        for name, array in self._arrays.items():
            yield name, MappedFile(self._array_path(name), self.arrays[name], array, find_map(array))
        for name, file in self._files.items():
            yield name, MappedFile(self._file_path(name), self.files[name], np.frombuffer(file, np.uint8), file)

    def _array_path(self, name: str) -> Path:
        return locate_array(self.path, name, self.arrays[name])

    def _file_path(self, name: str) -> Path:
        return locate_file(self.path, name, self.files[name])

    def _check_current(self) -> None:
        if read_manifest(self.path).generation != self.generation:
            raise StorageError(
                "'{path}' was replaced since it was opened. Open it again, and verify that.",
                code="folder_replaced",
                path=str(self.path),
            )


def open_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Folder:
    """Open a folder that `write_folder` has written. The time hardly depends on its size.

    Parameters
    ----------
    path : path
        Where the folder is.
    kind : str
        What it must hold.
    version : int
        The newest format that the caller can read; `Folder.version` is the one found.

    Returns
    -------
    Folder
        Every file exists and has the right length, and no small one has changed. `Folder.verify` reads all bytes.
    """
    folder, tried = Path(path), ""
    while True:
        manifest = read_manifest(folder)
        _check_readable(folder, manifest, kind, version)
        with explain_os_errors("read", folder):
            try:
                return Folder(folder, manifest)
            except FileNotFoundError as error:
                # A writer may have replaced the folder since the manifest was read; then it names other files now.
                if manifest.generation == tried:
                    raise find_missing(folder, manifest.list_files(folder)) from error
                tried = manifest.generation


def read_generation(path: str | os.PathLike[str]) -> str:
    """Return the name of the newest generation of a folder, which changes with every write.

    Parameters
    ----------
    path : path
        Where the folder is.

    Returns
    -------
    str
        As `Folder.generation` has it.
    """
    return read_manifest(Path(path)).generation


def _check_readable(folder: Path, manifest: Manifest, kind: str, version: int) -> None:
    check_kind(folder, manifest, kind)
    if manifest.version > version:
        raise NewerFolderError(
            "'{path}' was written by mixsearch {written_by} in format {found}, but this version reads formats up to "
            "{version}. Upgrade mixsearch, or write the {kind} again.",
            path=str(folder),
            written_by=manifest.written_by,
            found=manifest.version,
            version=version,
            kind=kind,
        )
