"""The manifest: one small file that lists what a folder holds. Replacing it publishes the folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mixsearch.errors import (
    ForeignFolderError,
    MissingFolderError,
    StorageError,
    UnfinishedFolderError,
)
from mixsearch.storage.damage import damage_error
from mixsearch.storage.disk import explain_os_errors
from mixsearch.storage.entries import (
    StoredArray,
    StoredFile,
    check_array_name,
    check_dtype,
    check_file_name,
    compute_checksum,
    is_generation,
    locate_array,
    locate_file,
    locate_sums,
)
from mixsearch.storage.lock import LOCK_NAME

MANIFEST_NAME = "manifest.json"
# In every manifest, to recognise folders of this package.
FORMAT = "mixsearch folder"


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

    @property
    def generations(self) -> set[str]:
        """The generations that hold a file of this folder, and the newest one."""
        return {self.generation, *(path.parts[0] for path in self.paths)}

    @property
    def paths(self) -> set[Path]:
        """The files of this folder, relative to it."""
        found = set()
        for path, stored in self.list_files(Path()):
            found |= {path, locate_sums(path)} if stored.sums else {path}
        return found

    def list_files(self, folder: Path) -> Iterator[tuple[Path, StoredArray | StoredFile]]:
        """Yield the path of every array and file, with what is known about it."""
        for name, array in self.arrays.items():
            yield locate_array(folder, name, array), array
        for name, file in self.files.items():
            yield locate_file(folder, name, file), file

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
    return b'{"checksum": "%s",\n' % compute_checksum(rest).encode("ascii")


def read_manifest(folder: Path) -> Manifest:
    """Read and check the manifest of a folder; each reason why there is none has its own error."""
    with explain_os_errors("read", folder):
        text = _find_manifest(folder).read_bytes()
    return parse_manifest(text, folder)


def parse_manifest(text: bytes, folder: Path) -> Manifest:
    """Parse a manifest, after a check that no byte has changed."""
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
        path = str(folder / MANIFEST_NAME)
        raise damage_error("'{path}' cannot be parsed ({error}).", path=path, error=repr(error)) from error


def _build_manifest(fields: dict[str, Any]) -> Manifest:
    """Convert the fields; every name is checked before it becomes part of a path."""
    generation = _check_generation(fields["generation"])
    return Manifest(
        kind=_check_type(fields["kind"], str),
        version=_check_type(fields["version"], int),
        written_by=_check_type(fields["written_by"], str),
        created=_check_type(fields["created"], str),
        generation=generation,
        facts=_check_type(fields["facts"], dict),
        arrays={check_array_name(name): _build_array(each, generation) for name, each in fields["arrays"].items()},
        files={check_file_name(name): _build_file(each) for name, each in fields.get("files", {}).items()},
    )


def _check_generation(name: str) -> str:
    if not is_generation(name):
        raise ValueError(f"generation {name!r}")
    return name


def _build_array(fields: dict[str, Any], newest: str) -> StoredArray:
    check_dtype(np.dtype(fields["dtype"]))
    generation = _check_generation(fields.get("generation", newest))  # before 0.11 there was one only
    shape = tuple(_check_size(each) for each in fields["shape"])
    # Before 1.0 there were no sums of blocks.
    sums = fields.get("sums", "")
    size, checksum = _check_size(fields["size"]), _check_type(fields["checksum"], str)
    return StoredArray(fields["dtype"], shape, size, checksum, generation, _check_type(sums, str))


def _build_file(fields: dict[str, Any]) -> StoredFile:
    size, checksum = _check_size(fields["size"]), _check_type(fields["checksum"], str)
    sums = _check_type(fields.get("sums", ""), str)
    return StoredFile(size, checksum, _check_generation(fields["generation"]), sums)


def _check_size(size: Any) -> int:
    if not 0 <= _check_type(size, int) < 1 << 60:
        raise ValueError(f"size {size!r}")
    return int(size)


def _check_type(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value


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
