"""Writing a folder: everything goes to a new generation next to the old one, and one rename publishes it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mixsearch.storage.disk import explain_os_errors, sync_folder, sync_folders, sync_handle
from mixsearch.storage.manifest import MANIFEST_NAME, Manifest
from mixsearch.storage.ownership import claim_existing, claim_folder, remove_stale, remove_unpublished
from mixsearch.storage.reader import Folder, open_folder
from mixsearch.storage.writer import FolderWriter


@contextmanager
def write_folder(
    path: str | os.PathLike[str], *, kind: str, version: int, overwrite: bool = False
) -> Iterator[FolderWriter]:
    """Write a folder of arrays, texts and facts, completely or not at all.

    Parameters
    ----------
    path : path
        A new folder in an existing one, an empty folder, or one that was written before.
    kind : str
        What the folder holds, in words; `open_folder` needs the same.
    version : int
        Number of the format; a reader that only knows older ones asks for an upgrade.
    overwrite : bool, default=False
        Replace what was written before.

    Yields
    ------
    FolderWriter
        Leaving the block publishes the folder; an exception leaves everything as it was.

    Notes
    -----
    Files are written to a new subfolder and synced. Then a manifest that names it is renamed over the old one, and
    only then the old files are removed. Whatever kills the writer, the folder holds all of the old or all of the new
    version. Both need disk space at the same time. Readers of the old version keep it: mapped files stay until they
    are released.
    """
    folder = Path(path)
    with claim_folder(folder, kind, overwrite=overwrite), _write_generation(folder, kind, version) as out:
        yield out


@contextmanager
def update_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Iterator[tuple[Folder, FolderWriter]]:
    """Change some arrays and facts of a folder, completely or not at all. The other files stay where they are.

    Parameters
    ----------
    path : path
        A folder that `write_folder` has written.
    kind : str
        What it must hold.
    version : int
        Number of the format, as for `write_folder`.

    Yields
    ------
    Folder
        What it holds now.
    FolderWriter
        With its facts, and with its arrays, of which some can be replaced, removed or added. Leaving the block
        publishes the change; an exception leaves everything as it was.
    """
    folder = Path(path)
    with claim_existing(folder, kind) as before:
        now = open_folder(folder, kind=kind, version=version)
        with _write_generation(folder, kind, version, before) as out:
            yield now, out


@contextmanager
def _write_generation(folder: Path, kind: str, version: int, before: Manifest | None = None) -> Iterator[FolderWriter]:
    """Write to a new generation of a claimed folder, and publish it."""
    staging = folder / f"data-{secrets.token_hex(8)}"
    out = FolderWriter(staging, before)
    try:
        with explain_os_errors("write to", folder):
            staging.mkdir()
        yield out
        _publish(folder, staging, out.finish(kind, version))
    except BaseException:
        out.abandon()
        remove_unpublished(folder, staging)
        raise
    remove_stale(folder)


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
