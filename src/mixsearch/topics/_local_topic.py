"""A topic after local EM: its documents, how many there are, and its share in any document."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.component import Refined
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions
from mixsearch.data.reductions import TopRows, top_rows
from mixsearch.topics._documents import (
    ScoredPartition,
    SharePartition,
    local_rows,
    mask_rows,
    sample_rows,
)
from mixsearch.topics._evidence import document_shares, find_largest_shares, share_from_scores
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._ranking import NamedDocuments, Ranking, rank_by

# The best documents are looked for among this many with large shares, unless more than a quarter of that are asked for.
N_CANDIDATES, MAX_FROM_CANDIDATES = 1000, 250
# From this share of the topic on, a document is about it (benchmarks/topic_sizes.py).
ABOUT_SHARE = 0.25
# Standard error of the factor by which the shares of all documents may be wrong: those of damped counts, in which
# repetitions count less, are too small or too large for documents drawn by LDA (benchmarks/timelines.py).
SCALE_ERROR = 0.15


class LocalState(NamedTuple):
    """The neighbourhood of a hint, and the topics that compete for its words, the one found first."""

    documents: Array  # indices in the corpus, (m,)
    words: Array  # columns of the words that they contain, (q,)
    topics: Array  # probabilities of these words, (q, J)
    shares: Array  # of the topics in each document, (m, J)


@dataclass(frozen=True)
class LocalTopic(Refined):
    """A topic after local EM, with the evidence of words for it; see `_evidence` for the linear shares."""

    evidence: Array  # z, (d,); 0 for words that are hardly likelier in the topic than in the corpus
    base: float  # b: the median level of the documents without the topic
    gain: float  # a - b
    scored: Partitions[ScoredPartition]  # Σ z over the words of every document of the corpus
    typicality: Array  # (d,): what containing the word says about whether a document is about the topic
    largest: Array  # indices of the documents with the largest shares, the best first
    named: NamedDocuments  # what the documents that the hint names have in common
    family: TopicFamily  # with all components
    state: LocalState
    against: NamedDocuments | None = None  # what documents that are not about the topic have in common
    has_hint_documents: bool = True  # False if no document contains the hint: members stand in for `named`

    @cached_property
    def ranking(self) -> Ranking:
        """How much documents are about the topic."""
        return rank_by(self.family, self.center, self.named, self.against)

    def best_documents(self, n: int, among: Array | None = None) -> TopRows:
        """Return the documents of the corpus, or among some, that are most about the topic, with their rows and shares.

        Shares of single documents are noisy: those returned are means over documents of similar rank, and fall.
        """
        if n > MAX_FROM_CANDIDATES:
            best = self._rank(None if among is None else np.flatnonzero(among))
        else:
            best = self._best_candidates if among is None else self._rank(self._find_candidates(among))
        rows, shares = best.values
        return TopRows(n, best.scores[:n], best.indices[:n], (rows[:n], shares[:n]))

    @cached_property
    def _best_candidates(self) -> TopRows:
        """Documents with large shares and those that the hint names, ranked."""
        return self._rank(self._find_candidates(None))

    def _find_candidates(self, among: Array | None) -> Array:
        if among is None:
            return np.union1d(self.largest[:N_CANDIDATES], self.named.indices)
        best: TopRows = self.scored.reduce(find_largest_shares, self.base, self.gain, N_CANDIDATES, among).total
        return np.union1d(best.indices, self.named.indices[among[self.named.indices]])

    def _rank(self, candidates: Array | None) -> TopRows:
        """Rank some documents, or all."""
        n = self.scored.n_rows if candidates is None else len(candidates)
        best: TopRows = self.scored.reduce(_best_documents, self.ranking, candidates, self.base, self.gain, n).total
        rows, shares = best.values
        return TopRows(n, best.scores, best.indices, (rows, fit_falling(shares)))

    def count_about(self, among: Array | None = None) -> int:
        """Return the number of documents, of all or among some, that are to a fair part about the topic."""
        return int(self.scored.reduce(_count_about, self.base, self.gain, among).total)

    def corpus_shares(self) -> Array:
        """Return the topic's share in every document of the corpus, unbiased and so also below 0, (n,)."""
        return self.scored.map(_to_shares, self.base, self.gain).collect().partition.shares

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """Return the topic's share in any documents, (n,)."""
        return np.where(lengths > 0, share_from_scores(counts @ self.evidence, lengths, self.base, self.gain), 0.0)


def _count_about(partition: ScoredPartition, base: float, gain: float, among: Array | None) -> ArraySum:
    is_about = partition.scores >= (base + ABOUT_SHARE * gain) * partition.lengths
    return ArraySum(int(np.count_nonzero(is_about if among is None else is_about & mask_rows(partition, among))))


def _to_shares(partition: ScoredPartition, base: float, gain: float) -> SharePartition:
    return SharePartition(partition.first, document_shares(partition, base, gain))


def _best_documents(
    partition: ScoredPartition, ranking: Ranking, candidates: Array | None, base: float, gain: float, n: int
) -> ArraySum:
    """Rank some documents of a partition, or all."""
    rows = np.arange(partition.n_rows) if candidates is None else local_rows(partition, candidates)[1]
    scores = ranking.score(sample_rows(partition, slice(None) if candidates is None else rows))
    order = top_rows(scores, len(rows))
    rows = rows[order]
    shares = share_from_scores(partition.scores[rows], partition.lengths[rows], base, gain)
    return ArraySum(TopRows(n, scores[order], rows + partition.first, (partition.rows[rows], shares)))


def fit_falling(values: Array) -> Array:
    """Return the falling sequence nearest to values, in least squares.

    Neighbours of which the later is larger have the same value there: runs of them are pooled until none is left.
    `scipy.optimize.isotonic_regression` does the same, and takes longer to import than an answer to find.
    """
    sums, sizes = np.asarray(values, dtype=np.float64), np.ones(len(values), dtype=np.intp)
    while True:
        means = sums / sizes
        rises = np.diff(means) > 0
        if not rises.any():
            return np.repeat(means, sizes)
        starts = np.flatnonzero(np.concatenate([[True], ~rises]))
        sums, sizes = np.add.reduceat(sums, starts), np.add.reduceat(sizes, starts)
