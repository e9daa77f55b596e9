"""The documents that a hint names by itself, before any topic is known: where the closer look starts."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mixsearch.errors import WeakHintWarning, warn_user
from mixsearch.models import TopicModel
from mixsearch.models.tallies import best_rows
from mixsearch.refine import Seeds
from mixsearch.types import Array, WordHint

# A hint that fewer documents hold than this says little.
FEW_DOCUMENTS = 5
# Rounding, beside the most that any document tells.
TOLD_LEAST = 1e-9
# However rare a hint is, the closer look takes this part of the documents that it takes for a frequent one.
NARROWEST = 0.25
# Of the documents that hold a hint, those most about it stand for the others where there are more.
MOST_SEEDS = 2000


def seeds_of_words(hint: WordHint, model: TopicModel, weight: float) -> Seeds:
    """The documents that hold the words of a hint, each with more say the more of it is about them.

    Parameters
    ----------
    hint : WordHint
    model : TopicModel
    weight : float
        Of the topic found, which tells its size where no document holds a word of the hint.
    """
    told = np.asarray(model.by_word[:, hint.columns] @ hint.values)
    for phrase in hint.phrases:
        told -= _broken(phrase, hint, model)
    rows = np.flatnonzero(told > TOLD_LEAST * told.max(initial=0.0))
    if len(rows) < FEW_DOCUMENTS and np.any(hint.values > 0):
        warn_user(
            f"Only {len(rows)} of {len(told):,} documents hold the words of the hint: too few to tell what else "
            "belongs to their topic. Add words that go with them.",
            WeakHintWarning,
        )
    if not len(rows):
        return Seeds(rows, None, _size_of(model, weight))
    densest = rows[best_rows(told[rows] / model.lengths[rows], MOST_SEEDS)]
    weights = told[densest] / model.lengths[densest]
    words = np.asarray(model.by_document[densest].T @ weights)
    return Seeds(rows, words / words.sum(), len(rows))


def seeds_of_documents(counts: sp.csr_array, rows: Array, model: TopicModel, weight: float) -> Seeds:
    """The documents of a hint themselves.

    Parameters
    ----------
    counts : sparse array of shape (q, d)
    rows : array of shape (s,)
        Where they stand in the corpus; empty where they are no part of it.
    model : TopicModel
    weight : float
        Of the topic found, which tells its size.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    words = np.asarray(counts.T @ (1 / np.where(lengths > 0, lengths, np.inf)))
    return Seeds(rows, words / words.sum(), max(_size_of(model, weight), len(rows)))


def breadth(n_seeds: int, n_components: int, n_documents: int) -> float:
    """How far the closer look should go: the less far the rarer the hint is beside the fitted topics."""
    return float(np.clip(np.sqrt(n_seeds * n_components / n_documents), NARROWEST, 1))


def _broken(phrase: tuple[Array, ...], hint: WordHint, model: TopicModel) -> Array:
    """What the words of a phrase tell in documents that do not hold all of them, (n,)."""
    lacking = np.any([np.asarray(model.by_word[:, part].sum(axis=1)) == 0 for part in phrase], axis=0)
    own = np.isin(hint.columns, np.concatenate(phrase))
    return np.asarray(lacking * (model.by_word[:, hint.columns[own]] @ hint.values[own]))


def _size_of(model: TopicModel, weight: float) -> int:
    """How many documents a topic of this weight has, had each only one."""
    return int(np.clip(weight, 0, 1) * len(model.lengths))
