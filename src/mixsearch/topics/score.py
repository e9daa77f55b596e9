"""One score per document: how much more it resembles the documents of a hint than it resembles the corpus.

The contrast of a hint is the difference between the weighted mean of its documents and that of the corpus: in words, in
units of their spread, and in fine and broad coordinates. A document scores by its products with these contrasts, each
standardized, and by its neighbourhood: the walk that leads from the hint documents over anchors to it. Few hint
documents are joined by the best of a first pass.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import view_rows
from mixsearch.machine import map_parallel
from mixsearch.topics.fitted_corpus import (
    FittedCorpus,
    Segment,
    TopicFrame,
    Vectors,
    find_anchors,
    join_anchors,
    to_broad,
    to_units,
)
from mixsearch.topics.tuning import TUNING

FLOOR = 1e-3  # of PageRank, relative to its mean


class Contrast(NamedTuple):
    """How the documents of a hint differ from the corpus."""

    words: Array  # in units of the spread of each feature, (d,)
    fine: Array  # in all coordinates, (k,)
    broad: Array  # in the leading ones, (b,)


class Pass(NamedTuple):
    """A contrast, and the means and standard deviations that make scores by it comparable."""

    contrast: Contrast
    products: Array  # (2, 3)
    total: Array  # (2,)


class Walk(NamedTuple):
    """The walk from hint documents."""

    at_anchors: Array  # how often it is near each anchor, (a,)
    spread: Array  # of its logarithm, (2,)
    weight: float  # larger for broader topics


class Scores(NamedTuple):
    """The scores of all documents, and what it takes to score others alike."""

    values: Array  # (n,), larger for documents that are more about the hint
    first: Pass
    walk: Walk
    second: Pass | None  # if the hint documents are few
    spread: Array  # of the score before the second pass, (2,)


def score_documents(corpus: FittedCorpus, vectors: Vectors, weights: Array, narrower: float = 0.0) -> Scores:
    """Score all documents by the documents of a hint, whose weights are negative for those to avoid."""
    # 1) contrasts with the corpus
    first, values = run_pass(corpus, compute_contrast(corpus.frame, vectors, weights))
    # 2) the neighbourhood: the walk from the hint documents
    walk, walked = walk_from(corpus, vectors, weights, 2.0**-narrower)
    values = values + walk.weight * walked
    spread, second = measure_spread(values), None
    # 3) few documents: again with the best ones
    effective = np.abs(weights).sum() ** 2 / max(np.sum(weights**2), 1e-12)  # documents of equal weights say as much
    if effective <= TUNING.few:
        n_best = min(TUNING.n_second, len(values))
        best = np.sort(np.argpartition(-values, n_best - 1)[:n_best])
        joined = join_vectors(vectors, corpus.take_vectors(best))
        shares = np.append(weights, np.full(n_best, weights.sum() / n_best)) / 2
        second, again = run_pass(corpus, compute_contrast(corpus.frame, joined, shares))
        values = standardize(values, spread) + again
    values = values - TUNING.copies * np.log2(1 + corpus.copy_rank)  # or near-copies would fill the first page
    return Scores(values, first, walk, second, spread)


def score_vectors(corpus: FittedCorpus, vectors: Vectors, scores: Scores) -> Array:
    """Score other documents as those of the corpus are scored, (q,)."""
    products = multiply_vectors(vectors, scores.first.contrast)
    return finish_scores(vectors, products, scores.first.products, scores)


def finish_scores(vectors: Vectors, products: Array, scale: Array, scores: Scores) -> Array:
    """Score documents from their products with the first contrast, standardized by a scale, (q,)."""
    first, walk = scores.first, scores.walk
    values = finish_pass(products, scale, first)
    values = values + walk.weight * standardize(np.log(vectors.anchors @ walk.at_anchors + FLOOR), walk.spread)
    if scores.second is None:
        return values
    products = multiply_vectors(vectors, scores.second.contrast)
    return standardize(values, scores.spread) + finish_pass(products, scores.second.products, scores.second)


def run_pass(corpus: FittedCorpus, contrast: Contrast) -> tuple[Pass, Array]:
    """Score all documents by a contrast, (n,)."""
    products = multiply_corpus(corpus, contrast)
    scale = measure_spread(products)
    total = standardize(products, scale).sum(axis=1).astype(np.float32)
    result = Pass(contrast, scale, measure_spread(total))
    return result, standardize(total, result.total)


def finish_pass(products: Array, scale: Array, result: Pass) -> Array:
    """Score documents by their products with a contrast, (q,)."""
    return standardize(standardize(products, scale).sum(axis=1), result.total)


def walk_from(corpus: FittedCorpus, vectors: Vectors, weights: Array, walk_weight: float) -> tuple[Walk, Array]:
    """Compute PageRank from the hint documents, by way of anchors, and its standardized logarithm, (n,)."""
    start = np.maximum(weights, 0)
    near = vectors.anchors.T @ (start / max(start.sum(), 1e-12))
    mass = np.maximum(corpus.anchor_mass, 1e-9)
    at_anchors = np.maximum(corpus.frame.reach @ near, 0) * corpus.n_documents / mass
    logarithm = np.log(corpus.anchors @ at_anchors.astype(np.float32) + FLOOR)
    spread = measure_spread(logarithm)
    return Walk(at_anchors, spread, walk_weight), standardize(logarithm, spread)


def compute_contrast(frame: TopicFrame, vectors: Vectors, weights: Array) -> Contrast:
    """Compare documents with the corpus."""
    total = weights.sum()
    words = (vectors.tfidf.T @ weights - total * frame.mean) / frame.deviation
    fine = vectors.coordinates.T @ weights - total * frame.center
    broad = vectors.broad.T @ weights - total * frame.broad_center
    return Contrast(words.astype(np.float32), fine.astype(np.float32), broad.astype(np.float32))


def multiply_corpus(corpus: FittedCorpus, contrast: Contrast) -> Array:
    """Return the products of all documents with a contrast: in words, fine and broad coordinates, (n, 3)."""
    frame, b = corpus.frame, len(contrast.broad)
    weighted, broad = frame.idf * contrast.words, frame.scale[:b] * contrast.broad
    products = np.empty((3, corpus.n_documents), np.float32)  # one kind after the other: sums of each are fast

    def multiply(rows: tuple[Segment, slice, slice]) -> None:
        segment, inside, documents = rows
        placed = segment.placed
        lengths, norms, coordinates = placed.lengths[inside], placed.broad_norms[inside], placed.coordinates[inside]
        words = view_rows(segment.by_document, inside) @ weighted
        products[0, documents] = words / np.where(lengths > 0, lengths, np.inf)
        products[1, documents] = coordinates @ contrast.fine
        products[2, documents] = (coordinates[:, :b] @ broad) / np.where(norms > 0, norms, np.inf)

    map_parallel(multiply, corpus.split_rows())
    return products.T


def multiply_vectors(vectors: Vectors, contrast: Contrast) -> Array:
    """Return the products of some documents with a contrast, (q, 3), as `multiply_corpus` does for all."""
    fine, broad = vectors.coordinates @ contrast.fine, vectors.broad @ contrast.broad
    return np.column_stack([vectors.tfidf @ contrast.words, fine, broad])


def join_vectors(first: Vectors, second: Vectors) -> Vectors:
    """Return the documents of both."""
    pairs: Any = zip(first, second, strict=True)
    joined: Any = (sp.vstack(pair, "csr") if sp.issparse(pair[0]) else np.concatenate(pair) for pair in pairs)
    return Vectors(*joined)


def take_rows(vectors: Vectors, rows: Array) -> Vectors:
    """Return some of the documents."""
    arrays: Any = vectors
    return Vectors(*(values[rows] for values in arrays))


def remove_words(frame: TopicFrame, vectors: Vectors, columns: Array) -> Vectors:
    """Return documents without some features: in words, in coordinates, and so by their anchors."""
    columns = columns[columns < len(frame.idf)]
    if not len(columns):
        return vectors
    X = vectors.tfidf
    is_left = ~np.isin(X.indices, columns)
    removed = sp.csr_array((np.where(is_left, 0, X.data), X.indices, X.indptr), shape=X.shape)
    lengths = np.sqrt(np.maximum(1 - np.asarray((removed * removed).sum(axis=1)), 0))
    lengths[lengths < 1e-3] = 0
    inverse = 1 / np.where(lengths > 0, lengths, np.inf)
    values = np.where(is_left, X.data, 0) * np.repeat(inverse, np.diff(X.indptr)).astype(np.float32)
    remainder = sp.csr_array((values, X.indices, X.indptr), shape=X.shape, copy=True)
    remainder.eliminate_zeros()
    coordinates = vectors.coordinates * vectors.norms[:, None] - removed[:, columns] @ frame.basis[columns]
    units, norms = to_units(coordinates * inverse[:, None])
    anchors = join_anchors(*find_anchors(frame, units), vectors.anchors.shape[1])
    return Vectors(remainder, units, norms, to_broad(frame, units)[0], anchors)


def standardize(values: Array, scale: Array) -> Array:
    """Shift and scale by a mean and a standard deviation."""
    return np.asarray((values - scale[0]) / scale[1])


def measure_spread(values: Array) -> Array:
    """Return mean and standard deviation of values, or of each column, (2, ...)."""
    return np.stack([values.mean(axis=0), np.maximum(values.std(axis=0), 1e-12)])


def top_rows(scores: Array, n: int) -> Array:
    """Return the indices of the n largest scores, best first, ties in their order. The rest is not sorted."""
    if n >= len(scores):
        return np.argsort(-scores, kind="stable")
    is_positive = scores > 0
    if n <= np.count_nonzero(is_positive) < len(scores) // 2:  # np.partition is ten times slower with many equal values
        rows = np.flatnonzero(is_positive)
        return rows[top_rows(scores[rows], n)]
    level = np.partition(scores, len(scores) - n)[len(scores) - n]
    candidates = np.flatnonzero(scores >= level)
    return candidates[np.argsort(-scores[candidates], kind="stable")[:n]]
