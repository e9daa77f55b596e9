"""Temporary folders: removed when they are closed, or by the next process that needs one if theirs was killed."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Self

from mixsearch.errors import BusyFolderError, StorageError
from mixsearch.storage.disk import MIN_AGE_SECONDS
from mixsearch.storage.lock import LOCK_NAME, acquire_lock, release_lock
from mixsearch.storage.manifest import MANIFEST_NAME

# Not what somebody would call a folder to keep, such as an index in the folder for temporary files.
_PREFIX = "mixsearch-tmp-"


class TemporaryFolder:
    """A folder for temporary files, locked by its process. Removed by `close`, or when it is garbage-collected.

    Attributes
    ----------
    path : Path
        Where it is.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        sweep_folders(parent)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._remove = weakref.finalize(self, _remove, self.path, acquire_lock(self.path))

    def close(self) -> None:
        """Remove the folder."""
        self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sweep_folders(parent: str | os.PathLike[str] | None = None) -> None:
    """Remove the temporary folders of processes that were killed: nobody holds their locks any more."""
    with suppress(OSError):
        for folder in Path(parent or tempfile.gettempdir()).glob(f"{_PREFIX}*"):
            lock = folder / LOCK_NAME
            with suppress(BusyFolderError, StorageError, OSError):
                is_old = time.time() - lock.stat().st_mtime > MIN_AGE_SECONDS
                if is_old and not (folder / MANIFEST_NAME).exists():
                    _remove(folder, acquire_lock(folder))


def _remove(folder: Path, lock: int) -> None:
    # Windows removes no open file, and a folder without its lock file is nobody's to sweep.
    release_lock(lock)
    shutil.rmtree(folder, ignore_errors=True)
