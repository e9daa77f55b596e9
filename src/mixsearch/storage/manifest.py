"""The manifest: one small file that lists what a folder holds. Replacing it publishes the folder."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import (
    DamagedFolderError,
    ForeignFolderError,
    MissingFolderError,
    Option,
    StorageError,
    UnfinishedFolderError,
)
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.lock import LOCK_NAME

MANIFEST_NAME = "manifest.json"
# In every manifest, to recognise folders of this package.
FORMAT = "mixsearch folder"
MAX_MANIFEST_BYTES = 1 << 26  # of an index of thousands of segments it has some megabytes
# 128 bits: a change goes unnoticed with probability 1e-38.
CHECKSUM_BYTES = 16

_ARRAY_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")
_FILE_NAME = re.compile(_ARRAY_NAME.pattern + r"\.[a-z]+")
_GENERATION_NAME = re.compile(r"data-[0-9a-f]{16}")


def damage_error(sentence: str, **fields: Any) -> DamagedFolderError:
    """Return an error whose sentence ends with what to do about a damaged folder."""
    remedy = "Restore the folder from a copy, or write it again with {option}."
    return DamagedFolderError(f"{sentence} {remedy}", option=Option("overwrite=True"), **fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file of a folder: its size, and a checksum that detects any change."""

    size: int
    checksum: str
    generation: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArray(StoredFile):
    """The file of an array, with what is needed to map it without reading it."""

    dtype: str
    shape: tuple[int, ...]

    @property
    def n_bytes(self) -> int:
        """The size of the data, without the header."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder holds. Each write makes a generation; an update leaves most files in those before it."""

    kind: str
    version: int
    written_by: str
    created: str
    generation: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, StoredArray]
    files: Mapping[str, StoredFile]

    def locate(self, folder: Path) -> Iterator[tuple[str, Path, StoredFile]]:
        """Yield the name and path of every array and file, with what is known about it."""
        for name, array in self.arrays.items():
            yield name, folder / array.generation / f"{name}.npy", array
        for name, file in self.files.items():
            yield name, folder / file.generation / name, file

    def render(self) -> bytes:
        """Return the bytes of the file, with a checksum."""
        try:
            return seal(json.dumps({"format": FORMAT, **asdict(self)}, indent=1, allow_nan=False, default=_plain))
        except ValueError as error:
            raise StorageError(
                "Facts are stored as JSON, which has no NaN or infinity ({error}).", code="bad_fact", error=str(error)
            ) from error


def _plain(value: Any) -> Any:
    """Convert NumPy scalars; reject everything else that JSON does not know."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"Facts are stored as JSON, which cannot hold {value!r}. Use a number, a str, a list or a dict.")


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


def check_kind(folder: Path, manifest: Manifest, kind: str) -> None:
    """Reject a folder that holds something else."""
    if manifest.kind != kind:
        raise ForeignFolderError(
            "'{path}' holds a {found}, not a {kind}. Check the path.",
            code="other_kind",
            path=str(folder),
            found=manifest.kind,
            kind=kind,
        )


def seal(body: str) -> bytes:
    """Put the checksum of a JSON object before its fields, on its own line."""
    rest = body.partition("{\n")[2].encode("ascii")
    return _first_line(rest) + rest


def _first_line(rest: bytes) -> bytes:
    return b'{"checksum": "%s",\n' % blake2b(rest, digest_size=CHECKSUM_BYTES).hexdigest().encode("ascii")


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder; each reason why there is none has its own error."""
    with explain_os_errors("read", folder):
        path = _find_manifest(folder)
        if not path.is_file() or path.stat().st_size > MAX_MANIFEST_BYTES:
            raise damage_error("'{path}' is not a manifest: it is too large, or not a file.", path=str(path))
        text = path.read_bytes()
    line, newline, rest = text.partition(b"\n")
    if line + newline != _first_line(rest):
        if FORMAT.encode() in text or (folder / LOCK_NAME).exists():
            raise damage_error("'{path}' is damaged or was edited.", path=str(folder / MANIFEST_NAME))
        raise ForeignFolderError(
            "'{path}' was not written by mixsearch: its {manifest} has another format. Check the path.",
            path=str(folder),
            manifest=MANIFEST_NAME,
        )
    try:
        return _build_manifest(json.loads(text))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise damage_error("'{path}' cannot be parsed ({error}).", path=str(path), error=repr(error)) from error


def _find_manifest(folder: Path) -> Path:
    path = folder / MANIFEST_NAME
    if path.exists():
        return path
    if not folder.exists():
        raise MissingFolderError("Folder '{path}' does not exist. Check the path, or write it first.", path=str(folder))
    if not folder.is_dir():
        raise ForeignFolderError(
            "'{path}' is a file, not a folder written by mixsearch. Check the path.",
            code="not_a_folder",
            path=str(folder),
        )
    names = {entry.name for entry in folder.iterdir()}
    if LOCK_NAME in names:
        raise UnfinishedFolderError(
            "'{path}' is unfinished: its writer is still running, or was stopped. Wait for it, or write the folder "
            "again.",
            path=str(folder),
        )
    if names:
        raise ForeignFolderError(
            "'{path}' was not written by mixsearch: it has no {manifest}. Check the path.",
            path=str(folder),
            manifest=MANIFEST_NAME,
        )
    raise MissingFolderError(
        "Folder '{path}' is empty. Check the path, or write it first.", code="folder_empty", path=str(folder)
    )


def _build_manifest(fields: dict[str, Any]) -> Manifest:
    """Convert the fields; every name is checked before it becomes part of a path."""
    return Manifest(
        kind=_check_type(fields["kind"], str),
        version=_check_type(fields["version"], int),
        written_by=_check_type(fields["written_by"], str),
        created=_check_type(fields["created"], str),
        generation=_check_generation(fields["generation"]),
        facts=_check_type(fields["facts"], dict),
        arrays={check_array_name(name): _build_array(each) for name, each in fields["arrays"].items()},
        files={check_file_name(name): StoredFile(**_check_file(each)) for name, each in fields["files"].items()},
    )


def _build_array(fields: dict[str, Any]) -> StoredArray:
    check_dtype(np.dtype(fields["dtype"]))
    shape = tuple(_check_size(each) for each in fields["shape"])
    return StoredArray(**_check_file(fields), dtype=fields["dtype"], shape=shape)


def _check_file(fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "size": _check_size(fields["size"]),
        "checksum": _check_type(fields["checksum"], str),
        "generation": _check_generation(fields["generation"]),
    }


def _check_generation(name: str) -> str:
    if not is_generation(name):
        raise ValueError(f"generation {name!r}")
    return name


def _check_size(size: Any) -> int:
    if not 0 <= _check_type(size, int) < 1 << 60:
        raise ValueError(f"size {size!r}")
    return int(size)


def _check_type(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value
