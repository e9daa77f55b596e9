"""Entries of a manifest: the name, type, size and checksum of each array and file, and where it is."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import StorageError

# 128 bits: a change goes unnoticed with probability 1e-38.
CHECKSUM_BYTES = 16

_ARRAY_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")
_FILE_NAME = re.compile(_ARRAY_NAME.pattern + r"\.[a-z]+")
_GENERATION_NAME = re.compile(r"data-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class StoredArray:
    """One array file: what is needed to map it without reading it, and to detect any change.

    Parameters
    ----------
    dtype : str
        Type of the array.
    shape : tuple of int
        Shape of the array.
    size : int
        Size of the file in bytes.
    checksum : str
        Checksum of the data after the header.
    generation : str, optional
        The subfolder that holds the file; empty until the array is part of a folder.
    sums : str, optional
        Checksum of the sums of its blocks, which are in a file next to it; empty if there are none.
    """

    dtype: str
    shape: tuple[int, ...]
    size: int
    checksum: str
    generation: str = ""
    sums: str = ""

    @property
    def n_bytes(self) -> int:
        """The size of the data, without the header."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in a format of its own, such as Parquet.

    Parameters
    ----------
    size : int
        Size of the file in bytes.
    checksum : str
        Checksum of the whole file.
    generation : str
        The subfolder that holds the file.
    sums : str, optional
        Checksum of the sums of its blocks, which are in a file next to it; empty if there are none.
    """

    size: int
    checksum: str
    generation: str
    sums: str = ""


def is_generation(name: str) -> bool:
    """Return whether an entry of a folder is a generation of arrays; nothing else is ever removed."""
    return _GENERATION_NAME.fullmatch(name) is not None


def check_array_name(name: str) -> str:
    """Reject names that are not plain paths, or that a file system may confuse."""
    if not _ARRAY_NAME.fullmatch(name):
        raise StorageError(
            "'{name}' is not a valid name of an array. Use lower-case letters, digits and '_', separated by '/'.",
            code="bad_array_name",
            name=name,
        )
    return name


def check_file_name(name: str) -> str:
    """Reject names of files that are not plain paths with an extension."""
    if not _FILE_NAME.fullmatch(name) or name.endswith(".npy"):
        raise StorageError(
            "'{name}' is not a valid name of a file. Use lower-case letters, digits and '_', separated by '/', and an "
            "extension.",
            code="bad_file_name",
            name=name,
        )
    return name


def check_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Reject types that a plain file cannot hold."""
    if dtype.hasobject or dtype.fields is not None or dtype.itemsize == 0:
        raise TypeError(f"An array of {dtype} cannot be stored, only numbers, booleans and texts of fixed length.")
    return dtype


def locate_array(folder: Path, name: str, stored: StoredArray) -> Path:
    """Return the path of an array."""
    return folder / stored.generation / f"{name}.npy"


def locate_file(folder: Path, name: str, stored: StoredFile) -> Path:
    """Return the path of a file in a format of its own."""
    return folder / stored.generation / name


def locate_sums(path: Path) -> Path:
    """Return where the sums of the blocks of an array or a file are."""
    return path.with_name(f"{path.name}.sums")


def compute_checksum(data: bytes) -> str:
    """Return the checksum of a few bytes."""
    return blake2b(data, digest_size=CHECKSUM_BYTES).hexdigest()
