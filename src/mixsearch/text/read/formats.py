"""Chunks of documents from files of any format, or from strings."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from mixsearch._typing import TableLike
from mixsearch.data.arrow import is_missing
from mixsearch.data.files.location import File
from mixsearch.data.files.sources import Source, SourceFiles, describe_source, find_sources
from mixsearch.data.files.streams import replace_surrogates
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.text.options import CorpusOptions, limit_chunk_bytes, list_named_columns
from mixsearch.text.read.columns import ColumnSummary, summarize_columns, to_text
from mixsearch.text.read.documents import ChunkLoader, DocumentChunk, ReadState, group_by_size
from mixsearch.text.read.frames import are_texts, is_frame, list_frame_columns
from mixsearch.text.read.lines import read_files, read_lines
from mixsearch.text.read.records import read_json, read_jsonl
from mixsearch.text.read.tables import read_csv, read_parquet, read_rows

_READERS: dict[str, Callable[[File | None, ReadState], Iterator[ChunkLoader]]] = {
    "jsonl": read_jsonl,
    "json": read_json,
    "lines": read_lines,
    "csv": read_csv,
    "tsv": partial(read_csv, delimiter="\t"),
    "parquet": read_parquet,
    "arrow": partial(read_rows, format="arrow"),
    "excel": partial(read_rows, format="excel"),
    "sqlite": partial(read_rows, format="sqlite"),
}


def read_documents(sources: SourceFiles, state: ReadState) -> Generator[ChunkLoader, None, None]:
    """Read the documents of all files, in order."""
    if sources.format in ("lines", "files"):
        check_no_columns(state)
    if sources.format == "files":
        yield from read_files(sources, state)
        return
    paths: list[File | None] = [*sources.paths] or [None]
    for path in paths:
        yield from _READERS[sources.format](path, state)


def inspect_columns(source: Source, options: CorpusOptions | None = None) -> list[ColumnSummary]:
    """Return what the first rows of the first file show about its columns, and which are kept by default."""
    options = replace(options or CorpusOptions(), keep="auto")
    sources = find_sources(source, options.format, list_named_columns(options))
    if sources.format not in _READERS or sources.format == "lines":
        return []
    state = ReadState(options, describe_source(source))
    try:
        with closing(read_documents(sources, state)) as loaders:
            next(loaders, None)
    except SearchError as error:
        if error.code != "unclear_text_column":
            raise
    texts = state.columns.texts if state.columns is not None else ()
    return [] if state.sample is None else summarize_columns(state.sample, texts, options.id)


def list_columns(source: Source | TableLike, options: CorpusOptions | None = None) -> list[str]:
    """Return the names of the columns of a table in memory, or of the first file."""
    if is_frame(source):
        return list_frame_columns(source)
    return [column.name for column in inspect_columns(source, options)]


def has_columns(source: Source, options: CorpusOptions) -> bool:
    """Return whether documents come from tables, whose columns have names."""
    if is_frame(source) or are_texts(source):
        return is_frame(source)
    sources = find_sources(source, options.format, list_named_columns(options))
    return sources.format in set(_READERS) - {"lines"}


def read_strings(texts: Iterable[Any], names: Iterable[str] | None, state: ReadState) -> Iterator[ChunkLoader]:
    """Read documents that are strings already, or missing."""
    pairs: Iterable[tuple[Any, str | None]] = (
        zip(texts, names, strict=True) if names is not None else ((text, None) for text in texts)
    )
    start = 0
    for chunk in group_by_size(((pair, _measure(pair[0])) for pair in pairs), limit_chunk_bytes(state.options)):
        yield partial(_load_strings, chunk, names is not None, start)
        start += len(chunk)


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


def _measure(text: Any) -> int:
    return len(text) if isinstance(text, str) else 0


def _load_strings(chunk: list[tuple[Any, str | None]], named: bool, start: int) -> DocumentChunk:
    texts = ["" if is_missing(text) else replace_surrogates(to_text(text)) for text, _ in chunk]
    names = [replace_surrogates(to_text(name)) for _, name in chunk] if named else None
    n_missing = sum(is_missing(text) for text, _ in chunk)
    return DocumentChunk(texts, names, lambda i: f"text {start + i + 1:,}", n_missing=n_missing)
