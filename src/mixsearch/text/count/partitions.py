"""A corpus in parts that are read and counted each on its own, by whichever machine has time for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.count.chunks import CountChunk, count_load, read_chunk, take_documents
from mixsearch.text.count.spool import Block
from mixsearch.text.count.vocabulary import GrowingTally, PartitionCounts, Vocabulary, add_tallies, name_words
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.columns import Columns
from mixsearch.text.read.documents import Load, Reading, file_name, gather
from mixsearch.text.read.files import File, size_of
from mixsearch.text.read.formats import read_documents
from mixsearch.text.read.lines import read_jsonl, read_lines
from mixsearch.text.read.sources import Sources, is_compressed
from mixsearch.text.read.tables import group_bytes, opened_parquet, read_parquet

_SPANNED = {"jsonl": read_jsonl, "lines": read_lines, "parquet": read_parquet}
# A part holds enough that the scheduler's millisecond for it is nothing, and so little that a worker holds several.
_SMALLEST_PART, _LARGEST_PART = 1 << 18, 1 << 26
# Parts for each thread of the cluster, so that none waits long for the last one.
_PARTS_PER_THREAD = 4


@dataclass(frozen=True)
class Part:
    """Some of the documents: those of a file, of a span of it, or of several small files."""

    sources: Sources
    span: range | None  # bytes of a file of lines, or row groups of a Parquet file
    n_bytes: int  # of the files, as they are stored

    def load(self, reading: Reading) -> Iterator[Load]:
        """The documents, a block at a time."""
        if self.span is None:
            yield from read_documents(self.sources, reading)
        else:
            yield from _SPANNED[self.sources.format](self.sources.paths[0], reading, self.span)

    def located(self, error: SearchError) -> SearchError:
        """An error of its documents; lines that were counted from the middle of a file are said to be."""
        if self.span is None or self.span.start == 0 or self.sources.format == "parquet":
            return error
        return SearchError(f"{error} Lines are counted from byte {self.span.start:,} of the file on.")


def part_bytes(sources: Sources, n_threads: int) -> int:
    """About how many bytes of the files make a part."""
    even = (sources.n_bytes or _LARGEST_PART) // (_PARTS_PER_THREAD * n_threads)
    return min(max(even, _SMALLEST_PART), _LARGEST_PART)


def cut_file(file: File, sources: Sources, columns: Columns | None, most_bytes: int) -> list[Part]:
    """The parts of one file: by row groups, by bytes, or all of it where only its reader can tell a row's end."""
    one = replace(sources, paths=[file], note=None)
    if sources.format == "parquet" and columns is not None:
        return _cut_groups(one, columns, most_bytes)
    size = size_of(file)
    if sources.format in ("jsonl", "lines") and (size or 0) > most_bytes and not is_compressed(file):
        ends = [*range(0, size or 0, most_bytes), size or 0]
        return [Part(one, range(start, stop), stop - start) for start, stop in pairwise(ends)]
    return [Part(one, None, size or 0)]


def _cut_groups(one: Sources, columns: Columns, most_bytes: int) -> list[Part]:
    file = one.paths[0]
    with opened_parquet(file) as table:
        columns.check(table.schema_arrow.names, file_name(file))
        sizes, size = group_bytes(table, columns), size_of(file) or 0
    share = size / max(sum(sizes), 1)
    spans = [range(run[0], run[-1] + 1) for run in gather(enumerate(sizes), most_bytes)]
    if len(spans) <= 1:
        return [Part(one, None, size)]
    return [Part(one, span, int(share * sum(sizes[span.start : span.stop]))) for span in spans]


def join_small(parts: Iterable[Part], most_bytes: int) -> list[Part]:
    """The same parts, with whole files that follow each other put together while they are small."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if last is None or last.span or part.span or last.n_bytes + part.n_bytes > most_bytes:
            joined.append(part)
        else:
            paths = [*last.sources.paths, *part.sources.paths]
            joined[-1] = Part(replace(last.sources, paths=paths), None, last.n_bytes + part.n_bytes)
    return joined


@dataclass(frozen=True)
class CountedPartition:
    """The documents of a part as they were counted; their rows are numbered from 0 in each part."""

    blocks: list[Block]
    marks: Array  # of all documents, where duplicates are looked for

    def __sizeof__(self) -> int:
        """Bytes of its arrays: a cluster wants to know what it takes to keep it."""
        return sum(_bytes_of(block) for block in self.blocks) + self.marks.nbytes

    @property
    def n_rows(self) -> int:
        """How many documents it has."""
        return sum(len(block.rows) for block in self.blocks)

    def chunks(self, vocabulary: Vocabulary) -> Iterator[CountChunk]:
        """Yield the documents in order, a chunk at a time, with the words of a vocabulary as columns."""
        for block in self.blocks:
            yield read_chunk(block, vocabulary)


def _bytes_of(block: Block) -> int:
    texts = 0 if block.texts is None else block.texts.nbytes
    names = 0 if block.names is None else sum(map(len, block.names))
    return sum(int(array.nbytes) for array in vars(block.counts).values()) + block.rows.nbytes + texts + names


def count_part(part: Part, options: CorpusOptions, columns: Columns | None, stop_hashes: Array) -> CountedPartition:
    """Read and count all documents of a part."""
    reading = Reading(options, columns=columns)
    blocks, marks, n_rows = [], [np.empty(0, dtype=np.uint64)], 0
    try:
        for load in part.load(reading):
            counted = count_load(load, options, stop_hashes)
            blocks.append(replace(counted.block, rows=counted.block.rows + n_rows))
            marks.append(counted.marks)
            n_rows += len(counted.block.rows)
    except SearchError as error:
        raise part.located(error) from error
    except OSError as error:
        # Of a worker, it would be taken for one of the cluster.
        raise SearchError(f"Could not read a file: {error}. Do all workers see it?") from error
    return CountedPartition(blocks, np.concatenate(marks))


class PartFacts(NamedTuple):
    """What must be known of a part before it is numbered."""

    n_rows: int
    n_characters: int
    has_names: bool


def facts_of(part: CountedPartition) -> PartFacts:
    """Of one part."""
    n_characters = sum(int(block.n_characters.sum()) for block in part.blocks)
    return PartFacts(part.n_rows, n_characters, any(block.names is not None for block in part.blocks))


def tally_part(part: CountedPartition) -> PartitionCounts:
    """How often its words occur."""
    tally = GrowingTally()
    for block in part.blocks:
        tally.add(block.counts)
    return tally.total()


def sum_tallies(tallies: list[PartitionCounts]) -> PartitionCounts:
    """Of several parts together."""
    return reduce(add_tallies, tallies)


def spell_part(part: CountedPartition, tally: PartitionCounts) -> list[str]:
    """The words of a tally, empty where this part does not have them."""
    return name_words(tally, (block.counts for block in part.blocks))


def join_spellings(spellings: list[list[str]]) -> list[str]:
    """The words that any of several parts has."""
    return [next(filter(None, words), "") for words in zip(*spellings, strict=True)]


def split_marks(part: CountedPartition, n_shares: int) -> list[tuple[Array, Array]]:
    """The marks of the documents with words, and their rows, dealt out so that equal ones come together."""
    sizes = [np.diff(block.counts.bounds) for block in part.blocks]
    rows = np.flatnonzero(np.concatenate([np.empty(0, dtype=np.int64), *sizes]))
    share = part.marks[rows] % np.uint64(n_shares)
    return [(part.marks[rows[share == i]], rows[share == i]) for i in range(n_shares)]


def find_repeats(shares: list[tuple[Array, Array]]) -> list[Array]:
    """For each part, in their order, the rows whose marks an earlier row has."""
    marks = np.concatenate([own for own, _ in shares])
    is_repeat = np.ones(len(marks), dtype=bool)
    is_repeat[np.unique(marks, return_index=True)[1]] = False
    cuts = np.cumsum([len(own) for own, _ in shares])[:-1]
    return [rows[own] for (_, rows), own in zip(shares, np.split(is_repeat, cuts), strict=True)]


def drop_rows(part: CountedPartition, dropped: list[Array]) -> CountedPartition:
    """A part without some of its rows; the others keep their numbers."""
    rows = np.concatenate(dropped)
    blocks = [take_documents(block, ~np.isin(block.rows, rows)) for block in part.blocks]
    return CountedPartition(blocks, part.marks[:0])
