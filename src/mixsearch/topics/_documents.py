"""Documents in shards: their counts by document and by word, what a fit adds to them, and what they tell of a hint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Sparse
from mixsearch.data.chunks import ArraySum, RowChunks, chunk_rows
from mixsearch.data.partitions import Layout, LocalPartitions, Partition, Partitions
from mixsearch.data.reductions import Best, Maximum, PartitionCounts, top_rows

# A short document can show a high share by chance: it is ranked as if it went on so long about something else.
WORDS_ELSEWHERE = 20


@dataclass(frozen=True)
class DocumentPartition(Partition):
    """Documents that are long enough."""

    by_document: sp.csr_array  # counts, (n, d)
    lengths: Array  # (n,)
    rows: Array  # numbers of the documents in the user's matrix, (n,)


@dataclass(frozen=True)
class CountPartition(DocumentPartition):
    """Documents before a fit."""

    by_word: sp.csc_array  # counts column by column: a word finds its documents
    stored: RowChunks | None = None  # the same counts on disk, where reading all of `by_document` would fill the memory

    @property
    def counts(self) -> RowChunks:
        """The counts in blocks, for a pass over all of them."""
        return chunk_rows(self.by_document) if self.stored is None else self.stored


@dataclass(frozen=True)
class TopicPartition(DocumentPartition):
    """Documents of a corpus that was fitted."""

    by_word: sp.csc_array  # counts column by column
    pair_weights: Array  # ωᵢ / (l(l-1)), (n,); ωᵢ / l² for the plug-in
    triple_weights: Array  # ωᵢ / (l(l-1)(l-2)), (n,); ωᵢ / l³ for the plug-in
    projected: Array  # Y, (n, k): whitened counts W'c, not divided by the length

    def says(self, distinct: bool) -> Array:
        """ω, the weight of each document in all averages, (n,): they sum to one over all shards."""
        n_pairs = self.lengths * (self.lengths - 1) if distinct else self.lengths**2
        return np.asarray(self.pair_weights * n_pairs)


def corpus_in_memory(
    by_document: sp.csr_array,
    by_word: sp.csc_array | None = None,
    rows: Array | None = None,
    stored: RowChunks | None = None,
) -> LocalPartitions[CountPartition]:
    """A corpus in the memory of this process, or mapped into it, as one shard.

    Parameters
    ----------
    by_document, by_word : sparse arrays of shape (n, d)
        The counts, by document and by word.
    rows : array of shape (n,), optional
        Numbers of the documents in the user's matrix.
    stored : RowBlocks, optional
        The same counts in blocks, to be read from there in passes over all of them.
    """
    n, d = by_document.shape
    counts = chunk_rows(by_document) if stored is None else stored
    partition = CountPartition(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc() if by_word is None else by_word,
        lengths=lengths_of(counts),
        rows=np.arange(n) if rows is None else rows,
        stored=stored,
    )
    return LocalPartitions(Layout(n, d, counts.dtype, is_sparse=True), partition)


def lengths_of(counts: RowChunks) -> Array:
    """How many words each document has, (n,)."""
    return np.concatenate([np.asarray(counts.read(i).sum(axis=1), np.float64) for i, _ in counts.enumerate()])


class Weighing(NamedTuple):
    """How much say each document has in all averages."""

    say: Callable[[Array], Array]  # from the lengths of documents, (n,) -> (n,)
    total: float  # of all documents
    distinct: bool  # words are paired with other words only

    def weights(self, lengths: Array) -> tuple[Array, Array, Array]:
        """ω, and ω for each of a document's pairs and triples of words, (n,)."""
        shares = self.say(lengths) / self.total
        by_pair = shares / (lengths * (lengths - 1) if self.distinct else lengths**2)
        return shares, by_pair, by_pair / (lengths - 2 if self.distinct else lengths)


def total_say(partition: CountPartition, say: Callable[[Array], Array]) -> ArraySum:
    """The weights of documents in all, before they are made to sum to one."""
    return ArraySum(float(say(partition.lengths).sum()))


@dataclass(frozen=True)
class HintedPartition(TopicPartition):
    """Documents, and what they tell of a hint v."""

    held: Sparse  # counts of its words, (n, q)
    told: Array  # ⟨c, v⟩, (n,)
    heard: Array  # the same, where some documents may stand for all that tell anything, (n,)


def hear(
    partitions: Partitions[TopicPartition], columns: Array | slice, values: Array, max_documents: int | None
) -> Partitions[HintedPartition]:
    """What documents tell of the words of a hint.

    Where more of them than `max_documents` tell anything, so many at even steps stand for all.
    """
    heard = partitions.map(_hear, columns, values)
    if max_documents is None:
        return heard
    telling: PartitionCounts = heard.reduce(_n_telling).total
    return heard if telling.total <= max_documents else heard.map(_thin_out, max_documents, telling)


def _hear(partition: TopicPartition, columns: Array | slice, values: Array) -> HintedPartition:
    held: Sparse = partition.by_document if isinstance(columns, slice) else partition.by_word[:, columns]
    told = np.asarray(held @ values)
    return HintedPartition(**vars(partition), held=held, told=told, heard=told)


def _n_telling(partition: HintedPartition) -> ArraySum:
    return ArraySum(PartitionCounts.of(partition, int(np.count_nonzero(partition.told))))


def _thin_out(partition: HintedPartition, most: int, telling: PartitionCounts) -> HintedPartition:
    rows = np.flatnonzero(partition.told)
    places = np.linspace(0, telling.total - 1, most).astype(np.intp) - telling.before(partition)
    kept = rows[places[(places >= 0) & (places < len(rows))]]
    heard = np.zeros_like(partition.told)
    heard[kept] = partition.told[kept] * (telling.total / most)
    return replace(partition, heard=heard)


@dataclass(frozen=True)
class ScoredPartition(TopicPartition):
    """Documents, and what their words tell of a topic."""

    told: Array  # (n,)


def rank_documents(partition: DocumentPartition, shares: Array, n: int) -> ArraySum:
    """The documents of a shard that are most about a topic, by its share in each, with their rows and shares."""
    best = top_rows(shares * partition.lengths / (partition.lengths + WORDS_ELSEWHERE), n)
    scores = shares[best] * partition.lengths[best] / (partition.lengths[best] + WORDS_ELSEWHERE)
    return ArraySum(Best(n, scores, best + partition.first, (partition.rows[best], shares[best])))


@dataclass(frozen=True)
class DocumentSample(Partition):
    """A few documents, to be looked at in this process."""

    counts: sp.csr_array  # (n, d)
    lengths: Array  # (n,)
    projected: Array  # (n, k)


def few_documents(partitions: Partitions[TopicPartition], numbers: Array) -> DocumentSample:
    """Documents by their numbers in the corpus, in this order."""
    each, places = np.unique(numbers, return_inverse=True)
    few = partitions.map(_pick, each).collect().partition
    if len(each) == len(numbers) and np.all(each == numbers):
        return few
    return DocumentSample(0, few.counts[places], few.lengths[places], few.projected[places])


def _pick(partition: TopicPartition, numbers: Array) -> DocumentSample:
    rows = places_in(partition, numbers)[1]
    return DocumentSample(
        partition.first, partition.by_document[rows], partition.lengths[rows], partition.projected[rows]
    )


def places_in(partition: DocumentPartition, numbers: Array) -> tuple[Array, Array]:
    """Which documents of the corpus are in a shard, of those with some numbers, and where they stand there."""
    rows = numbers - partition.first
    inside = (rows >= 0) & (rows < len(partition.lengths))
    return inside, rows[inside]


def numbers_of(partitions: Partitions[TopicPartition], rows: Array) -> Array:
    """Numbers in the corpus of documents by their rows in the user's matrix, -1 where they are not part of it."""
    found: Maximum = partitions.reduce(_numbers_of, rows).total
    return np.asarray(found.value)


def _numbers_of(partition: DocumentPartition, rows: Array) -> ArraySum:
    places = np.searchsorted(partition.rows, rows)
    known = places < len(partition.rows)
    known[known] = partition.rows[places[known]] == rows[known]
    return ArraySum(Maximum(np.where(known, places + partition.first, -1)))
