"""Documents that a search starts from: marked by the user, or with most of some words that are not features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.moments import Hinted
from mixsearch.errors import HintError
from mixsearch.topics.counts import damp
from mixsearch.topics.documents import WORDS_ELSEWHERE, PlacedFamily, ScoredChunk, local_rows, pick_documents
from mixsearch.topics.hint import DroppedHint, WordHint, mean_frequencies
from mixsearch.topics.ranking import NamedDocuments, mean_of_named, weigh_against
from mixsearch.topics.seeds import Seeds, score_listed, seed_from_documents

# So few documents are examples of their topic. More of them stand for all that contain a word.
MAX_EXAMPLES = 20
# Indices of documents that are not part of the corpus, or of none.
NO_DOCUMENTS: Array = np.zeros(0, dtype=np.intp)
# Words count as much as this many documents: in the signal space, and in the views of words, where the mean of a few
# documents is much noisier (benchmarks/marked_documents.py).
WORDS_AS_DOCUMENTS, WORDS_IN_VIEWS_OF_WORDS = 10, 100


class Matches(NamedTuple):
    """Documents with much of the words of a hint."""

    counts: sp.csr_array  # (m, d)
    named: NamedDocuments  # what they have in common, weighted by how much of the words they contain
    hint: Array | None  # how they differ from the corpus, in the frame, (k,); None if they are few enough for examples
    n_documents: int  # that contain one of the words, at least


def match_dropped(family: PlacedFamily, hint: DroppedHint, *, damping: bool) -> Matches:
    """Return the documents with most of the words of a hint, without those that contain a word to avoid."""
    indices = np.unique(np.concatenate([word.documents for word, _ in hint.words]))
    picked = pick_documents(family.chunks, indices)
    scores = np.zeros(len(indices))
    for word, weight in hint.words:
        own = np.searchsorted(indices, word.documents)
        counts = damp(word.counts) if damping else word.counts
        density = counts / (picked.lengths[own] + WORDS_ELSEWHERE)
        scores[own] += weight * density / density.sum()
    scores[np.asarray(picked.counts[:, hint.avoid].sum(axis=1)) > 0] = 0
    rows = np.flatnonzero(scores)
    if not len(rows):
        raise HintError(
            "Every document with much of {words} contains a word to avoid. Leave out that word.",
            code="all_avoided",
            words=", ".join(repr(word.word) for word, _ in hint.words),
        )
    documents = picked.take(rows)
    named = mean_of_named(family, documents, indices[rows], scores[rows])
    # Of a phrase, fewer documents than of its words.
    frame = family.frame
    n_documents = max(len(word.documents) if word.is_complete else word.n_documents for word, _ in hint.words)
    direction = None if len(rows) <= MAX_EXAMPLES else frame.values * frame.whiten(named.words - family.word_mean)
    return Matches(documents.counts, named, direction, n_documents)


def seed_from_matches(matches: Matches, family: PlacedFamily, weight: float) -> Seeds:
    """Return these documents, as many as contain the words."""
    marked = family.chunks.map(score_listed, matches.named.indices)
    return Seeds(marked, 0.0, matches.named, matches.n_documents)


@dataclass(frozen=True)
class MarkedDocuments:
    """Documents about a topic, and documents that are not about it."""

    counts: sp.csr_array
    indices: Array = field(default_factory=NO_DOCUMENTS.copy)
    not_indices: Array = field(default_factory=NO_DOCUMENTS.copy)
    listed: Array | None = None

    @property
    def n_documents(self) -> int:
        """The number of documents about the topic."""
        return int(self.counts.shape[0])

    @property
    def word_frequencies(self) -> Array:
        """The mean word frequencies of the documents about the topic, (d,)."""
        return mean_frequencies(self.counts)

    def join(self, counts: sp.csr_array, indices: Array) -> Self:
        """Return the same with more documents about the topic."""
        return replace(
            self,
            counts=sp.csr_array(sp.vstack([self.counts, counts])),
            indices=np.concatenate([self.indices, indices]),
        )

    def hinted(self, family: PlacedFamily, words: WordHint | None, max_documents: int | None) -> Hinted:
        """Return the moments under the hint of the words and the documents.

        Notes
        -----
        Moments are linear in the hint, and |c|² of its coordinates in the frame is the sum of the shares of all
        components. So hints are added after they are scaled to |c| = 1.
        """
        part = 1.0 if words is None else weigh_marked(self.n_documents, len(self.not_indices), WORDS_AS_DOCUMENTS)
        own = part * _direct(family, self.counts) if self.n_documents else np.zeros(family.n_components)
        if len(self.not_indices):
            others = pick_documents(family.chunks, self.not_indices).counts
            own = own - weigh_against(len(self.not_indices)) * _direct(family, others)
        by_documents = family.hinted(own)
        if words is None:
            return by_documents
        by_words = family.hinted(words, max_documents)
        return _add((1 - part) / float(np.linalg.norm(by_words.hint)), by_words, by_documents)

    def seed(self, family: PlacedFamily, weight: float, from_words: Seeds | None) -> Seeds:
        """Return what the hint names: the documents about the topic, and those that contain its words."""
        own = seed_from_documents(self.counts, self.indices, family, weight) if self.n_documents else None
        seeds = _join(from_words, own, self.indices, len(self.not_indices))
        if not len(self.not_indices):
            return seeds
        sample = pick_documents(family.chunks, self.not_indices)
        weights = 1 / np.where(sample.lengths > 0, sample.lengths, np.inf)
        against = mean_of_named(family, sample, self.not_indices, weights)
        scored = seeds.scored.map(_set_scores, self.not_indices, 0.0)
        return seeds._replace(scored=scored, named=_leave_out(seeds.named, self.not_indices), against=against)


def mark_documents(family: PlacedFamily, counts: sp.csr_array, indices: Array, not_indices: Array) -> MarkedDocuments:
    """Return marked documents, which must not be both about the topic and not about it."""
    both = np.intersect1d(indices, not_indices)
    if len(both):
        raise HintError(
            "The same documents ({n_documents}) are marked as about the topic and as not about it. Choose one.",
            code="contradicting_documents",
            n_documents=len(both),
        )
    if not len(not_indices):
        return MarkedDocuments(counts, indices)
    listed = np.ones(family.chunks.n_rows, dtype=bool)
    listed[not_indices] = False
    return MarkedDocuments(counts, indices, not_indices, listed)


def _direct(family: PlacedFamily, counts: sp.csr_array) -> Array:
    """Return the hint of a few documents in the frame, (k,), of length 1."""
    # In the metric of the frame frequent and rare words are equally noisy.
    direction = family.frame.values * family.frame.whiten(mean_frequencies(counts) - family.word_mean)
    length = np.linalg.norm(direction)
    return np.asarray(direction / length if length > 0 else direction)


def weigh_marked(n_documents: int, n_others: int, words_as_documents: float) -> float:
    """Return the part that documents about a topic have in a hint with words.

    Notes
    -----
    Documents that are not about it say that the words mislead, so words count the less the more of them there are.
    Without any, the words may be right already, and then a few documents add little but noise.
    """
    return n_documents / (n_documents + words_as_documents / (1 + n_others))


def _add(scale: float, hinted: Hinted, other: Hinted) -> Hinted:
    return Hinted(scale * hinted.matrix + other.matrix, hinted.mean, scale * hinted.hint + other.hint)


def _join(from_words: Seeds | None, own: Seeds | None, indices: Array, n_others: int) -> Seeds:
    if from_words is None or own is None:
        seeds = own if from_words is None else from_words
        assert seeds is not None
        return seeds
    # Documents of the hint are named whether or not they contain its words.
    scored = from_words.scored.map(_set_scores, indices, np.inf)
    return from_words._replace(scored=scored, named=_mix(from_words.named, own.named, n_others))


def _mix(words: NamedDocuments | None, own: NamedDocuments | None, n_others: int) -> NamedDocuments | None:
    """Return what documents with the words and marked documents have in common."""
    if words is None or own is None:
        return own if words is None else words
    in_words = weigh_marked(own.size, n_others, WORDS_IN_VIEWS_OF_WORDS)
    in_places = weigh_marked(own.size, n_others, WORDS_AS_DOCUMENTS)
    indices = np.concatenate([own.indices, words.indices[~np.isin(words.indices, own.indices)]])
    return NamedDocuments(
        indices,
        max(words.size, len(indices)),
        (1 - in_words) * words.words + in_words * own.words,
        (1 - in_words) * words.tfidf + in_words * own.tfidf,
        (1 - in_places) * words.places + in_places * own.places,
    )


def _leave_out(named: NamedDocuments | None, indices: Array) -> NamedDocuments | None:
    """Return the documents with the words without some of them; None if none is left."""
    if named is None:
        return None
    remaining = named.indices[~np.isin(named.indices, indices)]
    return named._replace(indices=remaining) if len(remaining) else None


def _set_scores(chunk: ScoredChunk, indices: Array, score: float) -> ScoredChunk:
    scores = chunk.scores.copy()
    scores[local_rows(chunk, indices)[1]] = score
    return replace(chunk, scores=scores)
