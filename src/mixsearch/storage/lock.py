"""One writer at a time, by a lock that the operating system drops when its process ends, however it ends."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

from mixsearch.errors import BusyFolderError
from mixsearch.storage.disk import explain_os_errors

LOCK_NAME = "mixsearch.lock"

# Open lock files of this process.
_held: set[int] = set()

if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)

    def _leave_to_parent() -> None:
        """Close the copies a fork has made: an orphaned worker would hold the lock of its dead parent for ever."""
        while _held:
            os.close(_held.pop())

    os.register_at_fork(after_in_child=_leave_to_parent)


def take_lock(folder: Path) -> int:
    """Keep other writers out of a folder, and give the lock to drop later.

    Raises
    ------
    BusyFolderError
        At once, if another writer is at work.
    FileNotFoundError
        If the folder went away meanwhile.
    """
    handle = _open_locked(folder / LOCK_NAME)
    _held.add(handle)
    return handle


def drop_lock(handle: int) -> None:
    """Let other writers in; a fork of the writer has nothing to drop."""
    if handle not in _held:
        return
    _held.discard(handle)
    with suppress(OSError):
        _unlock(handle)  # closing would do, but for copies that a child has not closed yet
    os.close(handle)


def _open_locked(path: Path) -> int:
    while True:
        handle = _open_lock_file(path)
        try:
            with explain_os_errors("lock", path):
                locked = _try_lock(handle)
            if not locked:
                raise BusyFolderError(
                    f"Another process is writing to '{path.parent}'. Wait for it, or choose another folder."
                )
            if _is_still_at(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _open_lock_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except FileNotFoundError:
        raise
    except OSError:
        with explain_os_errors("write to", path.parent):
            raise


def _is_still_at(handle: int, path: Path) -> bool:
    """Whether the locked file is the one others will find; a writer that gives up removes its lock file."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
