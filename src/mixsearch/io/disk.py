"""Files on disk: written atomically, synced and locked, with errors that name the reason; temporary folders."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mixsearch.errors import BusyFolderError, DamagedFolderError, DiskError, Option, StorageError

if TYPE_CHECKING:
    from filelock import FileLock

LOCK_NAME, MANIFEST_NAME = "mixsearch.lock", "manifest.json"
# A temporary file that was not changed for so long belongs to a killed process.
MAX_PAUSE_SECONDS = 3600.0
# The temporary folder of a living process is locked, except in its first moments.
MIN_AGE_SECONDS = 60.0
_PREFIX = "mixsearch-tmp-"
# Code and sentence of the errors that a user can do something about.
_REASONS = {
    errno.ENOSPC: ("disk_full", "the disk is full. Free some space, or choose a folder on another disk."),
    errno.EFBIG: ("file_too_large", "the file exceeds the limit of the file system or of `ulimit -f`. Raise it."),
    errno.EMFILE: ("too_many_files", "this process has too many open files. Close some, or raise `ulimit -n`."),
    errno.EACCES: ("permission_denied", "permission denied. Change the permissions, or choose another folder."),
}


@contextmanager
def explain_os_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an `OSError` into a `DiskError` that names the path, the reason and the remedy."""
    try:
        yield
    except OSError as error:
        raise make_disk_error(action, str(path), error) from error


def make_disk_error(action: str, path: str, error: OSError) -> DiskError:
    """Make the error that explains an error of the operating system."""
    code, reason = _REASONS.get(error.errno or 0, ("disk_failed", f"{error.strerror or error}."))
    return DiskError("Could not {action} '{path}': {reason}", code=code, action=action, path=path, reason=reason)


def damage_error(sentence: str, **fields: Any) -> DamagedFolderError:
    """Make an error whose sentence ends with the remedy for a damaged folder."""
    remedy = "Restore the folder from a copy, or write it again with {option}."
    return DamagedFolderError(f"{sentence} {remedy}", option=Option("overwrite=True"), **fields)


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Write a file completely or not at all."""
    with suppress(OSError):
        for left in path.parent.glob(f".*-{escape(path.name)}"):
            if left.name[1:].partition("-")[0].isdecimal() and time.time() - left.stat().st_mtime > MAX_PAUSE_SECONDS:
                left.unlink(missing_ok=True)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        sync(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk itself."""
    with suppress(OSError) if path.is_dir() else nullcontext():  # not all systems can sync folders
        handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def acquire_lock(folder: Path) -> FileLock:
    """Lock a folder for one writer; the operating system releases the lock when the process ends for any reason."""
    from filelock import FileLock, Timeout  # readers need not wait for it

    lock = FileLock(folder / LOCK_NAME, timeout=0, thread_local=False)
    with explain_os_errors("write to", folder):
        try:
            lock.acquire()
        except (Timeout, FileNotFoundError):
            raise BusyFolderError(path=str(folder)) from None
    return lock


class TemporaryFolder(AbstractContextManager["TemporaryFolder"]):
    """A locked folder for temporary files, at `path`. Removed by `close`, or when it is garbage-collected."""

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        for lock in Path(parent or tempfile.gettempdir()).glob(f"{_PREFIX}*/{LOCK_NAME}"):
            with suppress(StorageError, OSError):  # it is held, unless its process was killed
                if time.time() - lock.stat().st_mtime > MIN_AGE_SECONDS:
                    _remove(lock.parent, acquire_lock(lock.parent))
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self.close = weakref.finalize(self, _remove, self.path, acquire_lock(self.path))

    def __exit__(self, *_: object) -> None:
        self.close()


def _remove(folder: Path, lock: FileLock) -> None:
    lock.release()  # Windows removes no open file
    shutil.rmtree(folder, ignore_errors=True)
