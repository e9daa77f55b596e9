"""Files on this machine, files in any store that fsspec reaches by URL, and tables in files that have several."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from mixsearch.errors import SearchError

# What a URL begins with. A text may hold one further on.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_FILE_SCHEME = "file://"
_TABLE_MARK = "::"


@dataclass(frozen=True)
class RemoteFile:
    """A file in a store, with the part of `pathlib.Path` that the readers use. It can be pickled."""

    system: Any = field(repr=False)  # of fsspec
    path: str  # within the system
    size: int | None = field(default=None, compare=False)  # in bytes, if the store reports it

    def __str__(self) -> str:
        return str(self.system.unstrip_protocol(self.path))

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def stem(self) -> str:
        """The name without its last suffix."""
        return PurePosixPath(self.path).stem

    @property
    def suffix(self) -> str:
        """The last suffix of the name."""
        return PurePosixPath(self.path).suffix

    def open(self, mode: str) -> BinaryIO:
        """Open the file."""
        return cast(BinaryIO, self.system.open(self.path, mode))

    def with_name(self, name: str) -> RemoteFile:
        """Return the file with another name in the same folder."""
        return RemoteFile(self.system, str(PurePosixPath(self.path).with_name(name)))

    def is_file(self) -> bool:
        """Return whether the store has this file."""
        return bool(self.system.isfile(self.path))


StoredFile = Path | RemoteFile


@dataclass(frozen=True)
class TableFile:
    """One table of a database, or one sheet of a workbook, with the part of `pathlib.Path` that the readers use."""

    file: StoredFile
    table: str

    def __str__(self) -> str:
        return f"{self.file}{_TABLE_MARK}{self.table}"

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.file.name

    @property
    def stem(self) -> str:
        """The name of the file without its last suffix."""
        return self.file.stem

    @property
    def suffix(self) -> str:
        """The last suffix of the name of the file."""
        return self.file.suffix

    def open(self, mode: str) -> BinaryIO:
        """Open the file."""
        return cast(BinaryIO, self.file.open(mode))

    def with_name(self, name: str) -> StoredFile:
        """Return the file with another name in the same folder."""
        return self.file.with_name(name)

    def is_file(self) -> bool:
        """Return whether the file exists."""
        return self.file.is_file()


File = StoredFile | TableFile


def split_table(name: str) -> tuple[str, str | None]:
    """Return the name of a file, and that of its table if it has one: "shop.sqlite::reviews"."""
    file, mark, table = name.rpartition(_TABLE_MARK)
    return (file, table) if mark and file and not Path(name).exists() else (name, None)


def get_stored(file: File) -> StoredFile:
    """Return the file of a table, or the file itself."""
    return file.file if isinstance(file, TableFile) else file


def is_remote(name: str) -> bool:
    """Return whether a name is a URL of a store."""
    return _SCHEME.match(name) is not None and not name.startswith(_FILE_SCHEME)


def resolve_file(name: str | os.PathLike[str]) -> StoredFile:
    """Return the file with a name, whether it exists or not."""
    plain = os.fspath(name)
    return RemoteFile(*_connect(plain)) if is_remote(plain) else Path(plain.removeprefix(_FILE_SCHEME))


def get_size(file: File) -> int | None:
    """Return the stored size of a file in bytes; None if its store does not report it."""
    stored = get_stored(file)
    return stored.size if isinstance(stored, RemoteFile) else stored.stat().st_size


def name_within(file: File, folder: StoredFile | None) -> str:
    """Return the path of a file relative to a folder, or its full path without a folder.

    Relative paths have forward slashes on every system, so that an index does not depend on where it was built.
    """
    if isinstance(folder, RemoteFile):
        return cast(RemoteFile, file).path.removeprefix(folder.path).lstrip("/")
    return str(file) if folder is None else cast(Path, file).relative_to(folder).as_posix()


def find_remote_files(url: str) -> tuple[RemoteFile | None, list[RemoteFile]]:
    """Return the folder of a URL, or None, and its files: one file, those of the folder, or those of a pattern."""
    system, path = _connect(url)
    try:
        return _list_files(system, path)
    except ImportError as error:
        raise _make_package_error(url, error) from error
    # Each store raises errors of its own package.
    except Exception as error:
        raise SearchError(
            "Cannot list {url!r} ({reason}). Check the address, the network and the credentials of this machine.",
            code="store_unreachable",
            url=url,
            reason=f"{type(error).__name__}: {error}",
        ) from error


def is_hidden(path: PurePosixPath | Path) -> bool:
    """Return whether a file, or a folder on its path, has a name that starts with a dot."""
    return any(part.startswith(".") for part in path.parts)


def _list_files(system: Any, path: str) -> tuple[RemoteFile | None, list[RemoteFile]]:
    try:
        info = system.info(path)
    except FileNotFoundError:
        return None, _sort_files(system, system.glob(path, detail=True))
    if info["type"] == "file":
        return None, [RemoteFile(system, path, info.get("size"))]
    folder = RemoteFile(system, path.rstrip("/"))
    found = _sort_files(system, system.find(path, detail=True))
    return folder, [file for file in found if not is_hidden(PurePosixPath(name_within(file, folder)))]


def _sort_files(system: Any, infos: dict[str, dict[str, Any]]) -> list[RemoteFile]:
    """Return files in the order in which local files are read."""
    paths = sorted((path for path, info in infos.items() if info["type"] == "file"), key=PurePosixPath)
    return [RemoteFile(system, path, infos[path].get("size")) for path in paths]


def _connect(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise SearchError(
            "Reading {url!r} needs fsspec, which is not installed: pip install 'mixsearch[dask]'.",
            code="package_missing",
            url=url,
            package="fsspec",
        ) from error
    try:
        return fsspec.url_to_fs(url)
    except ImportError as error:
        raise _make_package_error(url, error) from error
    except ValueError as error:
        raise SearchError(
            "{url!r} is neither a path nor a URL that fsspec knows, such as s3://, gs:// or https:// ({reason}).",
            code="unknown_protocol",
            url=url,
            reason=str(error),
        ) from error


def _make_package_error(url: str, error: ImportError) -> SearchError:
    """Return the error for a protocol without its package; the text of fsspec names the package."""
    return SearchError(
        "The protocol of {url!r} needs a package that is not installed ({reason}). Install it with pip here and, for "
        "work on a cluster, on the workers.",
        code="package_missing",
        url=url,
        reason=str(error),
    )
