"""Files as bytes and lines: unpacked, bounded, and as plain files that Polars can read; and bad rows."""

from __future__ import annotations

import codecs
import gzip
import io
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

# Bytes of a line, or of a text.
MAX_BYTES = 1 << 28
STANDARD_INPUT = "standard input"
COMPRESSION_SUFFIXES = (".gz", ".zst")
_READ_ERRORS = (EOFError, zlib.error, zstd.ZstdError, OSError)
# No compression of texts that people write comes near to it. Small files may, since they harm nobody.
MAX_GROWTH, MIN_GROWN_BYTES = 300, 8 << 20
_HEAD_BYTES, _COPIED_BYTES, _MAX_NAMED = 1 << 13, 1 << 20, 3


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
    limit: int = MAX_BYTES
    skip_bad_rows: bool = False
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
        """Return a note with the number of rows that were skipped and the first ones, if there are any."""
        if not self.n_bad_rows:
            return []
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
        return [note]


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


@contextmanager
def _explain_errors(file: File) -> Iterator[None]:
    try:
        yield
    except _READ_ERRORS as error:
        raise make_unreadable_error(file, error) from error


def _unpack(packed: io.BufferedReader) -> Any:
    """Return a stream of the unpacked bytes of a file, by its first bytes."""
    start = packed.peek(4)
    if start.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=packed)
    return zstd.ZstdFile(packed) if start.startswith(b"\x28\xb5\x2f\xfd") else packed


def read_head(file: File, n_bytes: int = _HEAD_BYTES) -> bytes:
    """Read the first bytes of a file, unpacked."""
    with _explain_errors(file), open(file.path, "rb") as packed:
        return cast(bytes, _unpack(packed).read(n_bytes))


@contextmanager
def open_plain(file: File, encoding: str) -> Iterator[Path]:
    """Yield a plain UTF-8 file: the file itself, or a copy if it is packed, in another encoding, or oddly named."""
    is_utf8 = codecs.lookup(encoding).name == "utf-8"
    with _explain_errors(file), open(file.path, "rb") as packed, ExitStack() as stack:
        stream = _unpack(packed)
        is_named = str(file.path) == replace_surrogates(str(file.path))  # Polars opens no other names
        if is_utf8 and is_named and stream is packed:
            yield file.path
            return
        path = Path(stack.enter_context(TemporaryDirectory(prefix="mixsearch-tmp-")), "plain")
        with path.open("wb") as copy:
            decoder, line, n_bytes = codecs.getincrementaldecoder(encoding)(), 1, 0
            while data := stream.read(_COPIED_BYTES):
                n_bytes += len(data)
                check_growth(file, packed.tell(), n_bytes)
                try:
                    copy.write(data if is_utf8 else decoder.decode(data).encode())
                except UnicodeDecodeError as error:
                    raise _make_encoding_error(error, file, line) from error
                line += data.count(b"\n")
        yield path


def read_text(file: File, encoding: str = "utf-8", limit: int = MAX_BYTES) -> str:
    """Read a file as one text."""
    data = read_head(file, limit + 1).removeprefix(codecs.BOM_UTF8)
    if len(data) > limit:
        raise _make_length_error(file, 1, limit)
    try:
        return data.decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise _make_encoding_error(error, file, 1) from error


def create_stream(path: Path) -> BinaryIO:
    """Create a file for bytes that are compressed if its name has the suffix of a compression."""
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".zst": zstd.open}
    return cast(BinaryIO, openers.get(path.suffix.lower(), open)(path, "wb"))


def read_lines(path: Path, file: File, reading: Reading) -> Generator[tuple[int, str], None, None]:
    """Yield the numbers and texts of the lines of a plain file; those that cannot be read are raised or counted."""
    with path.open("rb") as stream:
        for number, data in enumerate(iter(partial(stream.readline, reading.limit + 1), b""), start=1):
            if len(data) > reading.limit:
                while data and not data.endswith(b"\n"):
                    data = stream.readline(_COPIED_BYTES)
                reading.add_bad_row(_make_length_error(file, number, reading.limit))
                continue
            try:
                text = (data.removeprefix(codecs.BOM_UTF8) if number == 1 else data).decode()
            except UnicodeDecodeError as error:
                reading.add_bad_row(_make_encoding_error(error, file, number))
            else:
                yield number, text


def make_unreadable_error(file: File, error: BaseException | str, format: str = "text") -> SearchError:
    """Return the error for a file that cannot be read, with the reason."""
    return SearchError(
        "Cannot read {file!r} as {format}: {reason}. Check that the file is complete and has the format of its suffix.",
        code="unreadable_file",
        file=str(file),
        format=format,
        reason=(str(error) or type(error).__name__).partition("\n")[0].rstrip("."),
    )


def _make_encoding_error(error: UnicodeDecodeError, file: File, first_line: int) -> SearchError:
    """Return the error for bytes in another encoding, of which the first line is known."""
    return SearchError(
        "Byte 0x{byte:02x} in line {line:,} of {file!r} is not valid {encoding}. Set {argument} to that of the file, "
        "such as 'cp1252', or convert it to UTF-8.",
        code="wrong_encoding",
        file=str(file),
        line=first_line + error.object.count(b"\n", 0, error.start),
        byte=error.object[error.start],
        encoding=error.encoding,
        argument=Option("encoding"),
    )


def _make_length_error(file: File, line: int, limit: int) -> SearchError:
    return SearchError(
        "Line {line:,} of {file!r} is longer than {limit:,} bytes. Split the text, make JSON lines of a JSON array, or "
        "set a larger {argument}.",
        code="document_too_long",
        file=str(file),
        line=line,
        limit=limit,
        argument=Option("memory"),
    )
