"""Disk operations: reserve space, sync files, replace a file atomically, explain errors of the operating system."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from mixsearch.errors import DiskError

# What is younger may belong to a process that has just begun.
MIN_AGE_SECONDS = 60.0
# Bytes to write or hash at a time.
CHUNK_BYTES = 4 << 20

# The code of an error, what happened, and what to do.
_REASONS = {
    errno.ENOSPC: ("disk_full", "the disk is full. Free some space, or choose a folder on another disk."),
    errno.EDQUOT: ("quota_exceeded", "your disk quota is used up. Delete files, or choose a folder on another disk."),
    errno.EFBIG: (
        "file_too_large",
        "the file would exceed the limit of this file system or of `ulimit -f`. Raise it, or use another disk.",
    ),
    errno.EACCES: ("permission_denied", "permission denied. Change the permissions, or choose another folder."),
    errno.EPERM: ("permission_denied", "permission denied. Change the permissions, or choose another folder."),
    errno.EROFS: ("read_only", "the file system is read-only. Choose a folder that can be written to."),
    errno.EMFILE: ("too_many_files", "this process has too many open files. Close some, or raise `ulimit -n`."),
}


@contextmanager
def explain_os_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an `OSError` into a `DiskError` that names the path, the reason and what to do."""
    try:
        yield
    except OSError as error:
        raise make_disk_error(action, str(path), error) from error


def make_disk_error(action: str, path: str, error: OSError) -> DiskError:
    """Return the sentence for an error of the operating system."""
    code, reason = _REASONS.get(error.errno or 0, ("disk_failed", f"{error.strerror or error}."))
    return DiskError("Could not {action} '{path}': {reason}", code=code, action=action, path=path, reason=reason)


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Write a file completely or not at all."""
    _sweep_files(path)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        _sync_file(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_file(path: Path) -> None:
    """Sync a file before it is renamed: after a power cut, there would be an empty one under the new name."""
    with suppress(OSError), open(path, "rb+") as file:  # some file systems cannot
        sync_handle(file.fileno())


def _sweep_files(path: Path) -> None:
    """Remove temporary files of killed processes that wrote to a path."""
    with suppress(OSError):
        for each in path.parent.glob(f".*-{escape(path.name)}"):
            owner = each.name[1:].partition("-")[0]
            # A process of another machine may have a number that is free here: it is still writing.
            is_old = time.time() - each.stat().st_mtime > MIN_AGE_SECONDS
            if is_old and owner.isdecimal() and not _is_running(int(owner)):
                each.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if sys.platform == "win32":
        return True  # a signal would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def sync_handle(handle: int) -> None:
    """Return when the bytes of an open file are on the disk itself."""
    if sys.platform == "darwin":
        import fcntl

        # On macOS, fsync leaves the bytes in the cache of the drive.
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def sync_folder(path: Path) -> None:
    """Return when the names in a folder are on the disk itself."""
    if sys.platform == "win32":
        return  # Windows cannot open a folder; its file system keeps a journal of names.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # A folder that cannot be listed cannot be synced.
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems cannot sync folders
            raise
    finally:
        os.close(handle)


def sync_folders(top: Path) -> None:
    """Sync a folder and every folder below it."""
    for folder, _, _ in os.walk(top):
        sync_folder(Path(folder))


def reserve_bytes(handle: int, n_bytes: int) -> None:
    """Extend a new file and reserve the space now: a full disk hit later, in a mapped page, would kill the process."""
    if not _try_to_reserve(handle, n_bytes):
        zeros, written = bytes(CHUNK_BYTES), 0
        while written < n_bytes:
            written += os.write(handle, zeros[: n_bytes - written])


def _try_to_reserve(handle: int, n_bytes: int) -> bool:
    if not hasattr(os, "posix_fallocate"):
        return False  # macOS and Windows have no such call
    try:
        os.posix_fallocate(handle, 0, n_bytes)
    except OSError as error:
        if error.errno in {errno.EINVAL, errno.EOPNOTSUPP}:
            return False  # nor have some file systems
        raise
    return True
