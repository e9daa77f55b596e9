"""Documents that are added to a fitted corpus or removed from it: the frame stays, the sums over documents follow.

How much of the added documents lies outside the frame says when to fit it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.io.folder import FolderWriter
from mixsearch.machine import one_blas_thread
from mixsearch.topics.documents import MeanDocument, PlacedChunk, PlacedFamily, UnitSums, place_chunk
from mixsearch.topics.old_lda import (
    WEIGHTINGS,
    check_indices,
    corpus_in_memory,
    project_documents,
    sum_words,
    weight_documents,
)
from mixsearch.topics.segments import Segment, open_segment, store_chunk
from mixsearch.topics.storage import store_sums

if TYPE_CHECKING:
    from mixsearch.io.folder import Folder
    from mixsearch.topics.search import TopicSearch


# Smaller sums of a word are those of no document: one count adds the inverse length of a document, at least.
MIN_COUNT = 1e-8
# Steps of the power method that look for the strongest direction outside the frame.
_N_STEPS = 6
# Fewer documents show nothing that is not noise. Of more, these at even steps stand for all.
_MIN_DOCUMENTS, _MAX_DOCUMENTS = 20, 4_000


class CorpusSums(NamedTuple):
    """Sums over documents, each with its weight before all weights are scaled to sum to one.

    Attributes
    ----------
    n_documents : int
        The number of documents.
    mass : float
        The sum of their weights.
    words : array of shape (d, 3)
        Of counts, as frequencies and with the weights of pairs and of triples.
    crossed : array of shape (d, k)
        Of triples of a word with itself and another word.
    tfidf : array of shape (d, 2)
        Of tf-idf vectors of length 1 and of their squares, unweighted.
    places : array of shape (2, k)
        Of places in the signal space, unweighted.
    """

    n_documents: int
    mass: float
    words: Array
    crossed: Array
    tfidf: Array
    places: Array

    def add(self, other: CorpusSums, sign: int = 1) -> CorpusSums:
        """Return the sums over both sets of documents, or over the first without the second."""
        return CorpusSums(
            self.n_documents + sign * other.n_documents,
            self.mass + sign * other.mass,
            self.words + sign * other.words,
            self.crossed + sign * other.crossed,
            self.tfidf + sign * other.tfidf,
            self.places + sign * other.places,
        )


class MeasuredDocuments(NamedTuple):
    """Documents in the frame of a fit, with weights that sum to one, and sums over them."""

    chunk: PlacedChunk
    sums: CorpusSums


def sum_corpus(search: TopicSearch) -> CorpusSums:
    """Return the sums over all documents of a fit."""
    family = search._family
    n, mean = family.chunks.n_rows, family.mean_document
    mass = sum(_sum_weights(search, each.lengths) for each in family.segments)
    words = np.column_stack([family.word_mean, family.own_pairs, family.own_triples])
    tfidf = np.column_stack([mean.tfidf, mean.deviation**2 + mean.tfidf**2])
    return CorpusSums(n, mass, mass * words, mass * family.own_crossed.astype(float), n * tfidf, n * mean.places)


def measure_documents_in(search: TopicSearch, counts: sp.csr_array, rows: Array) -> MeasuredDocuments:
    """Project further documents onto the frame of a fit."""
    family = search._family
    corpus = corpus_in_memory(check_indices(counts), rows=rows)
    weights = weight_documents(corpus, WEIGHTINGS[search._options.weights], distinct=family.distinct)
    words = corpus.sum(sum_words, weights)[:, :3]
    projected, crossed = corpus.map_sum(project_documents, weights, family.frame, np.empty)
    placed, places = place_chunk(projected.collect().chunk, family.frame.values, family.idf)
    sums = CorpusSums(len(rows), weights.total, weights.total * words, weights.total * crossed, *places)
    return MeasuredDocuments(placed, sums)


def store_changed_sums(out: FolderWriter, search: TopicSearch, sums: CorpusSums) -> None:
    """Write the sums of a fit after documents were added or removed."""
    family = search._family
    # What is left of words that no document contains any more is rounding.
    is_left = sums.words[:, :1] > MIN_COUNT
    word_mean, own_pairs, own_triples = (np.where(is_left, sums.words, 0) / sums.mass).T.copy()
    changed: PlacedFamily = replace(
        family,
        word_mean=word_mean,
        own_pairs=own_pairs,
        own_triples=own_triples,
        own_crossed=(np.where(is_left, sums.crossed, 0) / sums.mass).astype(family.own_crossed.dtype),
        mean=family.frame.whiten(family.alpha0 * word_mean),
        mean_document=MeanDocument.from_sums(UnitSums(sums.tfidf, sums.places), sums.n_documents),
    )
    store_sums(out, changed)


def _join_segments(search: TopicSearch, folder: Folder, segments: Sequence[Segment], new: PlacedChunk) -> PlacedChunk:
    """Return the documents of some segments and new ones after them, with weights that sum to one."""
    d = new.by_document.shape[1]
    chunks = [*(open_segment(folder, segment, d) for segment in segments), new]
    masses = np.array([_sum_weights(search, each.lengths) for each in chunks])
    scaled = [each.scale_weights(share) for each, share in zip(chunks, masses / masses.sum(), strict=True)]
    return PlacedChunk.joined(scaled)


def store_new_segment(
    out: FolderWriter, search: TopicSearch, folder: Folder, absorbed: Sequence[Segment], new: PlacedChunk, name: str
) -> Segment:
    """Write new documents, and those of segments before them, as one segment."""
    joined = _join_segments(search, folder, absorbed, new)
    store_chunk(out, joined, name)
    return Segment(name, joined.n_rows, _sum_weights(search, joined.lengths))


def scale_masses(search: TopicSearch, folder: Folder, segments: Sequence[Segment]) -> list[Segment]:
    """Return segments with their masses, which a folder of a single one does not need to know."""
    return [
        segment._replace(mass=_sum_weights(search, folder[segment.place("documents/lengths")])) for segment in segments
    ]


def _sum_weights(search: TopicSearch, lengths: Array) -> float:
    return float(WEIGHTINGS[search._options.weights](np.asarray(lengths)).sum())


def measure_drift(search: TopicSearch, added: Sequence[sp.csr_array], n_all: int) -> float:
    """Return how strong a topic of added documents outside the frame is, compared with the weakest topic of the fit.

    Notes
    -----
    The direction is found on half of the documents by the power method for A, restricted to the complement of the
    frame, and its strength is measured on the other half: noise has no strength there on average.
    """
    *firsts, n = accumulate((counts.shape[0] for counts in added), initial=0)
    if n < _MIN_DOCUMENTS:
        return 0.0
    step = -(-n // _MAX_DOCUMENTS)
    evenly = [counts[-first % step :: step] for counts, first in zip(added, firsts, strict=True)]
    used = check_indices(sp.csr_array(sp.vstack(evenly, format="csr")))
    with one_blas_thread:  # products of a vector, done before other threads have woken up
        direction = _find_direction(search, used[::2])
        strength = max(float(direction @ _apply(search, used[1::2], direction)), 0.0)
    return strength * n / n_all / float(search._family.frame.values[-1])


def _find_direction(search: TopicSearch, counts: sp.csr_array) -> Array:
    basis = search._family.frame.basis.astype(np.float64)
    direction = np.random.default_rng(0).normal(size=counts.shape[1])
    # Only words that occur: among the others the power method finds nothing.
    direction[np.bincount(counts.indices, minlength=len(direction)) == 0] = 0
    for _ in range(_N_STEPS):
        direction -= basis @ (basis.T @ direction)
        direction /= max(float(np.linalg.norm(direction)), np.finfo(float).tiny)
        direction = _apply(search, counts, direction)
    direction -= basis @ (basis.T @ direction)
    return direction / max(float(np.linalg.norm(direction)), np.finfo(float).tiny)


def _apply(search: TopicSearch, counts: sp.csr_array, direction: Array) -> Array:
    """Return A times a direction, A the second moment of these documents in the metric of the frame, (d,)."""
    family = search._family
    scale = np.ones(len(direction)) if family.frame.metric is None else family.frame.metric
    a0, scaled = family.alpha0, scale * direction
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    weights = 1 / (len(lengths) * np.maximum(lengths * (lengths - 1), 1))
    # Pairs of different words only: those of a word with itself are noise.
    pairs = counts.T @ (weights * (counts @ scaled)) - scaled * (counts.T @ weights)
    mean = counts.T @ (1 / (len(lengths) * np.maximum(lengths, 1)))
    return np.asarray(scale * (a0 * (a0 + 1) * pairs - a0**2 * mean * (mean @ scaled)))
