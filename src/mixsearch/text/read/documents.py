"""Documents on their way from files, and what is found out about the files meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.columns import Columns, choose_columns
from mixsearch.text.read.files import File
from mixsearch.text.read.sources import Progress

Item = TypeVar("Item")


@dataclass(frozen=True)
class Documents:
    """The texts of a block, and where each comes from."""

    texts: list[str]
    names: list[str] | None
    place: Callable[[int], str]  # of the i-th text, for errors


# Reads one block when called, on whichever thread has time for it.
Load = Callable[[], Documents]


@dataclass
class Reading:
    """One pass over the files: how far it is, the columns in use, and what the user should know."""

    options: CorpusOptions
    source: str = "the texts"
    progress: Progress = field(default_factory=Progress)
    notes: list[str] = field(default_factory=list)
    columns: Columns | None = None

    def settle_columns(self, names: list[str], strings: list[str], path: File | None) -> Columns:
        """The columns to read, chosen at the first file; the other files must have the same."""
        if self.columns is None:
            self.columns, note = choose_columns(names, strings, self.options, file_name(path))
            self.notes += [] if note is None else [note]
        self.columns.check(names, file_name(path))
        return self.columns


def file_name(path: File | None) -> str:
    """What to call a file in a sentence."""
    return "standard input" if path is None else repr(str(path))


def gather(items: Iterable[tuple[Item, int]], size: int) -> Iterator[list[Item]]:
    """Lists of items, each list with about so much in total."""
    block: list[Item] = []
    total = 0
    for item, item_size in items:
        block.append(item)
        total += item_size
        # Items of no size still take memory.
        if total >= size or len(block) * 100 >= size:
            yield block
            block, total = [], 0
    if block:
        yield block


def repair(text: str) -> str:
    """The text with a replacement character for halves of surrogate pairs, which no file can hold."""
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
