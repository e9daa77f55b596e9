"""Folders of arrays and tables: each write makes a new generation of files, and renaming its manifest publishes it."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from hashlib import file_digest, sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.lib.format import open_memmap, write_array_header_1_0

from mixsearch import __version__, errors
from mixsearch._typing import Array
from mixsearch.io.disk import LOCK_NAME, MANIFEST_NAME, acquire_lock, damage_error, explain_os_errors, sync
from mixsearch.io.parquet import FILE_ROWS, TEXT, StoredFile, StoredTable, Texts, encode_frame

VERSION = 4
MAX_MANIFEST_BYTES = 1 << 24
# Files of up to this many bytes are compared with their checksums when a folder is opened: in .1 ms each.
SMALL_BYTES = 1 << 17
# Bytes of texts at which another file is started: it is decoded to read one text, in 2 ms. After every 128 files
# they get larger, since a process can have about a thousand open.
FILE_BYTES, N_EQUAL_FILES = 1 << 20, 128
_FILE_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.(npy|parquet)")
_GENERATION = re.compile(r"data-[0-9a-f]{16}")
_KINDS = "biufcSU"  # of values that a plain file can hold: numbers, booleans, texts of fixed length
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Manifest:
    """The contents of a folder: facts, and the files of its current generation."""

    version: int = VERSION
    written_by: str = __version__
    created: str = ""
    generation: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    files: dict[str, StoredFile] = field(default_factory=dict)


def seal(fields: Mapping[str, Any]) -> bytes:
    """Encode a manifest as JSON, with the checksum of the other lines in the first one."""
    body = json.dumps(fields, indent=1, allow_nan=False, default=np.generic.item)[2:].encode()
    return b'{"checksum": "%s",\n%s' % (sha256(body).hexdigest().encode(), body)


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; each reason why it cannot be read has its error."""
    path = folder / MANIFEST_NAME
    with explain_os_errors("read", folder):
        if not os.path.lexists(path):
            names = os.listdir(folder) if folder.is_dir() else [folder.name] * folder.exists()
            kind = errors.ForeignFolderError if names and LOCK_NAME not in names else errors.MissingFolderError
            raise kind(path=str(folder))
        text = path.read_bytes() if _measure(path) <= MAX_MANIFEST_BYTES else b""
    line, _, body = text.partition(b"\n")
    if line != b'{"checksum": "%s",' % sha256(body).hexdigest().encode():
        if not (folder / LOCK_NAME).exists():
            raise errors.ForeignFolderError(path=str(folder))
        raise damage_error("'{path}' is damaged or was edited.", path=str(path))
    try:
        fields = json.loads(text)
        del fields["checksum"]
        if (version := int(fields["version"])) != VERSION:
            other = errors.OlderFolderError if version < VERSION else errors.NewerFolderError
            raise other(path=str(folder), written_by=fields["written_by"], found=version)
        files = {name: StoredFile(**file) for name, file in fields["files"].items()}
        for name, file in files.items():
            is_plain = _FILE_NAME.fullmatch(name) and type(file.size) is type(file.n_rows) is int
            if not is_plain or file.size < 1 or not 0 <= file.n_rows <= FILE_ROWS:
                raise ValueError(f"file {name!r}")
        if not _GENERATION.fullmatch(fields["generation"]) or not isinstance(fields["facts"], dict):
            raise ValueError("generation or facts")
        return Manifest(**fields | {"files": files})
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        if isinstance(error, errors.StorageError):
            raise
        raise damage_error("'{path}' cannot be parsed ({error}).", path=str(path), error=repr(error)) from error


def _measure(path: Path) -> int:
    """Return the size of a file; a pipe, a device or a link is refused before it is opened."""
    status = os.lstat(path)
    if not stat.S_ISREG(status.st_mode):
        raise damage_error("'{path}' is not a file.", path=str(path))
    return status.st_size


def _map_array(path: Path) -> np.memmap[Any, Any]:
    try:
        array = open_memmap(path, "r")
        is_plain = array.dtype.kind in _KINDS and array.dtype.isnative and array.flags.c_contiguous
        if not is_plain or array.offset + array.nbytes != _measure(path):
            raise ValueError(f"{array.dtype} of shape {array.shape}")
    except OSError:
        raise
    except Exception as error:  # of the parser of headers, of many kinds
        raise damage_error("'{path}' is not an array ({error}).", path=str(path), error=str(error)) from error
    return array


class Folder(dict[str, Array]):
    """An open folder: arrays by name, mapped read-only. It does not change when the folder on disk is replaced."""

    def __init__(self, path: Path, manifest: Manifest, *, check_all: bool) -> None:
        self.path, self.manifest = path, manifest
        self.facts, self.generation = manifest.facts, manifest.generation
        self.files = {name: path / manifest.generation / name for name in sorted(manifest.files)}
        self._maps: dict[str, mmap] = {}  # of all files: a writer may remove them at any time, but a map keeps them
        self.tables: dict[str, dict[str, StoredFile]] = {}  # the files of each
        self.table: Callable[[str], StoredTable] = cache(partial(self._open, StoredTable))  # with what it has decoded
        self.texts: Callable[..., Texts] = cache(partial(self._open, Texts))  # of all given names as one column
        for name, file in self.files.items():
            stored = manifest.files[name]
            if _measure(file) != stored.size:
                raise damage_error("'{path}' does not have {size:,} bytes.", path=str(file), size=stored.size)
            if name.endswith(".npy"):
                array: Any = _map_array(file)
                self[name.removesuffix(".npy")], self._maps[name] = np.asarray(array), array._mmap
            else:
                self.tables.setdefault(name.rpartition("/")[0], {})[name] = stored
                with open(file, "rb") as opened:
                    self._maps[name] = mmap(opened.fileno(), 0, access=ACCESS_READ)
            if check_all or stored.size <= SMALL_BYTES:
                self._check(name, self._maps[name])

    def _check(self, name: str, data: Any) -> Any:
        """Return the bytes of a file, if its checksum is right."""
        if sha256(data).hexdigest() != self.manifest.files[name].checksum:
            raise damage_error("'{path}' has changed since it was written.", path=str(self.files[name]))
        return data

    def _open(self, kind: type[Any], *groups: str) -> Any:
        if missing := [group for group in groups if group not in self.tables]:
            raise damage_error("'{path}' lacks {tables}.", path=str(self.path), tables=", ".join(missing))
        files = {name: file for group in groups for name, file in self.tables[group].items()}
        return kind(files, lambda name: self._check(name, self._maps[name][:]))

    def verify(self) -> None:
        """Read every byte, and raise `DamagedFolderError` for the first file that has changed."""
        if open_folder(self.path, check_all=True).generation != self.generation:
            sentence = "'{path}' was replaced since it was opened. Open it again, and verify that."
            raise errors.StorageError(sentence, code="folder_replaced", path=str(self.path))

    def check_sizes(self) -> None:
        """Raise `DamagedFolderError` if a file was cut in place: reading what is gone would end the process."""
        for name, mapped in self._maps.items():
            if mapped.size() < len(mapped):
                raise damage_error("'{path}' was cut while it was in use.", path=str(self.files[name]))


def open_folder(path: str | os.PathLike[str], *, check_all: bool = False) -> Folder:
    """Open a folder. The time hardly depends on its size, unless the checksums of all files are checked."""
    folder = Path(path)
    manifest = read_manifest(folder)
    with explain_os_errors("read", folder):
        try:
            return Folder(folder, manifest, check_all=check_all)
        except FileNotFoundError as error:
            if read_manifest(folder).generation == manifest.generation:
                raise damage_error("'{path}' is missing.", path=str(error.filename)) from error
    return open_folder(path, check_all=check_all)  # a writer has replaced the folder since its manifest was read


class FolderWriter:
    """A generation that is being written; its `facts` go to the manifest."""

    def __init__(self, folder: Path, generation: str, before: Manifest) -> None:
        self._folder, self._staging, self._before = folder, folder / generation, before
        self.facts, self._unchanged = deepcopy(before.facts), dict(before.files)
        self._arrays: dict[str, tuple[np.dtype[Any], tuple[int, ...]]] = {}  # with their types and shapes so far
        self._tables: dict[str, list[int]] = defaultdict(list)  # with the rows of their files
        # those that wait for a file
        self._texts: dict[str, pl.Series] = defaultdict(lambda: pl.Series(TEXT, [], dtype=pl.String))

    def save(self, name: str, rows: npt.ArrayLike) -> None:
        """Store an array, or append rows to one that this writer has stored."""
        values = np.asarray(rows)
        dtype, (n_rows, *row_shape) = self._arrays.get(name, (values.dtype, (0, *values.shape[1:])))
        if dtype.kind not in _KINDS or [*values.shape[1:]] != row_shape or not np.can_cast(values.dtype, dtype):
            raise TypeError(f"'{name}' holds rows of {row_shape} {dtype}, got {values!r}.")
        path, shape = self._place(f"{name}.npy"), (n_rows + len(values), *row_shape)
        with explain_os_errors("write", path), open(path, "r+b" if name in self._arrays else "xb") as file:
            write_array_header_1_0(file, {"descr": dtype.str, "fortran_order": False, "shape": shape})
            file.seek(0, os.SEEK_END)  # the length of the header does not depend on the number of rows
            file.write(np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8).data)
        self._arrays[name] = dtype, shape

    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
        """Return an array of zeros on disk, to be filled in any order."""
        self.save(name, np.zeros(shape, dtype))  # a full disk hit later, in a mapped page, would kill the process
        return np.asarray(open_memmap(self._place(f"{name}.npy"), "r+"))

    def read(self, name: str) -> Array:
        """Map an array that was stored, read-only; each call makes a new map."""
        return np.asarray(_map_array(self._place(f"{name}.npy")))

    def save_texts(self, name: str, texts: Sequence[str | None] | pl.Series) -> None:
        """Store a column of texts, or append to it. Lone surrogates become U+FFFD, None the empty text."""
        try:
            column = pl.Series(TEXT, texts, dtype=pl.String)
        except UnicodeEncodeError:
            column = pl.Series(TEXT, [_SURROGATES.sub("\ufffd", text or "") for text in texts])
        waiting = pl.concat([self._texts[name], column.alias(TEXT).fill_null("")])
        ends = waiting.str.len_bytes().cum_sum().to_numpy()
        start = written = 0
        while True:
            enough = FILE_BYTES * (1 + len(self._tables[name]) // N_EQUAL_FILES)
            stop = min(int(np.searchsorted(ends, written + enough)) + 1, start + FILE_ROWS)
            if stop > len(waiting):
                break
            self.save_frame(name, waiting[start:stop].to_frame())
            start, written = stop, int(ends[stop - 1])
        self._texts[name] = waiting[start:]

    def save_frame(self, name: str, frame: pl.DataFrame) -> None:
        """Store a table, or append rows to it."""
        for rows in list(frame.iter_slices(FILE_ROWS)) or [frame]:
            path = self._place(f"{name}/{len(self._tables[name]):06d}.parquet")
            with explain_os_errors("write", path):
                path.write_bytes(encode_frame(rows))
            self._tables[name].append(rows.height)

    def remove(self, group: str) -> None:
        """Leave out files of the generation before, by their name or group."""
        for name in [name for name in self._unchanged if name.startswith(f"{group}/") or name == f"{group}.npy"]:
            del self._unchanged[name]

    def _place(self, name: str) -> Path:
        """Return the path of a new file."""
        path = self._staging / name
        with explain_os_errors("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def publish(self) -> None:
        """Complete the generation with the files that are unchanged, and replace the manifest of the folder."""
        for name, waiting in self._texts.items():
            self.save_frame(name, waiting.to_frame())
        for name in self._tables:
            self.remove(name)
        staging, files = self._staging, {}
        with explain_os_errors("write to", self._folder):
            staging.mkdir(exist_ok=True)
            for path in filter(Path.is_file, staging.rglob("*")):
                name, group = path.relative_to(staging).as_posix(), path.parent.relative_to(staging).as_posix()
                with open(path, "rb") as file:
                    checksum = file_digest(file, "sha256").hexdigest()
                n_rows = self._tables[group][int(path.stem)] if path.suffix == ".parquet" else 0
                files[name] = StoredFile(path.stat().st_size, checksum, n_rows)
            for name in self._unchanged.keys() - files.keys():
                source, target = self._folder / self._before.generation / name, self._place(name)
                try:
                    os.link(source, target)
                except OSError:  # a file system without links
                    shutil.copyfile(source, target)
            created, files = datetime.now(UTC).isoformat(timespec="seconds"), self._unchanged | files
            manifest = Manifest(created=created, generation=staging.name, facts=self.facts, files=files)
            (staging / MANIFEST_NAME).write_bytes(seal(asdict(manifest)))
            for path in (*staging.rglob("*"), staging, self._folder):
                sync(path)
            os.replace(staging / MANIFEST_NAME, self._folder / MANIFEST_NAME)
            sync(self._folder)


@contextmanager
def write_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[FolderWriter]:
    """Write a folder completely or not at all. It needs space for the old and the new generation."""
    folder = Path(path)
    _check_replaceable(folder, overwrite)  # only a folder of ours gets a lock
    with explain_os_errors("make", folder):
        folder.mkdir(exist_ok=True)
    with _stage_generation(folder) as generation:
        _check_replaceable(folder, overwrite)  # another writer may have published in between
        yield (out := FolderWriter(folder, generation, Manifest()))
        out.publish()


@contextmanager
def update_folder(path: str | os.PathLike[str]) -> Iterator[tuple[Folder, FolderWriter]]:
    """Change files and facts of a folder, completely or not at all. The other files are linked, not copied."""
    folder = Path(path)
    read_manifest(folder)  # only a folder that is there gets a lock
    with _stage_generation(folder) as generation:
        before = open_folder(folder)
        yield before, (out := FolderWriter(folder, generation, before.manifest))
        out.publish()


def _check_replaceable(folder: Path, overwrite: bool) -> None:
    """Raise for a folder that is not ours, or that holds something worth keeping."""
    try:
        with suppress(errors.DamagedFolderError, errors.OlderFolderError, errors.NewerFolderError):
            read_manifest(folder)
    except errors.MissingFolderError:
        return
    if not overwrite:
        raise errors.FolderExistsError(path=str(folder), option=errors.Option("overwrite"))


@contextmanager
def _stage_generation(folder: Path) -> Iterator[str]:
    """Lock a folder, and yield the name of a new generation. Unless it is published, nothing is left of it."""
    lock, generation = acquire_lock(folder), f"data-{secrets.token_hex(8)}"
    try:
        yield generation
    finally:
        _remove_stale(folder, generation)
        if not os.path.lexists(folder / MANIFEST_NAME):
            with suppress(OSError):
                (folder / LOCK_NAME).unlink()
                folder.rmdir()  # fails if anything is in it
        lock.release()


def _remove_stale(folder: Path, new: str) -> None:
    """Remove the generations of failed and killed writers, and the one before the current."""
    generations = {entry.name for entry in folder.iterdir() if _GENERATION.fullmatch(entry.name)}
    try:
        stale = generations - {read_manifest(folder).generation}
    except errors.MissingFolderError:
        stale = generations
    except errors.StorageError:
        stale = generations & {new}  # it is unknown which of the others is current
    for name in stale:
        shutil.rmtree(folder / name, ignore_errors=True)  # refuses links; on Windows, what a reader has mapped stays
