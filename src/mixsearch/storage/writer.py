"""Writing a folder: everything goes to a new generation next to the old one, and one rename publishes it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mixsearch.errors import StorageError
from mixsearch.storage.arrays import Array, ArrayStream, allocate_array, map_array
from mixsearch.storage.disk import explain_os_errors, sync_folder, sync_folders, sync_handle
from mixsearch.storage.files import store_file
from mixsearch.storage.manifest import (
    MANIFEST_NAME,
    Manifest,
    StoredArray,
    StoredFile,
    check_array_name,
    check_dtype,
    check_file_name,
)
from mixsearch.storage.ownership import claim_existing, claim_folder, remove_stale, remove_unpublished
from mixsearch.storage.reader import Folder, open_folder
from mixsearch.storage.shared_array import SharedArray
from mixsearch.storage.texts import TextWriter


class FolderWriter:
    """A folder that is being written: arrays, texts and facts. `write_folder` yields one.

    Parameters
    ----------
    staging : Path
        Where the files are until the folder is published.
    before : Manifest, optional
        What the folder holds already, and keeps unless it is replaced or removed.

    Attributes
    ----------
    facts : dict
        Facts to store in the manifest, as JSON has them.
    staging : Path
        Where the files are until the folder is published.
    """

    def __init__(self, staging: Path, before: Manifest | None = None) -> None:
        self.facts: dict[str, Any] = {} if before is None else deepcopy(dict(before.facts))
        self.staging = staging
        self._stored: dict[str, StoredArray] = {} if before is None else dict(before.arrays)
        self._files: dict[str, StoredFile] = {} if before is None else dict(before.files)
        self._unfinished: list[ArrayStream | TextWriter] = []
        self._closed = False

    def save(self, name: str, array: npt.ArrayLike) -> None:
        """Store an array at once.

        Parameters
        ----------
        name : str
            Lower-case words with "/" between them; the first one is the group that `Folder.sizes` sums over.
        array : array of at least one dimension
            Of numbers, booleans or texts of fixed length.
        """
        whole = np.asarray(array)
        if whole.ndim == 0:
            raise TypeError(f"'{name}' is a single value, not an array. Store it among the facts.")
        with self.stream(name, whole.dtype, whole.shape[1:]) as stream:
            stream.append(whole)

    def stream(self, name: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...] = ()) -> ArrayStream:
        """Start an array of unknown length, to which rows are appended.

        Parameters
        ----------
        name : str
            As for `save`.
        dtype : dtype
            Type of the array; rows must convert to it without loss.
        row_shape : tuple of int, default=()
            Shape of one row.

        Returns
        -------
        ArrayStream
            A context manager with `append(rows)`. If left open, it is closed when the folder is published.
        """
        checked = check_dtype(np.dtype(dtype))
        stream = ArrayStream(name, self._make_path(name), checked, tuple(row_shape), self._stored.__setitem__)
        self._unfinished.append(stream)
        return stream

    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> AbstractContextManager[Array]:
        """Return an array of zeros on disk, to be filled in any order within a `with` block.

        Parameters
        ----------
        name : str
            As for `save`.
        shape : tuple of int
            Of at least one dimension.
        dtype : dtype
            Type of the array.

        Returns
        -------
        context manager
            Yields the writable array, which is stored and becomes read-only at the end of the block.
        """
        checked = check_dtype(np.dtype(dtype))
        return allocate_array(name, self._make_path(name), checked, tuple(shape), self._stored.__setitem__)

    def share(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> SharedArray:
        """Create an array of zeros on disk that any process with access to the folder can fill; then `adopt` it.

        Parameters
        ----------
        name : str
            As for `save`.
        shape : tuple of int
            Of at least one dimension.
        dtype : dtype
            Type of the array.

        Returns
        -------
        SharedArray
        """
        checked = check_dtype(np.dtype(dtype))
        return SharedArray.create(self._make_path(name).absolute(), checked, tuple(shape))

    def adopt(self, name: str, stored: StoredArray) -> None:
        """Add a shared array that is complete.

        Parameters
        ----------
        name : str
            Name of the array.
        stored : StoredArray
            What `SharedArray.finish` returned.
        """
        self._stored[name] = stored

    def texts(self, name: str) -> TextWriter:
        """Start a column of texts, to which lists of str are appended.

        Parameters
        ----------
        name : str
            As for `save`.

        Returns
        -------
        TextWriter
            A context manager. If left open, it is closed when the folder is published.
        """
        writer = TextWriter(self.stream, name)
        self._unfinished.append(writer)
        return writer

    def read(self, name: str) -> Array:
        """Map a finished array, read-only; each call makes a new map.

        Parameters
        ----------
        name : str
            Name of the array.

        Returns
        -------
        array
        """
        if name not in self._stored:
            raise StorageError("'{name}' cannot be read: it is not finished.", code="array_unfinished", name=name)
        stored = self._stored[name]
        generation = stored.generation or self.staging.name
        return map_array(self.staging.parent / generation / f"{name}.npy", stored)

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """Write a file in a format of its own, such as Parquet, within a `with` block.

        Parameters
        ----------
        name : str
            As for `save`, with an extension.

        Yields
        ------
        Path
            Where to write the file, which is stored at the end of the block.
        """
        path = self._prepare(self.staging / check_file_name(name), name)
        try:
            with explain_os_errors("write", path):
                yield path
                self._files[name] = store_file(path, self.staging.name)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def remove(self, group: str) -> None:
        """Leave out what an updated folder held under a name.

        Parameters
        ----------
        group : str
            Name of an array or a file, or the first part of several names.
        """
        for stored in (self._stored, self._files):
            for name in [name for name in stored if name == group or name.startswith(f"{group}/")]:
                del stored[name]

    def _make_path(self, name: str) -> Path:
        return self._prepare(self.staging / f"{check_array_name(name)}.npy", name)

    def _prepare(self, path: Path, name: str) -> Path:
        if self._closed:
            raise StorageError(
                "'{name}' cannot be written: the folder is no longer open for writing.", code="folder_closed", name=name
            )
        if path.exists():
            raise StorageError("'{name}' exists already. Choose another name.", code="array_exists", name=name)
        with explain_os_errors("write to", path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _finish(self) -> dict[str, StoredArray]:
        self._closed = True
        # Texts come after their streams in the list, and are closed first: they still have a block to append.
        for writer in reversed(self._unfinished):
            writer.close()
        own = self.staging.name
        return {name: replace(each, generation=each.generation or own) for name, each in sorted(self._stored.items())}

    def _abandon(self) -> None:
        self._closed = True
        for writer in self._unfinished:
            writer.abandon()


@contextmanager
def write_folder(
    path: str | os.PathLike[str], *, kind: str, version: int, overwrite: bool = False
) -> Iterator[FolderWriter]:
    """Write a folder of arrays, texts and facts, completely or not at all.

    Parameters
    ----------
    path : path
        A new folder in an existing one, an empty folder, or one that was written before.
    kind : str
        What the folder holds, in words; `open_folder` needs the same.
    version : int
        Number of the format; a reader that only knows older ones asks for an upgrade.
    overwrite : bool, default=False
        Replace what was written before.

    Yields
    ------
    FolderWriter
        Leaving the block publishes the folder; an exception leaves everything as it was.

    Notes
    -----
    Files are written to a new subfolder and synced. Then a manifest that names it is renamed over the old one, and
    only then the old files are removed. Whatever kills the writer, the folder holds all of the old or all of the new
    version. Both need disk space at the same time. Readers of the old version keep it: mapped files stay until they
    are released.
    """
    folder = Path(path)
    with claim_folder(folder, kind, overwrite=overwrite), _write_generation(folder, kind, version) as out:
        yield out


@contextmanager
def update_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Iterator[tuple[Folder, FolderWriter]]:
    """Change some arrays and facts of a folder, completely or not at all. The other files stay where they are.

    Parameters
    ----------
    path : path
        A folder that `write_folder` has written.
    kind : str
        What it must hold.
    version : int
        Number of the format, as for `write_folder`.

    Yields
    ------
    Folder
        What it holds now.
    FolderWriter
        With its facts, and with its arrays, of which some can be replaced, removed or added. Leaving the block
        publishes the change; an exception leaves everything as it was.
    """
    folder = Path(path)
    with claim_existing(folder, kind) as before:
        now = open_folder(folder, kind=kind, version=version)
        with _write_generation(folder, kind, version, before) as out:
            yield now, out


@contextmanager
def _write_generation(folder: Path, kind: str, version: int, before: Manifest | None = None) -> Iterator[FolderWriter]:
    """Write to a new generation of a claimed folder, and publish it."""
    staging = folder / f"data-{secrets.token_hex(8)}"
    out = FolderWriter(staging, before)
    try:
        with explain_os_errors("write to", folder):
            staging.mkdir()
        yield out
        _publish(folder, staging, _describe(out, kind, version))
    except BaseException:
        out._abandon()
        remove_unpublished(folder, staging)
        raise
    remove_stale(folder)


def _describe(out: FolderWriter, kind: str, version: int) -> Manifest:
    return Manifest(
        kind=kind,
        version=version,
        written_by=_package_version(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        generation=out.staging.name,
        facts=out.facts,
        arrays=out._finish(),
        files=dict(sorted(out._files.items())),
    )


def _package_version() -> str:
    try:
        return find_version("mixsearch")
    except PackageNotFoundError:
        return "unknown"


def _publish(folder: Path, staging: Path, manifest: Manifest) -> None:
    text = manifest.render()
    with explain_os_errors("write to", folder):
        with open(staging / MANIFEST_NAME, "xb") as file:
            file.write(text)
            file.flush()
            sync_handle(file.fileno())
        sync_folders(staging)
        sync_folder(folder)
        os.replace(staging / MANIFEST_NAME, folder / MANIFEST_NAME)
