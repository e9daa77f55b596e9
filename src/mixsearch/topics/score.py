"""One score per document: how much more it resembles the documents of a hint than it resembles the corpus."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.topics.fitted_corpus import FittedCorpus, TopicFrame, scale_rows, to_units


class HintDocuments(NamedTuple):
    """The documents of a hint, with their weights."""

    documents: Array  # rising, (q,)
    weights: Array  # those to avoid have negative ones, (q,)


class Vectors(NamedTuple):
    """Documents as unit vectors."""

    tfidf: sp.csr_array  # (q, d)
    coordinates: Array  # in the frame, scaled to length 1, (q, k)
    norms: Array  # their lengths before, (q,)


class Direction(NamedTuple):
    """How the documents of a hint differ from the corpus."""

    words: Array  # in deviations of each feature, (d,)
    coordinates: Array  # (k,)


class Standard(NamedTuple):
    """Means and deviations that make scores comparable."""

    parts: Array  # of words and of coordinates, (2, 2)
    total: Array  # of their sum, (2,)
    smoothed: Array  # of the smoothed sum, (2,)


def take_vectors(corpus: FittedCorpus, documents: Array) -> Vectors:
    """Return some documents of a corpus, which rise, as unit vectors."""
    return Vectors(corpus.take(documents), *corpus.take_coordinates(documents))


def remove_words(frame: TopicFrame, vectors: Vectors, columns: Array) -> Vectors:
    """Return documents without some features, in words and in coordinates."""
    columns = columns[columns < len(frame.idf)]
    if not len(columns):
        return vectors
    is_left = ~np.isin(vectors.tfidf.indices, columns)
    X = vectors.tfidf
    removed = sp.csr_array((np.where(is_left, 0, X.data), X.indices, X.indptr), shape=X.shape)
    kept = sp.csr_array((np.where(is_left, X.data, 0), X.indices, X.indptr), shape=X.shape)
    lengths = np.sqrt(np.maximum(1 - np.asarray((removed * removed).sum(axis=1)), 0))
    lengths[lengths < 1e-3] = 0
    coordinates = vectors.coordinates * vectors.norms[:, None] - removed[:, columns] @ frame.basis[columns]
    return Vectors(scale_rows(kept, lengths), *to_units(coordinates / np.where(lengths > 0, lengths, np.inf)[:, None]))


def find_direction(frame: TopicFrame, vectors: Vectors, weights: Array) -> Direction:
    """Compare documents with the corpus, in deviations of words and in coordinates."""
    total = weights.sum()
    words = (vectors.tfidf.T @ weights - total * frame.mean) / frame.deviation
    coordinates = vectors.coordinates.T @ weights - total * frame.center
    return Direction(words.astype(np.float32), coordinates.astype(np.float32))


def rate_corpus(corpus: FittedCorpus, direction: Direction) -> Array:
    """Return how much each document resembles a direction, in words and in coordinates, (n, 2)."""
    weighted, parts = corpus.frame.idf * direction.words, []
    for segment in corpus.segments:
        lengths = np.where(segment.placed.lengths > 0, segment.placed.lengths, np.inf)
        words = (segment.by_document @ weighted) / lengths
        parts.append(np.column_stack([words, segment.placed.coordinates @ direction.coordinates]))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def rate_vectors(vectors: Vectors, direction: Direction) -> Array:
    """Return how much some documents resemble a direction, (q, 2), as `rate_corpus` does for all."""
    return np.column_stack([vectors.tfidf @ direction.words, vectors.coordinates @ direction.coordinates])


def standardize(values: Array, standard: Array) -> Array:
    """Shift and scale by a mean and a deviation."""
    return np.asarray((values - standard[0]) / standard[1])


def measure_spread(values: Array) -> Array:
    """Return mean and deviation of values, or of each column, (2, ...)."""
    return np.stack([values.mean(axis=0), np.maximum(values.std(axis=0), 1e-12)])


def smooth(corpus: FittedCorpus, values: Array) -> Array:
    """Replace the value of each document by that of its neighbourhood: from documents to anchors and back, (n,)."""
    anchors, mass = corpus.anchors, np.maximum(corpus.frame.anchor_mass, 1e-9)
    return np.asarray(anchors @ ((anchors.T @ values) / mass).astype(np.float32))


def combine(
    corpus: FittedCorpus, parts: Array, smoothing: float, standard: Standard | None = None
) -> tuple[Array, Standard]:
    """Add standardized parts to one score, (n,), with the scores of neighbourhoods."""
    of_parts = measure_spread(parts) if standard is None else standard.parts
    total = standardize(parts, of_parts).sum(axis=1).astype(np.float32)
    smoothed = smooth(corpus, total)
    if standard is None:
        standard = Standard(of_parts, measure_spread(total), measure_spread(smoothed))
    score = standardize(total, standard.total) + smoothing * standardize(smoothed, standard.smoothed)
    return score, standard
