"""Partitions of a corpus that are read and counted independently, on any machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.files.location import File, get_size
from mixsearch.data.files.rows import open_parquet
from mixsearch.data.files.sources import SourceFiles
from mixsearch.data.files.streams import is_compressed, name_file
from mixsearch.data.files.types import ColumnTypes
from mixsearch.errors import SearchError
from mixsearch.text.count.chunks import Chunk, CountChunk, count_chunk, to_count_chunk
from mixsearch.text.count.dropped import find_single
from mixsearch.text.count.phrases import count_pairs, count_slots
from mixsearch.text.count.stop_words import StopWordCounts, sum_stop_words
from mixsearch.text.count.vocabulary import (
    Frequencies,
    FrequencyCounter,
    Vocabulary,
    add_frequencies,
    spell_words,
)
from mixsearch.text.options import CorpusOptions
from mixsearch.text.read.columns import Columns
from mixsearch.text.read.documents import ChunkLoader, ReadState, group_by_size
from mixsearch.text.read.formats import read_documents
from mixsearch.text.read.lines import read_lines
from mixsearch.text.read.records import read_jsonl
from mixsearch.text.read.tables import measure_row_groups, read_parquet

_SPAN_READERS = {"jsonl": read_jsonl, "lines": read_lines, "parquet": read_parquet}
# Large enough that the scheduler's millisecond per task does not matter, small enough that a worker holds several.
MIN_BYTES, MAX_BYTES = 1 << 18, 1 << 26
# Partitions per thread of the cluster, so that threads finish at about the same time.
_PER_THREAD = 4


@dataclass(frozen=True)
class Partition:
    """A partition of the documents: a file, a span of it, or several small files."""

    sources: SourceFiles
    span: range | None  # bytes of a file of lines, or row groups of a Parquet file
    n_bytes: int  # of the files, as they are stored

    def load(self, state: ReadState) -> Iterator[ChunkLoader]:
        """Yield the documents, one chunk at a time."""
        if self.span is None:
            yield from read_documents(self.sources, state)
        else:
            yield from _SPAN_READERS[self.sources.format](self.sources.paths[0], state, self.span)

    def locate(self, error: SearchError) -> SearchError:
        """Return an error of its documents, with a remark if lines are numbered from the middle of a file."""
        if self.span is None or self.span.start == 0 or self.sources.format == "parquet":
            return error
        return error.append("Lines are numbered from byte {first_byte:,} of the file.", first_byte=self.span.start)


def choose_partition_bytes(sources: SourceFiles, n_threads: int) -> int:
    """Return the approximate size of a partition, in stored bytes."""
    even = (sources.n_bytes or MAX_BYTES) // (_PER_THREAD * n_threads)
    return min(max(even, MIN_BYTES), MAX_BYTES)


def split_file(file: File, sources: SourceFiles, columns: Columns | None, max_bytes: int) -> list[Partition]:
    """Split one file by row groups or by bytes. Other formats stay whole: only a reader finds the end of a row."""
    single = replace(sources, paths=[file], notes=())
    if sources.format == "parquet" and columns is not None:
        return _split_row_groups(single, columns, max_bytes)
    size = get_size(file)
    if sources.format in ("jsonl", "lines") and (size or 0) > max_bytes and not is_compressed(file):
        ends = [*range(0, size or 0, max_bytes), size or 0]
        return [Partition(single, range(start, stop), stop - start) for start, stop in pairwise(ends)]
    return [Partition(single, None, size or 0)]


def _split_row_groups(single: SourceFiles, columns: Columns, max_bytes: int) -> list[Partition]:
    file = single.paths[0]
    with open_parquet(file) as table:
        columns.check(table.schema_arrow.names, name_file(file))
        sizes, size = measure_row_groups(table, columns), get_size(file) or 0
    share = size / max(sum(sizes), 1)
    spans = [range(run[0], run[-1] + 1) for run in group_by_size(enumerate(sizes), max_bytes)]
    if len(spans) <= 1:
        return [Partition(single, None, size)]
    return [Partition(single, span, int(share * sum(sizes[span.start : span.stop]))) for span in spans]


def merge_small_files(partitions: Iterable[Partition], max_bytes: int) -> list[Partition]:
    """Merge consecutive whole files as long as they are small together."""
    merged: list[Partition] = []
    for partition in partitions:
        last = merged[-1] if merged else None
        if last is None or last.span or partition.span or last.n_bytes + partition.n_bytes > max_bytes:
            merged.append(partition)
        else:
            paths = [*last.sources.paths, *partition.sources.paths]
            merged[-1] = Partition(replace(last.sources, paths=paths), None, last.n_bytes + partition.n_bytes)
    return merged


@dataclass(frozen=True)
class CountedPartition:
    """The counted documents of a partition.

    Attributes
    ----------
    stored : list of Chunk
        The documents, by the keys of their words. Their rows are numbered from 0 in each partition.
    fingerprints : array
        One per document, if exact duplicates are dropped.
    stop_words : StopWordCounts, optional
        How the documents use stop words, if the corpus chooses them.
    types : ColumnTypes, optional
        The types of the columns to keep, if there are some.
    """

    stored: list[Chunk]
    fingerprints: Array
    stop_words: StopWordCounts | None = None
    types: ColumnTypes | None = None

    def __sizeof__(self) -> int:
        """Return the bytes of the arrays, by which a cluster plans its memory."""
        return sum(_measure_bytes(chunk) for chunk in self.stored) + self.fingerprints.nbytes

    @property
    def n_rows(self) -> int:
        """The number of documents."""
        return sum(len(chunk.rows) for chunk in self.stored)

    def chunks(
        self, vocabulary: Vocabulary, dropped: Vocabulary, types: ColumnTypes | None = None
    ) -> Iterator[CountChunk]:
        """Yield the documents in order, one chunk at a time, with the words of a vocabulary as columns."""
        for chunk in self.stored:
            yield to_count_chunk(chunk, vocabulary, dropped, types)


def _measure_bytes(chunk: Chunk) -> int:
    texts = 0 if chunk.texts is None else chunk.texts.nbytes
    names = 0 if chunk.names is None else sum(map(len, chunk.names))
    columns = 0 if chunk.columns is None else int(chunk.columns.nbytes)
    counts = sum(int(array.nbytes) for array in vars(chunk.counts).values())
    return counts + chunk.rows.nbytes + texts + names + columns


def count_partition(
    partition: Partition, options: CorpusOptions, columns: Columns | None, stop_hashes: Array
) -> CountedPartition:
    """Read and count all documents of a partition."""
    state = ReadState(options, columns=columns)
    chunks, fingerprints, n_rows = [], [np.empty(0, dtype=np.uint64)], 0
    stop_words, types = [], []
    try:
        for load in partition.load(state):
            counted = count_chunk(load, options, stop_hashes)
            chunks.append(replace(counted.chunk, rows=counted.chunk.rows + n_rows))
            fingerprints.append(counted.fingerprints)
            stop_words += [] if counted.stop_words is None else [counted.stop_words]
            types += [] if counted.types is None else [counted.types]
            n_rows += len(counted.chunk.rows)
    except SearchError as error:
        raise partition.locate(error) from error
    except OSError as error:
        # An OSError from a worker would be taken for a failure of the cluster.
        raise SearchError(
            "A worker cannot read a file: {reason}. Check that all workers see it.",
            code="unreadable_file",
            reason=str(error),
        ) from error
    used = sum_stop_words(stop_words) if stop_words else None
    return CountedPartition(chunks, np.concatenate(fingerprints), used, merge_types(types))


def merge_types(types: Iterable[ColumnTypes]) -> ColumnTypes | None:
    """Return the types that all chunks have; None if there are none."""
    every = list(types)
    return reduce(ColumnTypes.merge, every) if every else None


class PartitionSizes(NamedTuple):
    """The sizes of a counted partition."""

    n_rows: int
    n_characters: int
    has_names: bool
    types: ColumnTypes | None


def measure_partition(partition: CountedPartition) -> PartitionSizes:
    """Return the sizes of a counted partition."""
    n_characters = sum(int(chunk.n_characters.sum()) for chunk in partition.stored)
    has_names = any(chunk.names is not None for chunk in partition.stored)
    return PartitionSizes(partition.n_rows, n_characters, has_names, partition.types)


def count_frequencies(partition: CountedPartition) -> Frequencies:
    """Return the frequencies of the words of a partition."""
    counter = FrequencyCounter()
    for chunk in partition.stored:
        counter.add(chunk.counts)
    return counter.sum()


def count_tokens(partition: CountedPartition) -> int:
    """Return the number of words in which to find phrases."""
    return sum(len(chunk.counts.sequence) for chunk in partition.stored)


def count_slots_in_partition(partition: CountedPartition, keys: Array) -> Array:
    """Return an upper bound for the counts of pairs of words, by slots."""
    return count_slots((chunk.counts for chunk in partition.stored), keys)


def count_pairs_in_partition(partition: CountedPartition, keys: Array, slots: Array, minimum: int) -> Frequencies:
    """Return the frequencies of pairs of words that may be frequent."""
    return count_pairs((chunk.counts for chunk in partition.stored), keys, slots, minimum)


def sum_arrays(arrays: list[Array]) -> Array:
    """Return the sum of arrays of one shape."""
    return reduce(np.add, arrays)


def get_stop_words(partition: CountedPartition) -> list[StopWordCounts]:
    """Return how a partition uses stop words; an empty list if it has no documents."""
    return [] if partition.stop_words is None else [partition.stop_words]


def merge_stop_words(counts: list[list[StopWordCounts]]) -> list[StopWordCounts]:
    """Return how several partitions use stop words."""
    every = [each for own in counts for each in own]
    return [sum_stop_words(every)] if every else []


def sum_frequencies(frequencies: list[Frequencies]) -> Frequencies:
    """Return the frequencies of several partitions together."""
    return reduce(add_frequencies, frequencies)


def spell_in_partition(partition: CountedPartition, frequencies: Frequencies) -> list[str]:
    """Return words as strings; empty if this partition does not have the word."""
    return spell_words(frequencies, (chunk.counts for chunk in partition.stored))


def find_single_in_partition(partition: CountedPartition, frequencies: Frequencies) -> Array:
    """Return which words this partition has as single ones, (n,)."""
    return find_single(frequencies, (chunk.counts for chunk in partition.stored))


def merge_single(found: list[Array]) -> Array:
    """Return which words any partition has as single ones, (n,)."""
    return np.asarray(np.any(found, axis=0))


def merge_spellings(spellings: list[list[str]]) -> list[str]:
    """Return each word as spelled by the first partition that has it."""
    return [next(filter(None, words), "") for words in zip(*spellings, strict=True)]


def split_fingerprints(partition: CountedPartition, n_groups: int) -> list[tuple[Array, Array]]:
    """Split the fingerprints of documents with words, and their rows, so that equal ones get into one group."""
    sizes = [np.diff(chunk.counts.bounds) for chunk in partition.stored]
    rows = np.flatnonzero(np.concatenate([np.empty(0, dtype=np.int64), *sizes]))
    group = partition.fingerprints[rows] % np.uint64(n_groups)
    return [(partition.fingerprints[rows[group == i]], rows[group == i]) for i in range(n_groups)]


def find_duplicates(groups: list[tuple[Array, Array]]) -> list[Array]:
    """Return for each partition, in order, the rows whose fingerprints an earlier row has."""
    fingerprints = np.concatenate([own for own, _ in groups])
    is_duplicate = np.ones(len(fingerprints), dtype=bool)
    is_duplicate[np.unique(fingerprints, return_index=True)[1]] = False
    cuts = np.cumsum([len(own) for own, _ in groups])[:-1]
    return [rows[own] for (_, rows), own in zip(groups, np.split(is_duplicate, cuts), strict=True)]


def drop_rows(partition: CountedPartition, dropped: list[Array]) -> CountedPartition:
    """Return a partition without some of its rows. The others keep their numbers."""
    rows = np.concatenate(dropped)
    chunks = [chunk.take(~np.isin(chunk.rows, rows)) for chunk in partition.stored]
    return replace(partition, stored=chunks, fingerprints=partition.fingerprints[:0])
