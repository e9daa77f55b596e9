"""How far a topic after the closer look would move without some of its documents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.jackknife import StandardErrors, jackknife
from mixsearch.data.partitions import N_GROUPS, Partition, group_indices
from mixsearch.topics._documents import ScoredPartition, few_documents
from mixsearch.topics._local_em import SharpTopic, held_words, ratios_to_expected, shares_in
from mixsearch.topics._moments import TopicFamily


def sharp_errors(model: TopicFamily, sharp: SharpTopic) -> StandardErrors:
    """Standard errors of a topic after the closer look, from blocks of the documents that it looked at.

    Notes
    -----
    Which documents are near the hint, and which of their words are the topic's, is taken as known: without a block the
    words expected of the topic are those of the other documents. The weight is the mean share of all documents. Both
    leave out what was learned from the same documents and are on the small side.
    """
    said = _said_by_block(model, sharp)
    rest = said.sum(axis=1, keepdims=True) - said
    errors = np.zeros_like(sharp.center)
    errors[sharp.look.words] = jackknife((rest / np.maximum(rest.sum(axis=0), np.finfo(np.float64).tiny)).T)
    return StandardErrors(one_word_at_least(errors, float(said.sum())), float(jackknife(_weights(model, sharp))))


def one_word_at_least(errors: Array, n_words: float) -> Array:
    """Standard errors of the probabilities of words, (d,), in a topic of which so many words were seen.

    A word that is missing there may be so by chance: blocks without it cannot tell, but what is seen once in n words or
    not at all has a probability that is known to 1/n at best.
    """
    return np.maximum(errors, 1 / max(n_words, 1.0))


def _said_by_block(model: TopicFamily, sharp: SharpTopic) -> Array:
    """Words expected of the topic in each block of the documents looked at, (q, B)."""
    look = sharp.look
    counts, _ = held_words(few_documents(model.partitions, look.numbers).counts)
    ratios, _ = ratios_to_expected(counts, look.topics, look.mixed)
    n_looked, n_words = counts.shape
    n_groups = min(N_GROUPS, n_looked)
    documents = np.repeat(np.arange(n_looked), np.diff(counts.indptr))
    cells = counts.indices * n_groups + group_indices(Partition(0), n_looked, n_groups)[documents]
    shares = ratios.data * look.mixed[:, 0].astype(np.float64)[documents]
    said = np.bincount(cells, shares, n_words * n_groups).reshape(n_words, n_groups)
    return np.asarray(look.topics[:, :1].astype(np.float64) * said)


class ShareSums(NamedTuple):
    """Sums over the documents of each block."""

    says: Array  # Σ ω, (B,)
    told: Array  # Σ ωθ, (B,)


def _weights(model: TopicFamily, sharp: SharpTopic) -> Array:
    """The mean share of all documents but one block, (B,)."""
    says, told = sharp.told.reduce(_share_sums, sharp.base, sharp.gain, model.distinct, model.partitions.n_groups)
    return np.asarray((told.sum() - told) / (says.sum() - says))


def _share_sums(partition: ScoredPartition, base: float, gain: float, distinct: bool, n_groups: int) -> ShareSums:
    says, blocks = partition.says(distinct), group_indices(partition, len(partition.lengths), n_groups)
    shares = says * shares_in(partition, base, gain)
    return ShareSums(np.bincount(blocks, says, n_groups), np.bincount(blocks, shares, n_groups))
