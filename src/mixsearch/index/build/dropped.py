"""The documents of dropped words: of a common word those with most of it, of a rare one all of them.

Those of segments that are joined, or lose documents, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.io.folder import FolderWriter
from mixsearch.text.corpus import Corpus
from mixsearch.text.options import CorpusOptions, choose_limits
from mixsearch.topics.documents import WORDS_ELSEWHERE
from mixsearch.topics.dropped import MAX_DOCUMENTS as MAX_DROPPED_DOCUMENTS
from mixsearch.topics.dropped import DroppedTable, Postings, store_dropped

# Counts that are collected before those beyond the limits are discarded: 100 MB at most.
_MAX_PENDING = 1 << 22


REASONS = ("too_common", "too_rare", "beyond_max_words", "stop_word", "added")


class DroppedWords(NamedTuple):
    """Words of the texts that are not features, and why: indices into `REASONS`."""

    words: list[str]
    reasons: Array


def list_dropped(corpus: Corpus, reading: CorpusOptions | None, *, is_added: bool = False) -> DroppedWords:
    """Return the words of a corpus that are not features."""
    words, n = corpus.words[corpus.n_features :], corpus.document_frequencies[corpus.n_features :]
    limits = choose_limits(reading or CorpusOptions(), corpus.n_documents)
    low, high = limits.find_bounds(corpus.n_documents)
    stop_words = set(corpus.stop_words)
    is_stop = np.array([word in stop_words for word in words], dtype=bool)
    reasons = np.select([is_stop, np.full(len(words), is_added), n > high, n < low], [3, 4, 0, 1], 2)
    return DroppedWords(words, reasons.astype(np.uint8))


class DroppedRange(NamedTuple):
    """The documents of a segment, and how many of them contain each dropped word."""

    name: str
    first: int
    stop: int
    n_documents: Array


class PostingsCollector:
    """Collects which documents contain dropped words, in bounded memory."""

    def __init__(self, dropped: DroppedWords) -> None:
        largest = np.array([MAX_DROPPED_DOCUMENTS[reason] for reason in REASONS])
        self._limits: Array = largest[dropped.reasons]
        self._n_documents = np.zeros(len(self._limits), dtype=np.int64)
        self._pending: list[tuple[Array, ...]] = []
        self._n_pending = 0

    def add(self, counts: sp.csr_array, lengths: Array, first: int) -> None:
        """Add documents."""
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        self._n_documents += np.bincount(counts.indices, minlength=len(self._n_documents))
        # A short document can consist of a word by chance: it is ranked as if it had a few words more.
        density = counts.data / (lengths[rows] + WORDS_ELSEWHERE)
        self._append(counts.indices.astype(np.int32), (rows + first).astype(np.int32), counts.data, density)

    def merge(self, other: PostingsCollector, first: int) -> None:
        """Add what another one collected, given the index of its first document."""
        self._n_documents += other._n_documents
        for words, documents, counts, density in other._pending:
            self._append(words, documents + np.int32(first), counts, density)

    def count_documents(self) -> Array:
        """Return the number of documents so far that contain each word, (n,)."""
        return self._n_documents.copy()

    def limited(self) -> PostingsCollector:
        """Discard what is beyond the limits, before it is sent elsewhere."""
        self._discard()
        return self

    def finish(self) -> Postings:
        """Return the documents with most of each word."""
        self._discard()
        words, documents, counts, _ = self._pending[0]
        order = np.lexsort([documents, words])
        return Postings(self._n_documents, words[order], documents[order], counts[order])

    def _append(self, *entries: Array) -> None:
        self._pending.append(entries)
        self._n_pending += len(entries[0])
        if self._n_pending > _MAX_PENDING:
            self._discard()

    def _discard(self) -> None:
        """Keep the documents with most of each word; of equal ones, the first."""
        empty = (np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
        words, documents, counts, density = map(np.concatenate, zip(empty, *self._pending, strict=True))
        order = np.lexsort([documents, -density, words])
        ranked = words[order]
        starts = np.searchsorted(ranked, np.arange(len(self._limits)))
        kept = np.sort(order[np.arange(len(order)) - starts[ranked] < self._limits[ranked]])
        self._pending = [(words[kept], documents[kept], counts[kept], density[kept])]
        self._n_pending = 0


def write_dropped(
    out: FolderWriter, dropped: DroppedWords, collected: PostingsCollector, segments: Sequence[DroppedRange] = ()
) -> None:
    """Write the dropped words of a corpus."""
    postings, words = collected.finish(), dropped.words
    reasons = [REASONS[reason] for reason in dropped.reasons.tolist()]
    first = _take_range(postings, segments[0]) if segments else postings
    store_dropped(out, words, reasons, first)
    for segment in segments[1:]:
        own, there = _take_range(postings, segment), np.flatnonzero(segment.n_documents)
        listed = Postings(own.n_documents[there], np.searchsorted(there, own.words), own.documents, own.counts)
        store_dropped(out, [words[i] for i in there], [reasons[i] for i in there], listed, segment.name)


def _take_range(postings: Postings, segment: DroppedRange) -> Postings:
    """Return the postings of the documents of a segment, numbered from 0."""
    inside = (postings.documents >= segment.first) & (postings.documents < segment.stop)
    documents = postings.documents[inside] - segment.first
    return Postings(segment.n_documents, postings.words[inside], documents, postings.counts[inside])


def tabulate_dropped(dropped: DroppedWords, postings: Postings) -> DroppedTable:
    """Return the dropped words of documents that were counted."""
    reasons = [REASONS[reason] for reason in dropped.reasons.tolist()]
    return DroppedTable(list(dropped.words), reasons, postings)


def join_dropped(tables: Sequence[DroppedTable], firsts: Sequence[int]) -> DroppedTable:
    """Return the dropped words of segments that follow each other, given the index of the first document of each."""
    columns: dict[str, int] = {}
    reasons: list[str] = []
    for table in tables:
        for word, reason in zip(table.words, table.reasons, strict=True):
            if word not in columns:
                columns[word] = len(columns)
                reasons.append(reason)
    n_documents = np.zeros(len(columns), dtype=np.int64)
    parts = []
    for table, first in zip(tables, firsts, strict=True):
        own = np.array([columns[word] for word in table.words], dtype=np.int64)
        np.add.at(n_documents, own, table.postings.n_documents)
        parts.append((own[table.postings.words], table.postings.documents + first, table.postings.counts))
    words, documents, counts = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.lexsort([documents, words])
    return _limit(
        DroppedTable(list(columns), reasons, Postings(n_documents, words[order], documents[order], counts[order]))
    )


def _limit(table: DroppedTable) -> DroppedTable:
    """Keep the documents with most of each word, as many as its reason allows."""
    n_documents, words, documents, counts = table.postings
    limits = np.array([MAX_DROPPED_DOCUMENTS[reason] for reason in table.reasons], dtype=np.int64)
    order = np.lexsort([documents, -counts.astype(np.int64), words])
    starts = np.searchsorted(words, np.arange(len(limits)))
    kept = np.sort(order[np.arange(len(order)) - starts[words[order]] < limits[words[order]]])
    return table._replace(postings=Postings(n_documents, words[kept], documents[kept], counts[kept]))


def keep_documents(table: DroppedTable, kept: Array) -> DroppedTable:
    """Return the dropped words of the documents of a mask, (n,). Only documents that are listed count as removed."""
    n_documents, words, documents, counts = table.postings
    is_kept = kept[documents]
    gone = np.bincount(words[~is_kept], minlength=len(table.words))
    new_indices = np.cumsum(kept) - 1
    postings = Postings(n_documents - gone, words[is_kept], new_indices[documents[is_kept]], counts[is_kept])
    return table._replace(postings=postings)
