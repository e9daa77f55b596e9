"""The moments of a corpus without one block of its documents, in the frame of all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch.blocks import leave_one_out
from mixsearch.models.topics import TopicModel, thin_out
from mixsearch.types import Array, Replicates, WordHint


class TopicSums(NamedTuple):
    """Weighted sums over the documents of a block, with hint v; x1, x2 and x3 are different words of a document."""

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
    """A hint v as the words that it gives weight to, and what documents hold of them."""

    columns: Array | slice
    values: Array  # v of these words, (q,)
    counts: sp.csr_array  # of these words, (n, q)


def replicate_topics(model: TopicModel, hint: WordHint | Array, most_documents: int | None = None) -> Replicates:
    """The moments of all documents but one block, for each block in turn.

    Parameters
    ----------
    model : TopicModel
    hint : WordHint, or array of shape (k,)
        Words, or a hint c in the frame, which is that of the words v = Wc.
    most_documents : int, optional
        Where more of them hold the words of the hint, so many stand for all, as in `TopicModel.hinted`.
    """
    words = _hinted_words(model, hint)
    weighted = model.whitener(words.columns) * words.values[:, None]
    told = np.asarray(words.counts @ words.values)
    heard = thin_out(told, most_documents)

    def summarize(rows: slice) -> TopicSums:
        counts, Y = model.by_document[rows], model.projected[rows].astype(np.float64, copy=False)
        says, pair_weights = model.says[rows], model.pair_weights[rows]
        per_word = says / model.lengths[rows]
        pairs = (Y * pair_weights[:, None]).T @ Y
        crossed = Y.T @ (pair_weights * heard[rows])
        if model.distinct:
            own_pairs = np.asarray(counts.T @ pair_weights)
            pairs -= model.diagonal(own_pairs)
            crossed -= weighted.T @ own_pairs[words.columns]
        holding = np.flatnonzero(np.diff(words.counts[rows].indptr))  # other documents tell nothing of the hint
        triples = _triples(model, words, weighted, heard, np.arange(len(heard))[rows][holding])
        return TopicSums(float(says.sum()), Y.T @ per_word, pairs, triples, crossed, float(per_word @ told[rows]))

    moments = [_moments_of(sums, model.alpha0) for sums in leave_one_out(summarize, len(model.lengths))]
    return Replicates(*map(np.array, zip(*moments, strict=True)))


def _hinted_words(model: TopicModel, hint: WordHint | Array) -> HintedWords:
    if isinstance(hint, WordHint):
        return HintedWords(hint.columns, hint.values, sp.csr_array(model.by_word[:, hint.columns]))
    return HintedWords(slice(None), np.asarray(model.whitener(slice(None)) @ hint), model.by_document)


def _triples(model: TopicModel, words: HintedWords, weighted: Array, heard: Array, rows: Array) -> Array:
    """W'(Σ ω⟨x3, v⟩x1x2')W over some documents, (k, k)."""
    Y, triple_weights = model.projected[rows].astype(np.float64, copy=False), model.triple_weights[rows]
    by_triple = triple_weights * heard[rows]
    triples = np.asarray((Y * by_triple[:, None]).T @ Y)
    if not model.distinct or not len(rows):
        return triples
    held = words.counts[rows]
    own = np.asarray(model.by_document[rows].T @ by_triple)
    own[words.columns] -= 2 * words.values * (held.T @ triple_weights)
    beside = np.asarray(held @ weighted).T @ (Y * triple_weights[:, None])
    return triples - beside - beside.T - model.diagonal(own)


def _moments_of(sums: TopicSums, alpha0: float) -> tuple[Array, Array, Array]:
    """W'AW, W'BW and W'm: the formulas of section 3.2, where nothing is whitened by these documents themselves."""
    a0, weight = alpha0, sums.weight
    m, pairs, triples = a0 * sums.mean / weight, sums.pairs / weight, sums.triples / weight
    mass, outer = a0 * sums.mass / weight, np.outer(m, m)
    crossed = np.outer(sums.crossed / weight, m)
    hinted = a0 * (a0 + 1) * (a0 + 2) / 2 * triples
    hinted -= a0 * (a0 + 1) / 2 * (mass * pairs + crossed + crossed.T)
    return a0 * (a0 + 1) * pairs - outer, hinted + mass * outer, m


def replicate_outside(model: TopicModel, direction: Array) -> Array:
    """A W u of all documents but one block, (d, B), where u is a direction in the frame, (k,)."""
    v = np.asarray(model.whitener(slice(None)) @ direction)

    def summarize(rows: slice) -> PairSums:
        counts = model.by_document[rows]
        pair_weights, says = model.pair_weights[rows], model.says[rows]
        crossed = np.asarray(counts.T @ (pair_weights * (counts @ v)))
        if model.distinct:
            crossed -= v * (counts.T @ pair_weights)
        return PairSums(float(says.sum()), np.asarray(counts.T @ (says / model.lengths[rows])), crossed)

    a0 = model.alpha0
    replicates = []
    for weight, total, crossed in leave_one_out(summarize, len(model.lengths)):
        m = a0 * total / weight
        replicates.append(a0 * (a0 + 1) * crossed / weight - m * (m @ v))
    return np.column_stack(replicates)
