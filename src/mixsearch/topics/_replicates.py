"""The moments of a corpus without one block of its documents, in the frame of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.moments import Replicates
from mixsearch.data.partitions import Partitions, leave_one_out, sums_by_group
from mixsearch.topics._documents import HintedPartition, TopicPartition, hear
from mixsearch.topics._hint import WordHint

if TYPE_CHECKING:
    from mixsearch.topics._moments import TopicFamily


class TopicSums(NamedTuple):
    """Weighted sums over the documents of a block, with hint v; W is that of the frame, v that of the hint."""

    weight: float  # Σ ω
    mean: Array  # W'Σ ωx1, (k,)
    squares: Array  # Σ pair weight x yy', (k, k)
    own_pairs: Array  # Σ pair weight x c, (d,)
    triples: Array  # Σ triple weight ⟨c, v⟩yy', less the pairs of words of the hint with themselves, (k, k)
    own_triples: Array  # Σ triple weight (⟨c, v⟩ - 2v) c, (d,)
    crossed: Array  # Σ pair weight ⟨c, v⟩y, (k,)
    mass: float  # Σ ω⟨x1, v⟩


class DistinctSums(NamedTuple):
    """Weighted sums over the documents, with hint v; x1, x2 and x3 are different words of a document."""

    weight: float  # Σ ω
    mean: Array  # W'Σ ωx1, (k,)
    pairs: Array  # W'(Σ ωx1x2')W, (k, k)
    triples: Array  # W'(Σ ω⟨x3, v⟩x1x2')W, (k, k)
    crossed: Array  # W'Σ ω⟨x2, v⟩x1, (k,)
    mass: float  # Σ ω⟨x1, v⟩


class PairSums(NamedTuple):
    """Weighted sums over the documents of a block, with hint v."""

    weight: float  # Σ ω
    mean: Array  # Σ ωx1, (d,)
    crossed: Array  # Σ ω⟨x2, v⟩x1, (d,)


class HintedWords(NamedTuple):
    """A hint v as the words that it gives weight to."""

    columns: Array | slice
    values: Array  # v of these words, (q,)
    weighted: Array  # rows of W, each times its v, (q, k)


def replicate_topics(model: TopicFamily, hint: WordHint | Array, max_documents: int | None = None) -> Replicates:
    """The moments of all documents but one block, for each block in turn.

    Parameters
    ----------
    model : TopicFamily
    hint : WordHint, or array of shape (k,)
        Words, or a hint c in the frame, which is that of the words v = Wc.
    max_documents : int, optional
        Where more of them hold the words of the hint, so many stand for all, as in `TopicFamily.hinted`.
    """
    words, heard = _heard(model, hint, max_documents)
    sums: tuple[Any, ...] = sums_by_group(heard, _sums, words, model.distinct)
    # Before blocks are left out: one of them holds few of the words, the others together nearly all.
    blocks = [_without_own(TopicSums(*block), words, model) for block in zip(*sums, strict=True)]
    by_block = [np.array(field) for field in zip(*blocks, strict=True)]
    kept = zip(*(field.sum(axis=0) - field for field in by_block), strict=True)
    moments = [_moments_of(DistinctSums(*each), model.alpha0) for each in kept]
    return Replicates(*map(np.array, zip(*moments, strict=True)))


def _heard(
    model: TopicFamily, hint: WordHint | Array, max_documents: int | None
) -> tuple[HintedWords, Partitions[HintedPartition]]:
    if isinstance(hint, WordHint):
        words = HintedWords(hint.columns, hint.values, model.whitener(hint.columns) * hint.values[:, None])
        return words, model.hear(hint, max_documents).map(_by_document)
    W = model.whitener(slice(None))
    v = np.asarray(W @ hint)
    return HintedWords(slice(None), v, W * v[:, None]), hear(model.partitions, slice(None), v, max_documents)


def _by_document(partition: HintedPartition) -> HintedPartition:
    """Blocks of documents are picked faster from counts by document."""
    return replace(partition, held=sp.csr_array(partition.held))


def _sums(partition: HintedPartition, rows: slice, words: HintedWords, distinct: bool) -> TopicSums:
    counts, Y = partition.by_document[rows], partition.projected[rows].astype(np.float64, copy=False)
    pair_weights, says = partition.pair_weights[rows], partition.says(distinct)[rows]
    per_word = says / partition.lengths[rows]
    triples, own_triples = _triples(partition, rows, words, distinct)
    return TopicSums(
        weight=float(says.sum()),
        mean=Y.T @ per_word,
        squares=(Y * pair_weights[:, None]).T @ Y,
        own_pairs=np.asarray(counts.T @ pair_weights) if distinct else np.zeros(0),
        triples=triples,
        own_triples=own_triples,
        crossed=Y.T @ (pair_weights * partition.heard[rows]),
        mass=float(per_word @ partition.told[rows]),
    )


def _triples(partition: HintedPartition, block: slice, words: HintedWords, distinct: bool) -> tuple[Array, Array]:
    """Over the documents of a block that hold words of the hint; others tell nothing of it."""
    rows = np.arange(len(partition.heard))[block][np.flatnonzero(np.diff(partition.held[block].indptr))]
    Y, triple_weights = partition.projected[rows].astype(np.float64, copy=False), partition.triple_weights[rows]
    by_triple = triple_weights * partition.heard[rows]
    triples = np.asarray((Y * by_triple[:, None]).T @ Y)
    if not distinct:
        return triples, np.zeros(0)
    held = partition.held[rows]
    own = np.asarray(partition.by_document[rows].T @ by_triple)
    own[words.columns] -= 2 * words.values * (held.T @ triple_weights)
    beside = np.asarray(held @ words.weighted).T @ (Y * triple_weights[:, None])
    return triples - beside - beside.T, own


def _without_own(sums: TopicSums, words: HintedWords, model: TopicFamily) -> DistinctSums:
    """Without what words make of pairs with themselves."""
    pairs, triples, crossed = sums.squares, sums.triples, sums.crossed
    if model.distinct:
        pairs = pairs - model.diagonal(sums.own_pairs)
        triples = triples - model.diagonal(sums.own_triples)
        crossed = crossed - words.weighted.T @ sums.own_pairs[words.columns]
    return DistinctSums(sums.weight, sums.mean, pairs, triples, crossed, sums.mass)


def _moments_of(sums: DistinctSums, alpha0: float) -> tuple[Array, Array, Array]:
    """W'AW, W'BW and W'm: the formulas of section 3.2, where nothing is whitened by these documents themselves."""
    a0, weight = alpha0, sums.weight
    m, pairs, triples = a0 * sums.mean / weight, sums.pairs / weight, sums.triples / weight
    mass, outer = a0 * sums.mass / weight, np.outer(m, m)
    crossed = np.outer(sums.crossed / weight, m)
    hinted = a0 * (a0 + 1) * (a0 + 2) / 2 * triples
    hinted -= a0 * (a0 + 1) / 2 * (mass * pairs + crossed + crossed.T)
    return a0 * (a0 + 1) * pairs - outer, hinted + mass * outer, m


def replicate_outside(model: TopicFamily, direction: Array) -> Array:
    """A W u of all documents but one block, (d, B), where u is a direction in the frame, (k,)."""
    v = np.asarray(model.whitener(slice(None)) @ direction)
    a0 = model.alpha0
    replicates = []
    for weight, total, crossed in leave_one_out(model.partitions, _pair_sums, v, model.distinct):
        m = a0 * total / weight
        replicates.append(a0 * (a0 + 1) * crossed / weight - m * (m @ v))
    return np.column_stack(replicates)


def _pair_sums(partition: TopicPartition, rows: slice, v: Array, distinct: bool) -> PairSums:
    counts, pair_weights, says = (
        partition.by_document[rows],
        partition.pair_weights[rows],
        partition.says(distinct)[rows],
    )
    crossed = np.asarray(counts.T @ (pair_weights * (counts @ v)))
    if distinct:
        crossed -= v * (counts.T @ pair_weights)
    return PairSums(float(says.sum()), np.asarray(counts.T @ (says / partition.lengths[rows])), crossed)
