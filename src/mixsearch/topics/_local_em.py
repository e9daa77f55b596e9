"""A topic sharpened by likelihood steps on the documents near its hint, with its neighbours as the rest of the mixture.

Moments see the corpus through k directions, so that a topic which is rarer than those are fine comes out as its broader
neighbour. A closer look costs little: start halfway between the topic found and the documents that the hint names, take
the documents nearest to that, and let the topic, its strongest neighbours and the language of the corpus compete for
their words in a few steps of expectation maximisation. All constants stand on benchmarks/choices.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions, run_em
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions
from mixsearch.data.reductions import Best, top_rows
from mixsearch.data.threads import n_cores
from mixsearch.topics._documents import (
    WORDS_ELSEWHERE,
    DocumentSample,
    ScoredPartition,
    TopicPartition,
    few_documents,
    places_in,
    rank_documents,
)
from mixsearch.topics._mixture import mix
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._simplex import project_to_simplex

# Documents near the hint: twice as many as it names, within these bounds.
NEAR_PER_SEED = 2


NEAR_LEAST, NEAR_MOST = 50, 1000


# Of long documents fewer do: with this many different words in all.
NEAR_WORDS = 100_000


# Other topics that compete for the words of those documents.
N_NEIGHBOURS = 12


N_STEPS = 3


# What each document is taken to have said before, in words: of the topic, of each neighbour, of the whole corpus.
PRIOR_TOPIC, PRIOR_NEIGHBOUR, PRIOR_CORPUS = 1.0, 0.5, 20.0


# Of a word in a document, however unlikely: a count over it stays finite in single precision.
LEAST_EXPECTED = 1e-30


# The part of a document that the topic has, where a word is asked whether it is of the topic.
USUAL_SHARE = 0.03


# A word speaks for the topic where it is at least so many times likelier there than in the corpus.
LEAST_LIFT = 1.5


# Where the lists of those words are longer than this in all, only the likeliest of them speak.
MOST_POSTINGS = 1_000_000


# Shorter lists are read before another thread has started.
FEW_POSTINGS = 300_000


# Lists that one thread reads at a time.
WORDS_AT_ONCE = 4096


# Documents that the middle one is looked for among.
MOST_LEVELS = 20_000


# Typical words are those of documents of at least this share, six times as many as the hint names at most.
MEMBER_SHARE = 0.06


TYPICAL_LIFT = 2.0


MEMBERS_PER_SEED, MEMBERS_LEAST, MEMBERS_MOST = 6, 5, 5000


MEMBERS_WORDS = 500_000


class Seeds(NamedTuple):
    """What a hint says by itself, before any topic is known."""

    telling: Partitions[ScoredPartition]  # documents of the corpus with what they tell of it
    least: float  # it names those that tell more
    words: Array | None  # the word frequencies of its documents, (d,); None where it names none
    size: int  # how many documents are about it at least, as far as it tells


class Look(NamedTuple):
    """The documents that were looked at, and what competes for their words, the topic first."""

    numbers: Array  # in the corpus, (m,)
    words: Array  # that they hold, (q,)
    topics: Array  # probabilities of these words, (q, J)
    mixed: Array  # shares in each document, (m, J)


@dataclass(frozen=True, slots=True)
class SharpTopic(Refined):
    """A topic with what it says of words and documents.

    Notes
    -----
    With z(w) the chance that word w of a document with a usual share of the topic belongs to it, the mean of z over a
    document's words is linear in the topic's share θ, b without the topic and a where all of it is: θ = (mean-b)/(a-b).
    """

    evidence: Array  # z, (d,); 0 for words that are hardly likelier in the topic than in the corpus
    base: float  # b: that of the middle document of those without the topic
    gain: float  # a - b
    told: Partitions[ScoredPartition]  # Σ z over the words of every document of the corpus
    typicality: Array  # (d,): what holding the word tells of whether a document is about the topic
    look: Look

    def best_documents(self, n: int) -> Best:
        """The documents of the corpus that are most about the topic, with their rows and shares."""
        best: Best = self.told.reduce(_best_documents, self.base, self.gain, n).total
        return best

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """The topic's share in any documents, (n,)."""
        return np.where(lengths > 0, _share_of(counts @ self.evidence, lengths, self.base, self.gain), 0.0)


def sharpen_topic(model: TopicFamily, candidates: Candidates, seeds: Seeds, steps: EMOptions) -> SharpTopic:
    """Sharpen the first of the candidates.

    Parameters
    ----------
    model : TopicFamily
        The fitted corpus.
    candidates : Candidates
        All topics as the hint shows them: the others compete with the chosen one.
    seeds : Seeds
        What the hint says by itself.
    steps : Steps
        How many to take, up to those that the constants stand on.
    """
    start = _start(model, candidates, seeds)
    near = _nearest(model, start, seeds)
    look, objectives = _climb(model, near, start, candidates, steps._replace(max_iter=min(steps.max_iter, N_STEPS)))
    return _describe(model, look, objectives, seeds, float(candidates.weights[0]) / model.alpha0)


def _start(model: TopicFamily, candidates: Candidates, seeds: Seeds) -> Array:
    """Halfway between the topic that moments find and the documents of the hint, (d,)."""
    found = project_to_simplex(model.frame.unwhiten(candidates.points[:, 0]))
    return found if seeds.words is None else (found + seeds.words) / 2


def evidence_of(model: TopicFamily, probabilities: Array) -> Array:
    """The chance that a word is of the topic rather than of the corpus, (d,), for words that speak for it."""
    told, other = USUAL_SHARE * probabilities, (1 - USUAL_SHARE) * model.word_mean
    speaking = np.flatnonzero(probabilities > LEAST_LIFT * model.word_mean)
    chance = told[speaking] / (told[speaking] + other[speaking])
    by_chance = np.argsort(-chance, kind="stable")
    postings = np.cumsum(model.holding[speaking[by_chance]])
    kept = by_chance[: max(int(np.searchsorted(postings, MOST_POSTINGS)), 1)]
    evidence = np.zeros_like(model.word_mean)
    evidence[speaking[kept]] = chance[kept]
    return evidence


def _tell(partition: TopicPartition, evidence: Array) -> ScoredPartition:
    return ScoredPartition(**vars(partition), told=told_by(partition, evidence))


def told_by(partition: TopicPartition, evidence: Array) -> Array:
    """Σ z over the words of each document, (n,): only the lists of the words that speak for the topic are read."""
    words = np.flatnonzero(evidence)
    if not len(words):
        return np.zeros(len(partition.lengths))
    weights = evidence[words].astype(partition.by_word.dtype)
    n_postings = int(np.diff(partition.by_word.indptr)[words].sum())

    def add_up(part: slice) -> ArraySum:
        return ArraySum(np.asarray(partition.by_word[:, words[part]] @ weights[part], dtype=np.float64))

    n_threads = n_cores() if n_postings > FEW_POSTINGS else 1
    return np.asarray(sum_chunks(add_up, row_slices(len(words), WORDS_AT_ONCE), n_threads).total)


def _share_of(told: Array, lengths: Array, base: float, gain: float) -> Array:
    return np.asarray((told / np.where(lengths > 0, lengths, np.inf) - base) / gain)


def shares_in(partition: ScoredPartition, base: float, gain: float) -> Array:
    """θ of the documents of a shard, (n,)."""
    return _share_of(partition.told, partition.lengths, base, gain)


def _best_documents(partition: ScoredPartition, base: float, gain: float, n: int) -> ArraySum:
    return rank_documents(partition, shares_in(partition, base, gain), n)


class Near(NamedTuple):
    """Documents that a topic is about, with how many different words each has."""

    best: Best  # of all documents
    named: Best  # of those that the hint names


def _nearest(model: TopicFamily, probabilities: Array, seeds: Seeds) -> Array:
    """Numbers of the documents that the topic and the hint are about, (m,)."""
    n_near = int(np.clip(NEAR_PER_SEED * seeds.size, NEAR_LEAST, NEAR_MOST))
    near = seeds.telling.reduce(_near, evidence_of(model, probabilities), seeds.least, n_near)
    numbers, places = np.unique(np.concatenate([each.numbers for each in near]), return_index=True)
    scores, sizes = (np.concatenate(both)[places] for both in zip(*((b.scores, *b.about) for b in near), strict=True))
    ranked = np.argsort(-scores, kind="stable")
    return np.sort(numbers[ranked[: _n_within(sizes[ranked], NEAR_WORDS, NEAR_LEAST)]])


def _near(partition: ScoredPartition, evidence: Array, least: float, n_near: int) -> Near:
    scores = told_by(partition, evidence) / (partition.lengths + WORDS_ELSEWHERE)
    named = np.flatnonzero(partition.told > least)
    return Near(
        _best_with_sizes(partition, scores, top_rows(scores, n_near), n_near),
        _best_with_sizes(partition, scores, named[top_rows(scores[named], NEAR_MOST)], NEAR_MOST),
    )


def _best_with_sizes(partition: TopicPartition, scores: Array, rows: Array, most: int) -> Best:
    starts = partition.by_document.indptr
    return Best(most, scores[rows], rows + partition.first, (starts[rows + 1] - starts[rows],))


def _n_within(sizes: Array, most_words: int, least: int) -> int:
    """How many documents, the first of some, have so many different words in all."""
    return max(int(np.searchsorted(np.cumsum(sizes), most_words)), least)


def _climb(
    model: TopicFamily, numbers: Array, start: Array, candidates: Candidates, steps: EMOptions
) -> tuple[Look, tuple[float, ...]]:
    """What a few steps make of the topic in these documents, and the log-likelihoods on the way."""
    near = few_documents(model.partitions, numbers)
    counts, words = held_words(near.counts)
    others = _neighbours(model, near, words, candidates)
    language = model.word_mean[words, None]
    topics = np.hstack([start[words, None] + 1e-9, others, language / model.word_mean.sum()]).astype(counts.dtype)
    n_others = others.shape[1]
    prior = np.array([PRIOR_TOPIC, *[PRIOR_NEIGHBOUR] * n_others, PRIOR_CORPUS], dtype=counts.dtype)
    # A third to the topic, a third to all its neighbours, the rest to the language: only where to start from.
    first = np.array([0.3, *[0.3 / max(n_others, 1)] * n_others, 0.4], dtype=counts.dtype)
    first_look = Look(numbers, words, topics, np.tile(first / first.sum(), (len(numbers), 1)))

    def step(here: Callable[[], Look]) -> tuple[Callable[[], Look], float]:
        look = here()
        ratios, objective = _expect(counts, look, prior)
        # Taken where it is asked for: the one beyond the last look never is.
        return cache(lambda: _maximise(look, ratios, prior)), objective

    climbed = run_em(lambda: first_look, step, steps)
    return climbed.state(), climbed.objectives


def held_words(counts: sp.csr_array) -> tuple[sp.csr_array, Array]:
    """Counts of some documents, with columns only for words that occur there, (m, q), and which words these are."""
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    columns = (np.cumsum(occurs, dtype=counts.indices.dtype) - 1)[counts.indices]
    words = np.flatnonzero(occurs)
    return sp.csr_array((counts.data, columns, counts.indptr), shape=(counts.shape[0], len(words))), words


def _neighbours(model: TopicFamily, near: DocumentSample, words: Array, candidates: Candidates) -> Array:
    """The other topics that have most of these documents, as far as these words go, (q, J)."""
    points, weights = candidates.points, candidates.weights[: candidates.points.shape[1]]
    shares = (near.projected / near.lengths[:, None]) @ (points * weights)
    mass = np.clip(shares, 0, 1).mean(axis=0)
    strongest = 1 + np.argsort(-mass[1:], kind="stable")[:N_NEIGHBOURS]
    rough = np.maximum(model.frame.rows(words).unwhiten(points[:, strongest]), 0)
    language = model.word_mean[words, None]
    # A tenth of the language, so that no word is impossible for a neighbour.
    return np.asarray(0.9 * rough / np.maximum(rough.sum(axis=0), 1e-12) + 0.1 * language)


def ratios_to_expected(counts: sp.csr_array, topics: Array, mixed: Array) -> tuple[sp.csr_array, float]:
    """Counts over what is expected of them in a word of the document, (m, q), and the log-likelihood."""
    expected = mix(counts, mixed, topics, LEAST_EXPECTED)
    ratios = sp.csr_array((counts.data / expected, counts.indices, counts.indptr), shape=counts.shape)
    return ratios, float(np.sum(counts.data * np.log(expected), dtype=np.float64))


def _expect(counts: sp.csr_array, look: Look, prior: Array) -> tuple[sp.csr_array, float]:
    """What a step of expectation maximisation starts from, and the objective there."""
    ratios, likelihood = ratios_to_expected(counts, look.topics, look.mixed)
    return ratios, likelihood + float(np.sum(np.log(look.mixed) @ prior, dtype=np.float64))


def _maximise(look: Look, ratios: sp.csr_array, prior: Array) -> Look:
    """Where the step leads; the last topic, the language, stays."""
    said = look.topics * (ratios.T @ look.mixed)
    said /= np.maximum(said.sum(axis=0), 1e-12)
    said[:, -1] = look.topics[:, -1]
    mixed = look.mixed * (ratios @ look.topics) + prior
    return look._replace(topics=said, mixed=mixed / mixed.sum(axis=1, keepdims=True))


def _describe(
    model: TopicFamily, look: Look, objectives: tuple[float, ...], seeds: Seeds, rough_weight: float
) -> SharpTopic:
    probabilities = np.zeros_like(model.word_mean)
    probabilities[look.words] = look.topics[:, 0]
    evidence = evidence_of(model, probabilities)
    told = model.partitions.map(_tell, evidence)
    base = _base(told, rough_weight)
    gain = max(float(probabilities @ evidence) - base, np.finfo(np.float64).tiny)
    if not evidence.any():  # no word tells the topic from the corpus: every document has the share that moments find
        base, gain = -min(rough_weight, 1.0), 1.0
    return SharpTopic(
        center=probabilities,
        weight=float(np.clip((model.word_mean @ evidence - base) / gain, 0, 1)),
        objectives=objectives,
        evidence=evidence,
        base=base,
        gain=gain,
        told=told,
        typicality=_typicality(model, probabilities, _members(told, base, gain, seeds.size)),
        look=look,
    )


@dataclass(frozen=True)
class LevelPartition(Partition):
    """Documents with the mean of z over their words."""

    levels: Array  # (n,)
    lengths: Array  # (n,)


def _levels(partition: ScoredPartition) -> LevelPartition:
    return LevelPartition(partition.first, partition.told / partition.lengths, partition.lengths)


def _base(told: Partitions[ScoredPartition], rough_weight: float) -> float:
    """The level of the middle document of those without the topic, in length as a weight is.

    Had each document one topic only, all but the topic's weight of the lowest levels would be without it.
    """
    some = told.map(_levels).thin(told.n_rows // MOST_LEVELS + 1).collect().partition
    order = np.argsort(some.levels)
    lengths = np.cumsum(some.lengths[order])
    middle = np.searchsorted(lengths, (1 - np.clip(rough_weight, 0, 1)) / 2 * lengths[-1])
    return float(some.levels[order][min(int(middle), len(order) - 1)])


def _members(told: Partitions[ScoredPartition], base: float, gain: float, size: int) -> Array:
    """Numbers of the documents that are clearly about the topic, (m,)."""
    n_members = int(np.clip(MEMBERS_PER_SEED * size, MEMBERS_LEAST, MEMBERS_MOST))
    best: Best = told.reduce(_best_members, base, gain, n_members).total
    n_clear = max(int(np.count_nonzero(best.scores > MEMBER_SHARE)), MEMBERS_LEAST)
    return best.numbers[:n_clear][: _n_within(best.about[0][:n_clear], MEMBERS_WORDS, MEMBERS_LEAST)]


def _best_members(partition: ScoredPartition, base: float, gain: float, n_members: int) -> ArraySum:
    scores = shares_in(partition, base, gain) * partition.lengths / (partition.lengths + WORDS_ELSEWHERE)
    return ArraySum(_best_with_sizes(partition, scores, top_rows(scores, n_members), n_members))


def _holding(partition: TopicPartition, numbers: Array) -> ArraySum:
    """How many of some documents hold each word, (d,)."""
    counts = partition.by_document[places_in(partition, numbers)[1]]
    return ArraySum(np.bincount(counts.indices, minlength=counts.shape[1]))


def _typicality(model: TopicFamily, probabilities: Array, members: Array) -> Array:
    """How much holding each word tells of being about the topic, (d,): its information in nats per document.

    Notes
    -----
    With D the part of the topic's documents that hold the word and E that of all documents, the divergence
    D log(D/E) + (1-D) log((1-D)/(1-E)), for words with D > E. Probabilities would list words that every topic has, and
    lift those that occur twice; this favours words that many of the topic's documents hold and few others. Where a
    neighbour is in the same documents, its words do not count: they are not likelier in the topic itself.
    """
    held = model.partitions.reduce(_holding, members).total
    rounding = 1e-9
    own = np.flatnonzero(probabilities > TYPICAL_LIFT * model.word_mean)
    inside = np.clip(held[own] / len(members), rounding, 1 - rounding)
    overall = np.clip(model.holding[own] / model.partitions.n_rows, rounding, 1 - rounding)
    told = inside * np.log(inside / overall) + (1 - inside) * np.log((1 - inside) / (1 - overall))
    typicality = np.zeros_like(model.word_mean)
    typicality[own] = np.where(inside > overall, told, 0.0)
    return typicality
