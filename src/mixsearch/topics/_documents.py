"""Documents in shards: their counts by document and by word, what a fit adds to them, and what they tell of a hint."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Sparse
from mixsearch.data.chunks import Product, RowBlocks, rows_in_memory
from mixsearch.data.partitions import Layout, LocalShards, Shard, Shards
from mixsearch.data.reductions import Best, Largest, Tally, best_rows

# A short document can show a high share by chance: it is ranked as if it went on so long about something else.
WORDS_ELSEWHERE = 20


@dataclass(frozen=True)
class DocumentShard(Shard):
    """Documents that are long enough."""

    by_document: sp.csr_array  # counts, (n, d)
    lengths: Array  # (n,)
    rows: Array  # numbers of the documents in the user's matrix, (n,)


@dataclass(frozen=True)
class CountShard(DocumentShard):
    """Documents before a fit."""

    by_word: sp.csc_array  # counts column by column: a word finds its documents
    stored: RowBlocks | None = None  # the same counts on disk, where reading all of `by_document` would fill the memory

    @property
    def counts(self) -> RowBlocks:
        """The counts in blocks, for a pass over all of them."""
        return rows_in_memory(self.by_document) if self.stored is None else self.stored


@dataclass(frozen=True)
class TopicShard(DocumentShard):
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
    stored: RowBlocks | None = None,
) -> LocalShards[CountShard]:
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
    counts = rows_in_memory(by_document) if stored is None else stored
    shard = CountShard(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc() if by_word is None else by_word,
        lengths=lengths_of(counts),
        rows=np.arange(n) if rows is None else rows,
        stored=stored,
    )
    return LocalShards(Layout(n, d, counts.dtype, is_sparse=True), shard)


def lengths_of(counts: RowBlocks) -> Array:
    """How many words each document has, (n,)."""
    return np.concatenate([np.asarray(counts.read(i).sum(axis=1), np.float64) for i, _ in counts.numbered()])


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


def total_say(shard: CountShard, say: Callable[[Array], Array]) -> Product:
    """The weights of documents in all, before they are made to sum to one."""
    return Product(float(say(shard.lengths).sum()))


@dataclass(frozen=True)
class HearingShard(TopicShard):
    """Documents, and what they tell of a hint v."""

    held: Sparse  # counts of its words, (n, q)
    told: Array  # ⟨c, v⟩, (n,)
    heard: Array  # the same, where some documents may stand for all that tell anything, (n,)


def hear(
    shards: Shards[TopicShard], columns: Array | slice, values: Array, max_documents: int | None
) -> Shards[HearingShard]:
    """What documents tell of the words of a hint.

    Where more of them than `max_documents` tell anything, so many at even steps stand for all.
    """
    heard = shards.map(_hear, columns, values)
    if max_documents is None:
        return heard
    telling: Tally = heard.fold(_n_telling).total
    return heard if telling.total <= max_documents else heard.map(_thin_out, max_documents, telling)


def _hear(shard: TopicShard, columns: Array | slice, values: Array) -> HearingShard:
    held: Sparse = shard.by_document if isinstance(columns, slice) else shard.by_word[:, columns]
    told = np.asarray(held @ values)
    return HearingShard(**vars(shard), held=held, told=told, heard=told)


def _n_telling(shard: HearingShard) -> Product:
    return Product(Tally.of(shard, int(np.count_nonzero(shard.told))))


def _thin_out(shard: HearingShard, most: int, telling: Tally) -> HearingShard:
    rows = np.flatnonzero(shard.told)
    places = np.linspace(0, telling.total - 1, most).astype(np.intp) - telling.before(shard)
    kept = rows[places[(places >= 0) & (places < len(rows))]]
    heard = np.zeros_like(shard.told)
    heard[kept] = shard.told[kept] * (telling.total / most)
    return replace(shard, heard=heard)


@dataclass(frozen=True)
class ToldShard(TopicShard):
    """Documents, and what their words tell of a topic."""

    told: Array  # (n,)


def rank_documents(shard: DocumentShard, shares: Array, n: int) -> Product:
    """The documents of a shard that are most about a topic, by its share in each, with their rows and shares."""
    best = best_rows(shares * shard.lengths / (shard.lengths + WORDS_ELSEWHERE), n)
    scores = shares[best] * shard.lengths[best] / (shard.lengths[best] + WORDS_ELSEWHERE)
    return Product(Best(n, scores, best + shard.first, (shard.rows[best], shares[best])))


@dataclass(frozen=True)
class FewShard(Shard):
    """A few documents, to be looked at in this process."""

    counts: sp.csr_array  # (n, d)
    lengths: Array  # (n,)
    projected: Array  # (n, k)


def few_documents(shards: Shards[TopicShard], numbers: Array) -> FewShard:
    """Documents by their numbers in the corpus, in this order."""
    each, places = np.unique(numbers, return_inverse=True)
    few = shards.map(_pick, each).gather().shard
    if len(each) == len(numbers) and np.all(each == numbers):
        return few
    return FewShard(0, few.counts[places], few.lengths[places], few.projected[places])


def _pick(shard: TopicShard, numbers: Array) -> FewShard:
    rows = places_in(shard, numbers)[1]
    return FewShard(shard.first, shard.by_document[rows], shard.lengths[rows], shard.projected[rows])


def places_in(shard: DocumentShard, numbers: Array) -> tuple[Array, Array]:
    """Which documents of the corpus are in a shard, of those with some numbers, and where they stand there."""
    rows = numbers - shard.first
    inside = (rows >= 0) & (rows < len(shard.lengths))
    return inside, rows[inside]


def numbers_of(shards: Shards[TopicShard], rows: Array) -> Array:
    """Numbers in the corpus of documents by their rows in the user's matrix, -1 where they are not part of it."""
    found: Largest = shards.fold(_numbers_of, rows).total
    return np.asarray(found.value)


def _numbers_of(shard: DocumentShard, rows: Array) -> Product:
    places = np.searchsorted(shard.rows, rows)
    known = places < len(shard.rows)
    known[known] = shard.rows[places[known]] == rows[known]
    return Product(Largest(np.where(known, places + shard.first, -1)))
