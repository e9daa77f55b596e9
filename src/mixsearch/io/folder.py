"""Folders of arrays and tables: each write makes a new generation of files, and renaming its manifest publishes it."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import deepcopy
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import blake2b, file_digest
from io import BytesIO, FileIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.lib.format import open_memmap, read_array_header_1_0, read_magic, write_array_header_1_0

from mixsearch import __version__, errors
from mixsearch._typing import Array
from mixsearch.io.disk import LOCK_NAME, acquire_lock, damage_error, explain_os_errors, sync_folder, sync_handle
from mixsearch.io.parquet import FILE_ROWS, TEXT, StoredFile, Table, Texts, check_parquet, encode_frame

MANIFEST_NAME, FORMAT = "manifest.json", "mixsearch folder"
MAX_MANIFEST_BYTES = 1 << 26
# So many bytes are compared with their checksums when a folder is opened, the smallest files first: in 5 ms.
OPEN_BYTES = 4 << 20
# Characters of texts at which another file is started. A file is read and compared with its checksum before its first
# text: in 1 ms. After every 32 files they get larger, since a process can have about a thousand open.
FILE_CHARACTERS, N_EQUAL_FILES = 1 << 20, 32
_FILE_NAME = re.compile(r"[a-z0-9_]+(/[a-z0-9_]+)*\.(npy|parquet)")
_GENERATION = re.compile(r"data-[0-9a-f]{16}")
_KINDS = "biufcSU"  # of values that a plain file can hold: numbers, booleans, texts of fixed length
_SURROGATES = re.compile("[\ud800-\udfff]")
new_hash = partial(blake2b, digest_size=16)


@dataclass(frozen=True)
class Manifest:
    """The contents of a folder. An update leaves most files in the generations before it."""

    kind: str
    version: int
    written_by: str
    created: str
    generation: str
    facts: dict[str, Any]
    files: dict[str, StoredFile]

    def locate(self, folder: Path) -> dict[str, Path]:
        """Return the path of every file."""
        return {name: folder / file.generation / name for name, file in self.files.items()}


def seal(fields: Mapping[str, Any]) -> bytes:
    """Encode a manifest as JSON, with the checksum of the other lines in the first one."""
    body = json.dumps({"format": FORMAT, **fields}, indent=1, allow_nan=False, default=np.generic.item)[2:].encode()
    return b'{"checksum": "%s",\n%s' % (new_hash(body).hexdigest().encode(), body)


def read_manifest(folder: Path, kind: str | None = None, version: int | None = None) -> Manifest:
    """Read a manifest, of a kind and version if they are given; each reason why it cannot be read has its error."""
    path = folder / MANIFEST_NAME
    with explain_os_errors("read", folder):
        if not os.path.lexists(path):
            raise _explain_missing(folder)
        text = path.read_bytes() if _measure(path) <= MAX_MANIFEST_BYTES else b""
    line, _, body = text.partition(b"\n")
    if line != b'{"checksum": "%s",' % new_hash(body).hexdigest().encode():
        if text and FORMAT.encode() not in text and not (folder / LOCK_NAME).exists():
            raise errors.ForeignFolderError(path=str(folder))
        raise damage_error("'{path}' is damaged or was edited.", path=str(path))
    try:
        fields = json.loads(text)
        del fields["checksum"], fields["format"]
        _check_kind(folder, fields, kind, version)
        files = {name: StoredFile(**file) for name, file in fields["files"].items()}
        for name, file in files.items():  # before a name becomes part of a path
            is_named = _FILE_NAME.fullmatch(name) and _GENERATION.fullmatch(file.generation)
            are_numbers = all(type(each) is int for each in (file.size, file.n_rows, file.block_rows))
            if not is_named or not are_numbers or file.size < 1:
                raise ValueError(f"file {name!r}")
            if not 0 <= file.n_rows <= FILE_ROWS or not 0 < file.block_rows <= FILE_ROWS:
                raise ValueError(f"rows of {name!r}")
        if not _GENERATION.fullmatch(fields["generation"]) or not isinstance(fields["facts"], dict):
            raise ValueError("generation or facts")
        return Manifest(**fields | {"files": files})
    except errors.StorageError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise damage_error("'{path}' cannot be parsed ({error}).", path=str(path), error=repr(error)) from error


def _explain_missing(folder: Path) -> errors.StorageError:
    if folder.exists() and not folder.is_dir():
        sentence = "'{path}' is a file, not a folder written by mixsearch. Check the path."
        return errors.ForeignFolderError(sentence, code="not_a_folder", path=str(folder))
    names = os.listdir(folder) if folder.is_dir() else []
    kind = errors.ForeignFolderError if names else errors.MissingFolderError
    return (errors.UnfinishedFolderError if LOCK_NAME in names else kind)(path=str(folder))


def _check_kind(folder: Path, fields: Mapping[str, Any], kind: str | None, version: int | None) -> None:
    found, facts = fields["version"], {"path": str(folder), "written_by": fields["written_by"], "kind": fields["kind"]}
    if type(found) is not int or found < 1:
        raise ValueError(f"version {found!r}")
    if kind not in (None, fields["kind"]):
        sentence = "'{path}' holds a {found}, not a {kind}. Check the path."
        raise errors.ForeignFolderError(sentence, code="other_kind", path=str(folder), found=fields["kind"], kind=kind)
    if version is not None and found != version:
        raise (errors.OlderFolderError if found < version else errors.NewerFolderError)(**facts, found=found)


def _measure(path: Path) -> int:
    """Return the size of a file; a pipe, a device or a link is refused before it is opened."""
    found = os.lstat(path)
    if not stat.S_ISREG(found.st_mode):
        raise damage_error("'{path}' is not a file.", path=str(path))
    return found.st_size


def _read_time(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:  # also if it goes away between two calls
        return 0


def _hash_file(path: Path) -> str:
    with open(path, "rb") as file:
        return file_digest(file, new_hash).hexdigest()


def _map_array(path: Path) -> tuple[Array, mmap]:
    try:
        with open(str(path), "rb") as file:
            read_magic(file)
            shape, is_fortran, dtype = read_array_header_1_0(file)
            size = file.tell() + math.prod(shape) * dtype.itemsize
            if dtype.kind not in _KINDS or not dtype.isnative or is_fortran or size != os.fstat(file.fileno()).st_size:
                raise ValueError(f"{dtype} of shape {shape}")
            array = np.memmap(file, dtype, "r", file.tell(), shape)
    except OSError:
        raise
    except Exception as error:  # of the parser of headers, of many kinds
        raise damage_error("'{path}' is not an array ({error}).", path=str(path), error=str(error)) from error
    mapped: Any = array
    return np.asarray(array), mapped._mmap


class Folder(Mapping[str, Array]):
    """An open folder: arrays by name, mapped read-only. It does not change when the folder on disk is replaced."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest
        self.facts, self.generation = manifest.facts, manifest.generation
        self._paths = manifest.locate(path)
        self._arrays: dict[str, Array] = {}
        self._maps: dict[str, mmap] = {}  # of all files: a writer may remove them at any time, but a map keeps them
        self._checked: set[str] = set()
        self._tables: dict[str, Table] = {}  # they cache decoded blocks
        for name, file in self._paths.items():
            size, n_written = _measure(file), manifest.files[name].size
            if size != n_written:
                sentence = "'{path}' has {n_bytes:,} bytes, but {n_written:,} were written."
                raise damage_error(sentence, path=str(file), n_bytes=size, n_written=n_written)
            if name.endswith(".npy"):
                self._arrays[name.removesuffix(".npy")], self._maps[name] = _map_array(file)
            else:
                with open(file, "rb") as opened:
                    self._maps[name] = mmap(opened.fileno(), 0, access=ACCESS_READ)
        n_bytes = 0
        for name in sorted(self._maps, key=lambda name: len(self._maps[name])):
            n_bytes += len(self._maps[name])
            if n_bytes <= OPEN_BYTES:
                self._compare(name, self._maps[name])

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def _compare(self, name: str, data: bytes | mmap) -> None:
        if new_hash(data).hexdigest() != self.manifest.files[name].checksum:
            sentence = "'{path}' is damaged: its bytes have changed since they were written."
            raise damage_error(sentence, path=str(self._paths[name]))

    def _load(self, name: str) -> bytes:
        """Read a file of a table, and check it when it is first used."""
        data = self._maps[name][:]
        if name not in self._checked:
            self._compare(name, data)
            try:
                check_parquet(data, self.manifest.files[name].n_rows)
            except Exception as error:
                sentence = "'{path}' is damaged ({error})."
                raise damage_error(sentence, path=str(self._paths[name]), error=str(error)) from error
            self._checked.add(name)
        return data

    def has_table(self, name: str) -> bool:
        """Return whether there is a table of this name."""
        return f"{name}/000000.parquet" in self._maps

    def table(self, name: str) -> Table:
        """Open a table."""
        if name not in self._tables:
            self._tables[name] = Table(self._list_files([name]), self.manifest.files, self._load)
        return self._tables[name]

    def texts(self, *names: str) -> Texts:
        """Open a column of texts, or several as one. Keep it: it caches decoded blocks."""
        return Texts(self._list_files(names), self.manifest.files, self._load)

    def _list_files(self, groups: Sequence[str]) -> list[str]:
        names = sorted(name for name in self.manifest.files if name.endswith(".parquet"))
        listed = [[name for name in names if name.rpartition("/")[0] == group] for group in groups]
        if not all(listed):
            raise damage_error("'{path}' lacks one of {tables}.", path=str(self.path), tables=", ".join(groups))
        return [name for group in listed for name in group]

    def sizes(self) -> dict[str, int]:
        """Return the bytes on disk per group of files, the first part of their names."""
        sums: dict[str, int] = {}
        for name, stored in self.manifest.files.items():
            group = re.split(r"[/.]", name)[0]
            sums[group] = sums.get(group, 0) + stored.size
        return sums

    def verify(self) -> None:
        """Read every byte, and raise `DamagedFolderError` for the first file that has changed."""
        changed = next((path for name, path in self._paths.items() if not self._is_same(name, path)), None)
        if read_generation(self.path) != self.generation:
            sentence = "'{path}' was replaced since it was opened. Open it again, and verify that."
            raise errors.StorageError(sentence, code="folder_replaced", path=str(self.path))
        if changed is not None:
            raise damage_error("'{path}' is missing, or has changed since it was written.", path=str(changed))

    def _is_same(self, name: str, path: Path) -> bool:
        # Read, not mapped: a failing disk then raises an error instead of killing the process.
        with explain_os_errors("read", path), suppress(FileNotFoundError):
            return _measure(path) == self.manifest.files[name].size and (
                _hash_file(path) == self.manifest.files[name].checksum
            )
        return False

    def check_sizes(self) -> None:
        """Raise `DamagedFolderError` if a file was cut in place: reading what is gone would end the process."""
        for name, mapped in self._maps.items():
            if mapped.size() < len(mapped):
                raise damage_error("'{path}' was cut while it was in use.", path=str(self._paths[name]))

    def times(self) -> tuple[int, ...]:
        """Return when each file was changed, in nanoseconds; 0 for one that is gone."""
        return tuple(map(_read_time, self._paths.values()))

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Report a damaged folder instead of an unexpected error that follows from it."""
        self.check_sizes()
        try:
            yield
        except errors.Coded:
            raise
        except Exception as error:
            self.verify()
            if isinstance(error, OSError | np.linalg.LinAlgError | pl.exceptions.PolarsError):
                sentence = "'{path}' cannot be read ({error})."
                raise damage_error(sentence, path=str(self.path), error=str(error)) from error
            raise


def open_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Folder:
    """Open a folder. The time hardly depends on its size."""
    folder, tried = Path(path), ""
    while True:
        manifest = read_manifest(folder, kind, version)
        with explain_os_errors("read", folder):
            try:
                return Folder(folder, manifest)
            except FileNotFoundError as error:
                if manifest.generation == tried:
                    raise damage_error("'{path}' is missing.", path=str(error.filename)) from error
                tried = manifest.generation  # a writer may have replaced the folder since its manifest was read


def read_generation(path: str | os.PathLike[str]) -> str:
    """Return the name of the newest generation of a folder, which changes with every write."""
    return read_manifest(Path(path)).generation


class ArrayStream(AbstractContextManager["ArrayStream"]):
    """An array of unknown length, to which rows are appended. Complete when it is closed."""

    def __init__(self, out: FolderWriter, name: str, dtype: np.dtype[Any], row_shape: tuple[int, ...]) -> None:
        if dtype.kind not in _KINDS:
            raise TypeError(f"An array of {dtype} cannot be stored.")
        self._out, self._name, self._dtype, self._row_shape = out, f"{name}.npy", dtype, row_shape
        self._file, self._n_rows = out._create(self._name), 0
        self._write_header()

    def _write_header(self) -> None:
        header = BytesIO()  # of the same length for any number of rows
        fields = {"descr": self._dtype.str, "fortran_order": False, "shape": (self._n_rows, *self._row_shape)}
        write_array_header_1_0(header, fields)
        _write_all(self._file, header.getbuffer())

    def append(self, rows: npt.ArrayLike) -> None:
        values = np.asarray(rows)
        if values.shape[1:] != self._row_shape or (values.size and not np.can_cast(values.dtype, self._dtype)):
            raise TypeError(f"'{self._name}' holds rows of {self._row_shape} {self._dtype}, got {values!r}.")
        _write_all(self._file, np.ascontiguousarray(values, self._dtype).reshape(-1).view(np.uint8).data)
        self._n_rows += len(values)

    def close(self) -> None:
        if not self._file.closed:
            self._file.seek(0)
            self._write_header()
            self._out._finish(self._name, self._file)

    def __exit__(self, kind: object, *_: object) -> None:
        self.close() if kind is None else self._file.close()


class TextStream(AbstractContextManager["TextStream"]):
    """A column of texts, to which texts are appended. Lone surrogates become U+FFFD, None the empty text."""

    def __init__(self, out: FolderWriter, name: str) -> None:
        self._out, self._name, self._n_files, self._n_characters = out, name, 0, 0
        self._texts: list[str] = []

    def append(self, texts: Iterable[str | None]) -> None:
        for text in texts:
            self._texts.append(text or "")
            self._n_characters += len(self._texts[-1])
            enough = FILE_CHARACTERS * (1 + self._n_files // N_EQUAL_FILES)
            if len(self._texts) == FILE_ROWS or self._n_characters >= enough:
                self._flush()

    def _flush(self) -> None:
        try:
            frame = pl.DataFrame({TEXT: self._texts}, {TEXT: pl.String})
        except UnicodeEncodeError:
            frame = pl.DataFrame({TEXT: [_SURROGATES.sub("\ufffd", text) for text in self._texts]})
        self._out._write_frame(f"{self._name}/{self._n_files:06d}.parquet", frame)
        self._texts, self._n_characters, self._n_files = [], 0, self._n_files + 1

    def close(self) -> None:
        if self._texts or not self._n_files:
            self._flush()

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.close()


def _write_all(file: FileIO, data: bytes | memoryview) -> None:
    left = memoryview(data)
    with explain_os_errors("write", Path(file.name)):
        while left:  # on a full disk, a part is written first
            left = left[file.write(left) :]


def _reserve(handle: int, size: int) -> None:
    """Reserve the space of a file: a full disk hit later, in a mapped page, would kill the process."""
    if sys.platform == "linux":  # others have no such call, nor have some file systems
        try:
            os.posix_fallocate(handle, 0, size)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                raise


class FolderWriter:
    """A generation that is being written; its `facts` go to the manifest."""

    def __init__(self, folder: Path, before: Manifest | None = None) -> None:
        self._folder, self._generation = folder, f"data-{secrets.token_hex(8)}"
        self.facts: dict[str, Any] = {} if before is None else deepcopy(before.facts)
        self._files: dict[str, StoredFile] = {} if before is None else dict(before.files)
        self._streams: list[ArrayStream | TextStream] = []
        self._opened: list[FileIO] = []

    def save(self, name: str, array: npt.ArrayLike) -> None:
        """Store an array at once."""
        values = np.asarray(array)
        with self.stream(name, values.dtype, values.shape[1:]) as stream:
            stream.append(values)

    def stream(self, name: str, dtype: npt.DTypeLike, row_shape: tuple[int, ...] = ()) -> ArrayStream:
        """Start an array of unknown length, to which rows are appended."""
        self._streams.append(stream := ArrayStream(self, name, np.dtype(dtype), tuple(row_shape)))
        return stream

    def texts(self, name: str) -> TextStream:
        """Start a column of texts, to which lists of str are appended."""
        self.remove(name)
        self._streams.append(stream := TextStream(self, name))
        return stream

    def frame(self, name: str, frame: pl.DataFrame) -> None:
        """Store a table."""
        self.remove(name)
        for i, rows in enumerate(list(frame.iter_slices(FILE_ROWS)) or [frame]):
            self._write_frame(f"{name}/{i:06d}.parquet", rows)

    @contextmanager
    def allocate(self, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Iterator[Array]:
        """Yield an array of zeros on disk, to be filled in any order; it is read-only after the `with` block."""
        file = self._create(f"{name}.npy")
        with explain_os_errors("write", Path(file.name)):
            array = np.asarray(mapped := open_memmap(file.name, "w+", dtype, shape))
            _reserve(file.fileno(), os.fstat(file.fileno()).st_size)
        yield array
        array.flags.writeable = False
        mapped.flush()
        self._finish(f"{name}.npy", file)

    def read(self, name: str) -> Array:
        """Map a finished array, read-only; each call makes a new map."""
        return _map_array(self._folder / self._files[f"{name}.npy"].generation / f"{name}.npy")[0]

    def remove(self, group: str) -> None:
        """Leave out files of the generation before, by their name or group."""
        for name in [name for name in self._files if name.startswith(f"{group}/") or name == f"{group}.npy"]:
            del self._files[name]

    def _create(self, name: str) -> FileIO:
        path = self._folder / self._generation / name
        if not _FILE_NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid name: use lower-case letters, digits and '_', separated by '/'.")
        with explain_os_errors("write", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._opened.append(FileIO(path, "x+"))
        return self._opened[-1]

    def _write_frame(self, name: str, frame: pl.DataFrame) -> None:
        data, block_rows = encode_frame(frame)
        file = self._create(name)
        _write_all(file, data)
        self._finish(name, file, frame.height, block_rows)

    def _finish(self, name: str, file: FileIO, n_rows: int = 0, block_rows: int = 1) -> None:
        """Sync a file, and list it with its checksum."""
        with explain_os_errors("write", Path(file.name)):
            sync_handle(file.fileno())
            size, checksum = os.fstat(file.fileno()).st_size, _hash_file(Path(file.name))
            file.close()
        self._files[name] = StoredFile(self._generation, size, checksum, n_rows, block_rows)

    def discard(self) -> None:
        """Remove all files, unless they were published; `_remove_unused` does not know for a damaged folder."""
        with suppress(OSError):
            path, staging = self._folder / MANIFEST_NAME, self._folder / self._generation
            if not path.is_file() or self._generation.encode() not in path.read_bytes():
                shutil.rmtree(staging, ignore_errors=True)

    def publish(self, kind: str, version: int) -> None:
        """Complete all files, and replace the manifest of the folder."""
        for stream in self._streams:
            stream.close()
        created, staging = datetime.now(UTC).isoformat(timespec="seconds"), self._folder / self._generation
        manifest = Manifest(kind, version, __version__, created, self._generation, self.facts, self._files)
        with explain_os_errors("write to", self._folder):
            staging.mkdir(exist_ok=True)
            with open(staging / MANIFEST_NAME, "xb") as file:
                file.write(seal(asdict(manifest)))
                file.flush()
                sync_handle(file.fileno())
            for folder in (*(Path(top) for top, _, _ in os.walk(staging)), self._folder):
                sync_folder(folder)
            os.replace(staging / MANIFEST_NAME, self._folder / MANIFEST_NAME)
            sync_folder(self._folder)


@contextmanager
def write_folder(
    path: str | os.PathLike[str], *, kind: str, version: int, overwrite: bool = False
) -> Iterator[FolderWriter]:
    """Write a folder completely or not at all. It needs space for the old and the new generation."""
    folder, is_new = Path(path), not os.path.lexists(path)
    with explain_os_errors("make", folder):
        folder.mkdir() if is_new else None
    try:
        _check_replaceable(folder, kind, version, overwrite)
        with _hold_lock(folder):
            _check_replaceable(folder, kind, version, overwrite)  # another writer may have published in between
            with _write_generation(folder, kind, version) as out:
                yield out
    except BaseException:
        with suppress(OSError):
            folder.rmdir() if is_new else None  # fails if anything is in it
        raise


@contextmanager
def update_folder(path: str | os.PathLike[str], *, kind: str, version: int) -> Iterator[tuple[Folder, FolderWriter]]:
    """Change some files and facts of a folder, completely or not at all. The other files stay where they are."""
    folder = Path(path)
    read_manifest(folder, kind, version)  # only a folder that is there gets a lock
    with _hold_lock(folder):
        now = open_folder(folder, kind=kind, version=version)
        with _write_generation(folder, kind, version, now.manifest) as out:
            yield now, out


def _check_replaceable(folder: Path, kind: str, version: int, overwrite: bool) -> None:
    """Raise for a folder that is not ours, or that holds something worth keeping."""
    try:
        read_manifest(folder, kind, version)
    except (errors.MissingFolderError, errors.UnfinishedFolderError):
        return
    except (errors.DamagedFolderError, errors.OlderFolderError, errors.NewerFolderError):
        pass
    if not overwrite:
        raise errors.FolderExistsError(path=str(folder), kind=kind, option=errors.Option("overwrite"))


@contextmanager
def _hold_lock(folder: Path) -> Iterator[None]:
    lock = acquire_lock(folder)
    try:
        yield
    finally:
        with suppress(OSError):
            if not (folder / MANIFEST_NAME).exists():
                (folder / LOCK_NAME).unlink()  # nothing was published
        lock.release()


@contextmanager
def _write_generation(folder: Path, kind: str, version: int, before: Manifest | None = None) -> Iterator[FolderWriter]:
    _remove_unused(folder)
    out = FolderWriter(folder, before)
    try:
        yield out
        out.publish(kind, version)
    finally:
        for file in out._opened:
            file.close()
        out.discard()
        _remove_unused(folder)


def _remove_unused(folder: Path) -> None:
    """Remove the files that the manifest does not name: replaced ones, and those of failed or killed writers."""
    try:
        used = {*read_manifest(folder).locate(folder).values()}
    except (errors.MissingFolderError, errors.UnfinishedFolderError):
        used = set()
    except errors.StorageError:
        return  # it is unknown which files are current
    for entry in folder.iterdir():
        if _GENERATION.fullmatch(entry.name) and not entry.is_symlink():
            for path in sorted({entry, *entry.rglob("*")} - used, reverse=True):  # files before their folders
                with suppress(OSError):  # a folder with files; on Windows, a file that a reader has mapped
                    path.rmdir() if path.is_dir() else path.unlink()
