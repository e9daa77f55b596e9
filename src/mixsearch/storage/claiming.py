"""Whose folder it is: made or taken over for writing, never at the cost of anyone's files, and left tidy."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mixsearch.errors import (
    DamagedFolderError,
    FolderExistsError,
    ForeignFolderError,
    MissingFolderError,
    StorageError,
    UnfinishedFolderError,
)
from mixsearch.storage.disk import explain_os_errors, sync_folder
from mixsearch.storage.lock import LOCK_NAME, drop_lock, take_lock
from mixsearch.storage.manifest import MANIFEST_NAME, Manifest, is_generation, read_manifest


@contextmanager
def claim_folder(folder: Path, kind: str, *, overwrite: bool) -> Iterator[None]:
    """Make a folder or take over the one there, as its only writer; if writing fails, leave it as it was found."""
    made, lock = _take_folder(folder, kind, overwrite)
    try:
        # Again, now that nobody else can write: someone may have published since.
        _check_replaceable(folder, kind, overwrite)
        remove_stale(folder)
        yield
    except BaseException:
        _leave_folder(folder, made)
        raise
    finally:
        drop_lock(lock)


def remove_stale(folder: Path) -> None:
    """Remove the generations that the manifest does not name: replaced ones, and those of writers that were killed."""
    try:
        manifest = _find_current(folder)
    except StorageError:
        return  # Which generation counts cannot be told: none may go.
    current = manifest.generation if manifest else None
    with explain_os_errors("write to", folder):
        # What the manifest says must have reached the disk before anything it no longer names leaves it.
        sync_folder(folder)
        for entry in list(folder.iterdir()):
            if is_generation(entry.name) and entry.name != current:
                # Windows keeps files that are still mapped by a reader; the next writer tries again.
                shutil.rmtree(entry, ignore_errors=True)


def remove_unpublished(folder: Path, staging: Path) -> None:
    """Remove what a failed writer has written, unless it failed after the manifest had come to name it."""
    try:
        manifest = _find_current(folder)
    except DamagedFolderError:
        manifest = None  # Another writer's: ours would be whole.
    except StorageError:
        return
    if manifest is None or manifest.generation != staging.name:
        shutil.rmtree(staging, ignore_errors=True)


def _find_current(folder: Path) -> Manifest | None:
    try:
        return read_manifest(folder)
    except (MissingFolderError, UnfinishedFolderError):
        return None


def _take_folder(folder: Path, kind: str, overwrite: bool) -> tuple[bool, int]:
    """Whether the folder was made here, and its lock."""
    while True:
        made = _make_folder(folder)
        try:
            _check_replaceable(folder, kind, overwrite)
            return made, take_lock(folder)
        except FileNotFoundError:
            continue  # Another writer has given up and taken its folder away.
        except BaseException:
            if made:
                with suppress(OSError):
                    folder.rmdir()  # fails if another writer is in it, as it should
            raise


def _make_folder(folder: Path) -> bool:
    with explain_os_errors("make", folder):
        try:
            folder.mkdir()
        except FileExistsError:
            if folder.is_dir():
                return False
            raise ForeignFolderError(f"'{folder}' is a file, where a folder is needed. Choose another path.") from None
        except FileNotFoundError:
            raise MissingFolderError(f"There is no folder '{folder.parent}' to write in. Make it first.") from None
        sync_folder(folder.parent)
        return True


def _check_replaceable(folder: Path, kind: str, overwrite: bool) -> None:
    """Refuse a folder of someone else's, and one that holds something worth keeping."""
    try:
        found = _find_current(folder)
    except ForeignFolderError:
        raise ForeignFolderError(
            f"'{folder}' holds files that mixsearch did not write. Choose a new or an empty folder."
        ) from None
    except DamagedFolderError:
        if overwrite:
            return
        raise FolderExistsError(
            f"'{folder}' holds something damaged. Choose another folder, or give overwrite=True to replace it."
        ) from None
    if found is None:
        return
    if found.kind != kind:
        raise ForeignFolderError(f"'{folder}' holds a {found.kind}, not a {kind}. Choose another folder.")
    if not overwrite:
        raise FolderExistsError(
            f"'{folder}' already holds a {kind}, of {found.created}. "
            "Choose another folder, or give overwrite=True to replace it."
        )


def _leave_folder(folder: Path, made: bool) -> None:
    """Undo the claim, where nothing was ever published."""
    with suppress(OSError):
        if not (folder / MANIFEST_NAME).exists():
            (folder / LOCK_NAME).unlink()
            if made:
                folder.rmdir()
