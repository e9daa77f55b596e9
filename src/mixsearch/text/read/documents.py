"""Documents in chunks, from files of any format, tables in memory, or strings."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, cast

import polars as pl

from mixsearch._typing import TableLike
from mixsearch.errors import ArgumentError, Option, SearchError, SearchWarning
from mixsearch.io.files import Format, Source, SourceFiles, describe_source, find_files, split_table
from mixsearch.io.frames import is_frame, list_columns, to_polars
from mixsearch.io.read import open_rows
from mixsearch.io.streams import File, Reading, open_plain, read_lines, read_text
from mixsearch.io.types import flatten
from mixsearch.io.values import is_missing, replace_surrogates, to_text
from mixsearch.text.options import CorpusOptions, limit_chunk_bytes, limit_document_bytes, list_named_columns
from mixsearch.text.read.columns import (
    Columns,
    ColumnSummary,
    choose_columns,
    choose_kept,
    note_left_out,
    summarize_columns,
)

TABLE = "the table"
# An item without text still takes memory.
_BYTES_PER_ITEM = 100
# Strings of a list that are looked at to learn whether they are texts or the names of files.
_N_FIRST, _MAX_PATH = 100, 4096

Item = TypeVar("Item")


@dataclass(frozen=True)
class DocumentChunk:
    """The texts of a chunk, and where each comes from."""

    texts: list[str]
    names: list[str] | None
    locate: Callable[[int], str]
    columns: pl.DataFrame | None = None
    n_missing: int = 0


# Reads one chunk when called, on any thread.
ChunkLoader = Callable[[], DocumentChunk]


@dataclass
class ReadState:
    """The state of one pass over the files: options, columns in use, and notes for the user."""

    options: CorpusOptions
    source: str = "the texts"
    notes: list[SearchWarning] = field(default_factory=list)
    columns: Columns | None = None
    sample: pl.DataFrame | None = None  # the first rows of all columns
    n_bytes: int = 0  # of the files that were read, as they are stored; an estimate within a file
    reading: Reading = field(init=False)

    def __post_init__(self) -> None:
        self.reading = Reading(
            no_header=self.options.no_header,
            encoding=self.options.encoding,
            limit=limit_document_bytes(self.options),
            skip_bad_rows=self.options.skip_bad_rows,
        )

    def list_notes(self) -> list[SearchWarning]:
        """Return the notes for the user, and one about rows that were skipped."""
        return [*self.notes, *self.reading.list_notes()]

    def resolve_columns(self, first: pl.DataFrame, file: str) -> Columns:
        """Return the columns to read. They are chosen at the first file; the others must have the text and the id."""
        if self.columns is None:
            self.sample = first
            columns, note = choose_columns(first, self.reading.readings, self.options, file)
            columns.check(first.columns, file)
            kept = choose_kept(first, columns, self.options.keep, file, self.reading.readings)
            self.columns = replace(columns, kept=kept)
            self.notes += [] if note is None else [note]
            self.notes += note_left_out(first.columns, self.columns, file) if self.options.keep == "auto" else []
        self.columns.check(first.columns, file)
        return self.columns


def read_documents(sources: SourceFiles, state: ReadState) -> Iterator[ChunkLoader]:
    """Read the documents of all files, in order."""
    if sources.format in ("lines", "files"):
        check_no_columns(state)
    if sources.format == "files":
        sized = ((file, file.n_bytes) for file in sources.files)
        for files in group_by_size(sized, limit_chunk_bytes(state.options)):
            yield partial(_load_files, files, sources.root, state)
        return
    for file in sources.files:
        yield from _read_lines(file, state) if sources.format == "lines" else _read_table(file, sources.format, state)


def _read_lines(file: File, state: ReadState) -> Iterator[ChunkLoader]:
    with open_plain(file, state.options.encoding) as path:
        lines = (((number, text), len(text)) for number, text in read_lines(path, file, state.reading))
        for chunk in group_by_size(lines, limit_chunk_bytes(state.options)):
            yield partial(_load_lines, chunk, file)
    state.n_bytes += file.n_bytes


def _read_table(file: File, format: Format, state: ReadState) -> Iterator[ChunkLoader]:
    with open_rows(file, format, state.reading) as rows:
        if not rows.sample.width:
            return
        columns = state.resolve_columns(rows.sample, str(file))
        schema = {name: rows.sample.schema[name] for name in columns.all if name in rows.sample.columns}
        n_rows, end = 0, state.n_bytes + file.n_bytes
        for frame in rows.read(schema):
            for part in _cut(frame, columns, limit_chunk_bytes(state.options)):
                yield partial(_load_frame, part, columns, f"row {{:,}} of {str(file)!r}", n_rows)
                n_rows += part.height
                state.n_bytes = min(state.n_bytes + int(part.estimated_size()), end)
    state.n_bytes = end


def read_frame(source: Any, state: ReadState) -> Iterator[ChunkLoader]:
    """Read the documents of a data frame or of another table in memory."""
    frame = to_polars(source)
    columns = state.resolve_columns(frame, TABLE)
    n_rows = 0
    for part in _cut(frame, columns, limit_chunk_bytes(state.options)):
        yield partial(_load_frame, part, columns, "row {:,} of the table", n_rows)
        n_rows += part.height


def _cut(frame: pl.DataFrame, columns: Columns, limit: int) -> Iterator[pl.DataFrame]:
    """Yield slices of a table, each of about this number of bytes of text at most; at least one."""
    texts = [get_texts(frame, name) for name in columns.texts if name in frame.columns]
    lengths = frame.select(pl.sum_horizontal(text.str.len_bytes() for text in texts)).to_series().fill_null(0)
    groups = list(group_by_size(zip(range(frame.height), lengths.to_list(), strict=True), limit)) or [[0]]
    yield from (frame.slice(rows[0], len(rows)) for rows in groups)


def get_texts(frame: pl.DataFrame, name: str) -> pl.Series:
    """Return a column as text: the items of a list are joined by blanks, other nested values are JSON."""
    column = frame[name].alias("")
    if isinstance(column.dtype, pl.List) and not cast(Any, column.dtype.inner).is_nested():
        return column.cast(pl.List(pl.String)).list.join(" ", ignore_nulls=True)
    return flatten(column.to_frame()).to_series().cast(pl.String)


def _load_frame(frame: pl.DataFrame, columns: Columns, place: str, first: int) -> DocumentChunk:
    missing = [name for name in [*columns.texts, columns.id] if name and name not in frame.columns]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)
    texts = pl.DataFrame([get_texts(frame, name).alias(f"text {i}") for i, name in enumerate(columns.texts)])
    joined = texts.select(pl.concat_str(pl.all(), separator="\n", ignore_nulls=True)).to_series()
    kept = [name for name in columns.kept if name in frame.columns]
    return DocumentChunk(
        joined.fill_null("").to_list(),
        None if columns.id is None else get_texts(frame, columns.id).fill_null("").to_list(),
        lambda i: place.format(first + i + 1),
        flatten(frame[kept]) if columns.kept else None,
        int(texts.select(pl.all_horizontal(pl.all().is_null()).sum()).item()),
    )


def _load_lines(lines: list[tuple[int, str]], file: File) -> DocumentChunk:
    texts = [text.removesuffix("\n").removesuffix("\r") for _, text in lines]
    return DocumentChunk(texts, None, lambda i: f"line {lines[i][0]:,} of {str(file)!r}")


def _load_files(files: list[File], root: Path | None, state: ReadState) -> DocumentChunk:
    texts = [read_text(file, state.options.encoding, state.reading.limit) for file in files]
    state.n_bytes += sum(file.n_bytes for file in files)
    paths = [file.path for file in files]
    # Relative paths have forward slashes on every system, so that an index does not depend on where it was built.
    names = [str(path) if root is None else path.relative_to(root).as_posix() for path in paths]
    return DocumentChunk(texts, list(map(replace_surrogates, names)), lambda i: f"the file {str(files[i])!r}")


def read_strings(texts: Iterable[Any], names: Iterable[str] | None, state: ReadState) -> Iterator[ChunkLoader]:
    """Read documents that are strings already, or missing."""
    pairs: Iterable[tuple[Any, str | None]] = (
        zip(texts, names, strict=True) if names is not None else ((text, None) for text in texts)
    )
    start = 0
    sized = ((pair, len(pair[0]) if isinstance(pair[0], str) else 0) for pair in pairs)
    for chunk in group_by_size(sized, limit_chunk_bytes(state.options)):
        yield partial(_load_strings, chunk, names is not None, start)
        start += len(chunk)


def _load_strings(chunk: list[tuple[Any, str | None]], named: bool, start: int) -> DocumentChunk:
    texts = ["" if is_missing(text) else _join(text) for text, _ in chunk]
    names = ["" if name is None else to_text(name) for _, name in chunk] if named else None
    n_missing = sum(is_missing(text) for text, _ in chunk)
    return DocumentChunk(texts, names, lambda i: f"text {start + i + 1:,}", n_missing=n_missing)


def _join(text: Any) -> str:
    return " ".join(map(to_text, text)) if isinstance(text, list) else to_text(text)


def group_by_size(items: Iterable[tuple[Item, int]], size: int) -> Iterator[list[Item]]:
    """Yield lists of consecutive items, each list with about this total size."""
    group: list[Item] = []
    total = 0
    for item, item_size in items:
        group.append(item)
        total += item_size
        if total >= size or len(group) * _BYTES_PER_ITEM >= size:
            yield group
            group, total = [], 0
    if group:
        yield group


def inspect_columns(source: Source, options: CorpusOptions | None = None) -> list[ColumnSummary]:
    """Return what the first rows of the first file show about its columns, and which are kept by default."""
    options = replace(options or CorpusOptions(), keep="auto")
    sources = find_files(source, options.format, list_named_columns(options))
    if sources.format in ("lines", "files", "npz"):
        return []
    state = ReadState(options, describe_source(source))
    with open_rows(sources.files[0], sources.format, state.reading) as rows:
        try:
            state.resolve_columns(rows.sample, str(sources.files[0]))
        except SearchError as error:
            if error.code != "unclear_text_column":
                raise
    texts = state.columns.texts if state.columns is not None else ()
    return [] if state.sample is None else summarize_columns(state.sample, state.reading.readings, texts, options.id)


def name_columns(source: Source | TableLike, options: CorpusOptions | None = None) -> list[str]:
    """Return the names of the columns of a table in memory, or of the first file."""
    if is_frame(source):
        return list_columns(source)
    return [column.name for column in inspect_columns(source, options)]


def has_columns(source: Source, options: CorpusOptions) -> bool:
    """Return whether documents come from tables, whose columns have names."""
    if is_frame(source) or are_texts(source):
        return is_frame(source)
    sources = find_files(source, options.format, list_named_columns(options))
    return sources.format not in ("lines", "files", "npz")


def check_no_columns(state: ReadState) -> None:
    """Raise if an option names a column, where there are none."""
    for name in ("text", "id", "keep"):
        value = getattr(state.options, name)
        if value is not None and value != "auto":
            raise ArgumentError(
                "{argument} is {value!r}, but {source!r} is plain text without columns. Leave it out, or set "
                "{format_argument} to the format of the file.",
                code="no_columns",
                argument=Option(name),
                value=value,
                source=state.source,
                format_argument=Option("format"),
            )


def are_texts(source: Any) -> bool:
    """Return whether a source has texts, not names of files: an array, a Series, an iterator, or a list of them.

    A list of strings holds texts if none of the first is a file or a pattern of files, and one has a blank.
    """
    if isinstance(source, str | os.PathLike) or not isinstance(source, Iterable):
        return False
    if not isinstance(source, list | tuple):
        return True
    first = source[:_N_FIRST]
    if any(isinstance(item, os.PathLike) for item in first):
        return False
    strings = [item for item in first if isinstance(item, str)]
    if len(strings) < len(first):
        return True
    return any(len(text.split()) > 1 for text in strings) and not any(map(_names_files, strings))


def _names_files(text: str) -> bool:
    if len(text) > _MAX_PATH or "\n" in text:
        return False
    text, _ = split_table(text)
    return os.path.exists(text) or (glob.has_magic(text) and bool(glob.glob(text)))
