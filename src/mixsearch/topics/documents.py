"""Documents of a fitted corpus as topics read them: the best, samples, and their unit vectors."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk, Chunks, sum_chunks, top_rows
from mixsearch.machine import n_cores
from mixsearch.topics.old_lda import DocumentChunk, TopicChunk, TopicFamily
from mixsearch.topics.reductions import Maximum, TopRows

# A short document can show a high share by chance: it is ranked as if it had this many more words on another topic.
WORDS_ELSEWHERE = 20


@dataclass(frozen=True)
class PlacedChunk(TopicChunk):
    """Documents with their lengths as tf-idf vectors."""

    tfidf_lengths: Array  # (n,)


@dataclass(frozen=True)
class ScoredChunk(PlacedChunk):
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


def pick_documents(chunks: Chunks[PlacedChunk], indices: Array) -> DocumentSample:
    """Return documents by their indices in the corpus, in the same order."""
    unique, inverse = np.unique(indices, return_inverse=True)
    picked = chunks.map(_pick, unique).collect().chunk
    if len(unique) == len(indices) and np.all(unique == indices):
        return picked
    return replace(picked.take(inverse), first=0)


def place_documents(chunks: Chunks[PlacedChunk], indices: Array) -> PlacedSample:
    """Return documents by their indices in the corpus, which rise, without their words."""
    return chunks.map(_place, indices).collect().chunk


def _place(chunk: TopicChunk, indices: Array) -> PlacedSample:
    rows = local_rows(chunk, indices)[1]
    return PlacedSample(chunk.first, chunk.lengths[rows], chunk.projected[rows])


# Every search compares its documents with the same ones of the corpus.
_samples: WeakKeyDictionary[Chunks[PlacedChunk], dict[int, DocumentSample]] = WeakKeyDictionary()


def pick_evenly(chunks: Chunks[PlacedChunk], max_documents: int) -> DocumentSample:
    """Return documents at even steps, at most this many. They are read once."""
    samples = _samples.setdefault(chunks, {})
    if max_documents not in samples:
        n = chunks.n_rows
        samples[max_documents] = pick_documents(chunks, np.arange(0, n, n // max_documents + 1))
    return samples[max_documents]


def _pick(chunk: PlacedChunk, indices: Array) -> DocumentSample:
    return sample_rows(chunk, local_rows(chunk, indices)[1])


def sample_rows(chunk: PlacedChunk, rows: Array | slice) -> DocumentSample:
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


def index_rows(chunks: Chunks[PlacedChunk], rows: Array) -> Array:
    """Return the indices in the corpus of rows of the user's matrix; -1 for a row that is not in it."""
    found: Maximum = chunks.sum(_index_rows, rows)
    return np.asarray(found.value)


def _index_rows(chunk: DocumentChunk, rows: Array) -> Any:
    indices = np.searchsorted(chunk.rows, rows)
    known = indices < len(chunk.rows)
    known[known] = chunk.rows[indices[known]] == rows[known]
    return Maximum(np.where(known, indices + chunk.first, -1))


# A place has two unit vectors, of whitened counts times a power of the eigenvalues: a fine one of all directions, and a
# broad one of the leading directions, by a larger power.
FINE_POWER, BROAD_POWER, N_LEADING = 0.5, 0.75, 50


class UnitSums(NamedTuple):
    """Sums over the unit vectors of documents."""

    tfidf: Array  # of values and of their squares, (d, 2)
    places: Array  # (2, k)


class MeanDocument(NamedTuple):
    """Means over the unit vectors of all documents."""

    tfidf: Array  # (d,)
    deviation: Array  # of tf-idf, (d,)
    places: Array  # (2, k)

    @classmethod
    def from_sums(cls, sums: UnitSums, n_documents: int) -> MeanDocument:
        """Return the means from the sums over all documents."""
        mean, square = sums.tfidf.T / n_documents
        return cls(mean, np.sqrt(np.maximum(square - mean**2, 0)), sums.places / n_documents)


def sum_unit_vectors(counts: sp.csr_array, lengths: Array, projected: Array, values: Array, idf: Array) -> UnitSums:
    """Return the sums over documents of known lengths as tf-idf vectors."""
    scale = (1 / np.where(lengths > 0, lengths, np.inf)).astype(counts.dtype)
    tfidf = np.column_stack([idf * (counts.T @ scale), idf**2 * (_squares(counts).T @ scale**2)])
    return UnitSums(tfidf, sum_places(projected, values, np.ones(len(lengths))))


def inverse_frequency(document_frequency: Array, n_documents: int) -> Array:
    """Return the idf of words, (d,): smoothed, and 1 for a word that every document contains."""
    return np.asarray(np.log((1 + n_documents) / (1 + document_frequency)) + 1)


def tfidf_lengths(counts: sp.csr_array, idf: Array) -> Array:
    """Return the Euclidean lengths of tf-idf vectors, (n,)."""
    return np.sqrt(np.asarray(_squares(counts) @ idf**2, dtype=np.float64))


def _squares(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((counts.data**2, counts.indices, counts.indptr), shape=counts.shape)


def place_units(values: Array) -> Array:
    """Return the units of both places from the eigenvalues, (2, k)."""
    units = np.stack([values**FINE_POWER, values**BROAD_POWER])
    units[1, N_LEADING:] = 0
    return units


def inverse_lengths(projected: Array, units: Array) -> Array:
    """Return 1 over the lengths that both places have before they are scaled to length 1, (n, 2); 1 for zero."""
    squares = projected**2 @ (units**2).T
    return np.asarray(1 / np.sqrt(np.where(squares > 0, squares, 1)))


def sum_places(projected: Array, values: Array, weights: Array) -> Array:
    """Return the sums over the places of documents with weights, (2, k). No vector of length 1 is made."""
    units, exact = place_units(values), projected.astype(np.float64)
    return np.asarray((inverse_lengths(exact, units) * weights[:, None]).T @ exact * units)


@dataclass(frozen=True, slots=True)
class PlacedFamily(TopicFamily):
    """The fitted moments of a corpus, and its documents as unit vectors."""

    idf: Array  # of each word at the time of the fit, (d,)
    mean_document: MeanDocument  # means of all documents as unit vectors


def place_corpus(family: TopicFamily) -> PlacedFamily:
    """Return a fit with its documents as unit vectors, in one more pass over the counts."""
    n, shared = family.chunks.n_rows, {each.name: getattr(family, each.name) for each in fields(TopicFamily)}
    idf = inverse_frequency(family.document_frequency, n)
    shared["chunks"], sums = family.chunks.map_sum(place_chunk, family.frame.values, idf)
    return PlacedFamily(**shared, idf=idf, mean_document=MeanDocument.from_sums(sums, n))


def place_chunk(chunk: TopicChunk, values: Array, idf: Array) -> tuple[PlacedChunk, UnitSums]:
    """Return documents with their lengths as tf-idf vectors, and the sums over their unit vectors."""
    counts, lengths = chunk.counts, np.empty(len(chunk.lengths))

    def measure(piece: tuple[int, slice]) -> UnitSums:
        index, rows = piece
        X = counts.read(index)
        lengths[rows] = tfidf_lengths(X, idf)
        return sum_unit_vectors(X, lengths[rows], chunk.projected[rows], values, idf)

    sums = sum_chunks(measure, counts.enumerate(), n_cores())
    return PlacedChunk(**(vars(chunk) | {"stored": None, "tfidf_lengths": lengths})), sums


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
