"""Reading a folder: manifest and sizes at once, arrays when they are used, every byte on request."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mixsearch.errors import DamagedFolderError, ForeignFolderError, NewerFolderError, StorageError
from mixsearch.storage.arrays import Array, map_array, verify_array
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.manifest import Manifest, StoredArray, damage_error, read_manifest
from mixsearch.storage.texts import Texts


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
    files : dict of StoredArray
        Type, shape, size and checksum of each array.
    """

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.kind, self.version = manifest.kind, manifest.version
        self.written_by, self.created = manifest.written_by, manifest.created
        self.generation = manifest.generation
        self.facts: Mapping[str, Any] = manifest.facts
        self.files: Mapping[str, StoredArray] = manifest.arrays
        # Map all files now: a writer may remove them at any time, but a map keeps them.
        self._arrays = {name: map_array(self._file(name), stored) for name, stored in self.files.items()}

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
        """Return a column of texts. Keep it: it caches decompressed blocks.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        Texts
        """
        return Texts(self, name)

    def sizes(self) -> dict[str, int]:
        """Return the bytes on disk per group of arrays, the group being the first part of their names.

        Returns
        -------
        dict of str to int
        """
        sums: dict[str, int] = {}
        for name, stored in self.files.items():
            group = name.partition("/")[0]
            sums[group] = sums.get(group, 0) + stored.size
        return sums

    def verify(self) -> None:
        """Read every byte, and raise `DamagedFolderError` for the first file that has changed."""
        for name, stored in self.files.items():
            path = self._file(name)
            with explain_os_errors("read", path):
                try:
                    verify_array(path, stored)
                except FileNotFoundError as error:
                    self._check_current()
                    raise _describe_missing(path, stored) from error
        self._check_current()

    def _file(self, name: str) -> Path:
        return self.path / self.generation / f"{name}.npy"

    def _check_current(self) -> None:
        if read_manifest(self.path).generation != self.generation:
            raise StorageError(
                "'{path}' was replaced since it was opened. Open it again, and verify that.",
                code="folder_replaced",
                path=str(self.path),
            )


def open_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Folder:
    """Open a folder that `write_folder` has written. The time does not depend on its size.

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
        Every file exists and has the right length. `Folder.verify` also detects changed bytes.
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
                    raise _find_missing(folder, manifest) from error
                tried = manifest.generation


def _check_readable(folder: Path, manifest: Manifest, kind: str, version: int) -> None:
    if manifest.kind != kind:
        raise ForeignFolderError(
            "'{path}' holds a {found}, not a {kind}. Check the path.",
            code="other_kind",
            path=str(folder),
            found=manifest.kind,
            kind=kind,
        )
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


def _find_missing(folder: Path, manifest: Manifest) -> DamagedFolderError:
    paths = ((folder / manifest.generation / f"{name}.npy", stored) for name, stored in manifest.arrays.items())
    return next(_describe_missing(path, stored) for path, stored in paths if not path.exists())


def _describe_missing(path: Path, stored: StoredArray) -> DamagedFolderError:
    return damage_error("'{path}' is missing: {n_bytes:,} bytes were written.", path=str(path), n_bytes=stored.size)
