"""Ownership of a folder: claim it as the only writer, never delete the files of others, clean up afterwards."""

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
    Option,
    StorageError,
    UnfinishedFolderError,
)
from mixsearch.storage.disk import explain_os_errors, sync_folder
from mixsearch.storage.entries import is_generation
from mixsearch.storage.lock import LOCK_NAME, acquire_lock, release_lock
from mixsearch.storage.manifest import MANIFEST_NAME, Manifest, check_kind, read_manifest


@contextmanager
def claim_folder(folder: Path, kind: str, *, overwrite: bool) -> Iterator[None]:
    """Create a folder or claim an existing one, as its only writer; if writing fails, leave it as it was."""
    made, lock = _take_folder(folder, kind, overwrite)
    try:
        # Again, now that nobody else can write: another writer may have published in between.
        _check_replaceable(folder, kind, overwrite)
        remove_stale(folder)
        yield
    except BaseException:
        _leave_folder(folder, made)
        raise
    finally:
        release_lock(lock)


@contextmanager
def claim_existing(folder: Path, kind: str) -> Iterator[Manifest]:
    """Claim a folder that was written before, as its only writer, and yield its manifest."""
    read_manifest(folder)
    lock = acquire_lock(folder)
    try:
        # Again, now that nobody else can write.
        manifest = read_manifest(folder)
        check_kind(folder, manifest, kind)
        remove_stale(folder)
        yield manifest
    finally:
        release_lock(lock)


def remove_stale(folder: Path) -> None:
    """Remove the files that the manifest does not name: replaced ones, and those of killed writers."""
    try:
        manifest = _find_current(folder)
    except StorageError:
        return  # It is unknown which generation is current: remove none.
    current, paths = (manifest.generations, manifest.paths) if manifest else (set(), set())
    with explain_os_errors("write to", folder):
        # The manifest must have reached the disk before anything that it no longer names is removed.
        sync_folder(folder)
        for entry in [entry for entry in folder.iterdir() if is_generation(entry.name)]:
            # Windows keeps files that a reader still maps; the next writer tries again.
            if entry.name not in current:
                shutil.rmtree(entry, ignore_errors=True)
                continue
            for path in [path for path in entry.rglob("*") if path.is_file()]:
                if path.relative_to(folder) not in paths:
                    with suppress(OSError):
                        path.unlink()


def remove_unpublished(folder: Path, staging: Path) -> None:
    """Remove what a failed writer has written, unless it failed after publishing it."""
    try:
        manifest = _find_current(folder)
    except DamagedFolderError:
        manifest = None  # It belongs to another writer: ours would be intact.
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
    """Return whether the folder was created here, and its lock."""
    while True:
        made = _make_folder(folder)
        try:
            _check_replaceable(folder, kind, overwrite)
            return made, acquire_lock(folder)
        except FileNotFoundError:
            continue  # Another writer has failed and removed its folder.
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
            raise ForeignFolderError(
                "'{path}' is a file, not a folder. Choose another path.", code="not_a_folder", path=str(folder)
            ) from None
        except FileNotFoundError:
            raise MissingFolderError(
                "Folder '{path}' does not exist. Create it first.", code="parent_missing", path=str(folder.parent)
            ) from None
        sync_folder(folder.parent)
        return True


def _check_replaceable(folder: Path, kind: str, overwrite: bool) -> None:
    """Reject a folder that is not ours, and one that holds something worth keeping."""
    try:
        found = _find_current(folder)
    except ForeignFolderError:
        raise ForeignFolderError(
            "'{path}' holds files that mixsearch did not write. Choose a new or an empty folder.", path=str(folder)
        ) from None
    except DamagedFolderError:
        if overwrite:
            return
        raise FolderExistsError(
            "'{path}' holds a damaged {kind}. Choose another folder, or set {option} to replace it.",
            path=str(folder),
            kind=kind,
            option=Option("overwrite"),
        ) from None
    if found is None:
        return
    if found.kind != kind:
        raise ForeignFolderError(
            "'{path}' holds a {found}, not a {kind}. Choose another folder.",
            code="other_kind",
            path=str(folder),
            found=found.kind,
            kind=kind,
        )
    if not overwrite:
        raise FolderExistsError(
            "'{path}' already holds a {kind}, created {created}. Choose another folder, or set {option} to replace it.",
            path=str(folder),
            kind=kind,
            created=found.created,
            option=Option("overwrite"),
        )


def _leave_folder(folder: Path, made: bool) -> None:
    """Undo the claim if nothing was ever published."""
    with suppress(OSError):
        if not (folder / MANIFEST_NAME).exists():
            (folder / LOCK_NAME).unlink()
            if made:
                folder.rmdir()
