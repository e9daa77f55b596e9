"""The documents that a hint names by itself, before any topic is known: where the closer look starts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import ArraySum
from mixsearch.data.reductions import Best, Maximum, top_rows
from mixsearch.errors import WeakHintWarning, warn_user
from mixsearch.topics._documents import ScoredPartition, TopicPartition, places_in
from mixsearch.topics._hint import WordHint
from mixsearch.topics._local_em import Seeds
from mixsearch.topics._moments import TopicFamily

# A hint that fewer documents hold than this says little.
FEW_DOCUMENTS = 5


# Rounding, beside the most that any document tells.
TOLD_LEAST = 1e-9


# However rare a hint is, the closer look takes this part of the documents that it takes for a frequent one.
NARROWEST = 0.25


# Of the documents that hold a hint, those most about it stand for the others where there are more.
MOST_SEEDS = 2000


def seeds_of_words(hint: WordHint, model: TopicFamily, weight: float) -> Seeds:
    """The documents that hold the words of a hint, each with more say the more of it is about them.

    Parameters
    ----------
    hint : WordHint
    model : TopicFamily
    weight : float
        Of the topic found, which tells its size where no document holds a word of the hint.
    """
    telling = model.partitions.map(_tell_of_words, hint)
    largest: Maximum = telling.reduce(_most_told).total
    least = TOLD_LEAST * largest.value
    n_named, densest = telling.reduce(_densest, least)
    if n_named < FEW_DOCUMENTS and np.any(hint.values > 0):
        warn_user(
            WeakHintWarning(
                "Only {n_named} of {n_documents:,} documents contain the words of the hint: too few to find what else "
                "belongs to their topic. Add related words.",
                code="rare_hint",
                n_named=n_named,
                n_documents=model.partitions.n_rows,
            )
        )
    if not n_named:
        return Seeds(telling, least, None, _size_of(model, weight))
    words = model.partitions.reduce(_sum_documents, densest.numbers, densest.scores).total
    return Seeds(telling, least, words / words.sum(), n_named)


class Densest(NamedTuple):
    """Documents that hold the words of a hint."""

    n_named: int
    best: Best  # by how much of them is about it


def _tell_of_words(partition: TopicPartition, hint: WordHint) -> ScoredPartition:
    told = np.asarray(partition.by_word[:, hint.columns] @ hint.values)
    for phrase in hint.phrases:
        told -= _broken(phrase, hint, partition.by_word)
    return ScoredPartition(**vars(partition), told=told)


def _most_told(partition: ScoredPartition) -> ArraySum:
    return ArraySum(Maximum(partition.told.max(initial=0.0)))


def _densest(partition: ScoredPartition, least: float) -> Densest:
    rows = np.flatnonzero(partition.told > least)
    density = partition.told[rows] / partition.lengths[rows]
    best = top_rows(density, MOST_SEEDS)
    return Densest(len(rows), Best(MOST_SEEDS, density[best], rows[best] + partition.first))


def _sum_documents(partition: TopicPartition, numbers: Array, weights: Array) -> ArraySum:
    """The counts of some documents, each times its weight, (d,)."""
    inside, rows = places_in(partition, numbers)
    return ArraySum(np.asarray(partition.by_document[rows].T @ weights[inside]))


def seeds_of_documents(counts: sp.csr_array, numbers: Array, model: TopicFamily, weight: float) -> Seeds:
    """The documents of a hint themselves.

    Parameters
    ----------
    counts : sparse array of shape (q, d)
    numbers : array of shape (s,)
        Where they stand in the corpus; empty where they are no part of it.
    model : TopicFamily
    weight : float
        Of the topic found, which tells its size.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    words = np.asarray(counts.T @ (1 / np.where(lengths > 0, lengths, np.inf)))
    size = max(_size_of(model, weight), len(numbers))
    return Seeds(model.partitions.map(_mark, numbers), 0.0, words / words.sum(), size)


def _mark(partition: TopicPartition, numbers: Array) -> ScoredPartition:
    told = np.zeros(len(partition.lengths))
    told[places_in(partition, numbers)[1]] = 1.0
    return ScoredPartition(**vars(partition), told=told)


def breadth(n_seeds: int, n_components: int, n_documents: int) -> float:
    """How far the closer look should go: the less far the rarer the hint is beside the fitted topics."""
    return float(np.clip(np.sqrt(n_seeds * n_components / n_documents), NARROWEST, 1))


def _broken(phrase: tuple[Array, ...], hint: WordHint, by_word: sp.csc_array) -> Array:
    """What the words of a phrase tell in documents that do not hold all of them, (n,)."""
    lacking = np.any([np.asarray(by_word[:, part].sum(axis=1)) == 0 for part in phrase], axis=0)
    own = np.isin(hint.columns, np.concatenate(phrase))
    return np.asarray(lacking * (by_word[:, hint.columns[own]] @ hint.values[own]))


def _size_of(model: TopicFamily, weight: float) -> int:
    """How many documents a topic of this weight has, had each only one."""
    return int(np.clip(weight, 0, 1) * model.partitions.n_rows)
