"""Word counts as the user gives them -> documents that are fit to be fitted, shard by shard."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.data.reductions import Maximum, PartitionCounts
from mixsearch.errors import DroppedDocumentsWarning, SearchError, warn_user
from mixsearch.topics._documents import CountPartition

# Three words of a document make a third moment.
LEAST_WORDS = 3


class CountFacts(NamedTuple):
    """What counts of a corpus are like."""

    below_zero: Maximum  # how far the smallest of them is below zero
    n_fractions: int


def as_counts(X: Samples, damping: bool) -> sp.csr_array:
    """Checked word counts, each word of a document once, as log2(1 + c) in single precision where they are damped.

    Damping keeps a word that is repeated in one document from owning a topic. It is for real text, which moments fit to
    two digits at best: single precision is as good there, and twice as fast.
    """
    counts = _each_word_once(X)
    _require_counts(_below_zero(counts))
    return _damped(counts) if damping else counts


def damp(counts: Array) -> Array:
    """log2(1 + c), in single precision."""
    return np.asarray(np.log2(1.0 + counts), dtype=np.float32)


def counts_of(partitions: Partitions[SamplePartition]) -> tuple[Partitions[SamplePartition], bool]:
    """Samples as word counts, and whether they are whole numbers."""
    counts = partitions.map(_count_words)
    counts = replace(counts, layout=counts.layout._replace(is_sparse=True))
    facts = counts.reduce(_facts)
    _require_counts(facts.below_zero.value)
    return counts, not facts.n_fractions


def damped_counts(partitions: Partitions[SamplePartition]) -> Partitions[SamplePartition]:
    """The same with repeated words damped."""
    damped = partitions.map(_damp_words)
    return replace(damped, layout=damped.layout._replace(dtype=np.dtype(np.float32)))


def long_documents(partitions: Partitions[SamplePartition], least: int, *, damping: bool) -> Partitions[CountPartition]:
    """The documents of at least so many words, of any at all for 0."""
    tally: PartitionCounts = partitions.reduce(_n_long, least).total
    n, n_kept = partitions.n_rows, tally.total
    if n_kept < 2:
        raise SearchError(
            f"Found n_samples={n}, of which {n_kept} documents have at least {max(least, 1)} words; a corpus needs "
            "at least 2 such documents."
        )
    if n_kept < n:
        warn_user(
            DroppedDocumentsWarning(
                f"{n - n_kept:,} of {n:,} documents have fewer than {max(least, 1)} words"
                f"{' (repeats damped)' if damping and least else ''} and were left out of the fit."
            )
        )
    kept = partitions.map(_long_documents, least, tally).persist()
    return replace(kept, layout=kept.layout._replace(n_rows=n_kept))


def _each_word_once(X: Samples) -> sp.csr_array:
    counts = sp.csr_array(X)
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    if not counts.data.all():  # a word that is stored as absent would count as held
        counts = counts.copy()
        counts.eliminate_zeros()
    return counts


def _damped(counts: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((damp(counts.data), counts.indices, counts.indptr), shape=counts.shape)


def _below_zero(counts: sp.csr_array) -> float:
    return -float(counts.data.min(initial=0))


def _require_counts(below_zero: float) -> None:
    if below_zero > 0:
        raise SearchError(
            f"Negative values in data passed to TopicSearch: the smallest is {-below_zero:g}, and counts are 0 or more."
        )


def _count_words(partition: SamplePartition) -> SamplePartition:
    return replace(partition, samples=_each_word_once(partition.samples))


def _damp_words(partition: SamplePartition) -> SamplePartition:
    return replace(partition, samples=_damped(partition.samples))


def _facts(partition: SamplePartition) -> CountFacts:
    values = partition.samples.data
    return CountFacts(Maximum(_below_zero(partition.samples)), int(np.count_nonzero(values != np.floor(values))))


def _is_long(counts: sp.csr_array, least: int) -> tuple[Array, Array]:
    """Lengths of documents, and which of them hold the three words that a third moment takes."""
    lengths = np.asarray(counts.sum(axis=1))
    return lengths, np.asarray(lengths >= least if least else lengths > 0)


def _n_long(partition: SamplePartition, least: int) -> ArraySum:
    return ArraySum(PartitionCounts.of(partition, int(np.count_nonzero(_is_long(partition.samples, least)[1]))))


def _long_documents(partition: SamplePartition, least: int, tally: PartitionCounts) -> CountPartition:
    lengths, is_long = _is_long(partition.samples, least)
    rows = np.flatnonzero(is_long)
    counts = partition.samples[rows] if len(rows) < len(is_long) else partition.samples
    return CountPartition(
        first=tally.before(partition),
        by_document=counts,
        by_word=counts.tocsc(),
        lengths=lengths[rows].astype(np.float64),
        rows=rows + partition.first,
    )
