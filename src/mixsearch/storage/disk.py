"""Disk operations: reserve space, sync files, replace a file atomically, explain errors of the operating system."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixsearch.errors import DiskError

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
    """Turn an `OSError` into a `DiskError` that names the path, the reason and what to do.

    Parameters
    ----------
    action : str
        What is done to the path, such as "read" or "write to".
    path : Path
        A file or a folder.

    Yields
    ------
    None
    """
    try:
        yield
    except OSError as error:
        raise make_disk_error(action, str(path), error) from error


def make_disk_error(action: str, path: str, error: OSError) -> DiskError:
    """Return the sentence for an error of the operating system.

    Parameters
    ----------
    action : str
        What was done, such as "read" or "write to".
    path : str
        To which file or folder.
    error : OSError
        The error.

    Returns
    -------
    DiskError
        It names the path, the reason and what to do.
    """
    code, reason = _REASONS.get(error.errno or 0, ("disk_failed", f"{error.strerror or error}."))
    return DiskError("Could not {action} '{path}': {reason}", code=code, action=action, path=path, reason=reason)


@contextmanager
def write_atomically(path: Path) -> Iterator[Path]:
    """Write a file completely or not at all.

    Parameters
    ----------
    path : Path
        The file to write.

    Yields
    ------
    Path
        A temporary file in the same folder. It is renamed to `path` at the end, or removed after an error.
    """
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


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
