"""Documents in chunks: counts by document and by word, weights, scores under a hint, and unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, NamedTuple, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Sparse
from mixsearch.core.rows import (
    Chunk,
    ChunkCounts,
    Chunks,
    Layout,
    Maximum,
    RowChunks,
    TopRows,
    chunk_rows,
    sum_chunks,
    top_rows,
)
from mixsearch.errors import DamagedFolderError, Option
from mixsearch.machine import n_cores

# A short document can show a high share by chance: it is ranked as if it had this many more words on another topic.
WORDS_ELSEWHERE = 20

Counts = TypeVar("Counts", sp.csr_array, sp.csc_array)
# From the lengths of documents to their weights, (n,) -> (n,).
Weighting = Callable[[Array], Array]
# The weight of a document in all averages.
WEIGHTINGS: dict[str, Weighting] = {"length": np.array, "uniform": np.ones_like}


@dataclass(frozen=True)
class DocumentChunk(Chunk):
    """Documents that are long enough for a fit."""

    by_document: sp.csr_array  # counts, (n, d)
    lengths: Array  # (n,)
    rows: Array  # rows of the documents in the user's matrix, (n,)

    def read_documents(self, rows: Array | slice) -> sp.csr_array:
        """Return the counts of some documents."""
        return check_indices(self.by_document[rows])


def check_indices(counts: Counts) -> Counts:
    """Return sparse counts after a check of their indices: compiled code follows them, also those of a damaged file."""
    bound = sum(counts.shape) - (len(counts.indptr) - 1)  # the columns of counts by row, the rows of counts by column
    # Negative numbers are large ones without their sign.
    if counts.nnz and counts.indices.view(f"u{counts.indices.itemsize}").max() >= bound:
        raise DamagedFolderError(
            "The counts of the corpus are damaged: an index is out of range. Restore the folder from a copy, or write "
            "it again with {option}.",
            option=Option("overwrite=True"),
        )
    return counts


@dataclass(frozen=True)
class WordCountChunk(DocumentChunk):
    """Documents before a fit."""

    by_word: sp.csc_array  # counts column by column: a word finds its documents
    stored: RowChunks | None = None  # the same counts on disk, if reading all of `by_document` would fill the memory

    @property
    def counts(self) -> RowChunks:
        """The counts in chunks, for a pass over all of them."""
        return chunk_rows(self.by_document) if self.stored is None else self.stored


@dataclass(frozen=True)
class TopicChunk(DocumentChunk):
    """Documents of a fitted corpus."""

    by_word: sp.csc_array  # counts column by column
    pair_weights: Array  # ω / (l(l-1)), (n,), with l the length; ω / l² for the plug-in
    triple_weights: Array  # ω / (l(l-1)(l-2)), (n,); ω / l³ for the plug-in
    tfidf_lengths: Array  # (n,)

    def take(self, indices: Any) -> Self:
        """Return the chunk with only some of its rows."""
        # Rows of counts by word are picked by compiled code that follows their indices.
        check_indices(self.by_word)
        return super().take(indices)

    projected: Array  # Y, (n, k): whitened counts W'c, not divided by the length

    def read_words(self, columns: Array) -> sp.csc_array:
        """Return the counts of some words."""
        return check_indices(self.by_word[:, columns])

    def document_weights(self, distinct: bool) -> Array:
        """Return ω, the weight of each document in all averages. All weights of the corpus sum to one."""
        n_pairs = self.lengths * (self.lengths - 1) if distinct else self.lengths**2
        return np.asarray(self.pair_weights * n_pairs)

    def scale_weights(self, factor: float) -> Self:
        """Return the same documents with all weights times a factor."""
        return replace(self, pair_weights=self.pair_weights * factor, triple_weights=self.triple_weights * factor)


def corpus_in_memory(
    by_document: sp.csr_array,
    by_word: sp.csc_array | None = None,
    rows: Array | None = None,
    stored: RowChunks | None = None,
) -> Chunks[WordCountChunk]:
    """Return a corpus in the memory of this process, or mapped into it, as one chunk."""
    n, d = by_document.shape
    counts = chunk_rows(by_document) if stored is None else stored
    chunk = WordCountChunk(
        first=0,
        by_document=by_document,
        by_word=by_document.tocsc() if by_word is None else by_word,
        lengths=_document_lengths(counts),
        rows=np.arange(n) if rows is None else rows,
        stored=stored,
    )
    return Chunks(Layout(n, d, counts.dtype, is_sparse=True), (chunk,))


def join_corpora(corpora: Sequence[Chunks[WordCountChunk]]) -> Chunks[WordCountChunk]:
    """Return corpora that follow each other as one, without a copy."""
    if len(corpora) == 1:
        return corpora[0]
    *firsts, n = accumulate((each.n_rows for each in corpora), initial=0)
    numbered = (replace(each.chunk, first=first) for each, first in zip(corpora, firsts, strict=True))
    return Chunks(corpora[0].layout._replace(n_rows=n), tuple(numbered))


def _document_lengths(counts: RowChunks) -> Array:
    return np.concatenate([np.asarray(counts.read(i).sum(axis=1), np.float64) for i, _ in counts.enumerate()])


class DocumentWeights(NamedTuple):
    """How documents are weighted in all averages."""

    weighting: Weighting
    total: float  # the sum over all documents, before weights are scaled to sum to one
    distinct: bool  # words are paired with other words only

    def compute(self, lengths: Array) -> tuple[Array, Array, Array]:
        """Return ω, and ω for each of a document's pairs and triples of words, (n,)."""
        weights = self.weighting(lengths) / self.total
        by_pair = weights / (lengths * (lengths - 1) if self.distinct else lengths**2)
        return weights, by_pair, by_pair / (lengths - 2 if self.distinct else lengths)


def weight_documents(chunks: Chunks[WordCountChunk], weighting: Weighting, *, distinct: bool) -> DocumentWeights:
    """Return the weights of the documents of a corpus."""
    return DocumentWeights(weighting, chunks.sum(_sum_weights, weighting), distinct)


def _sum_weights(chunk: WordCountChunk, weighting: Weighting) -> Any:
    return float(weighting(chunk.lengths).sum())


@dataclass(frozen=True)
class HintedChunk(TopicChunk):
    """Documents with their scores under a hint v."""

    hint_counts: Sparse  # counts of the words of the hint, (n, q)
    hint_scores: Array  # ⟨c, v⟩, (n,)
    sampled_scores: (
        Array  # (n,): the same; if a sample stands for all matching documents, scaled up there and 0 elsewhere
    )


def match_documents(
    chunks: Chunks[TopicChunk], columns: Array | slice, values: Array, max_documents: int | None
) -> Chunks[HintedChunk]:
    """Score documents under a hint over words."""
    scored = chunks.map(_score_hint, columns, values)
    if max_documents is None:
        return scored
    matching: ChunkCounts = scored.sum(_count_matching)
    return scored if matching.total <= max_documents else scored.map(_sample_matching, max_documents, matching)


def _score_hint(chunk: TopicChunk, columns: Array | slice, values: Array) -> HintedChunk:
    hint_counts: Sparse = check_indices(chunk.by_document) if isinstance(columns, slice) else chunk.read_words(columns)
    scores = np.asarray(hint_counts @ values)
    return HintedChunk(**vars(chunk), hint_counts=hint_counts, hint_scores=scores, sampled_scores=scores)


def _count_matching(chunk: HintedChunk) -> Any:
    return ChunkCounts.from_chunk(chunk, int(np.count_nonzero(chunk.hint_scores)))


def _sample_matching(chunk: HintedChunk, max_documents: int, matching: ChunkCounts) -> HintedChunk:
    rows = np.flatnonzero(chunk.hint_scores != 0)  # five times as fast as of numbers
    steps = np.linspace(0, matching.total - 1, max_documents).astype(np.intp) - matching.count_before(chunk)
    sampled = rows[steps[(steps >= 0) & (steps < len(rows))]]
    scores = np.zeros_like(chunk.hint_scores)
    scores[sampled] = chunk.hint_scores[sampled] * (matching.total / max_documents)
    return replace(chunk, sampled_scores=scores)


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


def measure_documents(counts: RowChunks, projected: Array, values: Array, idf: Array) -> tuple[Array, MeanDocument]:
    """Return the lengths of all documents as tf-idf vectors, (n,), and the mean document."""
    lengths = np.empty(counts.shape[0])

    def measure(chunk: tuple[int, slice]) -> UnitSums:
        index, rows = chunk
        X = counts.read(index)
        lengths[rows] = tfidf_lengths(X, idf)
        return sum_unit_vectors(X, lengths[rows], projected[rows], values, idf)

    return lengths, MeanDocument.from_sums(sum_chunks(measure, counts.enumerate(), n_cores()), len(lengths))


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


def _place_units(values: Array) -> Array:
    """Return the units of both places from the eigenvalues, (2, k)."""
    units = np.stack([values**FINE_POWER, values**BROAD_POWER])
    units[1, N_LEADING:] = 0
    return units


def _inverse_lengths(projected: Array, units: Array) -> Array:
    """Return 1 over the lengths that both places have before they are scaled to length 1, (n, 2); 1 for zero."""
    squares = projected**2 @ (units**2).T
    return np.asarray(1 / np.sqrt(np.where(squares > 0, squares, 1)))


def sum_places(projected: Array, values: Array, weights: Array) -> Array:
    """Return the sums over the places of documents with weights, (2, k). No vector of length 1 is made."""
    units, exact = _place_units(values), projected.astype(np.float64)
    return np.asarray((_inverse_lengths(exact, units) * weights[:, None]).T @ exact * units)


def project_places(projected: Array, values: Array, directions: Array) -> Array:
    """Return the scalar products of the places of documents with two directions, (2, k) -> (n, 2)."""
    units, exact = _place_units(values), projected.astype(np.float64)
    return np.asarray(exact @ (units * directions).T * _inverse_lengths(exact, units))


def broad_places(projected: Array, values: Array) -> Array:
    """Return the places of documents in the leading directions only, (n, k)."""
    broad = projected * (values**BROAD_POWER).astype(projected.dtype)
    broad[:, N_LEADING:] = 0
    return to_unit_length(broad)


def to_unit_length(vectors: Array) -> Array:
    """Scale a vector, or each of several, to length 1, (..., k). Zero stays zero."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1))
