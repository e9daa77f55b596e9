"""What is written to a folder: arrays, texts, files and facts, until they are published."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as find_version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mixsearch.errors import StorageError
from mixsearch.storage.arrays import (
    Array,
    ArrayStream,
    SharedArray,
    Stream,
    allocate_array,
    map_array,
    store_file,
)
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.manifest import (
    Manifest,
    StoredArray,
    StoredFile,
    check_array_name,
    check_dtype,
    check_file_name,
)
from mixsearch.storage.texts import TextWriter


class FolderWriter:
    """A folder that is being written: arrays, texts and facts. `write_folder` yields one.

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
        self._unfinished: list[Stream] = []
        self._closed = False

    def save(self, name: str, array: npt.ArrayLike) -> None:
        """Store an array at once."""
        whole = np.asarray(array)
        if whole.ndim == 0:
            raise TypeError(f"'{name}' is a single value, not an array. Store it among the facts.")
        with self.stream(name, whole.dtype, whole.shape[1:]) as stream:
            stream.append(whole)

    def stream(self, name: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...] = ()) -> ArrayStream:
        """Start an array of unknown length, to which rows are appended."""
        checked = check_dtype(np.dtype(dtype))
        path, on_close = self._make_path(name), self._stored.__setitem__
        stream = ArrayStream(name, path, self.staging.name, checked, tuple(row_shape), on_close)
        self._unfinished.append(stream)
        return stream

    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> AbstractContextManager[Array]:
        """Return an array of zeros on disk, to be filled in any order within a `with` block."""
        checked = check_dtype(np.dtype(dtype))
        path, on_close = self._make_path(name), self._stored.__setitem__
        return allocate_array(name, path, self.staging.name, checked, tuple(shape), on_close)

    def share(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> SharedArray:
        """Create an array of zeros on disk that any process with access to the folder can fill; then `adopt` it."""
        checked = check_dtype(np.dtype(dtype))
        return SharedArray.create(self._make_path(name).absolute(), self.staging.name, checked, tuple(shape))

    def adopt(self, name: str, stored: StoredArray) -> None:
        """Add a shared array that is complete."""
        self._stored[name] = stored

    def texts(self, name: str) -> TextWriter:
        """Start a column of texts, to which lists of str are appended."""
        writer = TextWriter(self.stream, name)
        self._unfinished.append(writer)
        return writer

    def read(self, name: str) -> Array:
        """Map a finished array, read-only; each call makes a new map."""
        if name not in self._stored:
            raise StorageError("'{name}' cannot be read: it is not finished.", code="array_unfinished", name=name)
        stored = self._stored[name]
        return map_array(self.staging.parent / stored.generation / f"{name}.npy", stored)

    @contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """Write a file in a format of its own, such as Parquet, within a `with` block."""
        path = self._prepare(self.staging / check_file_name(name), name)
        try:
            with explain_os_errors("write", path):
                yield path
                self._files[name] = store_file(path, self.staging.name)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def remove(self, group: str) -> None:
        """Leave out what an updated folder held under a name."""
        for stored in (self._stored, self._files):
            for name in [name for name in stored if name == group or name.startswith(f"{group}/")]:
                del stored[name]

    def finish(self, kind: str, version: int) -> Manifest:
        """Finish what is open, and return the manifest of all that was written. Nothing can be added afterwards."""
        self._closed = True
        # Texts come after their streams in the list, and are closed first: they still have a block to append.
        for writer in reversed(self._unfinished):
            writer.close()
        return Manifest(
            kind=kind,
            version=version,
            written_by=_package_version(),
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            generation=self.staging.name,
            facts=self.facts,
            arrays=dict(sorted(self._stored.items())),
            files=dict(sorted(self._files.items())),
        )

    def abandon(self) -> None:
        """Close all files without finishing them."""
        self._closed = True
        for writer in self._unfinished:
            writer.abandon()

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


def _package_version() -> str:
    try:
        return find_version("mixsearch")
    except PackageNotFoundError:
        return "unknown"
