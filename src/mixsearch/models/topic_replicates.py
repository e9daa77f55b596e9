"""The moments of a corpus without one block of its documents, in the frame of all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch.blocks import leave_one_out
from mixsearch.models.topics import TopicModel
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


def replicate_topics(model: TopicModel, hint: WordHint | Array) -> Replicates:
    """The moments of all documents but one block, for each block in turn.

    Parameters
    ----------
    model : TopicModel
    hint : WordHint, or array of shape (k,)
        Words, or a hint c in the frame, which is that of the words v = Wc.
    """
    W, v = model.whitener(slice(None)), _over_words(model, hint)
    weighted = W * v[:, None]

    def summarize(rows: slice) -> TopicSums:
        counts, Y = model.by_document[rows], model.projected[rows].astype(np.float64, copy=False)
        told = np.asarray(counts @ v)
        pair_weights, triple_weights = model.pair_weights[rows], model.triple_weights[rows]
        says = model.says[rows]
        per_word = says / model.lengths[rows]
        pairs = (Y * pair_weights[:, None]).T @ Y
        triples = (Y * (triple_weights * told)[:, None]).T @ Y
        crossed = Y.T @ (pair_weights * told)
        if model.distinct:
            own_pairs = np.asarray(counts.T @ pair_weights)
            own_hinted = np.asarray(counts.T @ (triple_weights * told)) - 2 * v * (counts.T @ triple_weights)
            beside = np.asarray(counts @ weighted).T @ (Y * triple_weights[:, None])
            pairs -= model.diagonal(own_pairs)
            triples -= beside + beside.T + model.diagonal(own_hinted)
            crossed -= weighted.T @ own_pairs
        return TopicSums(float(says.sum()), Y.T @ per_word, pairs, triples, crossed, float(per_word @ told))

    moments = [_moments_of(sums, model.alpha0) for sums in leave_one_out(summarize, len(model.lengths))]
    return Replicates(*map(np.array, zip(*moments, strict=True)))


def _over_words(model: TopicModel, hint: WordHint | Array) -> Array:
    """The hint as a weight for every word, (d,)."""
    if not isinstance(hint, WordHint):
        return np.asarray(model.whitener(slice(None)) @ hint)
    v = np.zeros(len(model.word_mean))
    v[hint.columns] = hint.values
    return v


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
    v = _over_words(model, direction)

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
