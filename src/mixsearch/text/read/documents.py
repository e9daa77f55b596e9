"""Chunks of documents on their way from files, and the state of reading the files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mixsearch.data.files.location import File
from mixsearch.data.files.row_checks import BadRows
from mixsearch.data.files.streams import Progress, name_file
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.text.options import CorpusOptions, limit_document_bytes
from mixsearch.text.read.columns import Columns, choose_columns, choose_kept, note_left_out

# An item without text still takes memory.
_BYTES_PER_ITEM = 100

Item = TypeVar("Item")


@dataclass(frozen=True)
class DocumentChunk:
    """The texts of a chunk, and where each comes from."""

    texts: list[str]
    names: list[str] | None
    locate: Callable[[int], str]
    columns: Any = None
    n_missing: int = 0


# Reads one chunk when called, on any thread.
ChunkLoader = Callable[[], DocumentChunk]


@dataclass
class ReadState:
    """The state of one pass over the files: options, progress, columns in use, and notes for the user."""

    options: CorpusOptions
    source: str = "the texts"
    progress: Progress = field(default_factory=Progress)
    notes: list[SearchWarning] = field(default_factory=list)
    columns: Columns | None = None
    sample: Any = None  # a record batch of the first rows of all columns, if columns are to be kept
    bad_rows: BadRows = field(init=False)

    def __post_init__(self) -> None:
        self.bad_rows = BadRows(skip=self.options.skip_bad_rows)

    def list_notes(self) -> list[SearchWarning]:
        """Return the notes for the user, and one about rows that were skipped."""
        return [*self.notes, *self.bad_rows.describe()]

    def resolve_columns(
        self, names: list[str], strings: list[str], path: File | str | None, sample: Callable[[], Any]
    ) -> Columns:
        """Return the columns to read. They are chosen at the first file; the others must have the text and the id."""
        if self.columns is None:
            file, keep = name_file(path), self.options.keep
            self.sample = None if keep is None else sample()
            columns, note = choose_columns(names, strings, self.options, file)
            columns.check(names, file)
            self.columns = replace(columns, kept=choose_kept(self.sample, columns, keep, file))
            self.notes += [] if note is None else [note]
            self.notes += note_left_out(names, self.columns, file) if keep == "auto" else []
        self.columns.check(names, name_file(path))
        return self.columns


def make_length_error(options: CorpusOptions, place: str, **fields: Any) -> SearchError:
    """Return the error for a document that would take more memory than all work may; fields of a bad row name it."""
    return SearchError(
        "The document in {place} is longer than {limit:,} bytes, the maximum with this {argument}. Set "
        "a larger one, or split the document.",
        code="document_too_long",
        place=place,
        limit=limit_document_bytes(options),
        argument=Option("memory"),
        **fields,
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
