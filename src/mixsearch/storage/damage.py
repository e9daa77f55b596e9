"""Errors of damaged folders, and what to do about them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from mixsearch.errors import DamagedFolderError, Option
from mixsearch.storage.entries import StoredArray, StoredFile, locate_sums


def damage_error(sentence: str, **fields: Any) -> DamagedFolderError:
    """Return an error whose sentence ends with what to do about a damaged folder.

    Parameters
    ----------
    sentence : str
        What is damaged, as a template of `str.format` over the fields.
    **fields
        The facts.

    Returns
    -------
    DamagedFolderError
    """
    remedy = "Restore the folder from a copy, or write it again with {option}."
    return DamagedFolderError(f"{sentence} {remedy}", option=Option("overwrite=True"), **fields)


def find_missing(folder: Path, files: Iterable[tuple[Path, StoredArray | StoredFile]]) -> DamagedFolderError:
    """Return the error about the first of the files of a folder that is missing, or whose sums are."""
    for path, stored in files:
        if not path.exists() or (stored.sums and not locate_sums(path).exists()):
            return describe_missing(path, stored)
    return damage_error("'{path}' has lost a file.", path=str(folder))


def describe_missing(path: Path, stored: StoredArray | StoredFile) -> DamagedFolderError:
    """Return the error about a file that is missing, or if it is there, about that of its sums."""
    if path.exists():
        return damage_error("'{path}' is missing.", path=str(locate_sums(path)))
    return damage_error("'{path}' is missing: {n_bytes:,} bytes were written.", path=str(path), n_bytes=stored.size)
