"""Files as bytes and lines: unpacked, bounded, and as a plain file that Polars can read; and the rows that are bad."""

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
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO, NamedTuple, cast

from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.disk import TemporaryFolder
from mixsearch.io.values import replace_surrogates

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

STANDARD_INPUT = "standard input"
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
_COPIED_BYTES, _MAX_NAMED = 1 << 20, 3


class File(NamedTuple):
    """A file, and its table or sheet if it has several."""

    path: Path
    table: str | None = None
    copy: TemporaryFolder | None = None  # of standard input

    def __str__(self) -> str:
        return STANDARD_INPUT if self.copy else f"{self.path}::{self.table}" if self.table else str(self.path)

    @property
    def n_bytes(self) -> int:
        """The stored size."""
        return self.path.stat().st_size


@dataclass
class Reading:
    """How to read files, and what was noticed on the way."""

    no_header: bool = False
    encoding: str = "utf-8"
    limit: int = 1 << 28  # bytes of a line
    skip_bad_rows: bool = False
    notes: list[SearchWarning] = field(default_factory=list)
    bad_rows: list[SearchError] = field(default_factory=list)  # the first ones
    n_bad_rows: int = 0
    readings: Sequence[str] = ()  # types that text may have, as `find_types` names them

    def add_bad_row(self, error: SearchError) -> None:
        """Count a row that cannot be read, or raise its error with the option that would skip it."""
        if not self.skip_bad_rows:
            raise error.append("Set {skip_argument} to skip such rows.", skip_argument=Option("skip_bad_rows"))
        self.n_bad_rows += 1
        self.bad_rows += [error] if len(self.bad_rows) < _MAX_NAMED else []

    def list_notes(self) -> list[SearchWarning]:
        """Return what was noticed, and the number of rows that were skipped, with the first ones."""
        if not self.n_bad_rows:
            return self.notes
        facts = [(error.fields["file"], error.fields["line"], error.code) for error in self.bad_rows]
        listed = "; ".join(f"line {line:,} of {file!r} ({code.replace('_', ' ')})" for file, line, code in facts)
        note = SearchWarning(
            "{n_rows:,} bad {noun} skipped: {listed}{more}.",
            code="skipped_rows",
            n_rows=self.n_bad_rows,
            noun="row was" if self.n_bad_rows == 1 else "rows were",
            listed=listed,
            more="; ..." if self.n_bad_rows > len(facts) else "",
            first_rows=[{"file": file, "line": line, "reason": code} for file, line, code in facts],
        )
        return [*self.notes, note]


class _Unpacked(io.RawIOBase):
    """File object that reads what is unpacked, and fails if that grows beyond all measure."""

    def __init__(self, unpacked: Any, packed: Any, file: File) -> None:
        self._unpacked, self._packed, self._file, self._n_bytes = unpacked, packed, file, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n_bytes = self._unpacked.readinto(buffer)
        self._n_bytes += n_bytes
        check_growth(self._file, self._packed.tell(), self._n_bytes)
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
    with zipfile.ZipFile(file.path) as archive:
        entries = archive.infolist()
    check_growth(file, sum(entry.compress_size for entry in entries), sum(entry.file_size for entry in entries))


def find_compression(start: bytes) -> str | None:
    """Return the compression of a file by its first bytes."""
    return next((name for name, (begin, _) in _PACKED.items() if begin.match(start)), None)


@contextmanager
def open_stream(file: File) -> Iterator[io.BufferedReader]:
    """Open the unpacked bytes of a file; errors while it is read name the file."""
    try:
        with open(file.path, "rb") as packed:
            compression = find_compression(packed.peek(10))
            unpacked = packed if compression is None else _Unpacked(_PACKED[compression][1](packed), packed, file)
            yield packed if compression is None else io.BufferedReader(unpacked, _COPIED_BYTES)
    except _READ_ERRORS as error:
        raise make_unreadable_error(file, error) from error


@contextmanager
def open_plain(file: File, encoding: str) -> Iterator[Path]:
    """Yield a plain UTF-8 file: the file itself, or a copy if it is packed, in another encoding, or oddly named."""
    is_utf8 = codecs.lookup(encoding).name == "utf-8"
    with open_stream(file) as stream, ExitStack() as stack:
        is_named = str(file.path) == replace_surrogates(str(file.path))  # Polars opens no other names
        if is_utf8 and is_named and isinstance(stream.raw, io.FileIO):
            yield file.path
            return
        path = Path(stack.enter_context(TemporaryDirectory(prefix="mixsearch-tmp-")), "plain")
        with path.open("wb") as copy:
            decoder, line = codecs.getincrementaldecoder(encoding)(), 1
            while data := stream.read(_COPIED_BYTES):
                try:
                    copy.write(data if is_utf8 else decoder.decode(data).encode())
                except UnicodeDecodeError as error:
                    raise make_encoding_error(error, file, line) from error
                line += data.count(b"\n")
        yield path


def create_stream(path: Path) -> BinaryIO:
    """Create a file for bytes that are compressed if its name has the suffix of a compression."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": zstd.open}
    return cast(BinaryIO, openers.get(path.suffix.lower(), open)(path, "wb"))


def read_lines(path: Path, file: File, limit: int) -> Generator[tuple[int, str, SearchError | None], None, None]:
    """Yield the number and text of each line of a plain file, and the error of one that cannot be read."""
    with path.open("rb") as stream:
        for line, data in enumerate(iter(partial(stream.readline, limit + 1), b""), start=1):
            data, error = strip_bom(data, file) if line == 1 else data, None
            if len(data) > limit:
                error = make_row_error("document_too_long", file, line, limit=limit, argument=Option("memory"))
                while data and not data.endswith(b"\n"):
                    data = stream.readline(_COPIED_BYTES)
                data = b"\n"
            try:
                text = data.decode()
            except UnicodeDecodeError as problem:
                error, text = make_encoding_error(problem, file, line), data.decode(errors="replace")
            yield line, text, error


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
        "Line {line:,} of {file!r} and its header differ in their number of values: {n_values} and {n_columns}. Quote "
        "the values that contain the delimiter.",
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


def make_encoding_error(error: UnicodeDecodeError, file: File, first_line: int) -> SearchError:
    """Return the error for bytes in another encoding, of which the first line is known."""
    line = first_line + error.object.count(b"\n", 0, error.start)
    fields = {"byte": error.object[error.start], "encoding": error.encoding, "argument": Option("encoding")}
    return make_row_error("wrong_encoding", file, line, **fields)
