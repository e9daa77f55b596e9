"""Write a folder: everything goes to a new generation beside the old one, and one rename makes it the folder's own."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mixsearch.storage.arrays import Array, ArrayStream, allocate_array, map_array
from mixsearch.storage.claiming import claim_folder, remove_stale, remove_unpublished
from mixsearch.storage.disk import explain_os_errors, sync_folder, sync_folders, sync_handle
from mixsearch.storage.manifest import MANIFEST_NAME, Manifest, StoredArray, check_array_name, check_dtype
from mixsearch.storage.pieces import ArrayInPieces
from mixsearch.storage.texts import TextWriter


class FolderWriter:
    """What `write_folder` gives: a place for arrays, texts and facts.

    Parameters
    ----------
    staging : Path
        Where the files go.

    Attributes
    ----------
    facts : dict
        Whatever JSON can hold; stored in the manifest.
    """

    def __init__(self, staging: Path) -> None:
        self.facts: dict[str, Any] = {}
        self._staging = staging
        self._stored: dict[str, StoredArray] = {}
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
            raise TypeError(f"'{name}' is a single value, where an array is needed: store it among the facts.")
        with self.stream(name, whole.dtype, whole.shape[1:]) as stream:
            stream.append(whole)

    def stream(self, name: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...] = ()) -> ArrayStream:
        """Begin an array of unknown length, to which blocks of rows are appended.

        Parameters
        ----------
        name : str
            As for `save`.
        dtype : dtype
            Type of the array; blocks must convert to it without loss.
        row_shape : tuple of int, default=()
            Shape of one row.

        Returns
        -------
        ArrayStream
            A context manager with `append(rows)`; left open, it is closed when the folder is published.
        """
        checked = check_dtype(np.dtype(dtype))
        stream = ArrayStream(name, self._make_place(name), checked, tuple(row_shape), self._stored.__setitem__)
        self._unfinished.append(stream)
        return stream

    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> AbstractContextManager[Array]:
        """Give an array of zeros on disk, to be filled in any order within a `with` block.

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
            Its value is the writable array, which is stored and becomes read-only at the end of the block.
        """
        checked = check_dtype(np.dtype(dtype))
        return allocate_array(name, self._make_place(name), checked, tuple(shape), self._stored.__setitem__)

    def in_pieces(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> ArrayInPieces:
        """Make an array of zeros on disk that any process which sees the folder fills in; `adopt` it then.

        Parameters
        ----------
        name : str
            As for `save`.
        shape : tuple of int
            Of at least one dimension.
        dtype : dtype
            Type of the array.
        """
        checked = check_dtype(np.dtype(dtype))
        return ArrayInPieces.made(self._make_place(name).absolute(), checked, tuple(shape))

    def adopt(self, name: str, stored: StoredArray) -> None:
        """Take up an array whose pieces are all there, as its `finished` describes it."""
        self._stored[name] = stored

    @property
    def place(self) -> Path:
        """Where the files are until the folder is published."""
        return self._staging

    def texts(self, name: str) -> TextWriter:
        """Begin a column of texts, to which lists of str are appended; left open, it is closed at the end."""
        writer = TextWriter(self.stream, name)
        self._unfinished.append(writer)
        return writer

    def read(self, name: str) -> Array:
        """Map an array that was finished, read-only and anew each time."""
        if name not in self._stored:
            raise ValueError(f"'{name}' is not finished, so that it cannot be read yet.")
        return map_array(self._staging / f"{name}.npy", self._stored[name])

    def _make_place(self, name: str) -> Path:
        path = self._staging / f"{check_array_name(name)}.npy"
        if self._closed:
            raise ValueError(f"'{name}' comes too late: the folder is no longer open for writing.")
        if path.exists():
            raise ValueError(f"'{name}' was written already. Choose another name.")
        with explain_os_errors("write to", path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _finish(self) -> dict[str, StoredArray]:
        self._closed = True
        # Texts after their streams in the list, and first to be closed: they still have a block to append.
        for writer in reversed(self._unfinished):
            writer.close()
        return dict(sorted(self._stored.items()))

    def _abandon(self) -> None:
        self._closed = True
        for writer in self._unfinished:
            writer.abandon()


@contextmanager
def write_folder(
    path: str | os.PathLike[str], *, kind: str, version: int, overwrite: bool = False
) -> Iterator[FolderWriter]:
    """Write a folder of arrays, texts and facts, whole or not at all.

    Parameters
    ----------
    path : path
        A folder that does not exist yet, in one that does; an empty one; or one written before.
    kind : str
        What the folder holds, in words; `open_folder` must be told the same.
    version : int
        Number of the format of this kind; a reader that knows only lower ones asks for an upgrade.
    overwrite : bool, default=False
        Replace what was written before.

    Yields
    ------
    FolderWriter
        Leaving the block publishes what was given to it; an exception leaves everything as it was.

    Notes
    -----
    Files are written to a new sub-folder and synced; then the manifest that names it is renamed over the old one, and
    only then the old files go. Whatever kills the writer, the folder holds all of the old or all of the new. Both need
    room on the disk at the same time. Who has opened the old one keeps it: mapped files stay until they are released.
    """
    folder = Path(path)
    with claim_folder(folder, kind, overwrite=overwrite):
        staging = folder / f"data-{secrets.token_hex(8)}"
        out = FolderWriter(staging)
        try:
            with explain_os_errors("write to", folder):
                staging.mkdir()
            yield out
            _publish(folder, staging, _describe(out, staging.name, kind, version))
        except BaseException:
            out._abandon()
            remove_unpublished(folder, staging)
            raise
        remove_stale(folder)


def _describe(out: FolderWriter, generation: str, kind: str, version: int) -> Manifest:
    return Manifest(
        kind=kind,
        version=version,
        written_by=_package_version(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        generation=generation,
        facts=out.facts,
        arrays=out._finish(),
    )


def _package_version() -> str:
    try:
        return version_of("mixsearch")
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
