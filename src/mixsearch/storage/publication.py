"""Writing a folder: everything goes to a new generation next to the old one, and one rename publishes it."""

from __future__ import annotations

import os
import secrets
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
from mixsearch.storage.disk import explain_os_errors, sync_folder, sync_folders, sync_handle
from mixsearch.storage.lock import LOCK_NAME, acquire_lock, release_lock
from mixsearch.storage.manifest import MANIFEST_NAME, Manifest, check_kind, is_generation, read_manifest
from mixsearch.storage.reader import Folder, open_folder
from mixsearch.storage.writer import FolderWriter


@contextmanager
def write_folder(
    path: str | os.PathLike[str], *, kind: str, version: int, overwrite: bool = False
) -> Iterator[FolderWriter]:
    """Write a folder of arrays, texts and facts, completely or not at all.

    Notes
    -----
    Files are written to a new subfolder and synced. Then a manifest that names it is renamed over the old one, and
    only then the old files are removed. Whatever kills the writer, the folder holds all of the old or all of the new
    version. Both need disk space at the same time. Readers of the old version keep it: mapped files stay until they
    are released.
    """
    folder = Path(path)
    is_new = _make_folder(folder)
    try:
        with explain_os_errors("write to", folder.parent):
            sync_folder(folder.parent)
        _check_replaceable(folder, kind, overwrite)
        with _hold_lock(folder):
            # Again, now that nobody else can write: another writer may have published in between.
            _check_replaceable(folder, kind, overwrite)
            with _write_generation(folder, kind, version) as out:
                yield out
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()  # fails if anything is in it, as it should
        raise


@contextmanager
def update_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Iterator[tuple[Folder, FolderWriter]]:
    """Change some arrays and facts of a folder, completely or not at all. The other files stay where they are."""
    folder = Path(path)
    read_manifest(folder)  # only a folder that is there gets a lock
    with _hold_lock(folder):
        before = read_manifest(folder)
        check_kind(folder, before, kind)
        now = open_folder(folder, kind=kind, version=version)
        with _write_generation(folder, kind, version, before) as out:
            yield now, out


@contextmanager
def _hold_lock(folder: Path) -> Iterator[None]:
    """Be the only writer of a folder. A lock file in a folder without a manifest would call it unfinished."""
    lock = acquire_lock(folder)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            if not (folder / MANIFEST_NAME).exists():
                (folder / LOCK_NAME).unlink()
        raise
    finally:
        release_lock(lock)


def _make_folder(folder: Path) -> bool:
    """Create a folder, and return whether it was not there."""
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
        return True


def _check_replaceable(folder: Path, kind: str, overwrite: bool) -> None:
    """Reject a folder that is not ours, and one that holds something worth keeping."""
    try:
        found = read_manifest(folder)
    except (MissingFolderError, UnfinishedFolderError):
        return
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
    check_kind(folder, found, kind)
    if not overwrite:
        raise FolderExistsError(
            "'{path}' already holds a {kind}, created {created}. Choose another folder, or set {option} to replace it.",
            path=str(folder),
            kind=kind,
            created=found.created,
            option=Option("overwrite"),
        )


@contextmanager
def _write_generation(folder: Path, kind: str, version: int, before: Manifest | None = None) -> Iterator[FolderWriter]:
    """Write to a new generation of a locked folder, and publish it."""
    _remove_unused(folder)
    staging = folder / f"data-{secrets.token_hex(8)}"
    out = FolderWriter(staging, before)
    try:
        with explain_os_errors("write to", folder):
            staging.mkdir()
        yield out
        _publish(folder, staging, out.finish(kind, version))
    except BaseException:
        out.abandon()
        if not _is_published(folder, staging):
            shutil.rmtree(staging, ignore_errors=True)
        raise
    _remove_unused(folder)


def _publish(folder: Path, staging: Path, manifest: Manifest) -> None:
    text = manifest.render()
    with explain_os_errors("write to", folder):
        with open(staging / MANIFEST_NAME, "xb") as file:
            file.write(text)
            file.flush()
            sync_handle(file.fileno())
        sync_folders(staging)
        sync_folder(folder)
        os.replace(staging / MANIFEST_NAME, folder / MANIFEST_NAME)


def _is_published(folder: Path, staging: Path) -> bool:
    """Return whether a writer failed only after the rename; if that is unknown, nothing is removed."""
    try:
        return staging.name.encode() in (folder / MANIFEST_NAME).read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _remove_unused(folder: Path) -> None:
    """Remove the files that the manifest does not name: replaced ones, and those of killed writers."""
    try:
        used = {path for _, path, _ in read_manifest(folder).locate(folder)}
    except (MissingFolderError, UnfinishedFolderError):
        used = set()
    except StorageError:
        return  # it is unknown which files are current
    with explain_os_errors("write to", folder):
        # The manifest must have reached the disk before anything that it no longer names is removed.
        sync_folder(folder)
        for entry in [entry for entry in folder.iterdir() if is_generation(entry.name)]:
            if not any(path.is_relative_to(entry) for path in used):
                shutil.rmtree(entry, ignore_errors=True)
                continue
            for path in [path for path in entry.rglob("*") if path.is_file() and path not in used]:
                with suppress(OSError):  # Windows keeps files that a reader still maps; the next writer tries again
                    path.unlink()
