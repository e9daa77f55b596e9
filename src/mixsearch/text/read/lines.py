"""Documents on lines of plain text, and files that are one document each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import BinaryIO

from mixsearch.data.files.location import File, StoredFile, get_size, name_within
from mixsearch.data.files.row_checks import BadRows
from mixsearch.data.files.sources import SourceFiles
from mixsearch.data.files.streams import Progress, name_file, open_file, replace_surrogates, strip_bom
from mixsearch.errors import Option, SearchError
from mixsearch.text.options import limit_chunk_bytes, limit_document_bytes
from mixsearch.text.read.documents import ChunkLoader, DocumentChunk, ReadState, group_by_size, make_length_error

_SKIPPED_BYTES = 1 << 20

# Each line with its number.
NumberedLines = list[tuple[int, str]]
# Decodes the lines of a chunk when called, with what becomes of lines that cannot be decoded.
LineDecoder = Callable[[BadRows], NumberedLines]


def read_lines(path: File | None, state: ReadState, span: range | None = None) -> Iterator[ChunkLoader]:
    """Read one text from each line; with a span of bytes, from the lines that begin within it."""
    for decode_lines in read_whole_lines(path, state, span):
        yield partial(_load_lines, decode_lines, path, state.bad_rows)


def read_files(sources: SourceFiles, state: ReadState) -> Iterator[ChunkLoader]:
    """Read one text from each file, named by its path."""
    sized = ((path, get_size(path) or 0) for path in sources.paths)
    for paths in group_by_size(sized, limit_chunk_bytes(state.options)):
        yield partial(_load_files, paths, sources.root, state)


def decode(data: bytes, encoding: str, path: File | None, first_line: int = 1) -> str:
    """Decode bytes; an error names the line."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise make_encoding_error(error, path, first_line) from error


def make_encoding_error(error: UnicodeDecodeError, path: File | None, first_line: int) -> SearchError:
    """Return the error for bytes in another encoding, of which the first line is known."""
    return SearchError(
        "Byte 0x{byte:02x} in line {line:,} of {file!r} is not valid {encoding}. Set {argument} to that of the "
        "file, such as 'cp1252', or correct the line.",
        code="wrong_encoding",
        byte=error.object[error.start],
        line=first_line + error.object.count(b"\n", 0, error.start),
        file=name_file(path),
        encoding=error.encoding,
        argument=Option("encoding"),
    )


def read_whole_lines(path: File | None, state: ReadState, span: range | None) -> Iterator[LineDecoder]:
    """Yield chunks of whole lines, each to be decoded on any thread."""
    size, limit = limit_chunk_bytes(state.options), limit_document_bytes(state.options)
    with open_file(path, state.progress, span) as file:
        line, rest = 1, [strip_bom(file.read(size), path)]
        while data := file.read(size):
            cut = data.rfind(b"\n") + 1
            if cut == 0:
                rest.append(data)
                if sum(map(len, rest)) > limit + size:
                    chunk, rest = _cut_long_line(file, b"".join(rest), line, path, state)
                    yield partial(_decode_lines, chunk, state, path, line)
                    line += chunk.count(b"\n") + 1
                continue
            chunk = b"".join([*rest, data[:cut]])
            yield partial(_decode_lines, chunk, state, path, line)
            line, rest = line + chunk.count(b"\n"), [data[cut:]]
        if chunk := b"".join(rest):
            yield partial(_decode_lines, chunk, state, path, line)


def _cut_long_line(
    file: BinaryIO, data: bytes, first_line: int, path: File | None, state: ReadState
) -> tuple[bytes, list[bytes]]:
    """Return the lines before one that is too long, and nothing of that one; raise if it is not to be skipped."""
    lines = data[: data.rfind(b"\n") + 1]
    state.bad_rows.add(make_long_line_error(state, first_line + lines.count(b"\n"), path))
    skip_line(file)
    return lines, []


def skip_line(file: BinaryIO) -> None:
    """Read the rest of a line, without keeping it."""
    while (rest := file.readline(_SKIPPED_BYTES)) and not rest.endswith(b"\n"):
        pass


def make_long_line_error(state: ReadState, line: int, path: File | None) -> SearchError:
    """Return the error for a line that is too long."""
    place = locate_line([line], path, 0)
    return make_length_error(state.options, place, line=line, file=name_file(path))


def _decode_lines(
    data: bytes, state: ReadState, path: File | None, first_line: int, bad_rows: BadRows
) -> NumberedLines:
    """Return lines with their numbers. Only line feeds, which JSON strings cannot contain, end a line."""
    lines = _split_lines(data, state.options.encoding, path, first_line, bad_rows)
    limit = limit_document_bytes(state.options)
    if len(data) <= limit:
        return lines
    for number in (number for number, line in lines if len(line) > limit):
        bad_rows.add(make_long_line_error(state, number, path))
    return [(number, line) for number, line in lines if len(line) <= limit]


def _split_lines(data: bytes, encoding: str, path: File | None, first_line: int, bad_rows: BadRows) -> NumberedLines:
    try:
        lines = data.decode(encoding).split("\n")
    except UnicodeDecodeError as error:
        if not bad_rows.are_skipped:
            bad_rows.add(make_encoding_error(error, path, first_line))
        return _decode_each(data, encoding, path, first_line, bad_rows)
    if not lines[-1]:
        lines.pop()
    return [(first_line + i, line.removesuffix("\r")) for i, line in enumerate(lines)]


def _decode_each(data: bytes, encoding: str, path: File | None, first_line: int, bad_rows: BadRows) -> NumberedLines:
    lines: NumberedLines = []
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n"), start=first_line):
        try:
            lines.append((number, line.decode(encoding).removesuffix("\r")))
        except UnicodeDecodeError as error:
            bad_rows.add(make_encoding_error(error, path, number))
    return lines


def locate_line(lines: list[int], path: File | None, i: int) -> str:
    """Return the place of a text for a sentence."""
    return f"line {lines[i]:,} of {name_file(path)!r}"


def _load_lines(decode_lines: LineDecoder, path: File | None, bad_rows: BadRows) -> DocumentChunk:
    lines = decode_lines(bad_rows)
    return DocumentChunk([text for _, text in lines], None, partial(locate_line, [line for line, _ in lines], path))


def _load_files(paths: list[File], root: StoredFile | None, state: ReadState) -> DocumentChunk:
    texts = [_load_file(path, state) for path in paths]
    # A name that is no UTF-8 has surrogates for its bytes.
    names = [replace_surrogates(name_within(path, root)) for path in paths]
    return DocumentChunk(texts, names, lambda i: f"the file {str(paths[i])!r}")


def _load_file(path: File, state: ReadState) -> str:
    progress = Progress()
    limit = limit_document_bytes(state.options)
    with open_file(path, progress) as file:
        data = strip_bom(file.read(limit + 1), path)
    if len(data) > limit:
        raise make_length_error(state.options, f"the file {name_file(path)!r}")
    state.progress.add(progress.done)
    return decode(data, state.options.encoding, path).replace("\r\n", "\n")
