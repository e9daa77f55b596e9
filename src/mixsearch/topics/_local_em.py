"""Refinement of a topic by EM on the documents near its hint, with its neighbours as the rest of the mixture.

Moments see the corpus through k directions, so a topic that is rarer than these can resolve comes out as its broader
neighbour. Local EM costs little: start halfway between the moment estimate and the documents that the hint names, take
the documents nearest to that, and let the topic, its strongest neighbours and the whole corpus compete for their words
in a few iterations. All constants rest on benchmarks/choices.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions
from mixsearch.data.reductions import TopRows, top_rows
from mixsearch.topics._documents import WORDS_ELSEWHERE, DocumentSample, ScoredPartition, pick_documents
from mixsearch.topics._evidence import (
    base_level,
    best_with_sizes,
    count_members,
    count_within,
    find_largest_shares,
    max_members,
    score_documents,
    sum_evidence,
    word_evidence,
    word_typicality,
)
from mixsearch.topics._local_topic import N_CANDIDATES, LocalState, LocalTopic
from mixsearch.topics._mixture import mix_topics
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._near_copies import thin_copies
from mixsearch.topics._ranking import mean_of_named
from mixsearch.topics._seeds import Seeds
from mixsearch.topics._simplex import project_to_simplex

# Documents near the hint: twice as many as it names, within these bounds.
NEAR_PER_SEED = 2
MIN_NEAR, MAX_NEAR = 50, 1000
# Fewer if they are long: this many different words in all.
MAX_NEAR_WORDS = 100_000
# Other topics that compete for the words of those documents.
N_NEIGHBOURS = 8
MAX_LOCAL_ITER = 3
# Pseudo-counts of words in each document: of the topic, of each neighbour, of the whole corpus.
PRIOR_TOPIC, PRIOR_NEIGHBOUR, PRIOR_CORPUS = 1.0, 0.5, 20.0
# Minimum probability of a word in a document: a count divided by it stays finite in single precision.
MIN_EXPECTED = 1e-30


def refine_locally(
    family: TopicFamily, whole: TopicFamily, candidates: Candidates, seeds: Seeds, options: EMOptions
) -> LocalTopic:
    """Refine the first candidate on the documents near the hint.

    Parameters
    ----------
    family : TopicFamily
        With the components that the search uses.
    whole : TopicFamily
        With all components, which rank documents.
    candidates : Candidates
        All topics under the hint: the others compete with the first one.
    seeds : Seeds
        The documents that the hint names by itself.
    options : EMOptions
        At most three iterations are made, for which the constants were chosen.

    Returns
    -------
    LocalTopic
    """
    start = _initial_topic(family, candidates, seeds)
    documents = _find_neighbourhood(family, start, seeds)
    few = options._replace(max_iter=min(options.max_iter, MAX_LOCAL_ITER))
    if seeds.against is not None:
        documents = np.setdiff1d(documents, seeds.against.indices)
    near = pick_documents(family.partitions, documents)
    if seeds.merge_copies:
        kept = thin_copies(near.counts, family.idf)
        near, documents = near.take(kept), documents[kept]
    state, objectives = _run_local_em(family, near, documents, start, candidates, few)
    return _describe(whole, state, objectives, seeds, float(candidates.weights[0]) / family.alpha0)


def _initial_topic(family: TopicFamily, candidates: Candidates, seeds: Seeds) -> Array:
    """Return the mean of the moment estimate and the word frequencies of the seeds, (d,)."""
    found = project_to_simplex(family.frame.unwhiten(candidates.points[:, 0]))
    return found if seeds.named is None else (found + seeds.named.words) / 2


class NearDocuments(NamedTuple):
    """The best documents of a topic, with how many different words each has."""

    best: TopRows  # of all documents
    named: TopRows  # of those that the hint names


def _find_neighbourhood(family: TopicFamily, probabilities: Array, seeds: Seeds) -> Array:
    """Return the indices of the documents that the topic and the hint are about, (m,)."""
    n_near = int(np.clip(NEAR_PER_SEED * seeds.size, MIN_NEAR, MAX_NEAR))
    near = seeds.scored.reduce(_near_documents, word_evidence(family, probabilities), seeds.min_score, n_near)
    indices, first = np.unique(np.concatenate([each.indices for each in near]), return_index=True)
    scores, sizes = (np.concatenate(both)[first] for both in zip(*((b.scores, *b.values) for b in near), strict=True))
    ranked = np.argsort(-scores, kind="stable")
    return np.sort(indices[ranked[: count_within(sizes[ranked], MAX_NEAR_WORDS, MIN_NEAR)]])


def _near_documents(partition: ScoredPartition, evidence: Array, min_score: float, n_near: int) -> NearDocuments:
    scores = sum_evidence(partition, evidence) / (partition.lengths + WORDS_ELSEWHERE)
    named = np.flatnonzero(partition.scores > min_score)
    return NearDocuments(
        best_with_sizes(partition, scores, top_rows(scores, n_near), n_near),
        best_with_sizes(partition, scores, named[top_rows(scores[named], MAX_NEAR)], MAX_NEAR),
    )


def _run_local_em(
    family: TopicFamily,
    near: DocumentSample,
    documents: Array,
    start: Array,
    candidates: Candidates,
    options: EMOptions,
) -> tuple[LocalState, tuple[float, ...]]:
    """Return the state after a few iterations on these documents, and the objectives of those before."""
    counts, words = drop_absent_words(near.counts)
    others = _neighbour_topics(family, near, words, candidates)
    corpus = family.word_mean[words, None]
    topics = np.hstack([start[words, None] + 1e-9, others, corpus / family.word_mean.sum()]).astype(counts.dtype)
    n_others = others.shape[1]
    prior = np.array([PRIOR_TOPIC, *[PRIOR_NEIGHBOUR] * n_others, PRIOR_CORPUS], dtype=counts.dtype)
    # About a third each to the topic, to all its neighbours and to the corpus: only a start.
    shares = np.array([0.3, *[0.3 / max(n_others, 1)] * n_others, 0.4], dtype=counts.dtype)
    initial = LocalState(documents, words, topics, np.tile(shares / shares.sum(), (len(documents), 1)))

    return _iterate(counts, initial, prior, options)


def _iterate(
    counts: sp.csr_array, state: LocalState, prior: Array, options: EMOptions
) -> tuple[LocalState, tuple[float, ...]]:
    """Return the state after the iterations, and the objectives of those before: the last one decides nothing."""
    objectives: list[float] = []
    for _ in range(options.max_iter):
        ratios, objective = _e_step(counts, state, prior)
        objectives.append(objective)
        if len(objectives) > 1 and objective - objectives[-2] < options.tol:
            break
        state = _m_step(state, ratios, prior)
    return state, tuple(objectives)


def drop_absent_words(counts: sp.csr_array) -> tuple[sp.csr_array, Array]:
    """Return counts with columns only for words that occur, (m, q), and the columns that these had."""
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    columns = (np.cumsum(occurs, dtype=counts.indices.dtype) - 1)[counts.indices]
    words = np.flatnonzero(occurs)
    return sp.csr_array((counts.data, columns, counts.indptr), shape=(counts.shape[0], len(words))), words


def _neighbour_topics(family: TopicFamily, near: DocumentSample, words: Array, candidates: Candidates) -> Array:
    """Return the other topics with the largest shares of these documents, restricted to these words, (q, J)."""
    points, weights = candidates.points, candidates.weights[: candidates.points.shape[1]]
    shares = (near.projected / near.lengths[:, None]) @ (points * weights)
    mass = np.clip(shares, 0, 1).mean(axis=0)
    strongest = 1 + np.argsort(-mass[1:], kind="stable")[:N_NEIGHBOURS]
    rough = np.maximum(family.frame.rows(words).unwhiten(points[:, strongest]), 0)
    corpus = family.word_mean[words, None].astype(rough.dtype)
    # A tenth of the corpus, so that no word is impossible for a neighbour.
    return np.asarray(0.9 * rough / np.maximum(_sum_columns(rough), 1e-12) + 0.1 * corpus)


def _sum_columns(values: Array) -> Array:
    """Return the sum of each of a few long columns, (k,): `sum` would take four times as long."""
    return np.asarray(np.einsum("ij->j", values))


def ratios_to_expected(counts: sp.csr_array, topics: Array, shares: Array) -> tuple[sp.csr_array, float]:
    """Return counts over the probabilities of their words in the document, (m, q), and the log-likelihood."""
    expected = mix_topics(counts, shares, topics, MIN_EXPECTED)
    ratios = sp.csr_array((counts.data / expected, counts.indices, counts.indptr), shape=counts.shape)
    return ratios, float(np.sum(counts.data * np.log(expected), dtype=np.float64))


def _e_step(counts: sp.csr_array, state: LocalState, prior: Array) -> tuple[sp.csr_array, float]:
    """Return what the M-step needs, and the objective of the state."""
    ratios, likelihood = ratios_to_expected(counts, state.topics, state.shares)
    return ratios, likelihood + float(np.sum(np.log(state.shares) @ prior, dtype=np.float64))


def _m_step(state: LocalState, ratios: sp.csr_array, prior: Array) -> LocalState:
    """Return the next state. The last topic, the whole corpus, is fixed."""
    topics = state.topics * (ratios.T @ state.shares)
    topics /= np.maximum(_sum_columns(topics), 1e-12)
    topics[:, -1] = state.topics[:, -1]
    shares = state.shares * (ratios @ state.topics) + prior
    return state._replace(topics=topics, shares=shares / shares.sum(axis=1, keepdims=True))


def _describe(
    family: TopicFamily, state: LocalState, objectives: tuple[float, ...], seeds: Seeds, rough_weight: float
) -> LocalTopic:
    probabilities = np.zeros_like(family.word_mean)
    probabilities[state.words] = state.topics[:, 0]
    evidence = word_evidence(family, probabilities)
    scored = family.partitions.map(score_documents, evidence)
    base = base_level(scored, rough_weight)
    gain = max(float(probabilities @ evidence) - base, np.finfo(np.float64).tiny)
    if not evidence.any():  # the topic is like the corpus: every document has the share that moments find
        base, gain = -min(rough_weight, 1.0), 1.0
    n_members = max_members(seeds.size)
    best: TopRows = scored.reduce(find_largest_shares, base, gain, max(n_members, N_CANDIDATES)).total
    members = best.indices[: count_members(best, n_members)]
    named = seeds.named
    if named is None:
        named = mean_of_named(family, pick_documents(family.partitions, members), members, np.ones(len(members)))
    return LocalTopic(
        center=probabilities,
        weight=float(np.clip((family.word_mean @ evidence - base) / gain, 0, 1)),
        objectives=objectives,
        evidence=evidence,
        base=base,
        gain=gain,
        scored=scored,
        typicality=word_typicality(family, probabilities, members),
        largest=best.indices,
        named=named,
        family=family,
        state=state,
        against=seeds.against,
        has_hint_documents=seeds.named is not None,
    )
