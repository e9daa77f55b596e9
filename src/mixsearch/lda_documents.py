"""Documents in chunks: counts by document and by word, weights, and scores under a hint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Sparse
from mixsearch.core.rows import (
    Chunk,
    Chunks,
    Layout,
    RowChunks,
    chunk_rows,
)
from mixsearch.errors import DamagedFolderError, Option

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
    # The same counts on disk, if reading all of `by_document` would fill the memory.
    stored: RowChunks | None = field(default=None, kw_only=True)

    @property
    def counts(self) -> RowChunks:
        """The counts in chunks, for a pass over all of them."""
        return chunk_rows(self.by_document) if self.stored is None else self.stored

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


@dataclass(frozen=True)
class TopicChunk(DocumentChunk):
    """Documents of a fitted corpus."""

    by_word: sp.csc_array  # counts column by column
    pair_weights: Array  # ω / (l(l-1)), (n,), with l the length; ω / l² for the plug-in
    triple_weights: Array  # ω / (l(l-1)(l-2)), (n,); ω / l³ for the plug-in

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
    counts = scored.gather(lambda chunk: (chunk.first, int(np.count_nonzero(chunk.hint_scores))))
    n_matching = sum(n for _, n in counts)
    return scored if n_matching <= max_documents else scored.map(_sample_matching, max_documents, n_matching, counts)


def _score_hint(chunk: TopicChunk, columns: Array | slice, values: Array) -> HintedChunk:
    hint_counts: Sparse = check_indices(chunk.by_document) if isinstance(columns, slice) else chunk.read_words(columns)
    scores = np.asarray(hint_counts @ values)
    shared = {each.name: getattr(chunk, each.name) for each in fields(TopicChunk)}
    return HintedChunk(**shared, hint_counts=hint_counts, hint_scores=scores, sampled_scores=scores)


def _sample_matching(
    chunk: HintedChunk, max_documents: int, n_matching: int, counts: list[tuple[int, int]]
) -> HintedChunk:
    """Score evenly spaced documents only, of all that match; `counts` are the first row and the matches of chunks."""
    n_before = sum(n for first, n in counts if first < chunk.first)
    rows = np.flatnonzero(chunk.hint_scores != 0)  # five times as fast as of numbers
    steps = np.linspace(0, n_matching - 1, max_documents).astype(np.intp) - n_before
    sampled = rows[steps[(steps >= 0) & (steps < len(rows))]]
    scores = np.zeros_like(chunk.hint_scores)
    scores[sampled] = chunk.hint_scores[sampled] * (n_matching / max_documents)
    return replace(chunk, sampled_scores=scores)
