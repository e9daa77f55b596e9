"""Rank documents by how much they are about the topic of a hint.

Three views of a document are added, each in units of its spread over the corpus:

- its words: the tf-idf centroid of the documents that the hint names, less the mean of all documents, in units of each
  word's deviation;
- its likelihood: how many times likelier its words are with some of the topic than in the corpus, per word; most of
  that topic are the documents that the hint names, so that local EM cannot drift away from them;
- its place in the signal space: the cosine with the documents that the hint names, less that with all documents, in all
  directions and in the leading ones.

Words are best for narrow topics, places for broad ones. No view is best on every corpus; their sum is near the best on
each (benchmarks/quality.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.topics.documents import (
    DocumentSample,
    PlacedFamily,
    PlacedSample,
    pick_evenly,
    project_places,
    sum_places,
    tfidf_lengths,
)

# The share of the topic in a document for which its words are compared with the corpus.
TOPIC_SHARE = 0.2
# The part of the topic in that comparison that is what local EM found; the rest are the documents that the hint names.
FOUND_PART = 0.3
# A short document can show much of a topic by chance: it is ranked as if it had this many more words about nothing.
MORE_WORDS = 10
# Documents, at even steps, that the spread of the views is computed from.
MAX_SAMPLED = 1000
# How much documents that are not about the topic count beside those that are, if there are very many of them, and how
# many count half as much (benchmarks/marked_documents.py).
AGAINST, N_HALF_AGAINST = 1.0, 10
# Which of the four views is the place in the leading directions.
BROAD_PLACE = 3


class NamedDocuments(NamedTuple):
    """Means over the documents that a hint names."""

    indices: Array  # of those in the corpus with the most of the hint, (m,)
    size: int  # how many there are in all
    words: Array  # frequencies, (d,)
    tfidf: Array  # of vectors of length 1, (d,)
    places: Array  # of unit vectors, (2, k)


@dataclass(frozen=True, slots=True)
class Ranking:
    """A score for any document: higher if it is more about the topic of a hint."""

    words: Array  # (d, 2): what a count adds to the view of words and to that of likelihood
    places: Array  # (2, k): directions in the signal space
    values: Array  # eigenvalues, (k,)
    weights: Array  # of the four views, (4,)

    def view(self, documents: DocumentSample) -> Array:
        """Return the views of documents, (n, 4)."""
        by_words = np.asarray(documents.counts @ self.words.astype(documents.counts.dtype), dtype=np.float64)
        lengths = np.where(documents.tfidf_lengths > 0, documents.tfidf_lengths, np.inf)
        likelihood = by_words[:, 1] / np.where(documents.lengths > 0, documents.lengths, np.inf)
        by_place = project_places(documents.projected, self.values, self.places)
        views = np.column_stack([by_words[:, 0] / lengths, likelihood, by_place])
        return np.asarray(_known_part(documents)[:, None] * views)

    def view_broad_place(self, documents: PlacedSample) -> Array:
        """Return the last of the views alone, (n,)."""
        by_place = project_places(documents.projected, self.values, self.places)
        return np.asarray(_known_part(documents) * by_place[:, -1])

    def score(self, documents: DocumentSample) -> Array:
        """Return the scores of documents, (n,)."""
        return np.asarray(self.view(documents) @ self.weights)


def _known_part(documents: PlacedSample) -> Array:
    """Return the part of each document that its own words are, if it had more of them about nothing, (n,)."""
    return np.asarray(documents.lengths / (documents.lengths + MORE_WORDS))


def mean_of_named(
    family: PlacedFamily, documents: DocumentSample, indices: Array, weights: Array, size: int | None = None
) -> NamedDocuments:
    """Return what the documents that a hint names have in common."""
    weights = weights / weights.sum()
    lengths = np.where(documents.tfidf_lengths > 0, documents.tfidf_lengths, np.inf)
    columns = np.column_stack([weights, weights / lengths]).astype(documents.counts.dtype)
    words, tfidf = np.asarray(documents.counts.T @ columns, dtype=np.float64).T
    places = sum_places(documents.projected, family.frame.values, weights)
    n_named = len(weights) if size is None else size
    return NamedDocuments(indices, n_named, words / words.sum(), family.idf * tfidf, places)


def measure_counts(family: PlacedFamily, counts: sp.csr_array) -> DocumentSample:
    """Return documents that need not be part of the corpus, from their counts."""
    return DocumentSample(
        first=0,
        counts=counts,
        lengths=np.asarray(counts.sum(axis=1), dtype=np.float64),
        tfidf_lengths=tfidf_lengths(counts, family.idf),
        projected=np.asarray(family.frame.whiten(counts)),
    )


def rank_by(
    family: PlacedFamily, probabilities: Array, named: NamedDocuments, against: NamedDocuments | None = None
) -> Ranking:
    """Return the ranking of documents for a topic and the documents that its hint names."""
    directions = _direct(family, FOUND_PART * probabilities + (1 - FOUND_PART) * named.words, named)
    if against is not None:
        others = _direct(family, against.words, against)
        part = weigh_against(against.size)
        directions = _Directions(*(own - part * other for own, other in zip(directions, others, strict=True)))
    ranking = Ranking(*directions, family.frame.values, weights=np.ones(4))
    spread = ranking.view(pick_evenly(family.chunks, MAX_SAMPLED)).std(axis=0)
    # A view that is the same for all documents says nothing.
    return replace(ranking, weights=np.divide(1, spread, out=np.zeros(4), where=spread > 0))


def weigh_against(n_documents: int) -> float:
    """Return the weight of documents that are not about a topic, relative to those that are."""
    return AGAINST * n_documents / (n_documents + N_HALF_AGAINST)


class _Directions(NamedTuple):
    """The directions along which the scores of a document are measured."""

    words: Array  # (d, 2)
    places: Array  # (2, k)


def _direct(family: PlacedFamily, topic: Array, named: NamedDocuments) -> _Directions:
    """Return the directions from the corpus to a topic of these word frequencies, (d,), and to some documents."""
    mean = family.mean_document
    contrast = np.divide(
        named.tfidf - mean.tfidf, mean.deviation, out=np.zeros_like(mean.tfidf), where=mean.deviation > 0
    )
    corpus = np.where(family.word_mean > 0, family.word_mean, np.inf)
    log_ratios = np.log1p(TOPIC_SHARE * (topic / corpus - 1))
    return _Directions(np.column_stack([family.idf * contrast, log_ratios]), named.places - mean.places)
