"""Documents in chunks, from files of any format, tables in memory, or strings."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import polars as pl

from mixsearch._typing import TableLike
from mixsearch.errors import ArgumentError, Option, SearchError, SearchWarning
from mixsearch.io.files import Format, Source, SourceFiles, describe_source, find_files, split_table
from mixsearch.io.frames import is_frame, list_columns, to_polars
from mixsearch.io.read import open_rows
from mixsearch.io.streams import File, Reading, open_plain, read_lines, read_text
from mixsearch.io.types import flatten
from mixsearch.io.values import is_missing, replace_surrogates, to_text
from mixsearch.machine import compute_parts, is_dask
from mixsearch.text.columns import ColumnSummary, TextColumns, check_columns, choose_columns, summarize_columns, unwrap
from mixsearch.text.options import CorpusOptions

TABLE = "the table"
# An item without text still takes memory.
_BYTES_PER_ITEM = 100
# Strings of a list that are looked at to learn whether they are texts or the names of files.
_N_FIRST, _MAX_PATH = 100, 4096

Item = TypeVar("Item")


class Documents(NamedTuple):
    """A chunk of documents."""

    texts: pl.Series
    names: pl.Series | None
    columns: pl.DataFrame | None = None
    n_missing: int = 0


@dataclass
class SourceReader:
    """One pass over a source: options, columns in use, and notes for the user."""

    options: CorpusOptions
    source: str = "the texts"
    notes: list[SearchWarning] = field(default_factory=list)
    columns: TextColumns | None = None
    n_bytes: int = 0  # of the files that were read, as they are stored; an estimate within a file
    reading: Reading = field(init=False)

    def __post_init__(self) -> None:
        self.reading = Reading(
            encoding=self.options.encoding,
            limit=self.options.document_bytes,
            skip_bad_rows=self.options.skip_bad_rows,
        )

    def list_notes(self) -> list[SearchWarning]:
        """Return the notes for the user, and one about rows that were skipped."""
        return [*self.notes, *self.reading.list_notes()]

    def read_files(self, sources: SourceFiles) -> Iterator[Documents]:
        """Read the documents of all files, in order."""
        self.notes += sources.notes
        if sources.format in ("lines", "files"):
            self.check_no_columns()
        if sources.format == "files":
            yield from self._read_pairs(self._read_file(file, sources.root) for file in sources.files)
            return
        for file in sources.files:
            yield from self._read_lines(file) if sources.format == "lines" else self._read_table(file, sources.format)

    def _read_file(self, file: File, root: Path | None) -> tuple[str, str]:
        """Return the text and the name of a file."""
        self.n_bytes += file.n_bytes
        # Relative paths have forward slashes on every system, so that an index does not depend on where it was built.
        name = str(file.path) if root is None else file.path.relative_to(root).as_posix()
        return read_text(file, self.options.encoding, self.reading.limit), replace_surrogates(name)

    def _read_lines(self, file: File) -> Iterator[Documents]:
        with open_plain(file, self.options.encoding) as path:
            lines = read_lines(path, file, self.reading)
            yield from self._read_pairs((line.removesuffix("\n").removesuffix("\r"), None) for _, line in lines)
        self.n_bytes += file.n_bytes

    def _read_table(self, file: File, format: Format) -> Iterator[Documents]:
        with open_rows(file, format, self.reading) as rows:
            if not rows.sample.width:
                return
            columns = self._resolve_columns(rows.sample, str(file))
            schema = {name: rows.sample.schema[name] for name in columns.all if name in rows.sample.columns}
            end = self.n_bytes + file.n_bytes
            for frame in rows.read(schema):
                for piece in _cut(frame, columns, self.options.chunk_bytes):
                    yield _load_frame(piece, columns)
                    self.n_bytes = min(self.n_bytes + int(piece.estimated_size()), end)
        self.n_bytes = end

    def read_frame(self, source: Any) -> Iterator[Documents]:
        """Read the documents of a data frame or of another table in memory."""
        for frame in map(to_polars, compute_parts(source) if is_dask(source) else (source,)):
            columns = self._resolve_columns(frame, TABLE)
            for piece in _cut(frame, columns, self.options.chunk_bytes):
                yield _load_frame(piece, columns)

    def read_strings(self, texts: Iterable[Any]) -> Iterator[Documents]:
        """Read documents that are strings already, or missing."""
        if is_dask(texts):
            texts = chain.from_iterable(compute_parts(texts))
        elif not isinstance(texts, pl.Series) and hasattr(texts, "to_pylist"):
            texts = texts.to_pylist()  # an array of Arrow
        return self._read_pairs((None if is_missing(text) else _join(text), None) for text in texts)

    def _read_pairs(self, pairs: Iterable[tuple[str | None, str | None]]) -> Iterator[Documents]:
        """Read texts with their names."""
        sized = ((pair, len(pair[0] or "")) for pair in pairs)
        for chunk in group_by_size(sized, self.options.chunk_bytes):
            texts, names = (pl.Series(values, dtype=pl.String) for values in zip(*chunk, strict=True))
            has_names = names.null_count() == 0
            yield Documents(texts.fill_null(""), names if has_names else None, n_missing=texts.null_count())

    def _resolve_columns(self, first: pl.DataFrame, file: str) -> TextColumns:
        """Return the columns to read. They are chosen at the first file; the others must have the text and the id."""
        if self.columns is None:
            self.columns, notes = choose_columns(first, self.reading.readings, self.options, file)
            self.notes += notes
        id = self.options.id
        check_columns([*self.columns.texts, *([] if id is None else [id])], first.columns, file)
        return self.columns

    def check_no_columns(self) -> None:
        """Raise if an option names a column, where there are none."""
        for name in ("text", "id", "keep"):
            value = getattr(self.options, name)
            if value is not None and value != "auto":
                raise ArgumentError(
                    "{argument} is {value!r}, but {source!r} is plain text without columns. Leave it out, or give the "
                    "file the suffix of its format.",
                    code="no_columns",
                    argument=Option(name),
                    value=value,
                    source=self.source,
                )


def _join(text: Any) -> str:
    return " ".join(map(to_text, text)) if isinstance(text, list) else to_text(text)


def _cut(frame: pl.DataFrame, columns: TextColumns, limit: int) -> Iterator[pl.DataFrame]:
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


def _load_frame(frame: pl.DataFrame, columns: TextColumns) -> Documents:
    missing = [name for name in columns.all if name not in frame.columns and name not in columns.stored]
    frame = frame.with_columns(pl.lit(None, pl.String).alias(name) for name in missing)
    texts = pl.DataFrame([get_texts(frame, name).alias(f"text {i}") for i, name in enumerate(columns.texts)])
    joined = texts.select(pl.concat_str(pl.all(), separator="\n", ignore_nulls=True)).to_series()
    return Documents(
        joined.fill_null("").alias(""),
        None if columns.id is None else get_texts(frame, columns.id).fill_null(""),
        unwrap(frame[[name for name in columns.stored if name in frame.columns]]) if columns.stored else None,
        int(texts.select(pl.all_horizontal(pl.all().is_null()).sum()).item()),
    )


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
    sources = find_files(source, is_table=bool(options.named_columns))
    if sources.format in ("lines", "files"):
        return []
    reader = SourceReader(options, describe_source(source))
    with open_rows(sources.files[0], sources.format, reader.reading) as rows:
        try:
            columns, _ = choose_columns(rows.sample, reader.reading.readings, options, str(sources.files[0]))
        except SearchError as error:
            if error.code != "unclear_text_column":
                raise
            columns = TextColumns((), options.id)
        return summarize_columns(rows.sample, reader.reading.readings, columns.texts, columns.id)


def name_columns(source: Source | TableLike, options: CorpusOptions | None = None) -> list[str]:
    """Return the names of the columns of a table in memory, or of the first file; none of texts without columns."""
    if is_frame(source):
        return list_columns(source)
    return [] if are_texts(source) else [column.name for column in inspect_columns(source, options)]


def has_columns(source: Source, options: CorpusOptions) -> bool:
    """Return whether documents come from tables, whose columns have names."""
    if is_frame(source) or are_texts(source):
        return is_frame(source)
    return find_files(source, is_table=bool(options.named_columns)).format not in ("lines", "files")


def are_texts(source: Any) -> bool:
    """Return whether a source has texts, not names of files: an array, a Series, an iterator, or a list of them.

    A list of strings holds texts if none of the first is a file or a pattern of files, and one has a blank.
    """
    if isinstance(source, str | os.PathLike) or not isinstance(source, Iterable):
        return False
    if not isinstance(source, list | tuple):
        return True
    first = source[:_N_FIRST]
    if not all(isinstance(item, str) for item in first):
        return not any(isinstance(item, os.PathLike) for item in first)
    return any(len(text.split()) > 1 for text in first) and not any(map(_names_files, first))


def _names_files(text: str) -> bool:
    if len(text) > _MAX_PATH or "\n" in text:
        return False
    text, _ = split_table(text)
    return os.path.exists(text) or (glob.has_magic(text) and bool(glob.glob(text)))
