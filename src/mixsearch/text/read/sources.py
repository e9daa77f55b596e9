"""The files that a caller names: where they are, their format, and their bytes."""

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

from mixsearch.data.arrow import import_pyarrow
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.text.options import FORMATS, Format
from mixsearch.text.read.files import File, find_remote_files, get_size, is_hidden, is_remote, resolve_file

Source = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

STANDARD_INPUT = "standard input"

_COMPRESSIONS = (".gz", ".bz2", ".xz", ".zst")
_FORMAT_BY_SUFFIX: dict[str, Format] = {
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
_READ_ERRORS = (EOFError, zlib.error, lzma.LZMAError, OSError)
_MAX_LISTED = 8


@dataclass(frozen=True)
class SourceFiles:
    """The files of a corpus, all of one format."""

    paths: list[File]  # empty for standard input
    format: Format
    root: File | None = None  # names of files are relative to this folder
    note: SearchWarning | None = None

    @property
    def n_bytes(self) -> int | None:
        """Stored bytes of all files; None for standard input, and if a store does not report a size."""
        sizes = [get_size(path) for path in self.paths]
        return sum(size or 0 for size in sizes) if sizes and None not in sizes else None


class Progress:
    """Thread-safe count of the bytes read from the files."""

    def __init__(self) -> None:
        self.done = 0
        self._lock = Lock()

    def add(self, n_bytes: int) -> None:
        """Add bytes that were read."""
        with self._lock:
            self.done += n_bytes


class _CountingReader(io.RawIOBase):
    """File object that adds what is read from it to a progress."""

    def __init__(self, raw: BinaryIO, progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._progress.add(len(data))
        return len(data)


class _ByteRange:
    """File object for a range of the bytes of a file."""

    def __init__(self, raw: BinaryIO, start: int, stop: int) -> None:
        raw.seek(start)
        self._raw, self._left = raw, stop - start

    def read(self, size: int) -> bytes:
        data = self._raw.read(min(size, self._left))
        self._left -= len(data)
        return data


def find_sources(source: Source, format: Format | None) -> SourceFiles:
    """Return the files of a path, a folder, a pattern or a list of them, and their format."""
    if source == "-":
        return SourceFiles([], format or _guess_input_format())
    names = _list_names(source)
    if not names:
        raise SearchError(
            "{argument} is an empty list, but at least one file is needed.",
            code="no_files",
            argument=Option("source"),
        )
    found = [_find_files(name) for name in names]
    paths = [path for _, files in found for path in files]
    root = found[0][0] if len(names) == 1 else None
    if format is not None:
        return SourceFiles(paths, format, root)
    formats = sorted({_guess_format(path) for path in paths})
    if len(formats) > 1:
        raise SearchError(
            "The files have several formats ({formats}), but one is needed. Name files of one format, or set "
            "{argument} to one of {choices}.",
            code="mixed_formats",
            formats=", ".join(formats),
            argument=Option("format"),
            choices=", ".join(FORMATS),
        )
    if formats == ["files"] and len(paths) == 1 and root is None:
        return SourceFiles(paths, "lines", root, _note_lines(paths[0]))
    return SourceFiles(paths, formats[0], root)


def describe_source(source: Source) -> str:
    """Return a name for all files in one sentence."""
    if source == "-":
        return STANDARD_INPUT
    names = _list_names(source)
    return names[0] + (" and others" if len(names) > 1 else "")


def make_empty_error(source: str) -> SearchError:
    """Return the error for files without documents."""
    return SearchError(
        "{source!r} has no documents, but at least one is needed. Check that it is the right file.",
        code="no_documents",
        source=source,
    )


def strip_compression_suffix(path: File) -> str:
    """Return the name of a file without the suffix of its compression.

    Parameters
    ----------
    path : Path or RemoteFile
        The file; it need not exist.

    Returns
    -------
    str
        The last part of the path, without .gz, .bz2, .xz or .zst.
    """
    return path.stem if is_compressed(path) else path.name


def is_compressed(path: File) -> bool:
    """Return whether the name of a file has the suffix of a compression."""
    return path.suffix.lower() in _COMPRESSIONS


@contextmanager
def open_file(path: File | None, progress: Progress, span: range | None = None) -> Iterator[BinaryIO]:
    """Open the decompressed bytes of a file, or standard input; errors while it is read name the file.

    With a span of bytes, yield only the lines that begin within it.
    """
    try:
        if path is None:
            yield cast(BinaryIO, io.BufferedReader(_CountingReader(sys.stdin.buffer, progress)))
        else:
            with path.open("rb") as raw, _decompress(_limit_to_span(raw, span), path.suffix.lower(), progress) as file:
                yield file
    except _READ_ERRORS as error:
        raise SearchError(
            "Cannot read {file!r}: {reason}. Check that the file is complete and has the format of its suffix.",
            code="unreadable_file",
            file=STANDARD_INPUT if path is None else str(path),
            reason=str(error),
        ) from error


def _list_names(source: Source) -> list[str]:
    return [os.fspath(name) for name in ([source] if isinstance(source, str | os.PathLike) else source)]


def _note_lines(path: File) -> SearchWarning:
    return SearchWarning(
        "Each line of {file!r} is read as a document. Set {argument} to 'files' to read the file as one document.",
        code="lines_are_documents",
        file=str(path),
        argument=Option("format"),
    )


def _find_files(name: str) -> tuple[File | None, Sequence[File]]:
    """Return the folder of a name, or None, and its files."""
    folder, files = find_remote_files(name) if is_remote(name) else _find_local_files(cast(Path, resolve_file(name)))
    if folder is not None and not files:
        raise SearchError(
            "The folder {folder!r} has no files, but at least one is needed.", code="empty_folder", folder=name
        )
    if not files:
        raise _make_missing_file_error(name)
    return folder, files


def _find_local_files(path: Path) -> tuple[Path | None, list[Path]]:
    if path.is_dir():
        return path, sorted(f for f in path.rglob("*") if f.is_file() and not is_hidden(f.relative_to(path)))
    if path.exists():
        return None, [path]
    return None, sorted(Path(match) for match in glob.glob(str(path), recursive=True) if Path(match).is_file())


def _make_missing_file_error(name: str) -> SearchError:
    error = SearchError(
        "No file {file!r}. {argument} must be a file, a folder, a pattern such as 'texts/*.txt', or '-'.",
        code="file_missing",
        file=name,
        argument=Option("source"),
    )
    folder = Path(name).parent
    if not folder.is_dir():
        return error
    return error.append("The folder {folder!r} has: {entries}.", folder=str(folder), entries=_list_folder(folder))


def _list_folder(folder: Path) -> str:
    names = sorted(entry.name for entry in folder.iterdir() if not entry.name.startswith("."))
    return ", ".join(names[:_MAX_LISTED]) + (", ..." if len(names) > _MAX_LISTED else "") if names else "nothing"


def _guess_format(path: File) -> Format:
    name = strip_compression_suffix(path).lower()
    if name.startswith("docword."):
        return "docword"
    return _FORMAT_BY_SUFFIX.get(Path(name).suffix, "files")


def _guess_input_format() -> Format:
    """Return the format of standard input by its first character: JSON lines or plain lines."""
    start = cast(io.BufferedReader, sys.stdin.buffer).peek(64).removeprefix(b"\xef\xbb\xbf").lstrip()
    return "jsonl" if start.startswith(b"{") else "lines"


def _limit_to_span(raw: BinaryIO, span: range | None) -> BinaryIO:
    if span is None:
        return raw
    return cast(BinaryIO, _ByteRange(raw, _find_line_start(raw, span.start), _find_line_start(raw, span.stop)))


def _find_line_start(raw: BinaryIO, position: int) -> int:
    """Return where the first line begins that does not begin before a position."""
    if position == 0:
        return 0
    raw.seek(position - 1)
    raw.readline()
    return raw.tell()


def _decompress(raw: BinaryIO, suffix: str, progress: Progress) -> BinaryIO:
    counted = cast(BinaryIO, io.BufferedReader(_CountingReader(raw, progress), 1 << 18))
    if suffix == ".gz":
        return cast(BinaryIO, gzip.GzipFile(fileobj=counted))
    if suffix == ".bz2":
        return cast(BinaryIO, bz2.BZ2File(counted))
    if suffix == ".xz":
        return cast(BinaryIO, lzma.LZMAFile(counted))
    if suffix == ".zst":
        return cast(BinaryIO, import_pyarrow("Files with .zst").CompressedInputStream(counted, "zstd"))
    return counted
