"""Word counts as the user gives them -> checked documents, ready for a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.rows import Chunks, SampleChunk
from mixsearch.display import pluralize
from mixsearch.errors import DroppedDocumentsWarning, SearchError, warn_user
from mixsearch.topics.old_lda import WordCountChunk
from mixsearch.topics.reductions import ChunkCounts, Maximum

# A third moment needs three words of a document.
MIN_WORDS = 3
# Products of three larger counts are beyond the precision of sums; an index has the same limit.
MAX_COUNT = 2**31 - 1


def as_counts(X: Samples, damping: bool) -> sp.csr_array:
    """Check word counts and store each word of a document once, damped to log2(1 + c) in single precision if asked.

    Damping keeps a word that is repeated in one document from owning a topic. It is for real text, which moments fit to
    two digits at best: single precision is as good there, and twice as fast.
    """
    counts = _merge_duplicates(X)
    _check_range(_max_below_zero(counts), float(counts.data.max(initial=0)))
    return _damp_matrix(counts) if damping else counts


def damp(counts: Array) -> Array:
    """Return log2(1 + c) in single precision."""
    return np.asarray(np.log2(1.0 + counts), dtype=np.float32)


def check_counts(chunks: Chunks[SampleChunk]) -> tuple[Chunks[SampleChunk], bool]:
    """Return samples as word counts, and whether all of them are whole numbers."""
    counts = chunks.map(_merge_chunk)
    counts = replace(counts, layout=counts.layout._replace(is_sparse=True))
    facts = counts.sum(_describe)
    _check_range(facts.below_zero.value, facts.largest.value)
    return counts, not facts.n_fractions


def damp_counts(chunks: Chunks[SampleChunk]) -> Chunks[SampleChunk]:
    """Return word counts with repeated words damped."""
    damped = chunks.map(_damp_chunk)
    return replace(damped, layout=damped.layout._replace(dtype=np.dtype(np.float32)))


def drop_short_documents(chunks: Chunks[SampleChunk], min_words: int, *, damping: bool) -> Chunks[WordCountChunk]:
    """Return the documents of at least `min_words` words; those of any length above zero for 0."""
    tally: ChunkCounts = chunks.sum(_count_long, min_words)
    n, n_kept = chunks.n_rows, tally.total
    if n_kept < 2:
        raise SearchError(
            "A corpus needs at least 2 documents of at least {min_words} counted "
            + pluralize(max(min_words, 1), "word")
            + ", but of n_samples={n_samples} documents "
            + ("only {n_long} has that many." if n_kept else "none has that many."),
            code="too_few_documents",
            n_samples=n,
            n_long=n_kept,
            min_words=max(min_words, 1),
        )
    if n_kept < n:
        warn_user(
            DroppedDocumentsWarning(
                "{n_dropped:,} of {n_documents:,} documents "
                + pluralize(n - n_kept, "has", "have")
                + " fewer than {min_words} "
                + pluralize(max(min_words, 1), "word")
                + (" (repeats damped)" if damping and min_words else "")
                + " and "
                + pluralize(n - n_kept, "was", "were")
                + " left out of the fit.",
                n_dropped=n - n_kept,
                n_documents=n,
                min_words=max(min_words, 1),
            )
        )
    kept = chunks.map(_drop_short, min_words, tally)
    return replace(kept, layout=kept.layout._replace(n_rows=n_kept))


class CountFacts(NamedTuple):
    """Facts about the counts of a corpus."""

    below_zero: Maximum  # how far the smallest count is below zero
    largest: Maximum
    n_fractions: int


def _merge_duplicates(X: Samples) -> sp.csr_array:
    counts = sp.csr_array(X)
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    if not counts.data.all():  # a stored zero would count as an occurrence
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


def _damp_matrix(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((damp(counts.data), counts.indices, counts.indptr), shape=counts.shape)


def _max_below_zero(counts: sp.csr_array) -> float:
    return -float(counts.data.min(initial=0))


def _check_range(below_zero: float, largest: float) -> None:
    if below_zero > 0:
        raise SearchError(
            "Negative values in data passed to TopicSearch: the smallest is {smallest:g}, but counts are 0 or more.",
            code="negative_counts",
            smallest=-below_zero,
        )
    if largest > MAX_COUNT:
        raise SearchError(
            "A word occurs {count:.10g} times in a document, but a count can be {limit:,} at most. Divide the counts.",
            code="count_too_large",
            count=largest,
            limit=MAX_COUNT,
        )


def _merge_chunk(chunk: SampleChunk) -> SampleChunk:
    return replace(chunk, samples=_merge_duplicates(chunk.samples))


def _damp_chunk(chunk: SampleChunk) -> SampleChunk:
    return replace(chunk, samples=_damp_matrix(chunk.samples))


def _describe(chunk: SampleChunk) -> CountFacts:
    values = chunk.samples.data
    return CountFacts(
        below_zero=Maximum(_max_below_zero(chunk.samples)),
        largest=Maximum(float(values.max(initial=0))),
        n_fractions=int(np.count_nonzero(values != np.floor(values))),
    )


def _find_long(counts: sp.csr_array, min_words: int) -> tuple[Array, Array]:
    """Return the lengths of documents, (n,), and which of them are long enough, as a mask."""
    lengths = np.asarray(counts.sum(axis=1))
    return lengths, np.asarray(lengths >= min_words if min_words else lengths > 0)


def _count_long(chunk: SampleChunk, min_words: int) -> Any:
    _, is_long = _find_long(chunk.samples, min_words)
    return ChunkCounts.from_chunk(chunk, int(np.count_nonzero(is_long)))


def _drop_short(chunk: SampleChunk, min_words: int, tally: ChunkCounts) -> WordCountChunk:
    lengths, is_long = _find_long(chunk.samples, min_words)
    rows = np.flatnonzero(is_long)
    counts = chunk.samples[rows] if len(rows) < len(is_long) else chunk.samples
    return WordCountChunk(
        first=tally.count_before(chunk),
        by_document=counts,
        by_word=counts.tocsc(),
        lengths=lengths[rows].astype(np.float64),
        rows=rows + chunk.first,
    )
