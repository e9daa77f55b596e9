"""One score per document: how much more it resembles the documents of a hint than it resembles the corpus.

The contrast of a hint is the difference between the weighted mean of its documents and that of the corpus: in words, in
units of their spread, and in coordinates. A document scores by its products with both contrasts, each standardized, and
by the mean score of its neighbourhood: that of the anchors that it is nearest to.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.machine import map_parallel
from mixsearch.topics.fitted_corpus import (
    FittedCorpus,
    Segment,
    TopicFrame,
    Vectors,
    find_anchors,
    scale_rows,
    to_units,
)
from mixsearch.topics.tuning import TUNING


class Contrast(NamedTuple):
    """How the documents of a hint differ from the corpus."""

    words: Array  # in units of the spread of each feature, (d,)
    coordinates: Array  # (k,)
    word_weight: float  # of the standardized products with words


class Scale(NamedTuple):
    """Means and standard deviations that make scores comparable."""

    products: Array  # of words and coordinates, (2, 2)
    total: Array  # (2,)
    smoothed: Array  # (2,)


class Scores(NamedTuple):
    """The scores of all documents, and what it takes to score others alike."""

    values: Array  # (n,), larger for documents that are more about the hint
    contrast: Contrast
    scale: Scale
    at_anchors: Array  # mean score of the documents near each anchor, (a,)
    smoothing: float  # weight of the smoothed score


def join_vectors(first: Vectors, second: Vectors) -> Vectors:
    """Return the documents of both."""
    tfidf = sp.csr_array(sp.vstack([first.tfidf, second.tfidf], "csr"))
    return Vectors(tfidf, *(np.concatenate(pair) for pair in zip(first[1:], second[1:], strict=True)))


def take_rows(vectors: Vectors, rows: Array) -> Vectors:
    """Return some of the documents."""
    return Vectors(vectors.tfidf[rows], vectors.coordinates[rows], vectors.norms[rows])


def remove_words(frame: TopicFrame, vectors: Vectors, columns: Array) -> Vectors:
    """Return documents without some features, in words and in coordinates."""
    columns = columns[columns < len(frame.idf)]
    if not len(columns):
        return vectors
    X = vectors.tfidf
    is_left = ~np.isin(X.indices, columns)
    removed = sp.csr_array((np.where(is_left, 0, X.data), X.indices, X.indptr), shape=X.shape)
    remainder = sp.csr_array((np.where(is_left, X.data, 0), X.indices, X.indptr), shape=X.shape)
    lengths = np.sqrt(np.maximum(1 - np.asarray((removed * removed).sum(axis=1)), 0))
    lengths[lengths < 1e-3] = 0
    coordinates = vectors.coordinates * vectors.norms[:, None] - removed[:, columns] @ frame.basis[columns]
    units, norms = to_units(coordinates / np.where(lengths > 0, lengths, np.inf)[:, None])
    return Vectors(scale_rows(remainder, lengths), units, norms)


def score_documents(corpus: FittedCorpus, vectors: Vectors, weights: Array, narrower: float = 0.0) -> Scores:
    """Score all documents by the documents of a hint, whose weights are negative for those to avoid.

    The score of a short document is as uncertain as that of any: all are ranked.
    """
    contrast = compute_contrast(corpus.frame, vectors, weights)
    products = multiply_corpus(corpus, contrast)
    scale = measure_spread(products)
    total = (standardize(products, scale) @ [contrast.word_weight, 1]).astype(np.float32)
    anchors, mass = corpus.anchors, np.maximum(corpus.anchor_mass, 1e-9)
    at_anchors = np.asarray((anchors.T @ total) / mass, dtype=np.float32)
    smoothed = np.asarray(anchors @ at_anchors)
    smoothing = TUNING.smoothing * TUNING.step**-narrower
    scales = Scale(scale, measure_spread(total), measure_spread(smoothed))
    values = standardize(total, scales.total) + smoothing * standardize(smoothed, scales.smoothed)
    values -= TUNING.copies * np.log2(1 + corpus.copy_rank)  # or near-copies would fill the first page
    return Scores(values, contrast, scales, at_anchors, smoothing)


def score_vectors(corpus: FittedCorpus, vectors: Vectors, scores: Scores) -> Array:
    """Score other documents as those of the corpus are scored, (q,)."""
    products = multiply_vectors(vectors, scores.contrast)
    return finish_scores(corpus, vectors, products, scores.scale.products, scores)


def finish_scores(corpus: FittedCorpus, vectors: Vectors, products: Array, scale: Array, scores: Scores) -> Array:
    """Add standardized products and the score of the neighbourhood, (q,)."""
    total = standardize(products, scale) @ [scores.contrast.word_weight, 1]
    nearest, weights = find_anchors(corpus.frame, vectors.coordinates)
    smoothed = np.sum(scores.at_anchors[nearest] * weights, axis=1)
    of_neighbourhood = standardize(smoothed, scores.scale.smoothed)
    return np.asarray(standardize(total, scores.scale.total) + scores.smoothing * of_neighbourhood)


def compute_contrast(frame: TopicFrame, vectors: Vectors, weights: Array) -> Contrast:
    """Compare documents with the corpus."""
    total = weights.sum()
    words = (vectors.tfidf.T @ weights - total * frame.mean) / frame.deviation
    coordinates = vectors.coordinates.T @ weights - total * frame.center
    # Contrasts of words from few documents are noise.
    n_effective = np.abs(weights).sum() ** 2 / max(np.sum(weights**2), 1e-12)
    word_weight = n_effective / (n_effective + TUNING.shrinkage)
    return Contrast(words.astype(np.float32), coordinates.astype(np.float32), float(word_weight))


def multiply_corpus(corpus: FittedCorpus, contrast: Contrast) -> Array:
    """Return the products of all documents with a contrast, in words and in coordinates, (n, 2)."""
    weighted = corpus.frame.idf * contrast.words

    def multiply(rows: tuple[Segment, slice]) -> Array:
        segment, part = rows
        X, placed = segment.by_document, segment.placed
        pointers = X.indptr[part.start : part.stop + 1]
        inside = slice(int(pointers[0]), int(pointers[-1]))
        counts = sp.csr_array(
            (X.data[inside], X.indices[inside], pointers - pointers[0]), shape=(len(pointers) - 1, X.shape[1])
        )
        lengths = placed.lengths[part]
        words = (counts @ weighted) / np.where(lengths > 0, lengths, np.inf)
        return np.column_stack([words, placed.coordinates[part] @ contrast.coordinates])

    return np.concatenate(map_parallel(multiply, corpus.split_rows(), n_jobs=-1))


def multiply_vectors(vectors: Vectors, contrast: Contrast) -> Array:
    """Return the products of some documents with a contrast, (q, 2), as `multiply_corpus` does for all."""
    return np.column_stack([vectors.tfidf @ contrast.words, vectors.coordinates @ contrast.coordinates])


def standardize(values: Array, scale: Array) -> Array:
    """Shift and scale by a mean and a standard deviation."""
    return np.asarray((values - scale[0]) / scale[1])


def measure_spread(values: Array) -> Array:
    """Return mean and standard deviation of values, or of each column, (2, ...)."""
    return np.stack([values.mean(axis=0), np.maximum(values.std(axis=0), 1e-12)])
