"""Documents on a cluster, ready for a fit: words become columns, short documents are dropped, others numbered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.dask.partitions import DaskPartitions
from mixsearch.data.dask.tasks import broadcast, compute_tasks, item, persist_tasks, task
from mixsearch.data.files.types import ColumnTypes
from mixsearch.data.partitions import Layout
from mixsearch.index.build.dropped import DroppedRange, PostingsCollector
from mixsearch.index.build.fit import check_n_documents, select_documents
from mixsearch.index.build.options import OnProgress
from mixsearch.storage import CompressedTexts, compress_texts
from mixsearch.text import CountedPartition, DistributedCorpus, DroppedWords, Vocabulary
from mixsearch.topics import (
    CountPartition,
    TopicSearch,
    get_min_words,
    is_damped,
    limit_segments,
    name_fitted,
)


class _Sizes(NamedTuple):
    """Sizes of one partition, from which its position on disk follows."""

    n_documents: int
    n_short: int
    n_nonzeros: int
    n_blocks: dict[str, int]  # of texts and names
    n_bytes: dict[str, int]


class Contents(NamedTuple):
    """The stored parts of documents other than counts and texts: columns, and documents that are too short."""

    rows: Array
    names: list[str] | None
    columns: Any  # a record batch or table, or None


class ShortContents(NamedTuple):
    """Documents that are too short for a topic."""

    contents: Contents
    texts: list[str] | None


class _Assembled(NamedTuple):
    """One partition as its worker makes it."""

    partition: CountPartition
    texts: dict[str, CompressedTexts]  # texts and names, of the same documents
    sizes: _Sizes
    dropped: PostingsCollector  # documents numbered from 0
    contents: list[Contents]
    short: list[ShortContents]


class DistributedDocuments(NamedTuple):
    """Documents that are long enough, on the workers: all of them, or those of a segment."""

    tasks: list[Any]  # of `CountPartition`, numbered
    texts: list[Any]  # tasks of their texts and names
    sizes: list[_Sizes]
    n_short: int
    dropped: PostingsCollector
    contents: list[Any]  # tasks of the `Contents` of each partition
    short: list[Any]  # tasks of the `ShortContents` of each partition, also of those without other documents
    segments: list[slice]  # the partitions of each segment
    dropped_ranges: list[DroppedRange]  # as `write_dropped` takes them
    name: str = ""  # of the segment
    first: int = 0  # the index of its first document

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return sum(each.n_documents for each in self.sizes)

    @property
    def n_nonzeros(self) -> int:
        """The number of non-zero counts."""
        return sum(each.n_nonzeros for each in self.sizes)

    @property
    def offsets(self) -> list[int]:
        """The index of each partition's first document."""
        return compute_offsets(each.n_documents for each in self.sizes)

    def split(self) -> list[DistributedDocuments]:
        """Return the documents of each segment, without those that are too short."""
        return [
            self._replace(
                tasks=self.tasks[own],
                texts=self.texts[own],
                sizes=self.sizes[own],
                contents=self.contents[own],
                short=[],
                name=name_fitted(i),
                first=sum(each.n_documents for each in self.sizes[: own.start]),
            )
            for i, own in enumerate(self.segments)
        ]

    def partitions(self, n_words: int) -> DaskPartitions[CountPartition]:
        """Return the documents as a fit takes them."""
        return DaskPartitions(
            Layout(self.n_documents, n_words, np.dtype(np.float32), is_sparse=True), tuple(self.tasks)
        )


def compute_offsets(sizes: Iterable[int]) -> list[int]:
    """Return where each part of a concatenation starts."""
    return list(accumulate(sizes, initial=0))[:-1]


def assemble_documents(corpus: DistributedCorpus, search: TopicSearch, on_progress: OnProgress) -> DistributedDocuments:
    """Assign columns to the counted words, drop short documents, and number the others."""
    min_words, vocabulary, dropped = get_min_words(search), broadcast(corpus.words), broadcast(corpus.dropped)
    types = broadcast(corpus.types)
    made = persist_tasks(
        [
            task(_assemble, partition, vocabulary, dropped, types, first, is_damped(search), min_words)
            for partition, first in zip(corpus.partitions, corpus.first_rows, strict=True)
        ],
        lambda done: on_progress("Sorting words", len(done), len(corpus.partitions), "partitions"),
    )
    sizes: list[_Sizes] = compute_tasks([item(each, 2) for each in made])
    n_documents, n_short = sum(each.n_documents for each in sizes), sum(each.n_short for each in sizes)
    check_n_documents(n_documents, n_short, min_words, corpus.dropped.left_out)
    full = [i for i, each in enumerate(sizes) if each.n_documents]
    offsets = compute_offsets(each.n_documents for each in sizes)
    nodes = persist_tasks(
        [task(_number_documents, item(made[i], 0), offsets[i]) for i in full]
        + [item(made[i], 1) for i in full]
        + [item(made[i], 4) for i in full]
        + [item(each, 5) for each in made]
    )
    n_full = len(full)
    sizes = [sizes[i] for i in full]
    segments = split_partitions([each.n_nonzeros for each in sizes])
    collected, ranges = PostingsCollector(corpus.dropped), []
    for j, own in enumerate(segments):
        before = collected.count_documents()
        for i in full[own]:
            collected.merge(compute_tasks([item(made[i], 3)])[0], offsets[i])
        first, n_own = offsets[full[own.start]], sum(each.n_documents for each in sizes[own])
        ranges.append(DroppedRange(name_fitted(j), first, first + n_own, collected.count_documents() - before))
    tasks, texts, contents = (nodes[start : start + n_full] for start in (0, n_full, 2 * n_full))
    short = nodes[3 * n_full :]
    ranges = ranges if len(segments) > 1 else []
    return DistributedDocuments(tasks, texts, sizes, n_short, collected, contents, short, segments, ranges)


def split_partitions(n_nonzeros: Sequence[int]) -> list[slice]:
    """Return which partitions each segment consists of, given the number of counts of each partition."""
    limits, cuts, n_own = limit_segments(sum(n_nonzeros)), [0], 0
    for i, n in enumerate(n_nonzeros):
        if n_own and (n_own >= limits.enough or n_own + n > limits.maximum):
            cuts.append(i)
            n_own = 0
        n_own += n
    return [slice(*ends) for ends in pairwise([*cuts, len(n_nonzeros)])]


def _assemble(
    partition: CountedPartition,
    vocabulary: Vocabulary,
    dropped: DroppedWords,
    types: ColumnTypes | None,
    first_row: int,
    damping: bool,
    min_words: int,
) -> _Assembled:
    counts, rows, texts, names = [], [np.empty(0, dtype=np.int64)], [], []
    n_short, collected = 0, PostingsCollector(dropped)
    contents: list[Contents] = []
    short: list[ShortContents] = []
    for chunk in partition.chunks(vocabulary, dropped.vocabulary, types):
        chunk = replace(chunk, rows=chunk.rows + first_row)
        long_counts, chosen = select_documents(chunk.counts, damping, min_words)
        collected.add(chunk.dropped[chosen], np.asarray(long_counts.sum(axis=1)), sum(map(len, rows)))
        counts.append(long_counts)
        n_short += len(chunk.rows) - len(chosen)
        own_rows, own_names, own_texts, columns = chunk.take_contents(chosen)
        rows.append(own_rows)
        texts += own_texts or []
        names += own_names or []
        contents += [] if columns is None else [Contents(own_rows, own_names, columns)]
        rest = np.setdiff1d(np.arange(len(chunk.rows)), chosen)
        if len(rest):
            own_rows, own_names, own_texts, columns = chunk.take_contents(rest)
            short.append(ShortContents(Contents(own_rows, own_names, columns), own_texts))
    by_document = sp.csr_array(sp.vstack(counts, "csr")) if counts else sp.csr_array((0, len(vocabulary.words)))
    counted = CountPartition(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc(),
        lengths=np.asarray(by_document.sum(axis=1), np.float64),
        rows=np.concatenate(rows),
    )
    packed = {"texts": compress_texts(texts), "names": compress_texts(names)}
    n_blocks = {name: len(column.blocks) - 1 for name, column in packed.items()}
    n_bytes = {name: len(column.bytes) for name, column in packed.items()}
    sizes = _Sizes(by_document.shape[0], n_short, by_document.nnz, n_blocks, n_bytes)
    return _Assembled(counted, packed, sizes, collected.limited(), contents, short)


def _number_documents(partition: CountPartition, first: int) -> CountPartition:
    return replace(partition, first=first)
