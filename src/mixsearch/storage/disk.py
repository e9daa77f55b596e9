"""What the operating system is asked for: room on the disk, bytes that outlive a power cut, and why it refused."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixsearch.errors import DiskError

# Written at a time where a file system cannot reserve room, and hashed at a time everywhere.
CHUNK_BYTES = 4 << 20

_REASONS = {
    errno.ENOSPC: "the disk is full. Free some space, or choose a folder on another disk.",
    errno.EDQUOT: "your disk quota is used up. Delete files, or choose a folder on another disk.",
    errno.EFBIG: "the file would be larger than this file system or `ulimit -f` allows. Raise it, or use another disk.",
    errno.EACCES: "permission denied. Change the permissions, or choose another folder.",
    errno.EPERM: "permission denied. Change the permissions, or choose another folder.",
    errno.EROFS: "the file system is read-only. Choose a folder that can be written to.",
    errno.EMFILE: "this process has too many open files. Close some, or raise `ulimit -n`.",
}


@contextmanager
def explain_os_errors(action: str, path: Path) -> Iterator[None]:
    """Turn a refusal of the operating system into a sentence: what was done to which path, why not, what next."""
    try:
        yield
    except OSError as error:
        reason = _REASONS.get(error.errno or 0, f"{error.strerror or error}.")
        raise DiskError(f"Could not {action} '{path}': {reason}") from error


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file beside the one to be written, which takes its name when it is done; where that fails nothing is left."""
    part = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def sync_handle(handle: int) -> None:
    """Return when the bytes of an open file are on the disk itself."""
    if sys.platform == "darwin":
        import fcntl

        # There, fsync leaves the bytes in the cache of the drive.
        fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
    else:
        os.fsync(handle)


def sync_folder(path: Path) -> None:
    """Return when the names in a folder are on the disk itself."""
    if sys.platform == "win32":
        return  # A folder cannot be opened there; the file system keeps a journal of names.
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return  # A folder that may be entered and not listed cannot be synced.
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno != errno.EINVAL:  # some network file systems cannot, and say so
            raise
    finally:
        os.close(handle)


def sync_folders(top: Path) -> None:
    """Sync a folder and every folder below it."""
    for folder, _, _ in os.walk(top):
        sync_folder(Path(folder))


def reserve_bytes(handle: int, n_bytes: int) -> None:
    """Make a new file so long and take the room for it now: a full disk found later, in a mapped page, would kill."""
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
