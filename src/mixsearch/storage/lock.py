"""A lock for one writer at a time, which the operating system releases when its process ends for any reason."""

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
        """Close the copies that a fork has made: an orphaned worker would hold the lock of its dead parent forever."""
        while _held:
            os.close(_held.pop())

    os.register_at_fork(after_in_child=_leave_to_parent)


def acquire_lock(folder: Path) -> int:
    """Keep other writers out of a folder, and return the lock to release later."""
    handle = _open_locked(folder / LOCK_NAME)
    _held.add(handle)
    return handle


def release_lock(handle: int) -> None:
    """Let other writers in; a fork of the writer has nothing to release."""
    if handle not in _held:
        return
    _held.discard(handle)
    with suppress(OSError):
        _unlock(handle)  # closing is not enough while a child has an open copy
    os.close(handle)


def _open_locked(path: Path) -> int:
    while True:
        handle = _open_lock_file(path)
        try:
            with explain_os_errors("lock", path):
                locked = _try_lock(handle)
            if not locked:
                raise _busy_error(path.parent)
            if _is_current(handle, path):
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def _open_lock_file(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except FileNotFoundError:
        raise _busy_error(path.parent) from None
    except OSError:
        with explain_os_errors("write to", path.parent):
            raise


def _busy_error(folder: Path) -> BusyFolderError:
    return BusyFolderError(
        "Another process is writing to '{path}'. Wait for it, or choose another folder.", path=str(folder)
    )


def _is_current(handle: int, path: Path) -> bool:
    """Return whether the locked file is the one others will open; a failed writer removes its lock file."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(path))
    except FileNotFoundError:
        return False
