"""Open files as streams of bytes, decompressed by their first bytes and counted while they are read."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, BinaryIO, Literal, cast

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.location import File
from mixsearch.errors import SearchError

STANDARD_INPUT = "standard input"

Compression = Literal["gzip", "bzip2", "xz", "zstd"]

COMPRESSION_SUFFIXES: dict[str, Compression] = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
# The first bytes; of bzip2 with those of a block, since letters alone may begin a text.
_COMPRESSION_STARTS: dict[Compression, re.Pattern[bytes]] = {
    "gzip": re.compile(rb"\x1f\x8b"),
    "bzip2": re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd"),
}
_N_START_BYTES = 10
_BUFFER_BYTES = 1 << 18
# No compression of texts that people write comes near to it. Small files may, since they harm nobody.
MAX_GROWTH, MIN_GROWN_BYTES = 300, 8 << 20
_READ_ERRORS = (EOFError, zlib.error, lzma.LZMAError, OSError)
_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


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
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self.n_bytes += len(data)
        self._progress.add(len(data))
        return len(data)


class _UnpackingReader(io.RawIOBase):
    """File object that reads what is unpacked, and ends with an error if that grows beyond all measure."""

    def __init__(self, unpacked: Any, packed: _CountingReader, path: File | None) -> None:
        self._unpacked, self._packed, self._path = unpacked, packed, path
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(len(buffer))
        self._n_bytes += len(data)
        check_growth(self._path, self._packed.n_bytes, self._n_bytes)
        buffer[: len(data)] = data
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


def check_growth(path: File | None, packed: int, unpacked: int) -> None:
    """Raise if what is unpacked from some bytes is so much that it was hardly meant to be unpacked."""
    if unpacked > max(MIN_GROWN_BYTES, MAX_GROWTH * packed):
        raise SearchError(
            "{file!r} unpacks to more than {factor:,} times its size, like archives made to exhaust memory. If the "
            "file is genuine, unpack it first.",
            code="grows_too_much",
            file=name_file(path),
            factor=MAX_GROWTH,
        )


def check_archive(file: File) -> None:
    """Raise if a ZIP file would unpack to an unreasonable size. No entry is unpacked beyond its declared size."""
    with file.open("rb") as raw, zipfile.ZipFile(raw) as archive:
        entries = archive.infolist()
    check_growth(file, sum(entry.compress_size for entry in entries), sum(entry.file_size for entry in entries))


def name_file(path: File | str | None) -> str:
    """Return the name of a file for a sentence."""
    return STANDARD_INPUT if path is None else str(path)


def find_compression(start: bytes) -> Compression | None:
    """Return the compression of a file by its first bytes."""
    return next((name for name, begin in _COMPRESSION_STARTS.items() if begin.match(start)), None)


def is_compressed(path: File) -> bool:
    """Return whether a file begins as a compressed one."""
    with path.open("rb") as raw:
        return find_compression(raw.read(_N_START_BYTES)) is not None


def strip_compression_suffix(path: File) -> str:
    """Return the name of a file without the suffix of its compression."""
    return path.stem if path.suffix.lower() in COMPRESSION_SUFFIXES else path.name


@contextmanager
def open_file(path: File | None, progress: Progress | None = None, span: range | None = None) -> Iterator[BinaryIO]:
    """Open the decompressed bytes of a file, or standard input; errors while it is read name the file.

    With a span of bytes, yield only the lines that begin within it.
    """
    counter = progress or Progress()
    try:
        if path is None:
            yield _decompress(sys.stdin.buffer, counter, None)
        else:
            with path.open("rb") as raw, _open_span(raw, span, counter, path) as file:
                yield file
    except _READ_ERRORS as error:
        raise make_unreadable_error(path, error) from error


def make_unreadable_error(path: File | str | None, error: BaseException | str, kind: str = "") -> SearchError:
    """Return the error for a file that an engine cannot read, with the engine's reason."""
    return SearchError(
        "Cannot read {file!r}{kind}: {reason}. Check that the file is complete and has the format of its suffix.",
        code="unreadable_file",
        file=name_file(path),
        kind=f" as {kind}" if kind else "",
        reason=(str(error) or type(error).__name__).partition("\n")[0].rstrip("."),
    )


def strip_bom(data: bytes, path: File | None) -> bytes:
    """Return the start of a file without the byte order mark of UTF-8."""
    if data.startswith(UTF16_BOMS):
        raise SearchError(
            "{file!r} is UTF-16, but UTF-8 is needed. Convert it with `iconv -f utf-16 -t utf-8`.",
            code="wrong_encoding",
            file=name_file(path),
        )
    return data.removeprefix(_BOM)


def replace_surrogates(text: str) -> str:
    """Return a text with a replacement character for each lone surrogate, which no UTF-8 file can hold."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _open_span(raw: BinaryIO, span: range | None, progress: Progress, path: File) -> BinaryIO:
    if span is None:
        return _decompress(raw, progress, path)
    lines = _ByteRange(raw, _find_line_start(raw, span.start), _find_line_start(raw, span.stop))
    return cast(BinaryIO, _count(cast(BinaryIO, lines), progress))


def _find_line_start(raw: BinaryIO, position: int) -> int:
    """Return where the first line begins that does not begin before a position."""
    if position == 0:
        return 0
    raw.seek(position - 1)
    raw.readline()
    return raw.tell()


def _count(raw: BinaryIO, progress: Progress) -> io.BufferedReader:
    return io.BufferedReader(_CountingReader(raw, progress), _BUFFER_BYTES)


def _decompress(raw: BinaryIO, progress: Progress, path: File | None) -> BinaryIO:
    packed = _CountingReader(raw, progress)
    counted = io.BufferedReader(packed, _BUFFER_BYTES)
    compression = find_compression(counted.peek(_N_START_BYTES))
    if compression is None:
        return cast(BinaryIO, counted)
    return cast(
        BinaryIO, io.BufferedReader(_UnpackingReader(_unpack(counted, compression), packed, path), _BUFFER_BYTES)
    )


def _unpack(packed: Any, compression: Compression) -> Any:
    if compression == "gzip":
        return gzip.GzipFile(fileobj=packed)
    if compression == "bzip2":
        return bz2.BZ2File(packed)
    if compression == "xz":
        return lzma.LZMAFile(packed)
    return import_pyarrow("Files with .zst").CompressedInputStream(packed, "zstd")
