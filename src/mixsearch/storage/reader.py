"""Reading a folder: manifest and sizes at once, arrays when they are used, every byte on request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import Coded, DamagedFolderError, NewerFolderError, StorageError
from mixsearch.storage.arrays import Array, find_map, map_array, map_file, verify_file
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.manifest import Manifest, StoredArray, StoredFile, check_kind, damage_error, read_manifest
from mixsearch.storage.texts import Texts

# Files of at most this size are verified when a folder is opened: a millisecond each.
SMALL_BYTES = 1 << 20


class Folder(Mapping[str, Array]):
    """An open folder: arrays by name, mapped read-only. It does not change when the folder on disk is replaced.

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
        self._arrays: dict[str, Array] = {}
        self._files: dict[str, mmap] = {}
        self._maps: dict[Path, mmap] = {}
        for name, file, stored in manifest.locate(path):
            if isinstance(stored, StoredArray):
                self._arrays[name] = map_array(file, stored)
                self._maps[file] = find_map(self._arrays[name])
            else:
                self._files[name] = self._maps[file] = map_file(file, stored)
            if stored.size <= SMALL_BYTES:
                verify_file(file, stored)

    def __getitem__(self, name: str) -> Array:
        try:
            return self._arrays[name]
        except KeyError:
            raise KeyError(f"no array '{name}' in '{self.path}', which has: {', '.join(self)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        total = sum(self.sizes().values())
        return f"<Folder '{self.path}': {self.kind}, {len(self)} arrays, {total:,} bytes>"

    def texts(self, name: str) -> Texts:
        """Return a column of texts. Keep it: it caches decompressed blocks."""
        return Texts(self, name)

    def file(self, name: str) -> mmap:
        """Return the bytes of a file in a format of its own."""
        return self._files[name]

    def sizes(self) -> dict[str, int]:
        """Return the bytes on disk per group of arrays, the group being the first part of their names."""
        sums: dict[str, int] = {}
        sizes = [(name, stored.size) for name, stored in self.arrays.items()]
        sizes += [(name.rpartition(".")[0], stored.size) for name, stored in self.files.items()]
        for name, size in sizes:
            group = name.partition("/")[0]
            sums[group] = sums.get(group, 0) + size
        return sums

    def verify(self) -> None:
        """Read every byte, and raise `DamagedFolderError` for the first file that has changed."""
        for _, path, stored in self._manifest.locate(self.path):
            with explain_os_errors("read", path):
                try:
                    verify_file(path, stored)
                except FileNotFoundError as error:
                    self._check_current()
                    raise _missing_error(path, stored) from error
        self._check_current()

    def check_sizes(self) -> None:
        """Raise `DamagedFolderError` if a file was cut in place: reading what is gone would end the process."""
        for path, mapped in self._maps.items():
            # The size of the file, also of one that has lost its name.
            if mapped.size() < len(mapped):
                raise damage_error("'{path}' was cut while it was in use.", path=str(path))

    def times(self) -> tuple[int, ...]:
        """Return when each file was changed, in nanoseconds; 0 for one that is gone."""
        return tuple(map(_read_time, self._maps))

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Say that the folder is damaged if it is, instead of an unexpected error that follows from it."""
        self.check_sizes()
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

    def _check_current(self) -> None:
        if read_manifest(self.path).generation != self.generation:
            raise StorageError(
                "'{path}' was replaced since it was opened. Open it again, and verify that.",
                code="folder_replaced",
                path=str(self.path),
            )


def open_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Folder:
    """Open a folder that `write_folder` has written. The time hardly depends on its size."""
    folder, tried = Path(path), ""
    while True:
        manifest = read_manifest(folder)
        _check_readable(folder, manifest, kind, version)
        with explain_os_errors("read", folder):
            try:
                return Folder(folder, manifest)
            except FileNotFoundError:
                # A writer may have replaced the folder since the manifest was read; then it names other files now.
                if manifest.generation == tried:
                    _check_files(folder, manifest)
                    raise
                tried = manifest.generation


def read_generation(path: str | os.PathLike[str]) -> str:
    """Return the name of the newest generation of a folder, which changes with every write."""
    return read_manifest(Path(path)).generation


def _check_readable(folder: Path, manifest: Manifest, kind: str, version: int) -> None:
    check_kind(folder, manifest, kind)
    if isinstance(manifest.version, bool) or manifest.version < 1:
        raise damage_error("'{path}' has the format version {found!r}.", path=str(folder), found=manifest.version)
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


def _check_files(folder: Path, manifest: Manifest) -> None:
    for _, path, stored in manifest.locate(folder):
        if not path.exists():
            raise _missing_error(path, stored)


def _missing_error(path: Path, stored: StoredFile) -> DamagedFolderError:
    return damage_error("'{path}' is missing: {n_bytes:,} bytes were written.", path=str(path), n_bytes=stored.size)


def _read_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
