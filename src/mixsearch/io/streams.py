"""Files as streams of bytes: unpacked, bounded, and cut into blocks of whole rows; and the rows that are bad."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np

from mixsearch.errors import Option, SearchError, SearchWarning

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STANDARD_INPUT = "standard input"
# Bytes of a file that are parsed together: enough for two threads, and few enough to stay in cache.
BLOCK_BYTES = 1 << 22
COMPRESSION_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
# First bytes; of bzip2 with those of a block, since letters alone may begin a text.
_PACKED: dict[str, tuple[re.Pattern[bytes], Callable[[Any], Any]]] = {
    "gzip": (re.compile(rb"\x1f\x8b"), lambda raw: gzip.GzipFile(fileobj=raw)),
    "bzip2": (re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"), bz2.BZ2File),
    "xz": (re.compile(rb"\xfd7zXZ\x00"), lzma.LZMAFile),
    "zstd": (re.compile(rb"\x28\xb5\x2f\xfd"), zstd.ZstdFile),
}
_READ_ERRORS = (EOFError, zlib.error, lzma.LZMAError, zstd.ZstdError, OSError)
# No compression of texts that people write comes near to it. Small files may, since they harm nobody.
MAX_GROWTH, MIN_GROWN_BYTES = 300, 8 << 20
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
_MAX_NAMED = 3


class File(NamedTuple):
    """A file, and its table or sheet if it has several; without a path, standard input."""

    path: Path | None
    table: str | None = None

    def __str__(self) -> str:
        return STANDARD_INPUT if self.path is None else str(self.path) + (f"::{self.table}" if self.table else "")

    @property
    def n_bytes(self) -> int:
        """The stored size; 0 for standard input."""
        return 0 if self.path is None else self.path.stat().st_size


class Progress:
    """Count of the bytes read from files."""

    def __init__(self) -> None:
        self.done = 0


class _Counted(io.RawIOBase):
    """File object that counts what is read from it."""

    def __init__(self, raw: Any, progress: Progress) -> None:
        self._raw, self._progress, self.n_bytes = raw, progress, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self._raw.readinto(buffer)
        self.n_bytes += n_bytes
        self._progress.done += n_bytes
        return int(n_bytes)


class _Unpacked(io.RawIOBase):
    """File object that reads what is unpacked, and fails if that grows beyond all measure."""

    def __init__(self, unpacked: Any, packed: _Counted, file: File) -> None:
        self._unpacked, self._packed, self._file, self._n_bytes = unpacked, packed, file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self._unpacked.readinto(buffer)
        self._n_bytes += n_bytes
        check_growth(self._file, self._packed.n_bytes, self._n_bytes)
        return int(n_bytes)


def check_growth(file: File, packed: int, unpacked: int) -> None:
    """Raise if what is unpacked from some bytes is so much that it was hardly meant to be unpacked."""
    if unpacked > max(MIN_GROWN_BYTES, MAX_GROWTH * packed):
        raise SearchError(
            "{file!r} unpacks to more than {factor:,} times its size, like archives made to exhaust memory. If the "
            "file is genuine, unpack it first.",
            code="grows_too_much",
            file=str(file),
            factor=MAX_GROWTH,
        )


def check_archive(file: File) -> None:
    """Raise if a ZIP file would unpack to an unreasonable size. No entry is unpacked beyond its declared size."""
    with zipfile.ZipFile(cast(Path, file.path)) as archive:
        entries = archive.infolist()
    check_growth(file, sum(entry.compress_size for entry in entries), sum(entry.file_size for entry in entries))


def find_compression(start: bytes) -> str | None:
    """Return the compression of a file by its first bytes."""
    return next((name for name, (begin, _) in _PACKED.items() if begin.match(start)), None)


@contextmanager
def open_stream(file: File, progress: Progress | None = None) -> Iterator[BinaryIO]:
    """Open the unpacked bytes of a file, or standard input; errors while it is read name the file."""
    try:
        with nullcontext(sys.stdin.buffer) if file.path is None else open(file.path, "rb", buffering=0) as raw:
            counted = _Counted(raw, progress or Progress())
            packed = io.BufferedReader(counted, BLOCK_BYTES)
            compression = find_compression(packed.peek(10))
            if compression is None:
                yield cast(BinaryIO, packed)
            else:
                unpacked = _Unpacked(_PACKED[compression][1](packed), counted, file)
                yield cast(BinaryIO, io.BufferedReader(unpacked, BLOCK_BYTES))
    except _READ_ERRORS as error:
        raise make_unreadable_error(file, error) from error


def create_stream(path: Path) -> BinaryIO:
    """Create a file for bytes that are compressed if its name has the suffix of a compression."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": zstd.open}
    return cast(BinaryIO, openers.get(path.suffix.lower(), open)(path, "wb"))


def make_unreadable_error(file: File, error: BaseException | str, kind: str = "") -> SearchError:
    """Return the error for a file that cannot be read, with the reason."""
    return SearchError(
        "Cannot read {file!r}{kind}: {reason}. Check that the file is complete and has the format of its suffix.",
        code="unreadable_file",
        file=str(file),
        kind=f" as {kind}" if kind else "",
        reason=(str(error) or type(error).__name__).partition("\n")[0].rstrip("."),
    )


def strip_bom(data: bytes, file: File) -> bytes:
    """Return the start of a file without the byte order mark of UTF-8."""
    if data.startswith(UTF16_BOMS):
        raise SearchError(
            "{file!r} is UTF-16, but UTF-8 is needed. Convert it with `iconv -f utf-16 -t utf-8`.",
            code="wrong_encoding",
            file=str(file),
        )
    return data.removeprefix(codecs.BOM_UTF8)


class Block(NamedTuple):
    """Whole rows of a file."""

    data: bytes
    first_line: int
    is_last: bool = False

    def describe(self, file: File) -> str:
        """Return where the rows are, for a sentence."""
        return f"after line {self.first_line - 1:,} of {str(file)!r}"


def read_blocks(stream: BinaryIO, file: File, reading: Reading, quote: bytes = b"") -> Iterator[Block]:
    """Yield blocks of whole lines, as UTF-8 if another encoding is named; with a quote, none ends within quotes.

    A row that does not end within the limit is a bad row.
    """
    is_utf8 = codecs.lookup(reading.encoding).name == "utf-8"
    recode = None if is_utf8 else codecs.getincrementaldecoder(reading.encoding)()
    rest, line, limit = b"", 1, reading.limit
    size = min(reading.block, limit)
    data = strip_bom(stream.read(size), file) if recode is None else stream.read(size)
    while data:
        try:
            data = rest + (data if recode is None else recode.decode(data).encode())
        except UnicodeDecodeError as problem:
            raise make_encoding_error(problem, file, line + rest.count(b"\n")) from problem
        cut = _find_end(data, quote)
        if cut:
            yield Block(data[:cut], line)
            line += count_byte(memoryview(data)[:cut], b"\n")
        rest = data[cut:]
        if len(rest) > limit:
            reason = f"it does not end within {limit:,} bytes"
            is_open = bool(quote) and b"\n" in rest
            error = make_row_error("invalid_csv", file, line, reason=reason) if is_open else None
            reading.bad_rows.add(error or make_length_error(file, line, limit))
            # The line is left out. Behind an open quote, the lines after it are read again.
            while b"\n" not in rest and (rest := stream.read(size)):
                pass
            rest, line = rest[rest.find(b"\n") + 1 :], line + 1
        data = stream.read(size)
    if rest:
        yield Block(rest, line, is_last=True)


def count_byte(data: bytes | memoryview, byte: bytes) -> int:
    """Count a byte; unlike `bytes.count`, without the lock of the interpreter, and as fast if it is frequent."""
    return int(np.count_nonzero(np.frombuffer(data, np.uint8) == byte[0]))


def _find_end(data: bytes, quote: bytes) -> int:
    """Return where the last row ends; 0 if none does."""
    cut, n_quotes = len(data), count_byte(data, quote) if quote else 0
    while (end := data.rfind(b"\n", 0, cut)) >= 0:
        n_quotes -= data.count(quote, end, cut) if quote else 0
        if n_quotes % 2 == 0:
            return end + 1
        cut = end
    return 0


class _Template(NamedTuple):
    sentence: str
    code: str


_ROW_ERRORS = (
    _Template(
        "The row that starts in line {line:,} of {file!r} is not valid CSV ({reason}). Look for a quotation mark that "
        "is not closed or not doubled.",
        code="invalid_csv",
    ),
    _Template(
        "Line {line:,} of {file!r} has {n_values} of the {n_columns} values of the header. Quote the values that "
        "contain the delimiter.",
        code="wrong_row_length",
    ),
    _Template("Line {line:,} of {file!r} is not valid JSON ({reason}): {text!r}.", code="invalid_json"),
    _Template(
        "Line {line:,} of {file!r} has {text!r}, but a row must be a JSON object or a string.", code="invalid_record"
    ),
    _Template(
        "Line {line:,} of {file!r} is longer than {limit:,} bytes, the maximum with this {argument}. Set a larger one, "
        "or split the text.",
        code="document_too_long",
    ),
    _Template(
        "Byte 0x{byte:02x} in line {line:,} of {file!r} is not valid {encoding}. Set {argument} to that of the file, "
        "such as 'cp1252', or correct the line.",
        code="wrong_encoding",
    ),
)


def make_row_error(code: str, file: File, line: int, **fields: Any) -> SearchError:
    """Return the error for a row that cannot be read."""
    sentence = next(template.sentence for template in _ROW_ERRORS if template.code == code)
    return SearchError(sentence, code=code, file=str(file), line=line, **fields)


def make_length_error(file: File, line: int, limit: int) -> SearchError:
    """Return the error for a row that would take more memory than there is for it."""
    return make_row_error("document_too_long", file, line, limit=limit, argument=Option("memory"))


def make_encoding_error(error: UnicodeDecodeError, file: File, first_line: int) -> SearchError:
    """Return the error for bytes in another encoding, of which the first line is known."""
    line = first_line + error.object.count(b"\n", 0, error.start)
    fields = {"byte": error.object[error.start], "encoding": error.encoding, "argument": Option("encoding")}
    return make_row_error("wrong_encoding", file, line, **fields)


class BadRows:
    """Errors of rows: raised, or counted if bad rows are skipped. Thread-safe, in any order."""

    def __init__(self, *, skip: bool = False) -> None:
        self.are_skipped, self._lock = skip, Lock()
        self._n_rows = 0
        self._first: list[tuple[str, int, str]] = []

    def add(self, error: SearchError) -> None:
        """Count a row, or raise its error with the option that would skip it. It has a file and a line."""
        if not self.are_skipped:
            raise error.append("Set {skip_argument} to skip such rows.", skip_argument=Option("skip_bad_rows"))
        with self._lock:
            self._n_rows += 1
            place = (str(error.fields["file"]), int(error.fields["line"]), error.code)
            self._first = sorted([*self._first, place])[:_MAX_NAMED]

    def describe(self) -> list[SearchWarning]:
        """Return a note with the number of rows and the first ones; none if no row was skipped."""
        if not self._n_rows:
            return []
        listed = "; ".join(f"line {line:,} of {file!r} ({code.replace('_', ' ')})" for file, line, code in self._first)
        return [
            SearchWarning(
                "{n_rows:,} bad {noun} skipped: {listed}{more}.",
                code="skipped_rows",
                n_rows=self._n_rows,
                noun="row was" if self._n_rows == 1 else "rows were",
                listed=listed,
                more="; ..." if self._n_rows > len(self._first) else "",
                first_rows=[{"file": file, "line": line, "reason": code} for file, line, code in self._first],
            )
        ]


@dataclass
class Reading:
    """How to read files, and what was noticed on the way."""

    no_header: bool = False
    encoding: str = "utf-8"
    limit: int = 1 << 28  # bytes of a row
    block: int = BLOCK_BYTES  # bytes that are parsed together
    bad_rows: BadRows = field(default_factory=BadRows)
    progress: Progress = field(default_factory=Progress)
    notes: list[SearchWarning] = field(default_factory=list)
    max_rows: int | None = None  # of files that know their types; all by default
    readings: Sequence[str] = ()  # types that text may have, as `find_types` names them
