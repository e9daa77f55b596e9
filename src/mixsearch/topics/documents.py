"""Documents of a fitted corpus as topics read them: the best, samples, and their unit vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk, Chunks, Maximum, RowChunks, TopRows, sum_chunks, top_rows
from mixsearch.lda_documents import (
    BROAD_POWER,
    N_LEADING,
    DocumentChunk,
    MeanDocument,
    TopicChunk,
    UnitSums,
    inverse_lengths,
    place_units,
    sum_unit_vectors,
    tfidf_lengths,
)
from mixsearch.machine import n_cores

# A short document can show a high share by chance: it is ranked as if it had this many more words on another topic.
WORDS_ELSEWHERE = 20


@dataclass(frozen=True)
class ScoredChunk(TopicChunk):
    """Documents with a score each: under a hint, or for a topic."""

    scores: Array  # (n,)


def rank_documents(chunk: DocumentChunk, shares: Array, n: int, among: Array | None = None) -> Any:
    """Return the documents of a chunk with the largest shares of a topic, with their rows and shares."""
    scores = shares * chunk.lengths / (chunk.lengths + WORDS_ELSEWHERE)
    chosen = choose_rows(chunk, among)
    best = top_rows(scores, n) if chosen is None else chosen[top_rows(scores[chosen], n)]
    return TopRows(n, scores[best], best + chunk.first, (chunk.rows[best], shares[best]))


def choose_rows(chunk: DocumentChunk, among: Array | None) -> Array | None:
    """Return the rows of a chunk that are among some documents of the corpus; None if that are all."""
    return None if among is None else np.flatnonzero(mask_rows(chunk, among))


def mask_rows(chunk: DocumentChunk, among: Array) -> Array:
    """Return which documents of a chunk are among some of the corpus, (n,)."""
    return among[chunk.first : chunk.first + len(chunk.lengths)]


@dataclass(frozen=True)
class ShareChunk(Chunk):
    """Documents with the share of a topic in each."""

    shares: Array  # (n,)


@dataclass(frozen=True)
class PlacedSample(Chunk):
    """A few documents without their words."""

    lengths: Array  # (n,)
    projected: Array  # (n, k)


@dataclass(frozen=True)
class DocumentSample(PlacedSample):
    """A few documents, to be read in this process."""

    counts: sp.csr_array  # (n, d)
    tfidf_lengths: Array  # (n,)


def pick_documents(chunks: Chunks[TopicChunk], indices: Array) -> DocumentSample:
    """Return documents by their indices in the corpus, in the same order."""
    unique, inverse = np.unique(indices, return_inverse=True)
    picked = chunks.map(_pick, unique).collect().chunk
    if len(unique) == len(indices) and np.all(unique == indices):
        return picked
    return replace(picked.take(inverse), first=0)


def place_documents(chunks: Chunks[TopicChunk], indices: Array) -> PlacedSample:
    """Return documents by their indices in the corpus, which rise, without their words."""
    return chunks.map(_place, indices).collect().chunk


def _place(chunk: TopicChunk, indices: Array) -> PlacedSample:
    rows = local_rows(chunk, indices)[1]
    return PlacedSample(chunk.first, chunk.lengths[rows], chunk.projected[rows])


# Every search compares its documents with the same ones of the corpus.
_samples: WeakKeyDictionary[Chunks[TopicChunk], dict[int, DocumentSample]] = WeakKeyDictionary()


def pick_evenly(chunks: Chunks[TopicChunk], max_documents: int) -> DocumentSample:
    """Return documents at even steps, at most this many. They are read once."""
    samples = _samples.setdefault(chunks, {})
    if max_documents not in samples:
        n = chunks.n_rows
        samples[max_documents] = pick_documents(chunks, np.arange(0, n, n // max_documents + 1))
    return samples[max_documents]


def _pick(chunk: TopicChunk, indices: Array) -> DocumentSample:
    return sample_rows(chunk, local_rows(chunk, indices)[1])


def sample_rows(chunk: TopicChunk, rows: Array | slice) -> DocumentSample:
    """Return some documents of a chunk."""
    return DocumentSample(
        chunk.first,
        lengths=chunk.lengths[rows],
        projected=chunk.projected[rows],
        counts=chunk.read_documents(rows),
        tfidf_lengths=chunk.tfidf_lengths[rows],
    )


def local_rows(chunk: DocumentChunk, indices: Array) -> tuple[Array, Array]:
    """Return which documents of the corpus are in a chunk, as a mask, and their rows there."""
    rows = indices - chunk.first
    inside = (rows >= 0) & (rows < len(chunk.lengths))
    return inside, rows[inside]


def index_rows(chunks: Chunks[TopicChunk], rows: Array) -> Array:
    """Return the indices in the corpus of rows of the user's matrix; -1 for a row that is not in it."""
    found: Maximum = chunks.sum(_index_rows, rows)
    return np.asarray(found.value)


def _index_rows(chunk: DocumentChunk, rows: Array) -> Any:
    indices = np.searchsorted(chunk.rows, rows)
    known = indices < len(chunk.rows)
    known[known] = chunk.rows[indices[known]] == rows[known]
    return Maximum(np.where(known, indices + chunk.first, -1))


def measure_documents(counts: RowChunks, projected: Array, values: Array, idf: Array) -> tuple[Array, MeanDocument]:
    """Return the lengths of all documents as tf-idf vectors, (n,), and the mean document."""
    lengths = np.empty(counts.shape[0])

    def measure(chunk: tuple[int, slice]) -> UnitSums:
        index, rows = chunk
        X = counts.read(index)
        lengths[rows] = tfidf_lengths(X, idf)
        return sum_unit_vectors(X, lengths[rows], projected[rows], values, idf)

    return lengths, MeanDocument.from_sums(sum_chunks(measure, counts.enumerate(), n_cores()), len(lengths))


def project_places(projected: Array, values: Array, directions: Array) -> Array:
    """Return the scalar products of the places of documents with two directions, (2, k) -> (n, 2)."""
    units, exact = place_units(values), projected.astype(np.float64)
    return np.asarray(exact @ (units * directions).T * inverse_lengths(exact, units))


def broad_places(projected: Array, values: Array) -> Array:
    """Return the places of documents in the leading directions only, (n, k)."""
    broad = projected * (values**BROAD_POWER).astype(projected.dtype)
    broad[:, N_LEADING:] = 0
    return to_unit_length(broad)


def to_unit_length(vectors: Array) -> Array:
    """Scale a vector, or each of several, to length 1, (..., k). Zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))
