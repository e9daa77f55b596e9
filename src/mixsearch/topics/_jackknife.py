"""Standard errors of a topic after local EM."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.jackknife import StandardErrors, jackknife
from mixsearch.data.partitions import N_GROUPS, Partition, group_indices
from mixsearch.topics._documents import ScoredPartition, pick_documents
from mixsearch.topics._evidence import document_shares
from mixsearch.topics._local_em import drop_absent_words, ratios_to_expected
from mixsearch.topics._local_topic import LocalTopic
from mixsearch.topics._moments import TopicFamily


def local_errors(family: TopicFamily, refined: LocalTopic) -> StandardErrors:
    """Return the standard errors of a topic after local EM, from groups of the documents of its neighbourhood.

    Notes
    -----
    The neighbourhood and the responsibilities are taken as known: without a group, the expected counts of the topic are
    those of the other documents. The weight is the mean share of all documents. Neither accounts for what was estimated
    from the same documents, so both errors are rather small.
    """
    counts = _expected_counts_by_group(family, refined)
    rest = counts.sum(axis=1, keepdims=True) - counts
    errors = np.zeros_like(refined.center)
    errors[refined.state.words] = jackknife((rest / np.maximum(rest.sum(axis=0), np.finfo(np.float64).tiny)).T)
    weight = float(jackknife(_replicate_weights(family, refined)))
    return StandardErrors(floor_errors(errors, float(counts.sum())), weight)


def floor_errors(errors: Array, n_words: float) -> Array:
    """Return standard errors of the probabilities of words, (d,), of at least 1/n in a topic of n words.

    A word may be missing in a topic by chance, and groups without it do not show that. A probability is known to 1/n at
    best if the word occurs once in n words, or not at all.
    """
    return np.maximum(errors, 1 / max(n_words, 1.0))


def _expected_counts_by_group(family: TopicFamily, refined: LocalTopic) -> Array:
    """Return the expected counts of the topic in each group of the neighbourhood, (q, B)."""
    state = refined.state
    counts, _ = drop_absent_words(pick_documents(family.partitions, state.documents).counts)
    ratios, _ = ratios_to_expected(counts, state.topics, state.shares)
    n_documents, n_words = counts.shape
    n_groups = min(N_GROUPS, n_documents)
    documents = np.repeat(np.arange(n_documents), np.diff(counts.indptr))
    cells = counts.indices * n_groups + group_indices(Partition(0), n_documents, n_groups)[documents]
    shares = ratios.data * state.shares[:, 0].astype(np.float64)[documents]
    sums = np.bincount(cells, shares, n_words * n_groups).reshape(n_words, n_groups)
    return np.asarray(state.topics[:, :1].astype(np.float64) * sums)


class ShareSums(NamedTuple):
    """Sums over the documents of each group."""

    weights: Array  # Σ ω, (B,)
    shares: Array  # Σ ωθ, (B,)


def _replicate_weights(family: TopicFamily, refined: LocalTopic) -> Array:
    """Return the mean share of all documents but one group, (B,)."""
    weights, shares = refined.scored.reduce(
        _share_sums, refined.base, refined.gain, family.distinct, family.partitions.n_groups
    )
    return np.asarray((shares.sum() - shares) / (weights.sum() - weights))


def _share_sums(partition: ScoredPartition, base: float, gain: float, distinct: bool, n_groups: int) -> ShareSums:
    weights, groups = partition.document_weights(distinct), group_indices(partition, len(partition.lengths), n_groups)
    shares = weights * document_shares(partition, base, gain)
    return ShareSums(np.bincount(groups, weights, n_groups), np.bincount(groups, shares, n_groups))
