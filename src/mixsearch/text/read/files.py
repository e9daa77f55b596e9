"""A file of this machine, or of any store that fsspec reaches by a URL."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from mixsearch.errors import SearchError

_HERE = "file://"


@dataclass(frozen=True)
class RemoteFile:
    """A file in a store, with as much of `pathlib.Path` as the readers use. It can be sent to another machine."""

    system: Any = field(repr=False)  # of fsspec
    path: str  # within the system
    size: int | None = field(default=None, compare=False)  # in bytes, where the store tells

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
        """The file, opened."""
        return cast(BinaryIO, self.system.open(self.path, mode))

    def with_name(self, name: str) -> RemoteFile:
        """A file of another name in the same folder."""
        return RemoteFile(self.system, str(PurePosixPath(self.path).with_name(name)))

    def is_file(self) -> bool:
        """Whether the store has it."""
        return bool(self.system.isfile(self.path))


File = Path | RemoteFile


def is_remote(name: str) -> bool:
    """Whether a name is a URL of a store."""
    return "://" in name and not name.startswith(_HERE)


def file_of(name: str | os.PathLike[str]) -> File:
    """The file of a name, whether it is there or not."""
    plain = os.fspath(name)
    return RemoteFile(*_reach(plain)) if is_remote(plain) else Path(plain.removeprefix(_HERE))


def size_of(file: File) -> int | None:
    """Bytes of a file, as it is stored; None where its store does not tell."""
    return file.size if isinstance(file, RemoteFile) else file.stat().st_size


def name_within(file: File, folder: File | None) -> str:
    """What to call a file of a folder: its path from there on, or all of it."""
    if isinstance(folder, RemoteFile):
        return cast(RemoteFile, file).path.removeprefix(folder.path).lstrip("/")
    return str(file) if folder is None else str(cast(Path, file).relative_to(folder))


def find_remote(url: str) -> tuple[RemoteFile | None, list[RemoteFile]]:
    """The folder that a URL means, if it is one, and the files: one, those in the folder, or those of a pattern."""
    system, path = _reach(url)
    try:
        return _look(system, path)
    except ImportError as error:
        raise _missing(url, error) from error
    # Each store raises what its package has made up; whatever it is, the user must know which URL it was.
    except Exception as error:
        raise SearchError(
            f"Could not list {url!r} ({type(error).__name__}: {error}): check the address, and that this machine has "
            "the network and the credentials for it."
        ) from error


def _look(system: Any, path: str) -> tuple[RemoteFile | None, list[RemoteFile]]:
    try:
        info = system.info(path)
    except FileNotFoundError:
        return None, _sorted_files(system, system.glob(path, detail=True))
    if info["type"] == "file":
        return None, [RemoteFile(system, path, info.get("size"))]
    folder = RemoteFile(system, path.rstrip("/"))
    found = _sorted_files(system, system.find(path, detail=True))
    return folder, [file for file in found if not is_hidden(PurePosixPath(name_within(file, folder)))]


def _sorted_files(system: Any, infos: dict[str, dict[str, Any]]) -> list[RemoteFile]:
    """Files in the order that files of this machine have."""
    paths = sorted((path for path, info in infos.items() if info["type"] == "file"), key=PurePosixPath)
    return [RemoteFile(system, path, infos[path].get("size")) for path in paths]


def is_hidden(path: PurePosixPath | Path) -> bool:
    """Whether a file, or a folder that it is in, begins with a point."""
    return any(part.startswith(".") for part in path.parts)


def _reach(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise SearchError(
            f"{url!r} is read by fsspec, which is not installed: pip install 'mixsearch[dask]'."
        ) from error
    try:
        return fsspec.url_to_fs(url)
    except ImportError as error:
        raise _missing(url, error) from error
    except ValueError as error:
        raise SearchError(
            f"Found {url!r}, needed a path or a URL that fsspec knows, such as s3://, gs:// or https:// ({error})."
        ) from error


def _missing(url: str, error: ImportError) -> SearchError:
    """What to install for a protocol; fsspec's own sentence names the package."""
    return SearchError(
        f"Could not reach {url!r}, whose protocol needs a package of its own ({error}): pip install it here and, for "
        "work on a cluster, on the workers."
    )
