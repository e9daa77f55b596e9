"""From what the caller names to files: which they are, what they hold, and their bytes."""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, cast

from mixsearch.errors import SearchError
from mixsearch.text.options import FORMATS, Format
from mixsearch.text.read.files import File, file_of, find_remote, is_hidden, is_remote, size_of

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_FORMAT_OF_SUFFIX: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mtx": "mtx",
    ".npz": "npz",
}
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, OSError)


@dataclass(frozen=True)
class Sources:
    """The files of a corpus, all of one format."""

    paths: list[File]  # empty for standard input
    format: Format
    root: File | None = None  # names of files are relative to this folder
    note: str | None = None

    @property
    def n_bytes(self) -> int | None:
        """Bytes of all files, as they are on disk; None for standard input, and where a store does not tell."""
        sizes = [size_of(path) for path in self.paths]
        return sum(size or 0 for size in sizes) if sizes and None not in sizes else None


class Progress:
    """How many bytes of the files have been read."""

    def __init__(self) -> None:
        self.done = 0
        self._lock = Lock()

    def add(self, n_bytes: int) -> None:
        """Count more bytes; files are read by several threads."""
        with self._lock:
            self.done += n_bytes


class _CountedBytes(io.RawIOBase):
    """A file that reports what is read from it."""

    def __init__(self, raw: BinaryIO, progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._progress.add(len(data))
        return len(data)


class _Stretch:
    """A file from one place to another."""

    def __init__(self, raw: BinaryIO, start: int, stop: int) -> None:
        raw.seek(start)
        self._raw, self._left = raw, stop - start

    def read(self, size: int) -> bytes:
        data = self._raw.read(min(size, self._left))
        self._left -= len(data)
        return data


def find_sources(source: Source, format: Format | None) -> Sources:
    """The files that a path, a folder, a glob or a list of them means, and their format."""
    if source == "-":
        return Sources([], format or _format_of_input())
    named = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not named:
        raise SearchError("Found an empty list of files, needed at least one.")
    found = [_expand(os.fspath(name)) for name in named]
    paths = [path for _, files in found for path in files]
    root = found[0][0] if len(named) == 1 else None
    if format is not None:
        return Sources(paths, format, root)
    formats = sorted({_format_of(path) for path in paths})
    if len(formats) > 1:
        raise SearchError(
            f"Found files of several formats ({', '.join(formats)}), needed one: name the files of one format, or pass "
            f"format= (one of {', '.join(FORMATS)})."
        )
    if formats == ["files"] and len(paths) == 1 and root is None:
        note = f"Each line of {str(paths[0])!r} is a document; format='files' makes one document of the file."
        return Sources(paths, "lines", root, note)
    return Sources(paths, formats[0], root)


def _expand(name: str) -> tuple[File | None, Sequence[File]]:
    """The folder that a name means, if it is one, and the files."""
    folder, files = find_remote(name) if is_remote(name) else _find_here(cast(Path, file_of(name)))
    if folder is not None and not files:
        raise SearchError(f"Found no files in the folder {name!r}, needed at least one.")
    if not files:
        raise _nothing_at(name)
    return folder, files


def _find_here(path: Path) -> tuple[Path | None, list[Path]]:
    if path.is_dir():
        return path, sorted(f for f in path.rglob("*") if f.is_file() and not is_hidden(f.relative_to(path)))
    if path.exists():
        return None, [path]
    return None, sorted(Path(match) for match in glob.glob(str(path), recursive=True) if Path(match).is_file())


def _nothing_at(name: str) -> SearchError:
    path = Path(name)
    near = path.parent if path.parent.is_dir() else None
    has = "" if near is None else f" The folder {str(near)!r} has: {_glance(near)}."
    return SearchError(
        f"Found no file {name!r}, needed a file, a folder, a pattern such as 'texts/*.txt', or '-'.{has}"
    )


def _glance(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "") if names else "nothing"


def strip_compression_suffix(path: File) -> str:
    """The name of a file without the suffix of its compression."""
    return path.stem if is_compressed(path) else path.name


def is_compressed(path: File) -> bool:
    """Whether the name of a file says that it is compressed."""
    return path.suffix.lower() in _COMPRESSIONS


def _format_of(path: File) -> Format:
    name = strip_compression_suffix(path).lower()
    if name.startswith("docword."):
        return "docword"
    return _FORMAT_OF_SUFFIX.get(Path(name).suffix, "files")


def _format_of_input() -> Format:
    """JSON lines or plain ones, by the first byte."""
    start = cast(io.BufferedReader, sys.stdin.buffer).peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "jsonl" if start.startswith(b"{") else "lines"


@contextmanager
def open_bytes(path: File | None, progress: Progress, span: range | None = None) -> Iterator[BinaryIO]:
    """The bytes of a file, decompressed, or of standard input; what breaks on the way is said with its name.

    With a span of bytes, only the lines that begin within it.
    """
    name = repr(str(path)) if path is not None else "standard input"
    try:
        if path is None:
            yield cast(BinaryIO, io.BufferedReader(_CountedBytes(sys.stdin.buffer, progress)))
        else:
            with path.open("rb") as raw, _decompress(_lines_in(raw, span), path.suffix.lower(), progress) as file:
                yield file
    except _BROKEN as error:
        raise SearchError(f"Could not read {name}: {error}. Is the file whole, and what its name says?") from error


def _lines_in(raw: BinaryIO, span: range | None) -> BinaryIO:
    if span is None:
        return raw
    return cast(BinaryIO, _Stretch(raw, _line_start(raw, span.start), _line_start(raw, span.stop)))


def _line_start(raw: BinaryIO, place: int) -> int:
    """Where the first line begins that does not begin before a place."""
    if place == 0:
        return 0
    raw.seek(place - 1)
    raw.readline()
    return raw.tell()


def _decompress(raw: BinaryIO, suffix: str, progress: Progress) -> BinaryIO:
    counted = cast(BinaryIO, io.BufferedReader(_CountedBytes(raw, progress), 1 << 18))
    if suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=counted))
    if suffix == ".bz2":
        return cast(BinaryIO, bz2.BZ2File(counted))
    if suffix == ".xz":
        return cast(BinaryIO, lzma.LZMAFile(counted))
    if suffix == ".zst":
        return cast(BinaryIO, load_arrow("Files with .zst").CompressedInputStream(counted, "zstd"))
    return counted


def load_arrow(what: str) -> Any:
    """PyArrow, or how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise SearchError(
            f"{what} are read by PyArrow, which is not installed: pip install 'mixsearch[text]'."
        ) from error
    return pyarrow
