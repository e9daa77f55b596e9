"""The manifest: one small file that says what a folder holds, and whose replacement publishes it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import DamagedFolderError, ForeignFolderError, MissingFolderError, UnfinishedFolderError
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.lock import LOCK_NAME

MANIFEST_NAME = "manifest.json"
# Found in every manifest, so that a folder of ours can be told from any other.
FORMAT = "mixsearch folder"
# 128 bits, the odds of a change that goes unseen being 1 in 10^38.
CHECKSUM_BYTES = 16

REMEDY = "Restore the folder from a copy, or write it again with overwrite=True."

_ARRAY_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*")
_GENERATION_NAME = re.compile(r"data-[0-9a-f]{16}")


@dataclass(frozen=True, slots=True)
class StoredArray:
    """One array file: enough to map it without reading it, and to tell any change."""

    dtype: str
    shape: tuple[int, ...]
    size: int  # of the file, in bytes
    checksum: str  # of the data behind the header, which follows from dtype and shape


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a folder holds, and which of its generations counts."""

    kind: str
    version: int
    written_by: str
    created: str
    generation: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, StoredArray]

    def render(self) -> bytes:
        """The bytes of the file, sealed."""
        try:
            return seal(json.dumps({"format": FORMAT, **asdict(self)}, indent=1, allow_nan=False, default=_plain))
        except ValueError as error:
            raise ValueError(f"Facts are stored as JSON, which cannot hold NaN or infinity ({error}).") from error


def _plain(value: Any) -> Any:
    """NumPy's scalars as Python's; everything else that JSON does not know is refused."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"Facts are stored as JSON, which cannot hold {value!r}: give a number, a str, a list or a dict.")


def is_generation(name: str) -> bool:
    """Whether an entry of a folder is a generation of arrays; nothing else is ever removed."""
    return _GENERATION_NAME.fullmatch(name) is not None


def check_array_name(name: str) -> str:
    """Refuse names that are no plain path, or that a file system may not tell apart."""
    if not _ARRAY_NAME.fullmatch(name):
        raise ValueError(
            f"'{name}' cannot name an array: use lower-case letters, digits and '_', with '/' between the parts."
        )
    return name


def check_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Refuse what a plain file cannot hold."""
    if dtype.hasobject or dtype.fields is not None or dtype.itemsize == 0:
        raise TypeError(f"An array of {dtype} cannot be stored: numbers, booleans and texts of fixed length can.")
    return dtype


def seal(body: str) -> bytes:
    """Put the checksum of a JSON object in front of its fields, on a line of its own."""
    rest = body.partition("{\n")[2].encode("ascii")
    return _first_line(rest) + rest


def _first_line(rest: bytes) -> bytes:
    return b'{"checksum": "%s",\n' % checksum_of(rest).encode("ascii")


def checksum_of(data: bytes) -> str:
    """Checksum of a few bytes."""
    return blake2b(data, digest_size=CHECKSUM_BYTES).hexdigest()


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder; each way in which there is none has its own error."""
    with explain_os_errors("read", folder):
        text = _find_manifest(folder).read_bytes()
    return parse_manifest(text, folder)


def parse_manifest(text: bytes, folder: Path) -> Manifest:
    """Understand a manifest, after any changed byte was ruled out."""
    line, newline, rest = text.partition(b"\n")
    if line + newline != _first_line(rest):
        if FORMAT.encode() in text or (folder / LOCK_NAME).exists():
            raise DamagedFolderError(f"'{folder / MANIFEST_NAME}' is damaged or was edited. {REMEDY}")
        raise ForeignFolderError(
            f"'{folder}' was not written by mixsearch: its {MANIFEST_NAME} is of another kind. Check the path."
        )
    try:
        return _build_manifest(json.loads(text))
    except (KeyError, TypeError, ValueError) as error:
        raise DamagedFolderError(f"'{folder / MANIFEST_NAME}' cannot be understood ({error!r}). {REMEDY}") from error


def _build_manifest(fields: dict[str, Any]) -> Manifest:
    """The fields as types, with every name checked before it becomes part of a path."""
    if not is_generation(fields["generation"]):
        raise ValueError(f"generation {fields['generation']!r}")
    return Manifest(
        kind=fields["kind"],
        version=fields["version"],
        written_by=fields["written_by"],
        created=fields["created"],
        generation=fields["generation"],
        facts=fields["facts"],
        arrays={check_array_name(name): _build_array(array) for name, array in fields["arrays"].items()},
    )


def _build_array(fields: dict[str, Any]) -> StoredArray:
    check_dtype(np.dtype(fields["dtype"]))
    return StoredArray(fields["dtype"], tuple(fields["shape"]), fields["size"], fields["checksum"])


def _find_manifest(folder: Path) -> Path:
    path = folder / MANIFEST_NAME
    if path.exists():
        return path
    if not folder.exists():
        raise MissingFolderError(f"There is no folder '{folder}'. Check the path, or write it first.")
    if not folder.is_dir():
        raise ForeignFolderError(f"'{folder}' is a file, where a folder written by mixsearch was expected.")
    names = {entry.name for entry in folder.iterdir()}
    if LOCK_NAME in names:
        raise UnfinishedFolderError(
            f"'{folder}' was begun and not finished: its writer is still at work, or was stopped. "
            "Wait for it, or write the folder again."
        )
    if names:
        raise ForeignFolderError(f"'{folder}' was not written by mixsearch: it has no {MANIFEST_NAME}. Check the path.")
    raise MissingFolderError(f"The folder '{folder}' is empty. Check the path, or write it first.")
