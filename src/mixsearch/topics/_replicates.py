"""The moments of a corpus without one group of its documents, in the frame of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.moments import Replicates
from mixsearch.data.partitions import Partitions, leave_one_out, sums_by_group
from mixsearch.topics._documents import HintedPartition, TopicPartition, match_documents
from mixsearch.topics._hint import WordHint

if TYPE_CHECKING:
    from mixsearch.topics._moments import TopicFamily


class GroupSums(NamedTuple):
    """Weighted sums over the documents of a group, with hint v and the whitening W of the frame."""

    weight: float  # Σ ω
    mean: Array  # W'Σ ωx1, (k,)
    squares: Array  # Σ pair weight x yy', (k, k)
    own_pairs: Array  # Σ pair weight x c, (d,)
    triples: Array  # Σ triple weight ⟨c, v⟩yy', less the pairs of words of the hint with themselves, (k, k)
    own_triples: Array  # Σ triple weight (⟨c, v⟩ - 2v) c, (d,)
    crossed: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    mass: float  # Σ ω⟨x1, v⟩


class DistinctSums(NamedTuple):
    """Weighted sums over documents, with hint v; x1, x2 and x3 are different words of a document."""

    weight: float  # Σ ω
    mean: Array  # W'Σ ωx1, (k,)
    pairs: Array  # W'(Σ ωx1x2')W, (k, k)
    triples: Array  # W'(Σ ω⟨x3, v⟩x1x2')W, (k, k)
    crossed: Array  # W'Σ ω⟨x2, v⟩x1, (k,)
    mass: float  # Σ ω⟨x1, v⟩


class PairSums(NamedTuple):
    """Weighted sums over the documents of a group, with hint v."""

    weight: float  # Σ ω
    mean: Array  # Σ ωx1, (d,)
    crossed: Array  # Σ ω⟨x2, v⟩x1, (d,)


class HintedWords(NamedTuple):
    """A hint v as the words that have a weight in it."""

    columns: Array | slice
    values: Array  # v of these words, (q,)
    weighted: Array  # rows of W, each times its v, (q, k)


def replicate_moments(family: TopicFamily, hint: WordHint | Array, max_documents: int | None = None) -> Replicates:
    """Compute the moments of all documents but one group, for each group in turn.

    Parameters
    ----------
    family : TopicFamily
    hint : WordHint, or array of shape (k,)
        Words, or a hint c in the frame, which is that of the words v = Wc.
    max_documents : int, optional
        If more documents contain the words of the hint, this many represent all, as in `TopicFamily.hinted`.

    Returns
    -------
    Replicates
    """
    words, matched = _match(family, hint, max_documents)
    sums: tuple[Any, ...] = sums_by_group(matched, _group_sums, words, family.distinct)
    # Subtract before groups are left out: one group contains few of the words, the others together nearly all.
    groups = [_subtract_own(GroupSums(*group), words, family) for group in zip(*sums, strict=True)]
    by_group = [np.array(field) for field in zip(*groups, strict=True)]
    left = zip(*(field.sum(axis=0) - field for field in by_group), strict=True)
    moments = [_compute_moments(DistinctSums(*each), family.alpha0) for each in left]
    return Replicates(*map(np.array, zip(*moments, strict=True)))


def _match(
    family: TopicFamily, hint: WordHint | Array, max_documents: int | None
) -> tuple[HintedWords, Partitions[HintedPartition]]:
    if isinstance(hint, WordHint):
        weighted = family.whitening_rows(hint.columns) * hint.values[:, None]
        matched = family.match_documents(hint, max_documents).map(_sort_by_document)
        return HintedWords(hint.columns, hint.values, weighted), matched
    W = family.whitening_rows(slice(None))
    v = np.asarray(W @ hint)
    return HintedWords(slice(None), v, W * v[:, None]), match_documents(
        family.partitions, slice(None), v, max_documents
    )


def _sort_by_document(partition: HintedPartition) -> HintedPartition:
    """Groups of documents are picked faster from counts by document."""
    return replace(partition, hint_counts=sp.csr_array(partition.hint_counts))


def _group_sums(partition: HintedPartition, rows: slice, words: HintedWords, distinct: bool) -> GroupSums:
    counts, Y = partition.read_documents(rows), partition.projected[rows].astype(np.float64, copy=False)
    pair_weights, weights = partition.pair_weights[rows], partition.document_weights(distinct)[rows]
    per_word = weights / partition.lengths[rows]
    triples, own_triples = _triple_sums(partition, rows, words, distinct)
    return GroupSums(
        weight=float(weights.sum()),
        mean=Y.T @ per_word,
        squares=(Y * pair_weights[:, None]).T @ Y,
        own_pairs=np.asarray(counts.T @ pair_weights) if distinct else np.zeros(0),
        triples=triples,
        own_triples=own_triples,
        crossed=Y.T @ (pair_weights * partition.sampled_scores[rows]),
        mass=float(per_word @ partition.hint_scores[rows]),
    )


def _triple_sums(partition: HintedPartition, group: slice, words: HintedWords, distinct: bool) -> tuple[Array, Array]:
    """Return `triples` and `own_triples` of `GroupSums`. Only documents with words of the hint contribute."""
    rows = np.arange(len(partition.lengths))[group][np.flatnonzero(np.diff(partition.hint_counts[group].indptr))]
    Y, triple_weights = partition.projected[rows].astype(np.float64, copy=False), partition.triple_weights[rows]
    by_triple = triple_weights * partition.sampled_scores[rows]
    triples = np.asarray((Y * by_triple[:, None]).T @ Y)
    if not distinct:
        return triples, np.zeros(0)
    counts = partition.hint_counts[rows]
    own = np.asarray(partition.read_documents(rows).T @ by_triple)
    own[words.columns] -= 2 * words.values * (counts.T @ triple_weights)
    cross = np.asarray(counts @ words.weighted).T @ (Y * triple_weights[:, None])
    return triples - cross - cross.T, own


def _subtract_own(sums: GroupSums, words: HintedWords, family: TopicFamily) -> DistinctSums:
    """Subtract what pairs of a word with itself add."""
    pairs, triples, crossed = sums.squares, sums.triples, sums.crossed
    if family.distinct:
        pairs = pairs - family.whiten_diagonal(sums.own_pairs)
        triples = triples - family.whiten_diagonal(sums.own_triples)
        crossed = crossed - words.weighted.T @ sums.own_pairs[words.columns]
    return DistinctSums(sums.weight, sums.mean, pairs, triples, crossed, sums.mass)


def _compute_moments(sums: DistinctSums, alpha0: float) -> tuple[Array, Array, Array]:
    """Return W'AW, W'BW and W'm by the formulas of section 3.2; W is that of all documents."""
    a0, weight = alpha0, sums.weight
    m, pairs, triples = a0 * sums.mean / weight, sums.pairs / weight, sums.triples / weight
    mass, outer = a0 * sums.mass / weight, np.outer(m, m)
    crossed = np.outer(sums.crossed / weight, m)
    hinted = a0 * (a0 + 1) * (a0 + 2) / 2 * triples
    hinted -= a0 * (a0 + 1) / 2 * (mass * pairs + crossed + crossed.T)
    return a0 * (a0 + 1) * pairs - outer, hinted + mass * outer, m


def replicate_residuals(family: TopicFamily, direction: Array) -> Array:
    """Compute A W u of all documents but one group, (d, B), for a direction u in the frame, (k,)."""
    v = np.asarray(family.whitening_rows(slice(None)) @ direction)
    a0 = family.alpha0
    replicates = []
    for weight, total, crossed in leave_one_out(family.partitions, _pair_sums, v, family.distinct):
        m = a0 * total / weight
        replicates.append(a0 * (a0 + 1) * crossed / weight - m * (m @ v))
    return np.column_stack(replicates)


def _pair_sums(partition: TopicPartition, rows: slice, v: Array, distinct: bool) -> PairSums:
    counts, pair_weights = partition.read_documents(rows), partition.pair_weights[rows]
    weights = partition.document_weights(distinct)[rows]
    crossed = np.asarray(counts.T @ (pair_weights * (counts @ v)))
    if distinct:
        crossed -= v * (counts.T @ pair_weights)
    return PairSums(float(weights.sum()), np.asarray(counts.T @ (weights / partition.lengths[rows])), crossed)
