"""A topic sharpened by likelihood steps on the documents near its hint, with its neighbours as the rest of the mixture.

Moments see the corpus through k directions, so that a topic which is rarer than those are fine comes out as its broader
neighbour. A closer look costs little: start halfway between the topic found and the documents that the hint names, take
the documents nearest to that, and let the topic, its strongest neighbours and the language of the corpus compete for
their words in a few steps of expectation maximisation. All constants stand on benchmarks/choices.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch.blocks import Product, even_slices, n_cores, sum_blocks
from mixsearch.linalg import project_to_simplex
from mixsearch.models import TopicModel
from mixsearch.models.documents import WORDS_ELSEWHERE, rank_documents
from mixsearch.models.tallies import Best, best_rows
from mixsearch.refine.steps import Steps, climb
from mixsearch.types import Array, Candidates, Refined

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
# The part of a document that the topic has, where a word is asked whether it is of the topic.
USUAL_SHARE = 0.03
# A word speaks for the topic where it is at least so many times likelier there than in the corpus.
LEAST_LIFT = 1.5
# Where the lists of those words are longer than this in all, only the likeliest of them speak.
MOST_POSTINGS = 1_000_000
# Shorter lists are read before another thread has started.
FEW_POSTINGS = 300_000
# Documents that the middle one is looked for among.
MOST_LEVELS = 20_000
# Typical words are those of documents of at least this share, six times as many as the hint names at most.
MEMBER_SHARE = 0.06
TYPICAL_LIFT = 2.0
MEMBERS_PER_SEED, MEMBERS_LEAST, MEMBERS_MOST = 6, 5, 5000
MEMBERS_WORDS = 500_000


class Seeds(NamedTuple):
    """What a hint says by itself, before any topic is known."""

    rows: Array  # documents of the corpus that it names, (s,)
    words: Array | None  # the word frequencies of its documents, (d,); None where it names none
    size: int  # how many documents are about it at least, as far as it tells


class Look(NamedTuple):
    """The documents that were looked at, and what competes for their words, the topic first."""

    rows: Array  # (m,)
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
    shares: Array  # θ of every document of the corpus, (n,)
    typicality: Array  # (d,): what holding the word tells of whether a document is about the topic
    look: Look

    def best_documents(self, model: TopicModel, n: int) -> Best:
        """The documents of the corpus that are most about the topic, with their rows and shares."""
        best: Best = rank_documents(model.here, self.shares, n).total
        return best

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """The topic's share in any documents, (n,)."""
        return np.where(lengths > 0, _share_of(counts @ self.evidence, lengths, self.base, self.gain), 0.0)


def sharpen_topic(model: TopicModel, candidates: Candidates, seeds: Seeds, steps: Steps) -> SharpTopic:
    """Sharpen the first of the candidates.

    Parameters
    ----------
    model : TopicModel
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
    look, objectives = _climb(model, near, start, candidates, steps._replace(most=min(steps.most, N_STEPS)))
    return _describe(model, look, objectives, seeds, float(candidates.weights[0]) / model.alpha0)


def _start(model: TopicModel, candidates: Candidates, seeds: Seeds) -> Array:
    """Halfway between the topic that moments find and the documents of the hint, (d,)."""
    found = project_to_simplex(model.frame.unwhiten(candidates.points[:, 0]))
    return found if seeds.words is None else (found + seeds.words) / 2


def evidence_of(model: TopicModel, probabilities: Array) -> Array:
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


def _told(model: TopicModel, evidence: Array) -> Array:
    """Σ z over the words of each document, (n,): only the lists of the words that speak for the topic are read."""
    words = np.flatnonzero(evidence)
    if not len(words):
        return np.zeros(len(model.lengths))
    weights = evidence[words].astype(model.by_word.dtype)
    n_postings = int(model.holding[words].sum())

    def add_up(part: slice) -> Product:
        return Product(np.asarray(model.by_word[:, words[part]] @ weights[part], dtype=np.float64))

    n_threads = n_cores() if n_postings > FEW_POSTINGS else 1
    return np.asarray(sum_blocks(add_up, even_slices(len(words), 2), n_threads).total)


def _share_of(told: Array, lengths: Array, base: float, gain: float) -> Array:
    return np.asarray((told / np.where(lengths > 0, lengths, np.inf) - base) / gain)


def _nearest(model: TopicModel, probabilities: Array, seeds: Seeds) -> Array:
    """Rows of the documents that the topic and the hint are about, (m,)."""
    scores = _told(model, evidence_of(model, probabilities)) / (model.lengths + WORDS_ELSEWHERE)
    n_near = int(np.clip(NEAR_PER_SEED * seeds.size, NEAR_LEAST, NEAR_MOST))
    named = seeds.rows[best_rows(scores[seeds.rows], NEAR_MOST)]
    near = np.union1d(best_rows(scores, n_near), named)
    ranked = near[np.argsort(-scores[near], kind="stable")]
    return np.sort(_within(model, ranked, NEAR_WORDS, NEAR_LEAST))


def _within(model: TopicModel, ranked: Array, most_words: int, least: int) -> Array:
    """The first of some documents that have so many different words in all."""
    n_words = np.cumsum(model.by_document.indptr[ranked + 1] - model.by_document.indptr[ranked])
    return ranked[: max(int(np.searchsorted(n_words, most_words)), least)]


def _climb(
    model: TopicModel, rows: Array, start: Array, candidates: Candidates, steps: Steps
) -> tuple[Look, tuple[float, ...]]:
    """What a few steps make of the topic in these documents, and the log-likelihoods on the way."""
    counts, words = held_words(model, rows)
    others = _neighbours(model, rows, words, candidates)
    language = model.word_mean[words, None]
    topics = np.hstack([start[words, None] + 1e-9, others, language / model.word_mean.sum()]).astype(counts.dtype)
    n_others = others.shape[1]
    prior = np.array([PRIOR_TOPIC, *[PRIOR_NEIGHBOUR] * n_others, PRIOR_CORPUS], dtype=counts.dtype)
    # A third to the topic, a third to all its neighbours, the rest to the language: only where to start from.
    first = np.array([0.3, *[0.3 / max(n_others, 1)] * n_others, 0.4], dtype=counts.dtype)

    def step(look: Look) -> tuple[Look, float]:
        said, mixed, objective = _step(counts, look.topics, look.mixed, prior)
        return Look(rows, words, said, mixed), objective

    climbed = climb(Look(rows, words, topics, np.tile(first / first.sum(), (len(rows), 1))), step, steps)
    return climbed.state, climbed.objectives


def held_words(model: TopicModel, rows: Array) -> tuple[sp.csr_array, Array]:
    """Counts of some documents, with columns only for words that occur there, (m, q), and which words these are."""
    counts = model.by_document[rows]
    occurs = np.bincount(counts.indices, minlength=counts.shape[1]) > 0
    columns = (np.cumsum(occurs, dtype=counts.indices.dtype) - 1)[counts.indices]
    words = np.flatnonzero(occurs)
    return sp.csr_array((counts.data, columns, counts.indptr), shape=(len(rows), len(words))), words


def _neighbours(model: TopicModel, rows: Array, words: Array, candidates: Candidates) -> Array:
    """The other topics that have most of these documents, as far as these words go, (q, J)."""
    points, weights = candidates.points, candidates.weights[: candidates.points.shape[1]]
    shares = (model.projected[rows] / model.lengths[rows, None]) @ (points * weights)
    mass = np.clip(shares, 0, 1).mean(axis=0)
    strongest = 1 + np.argsort(-mass[1:], kind="stable")[:N_NEIGHBOURS]
    rough = np.maximum(model.frame.rows(words).unwhiten(points[:, strongest]), 0)
    language = model.word_mean[words, None]
    # A tenth of the language, so that no word is impossible for a neighbour.
    return np.asarray(0.9 * rough / np.maximum(rough.sum(axis=0), 1e-12) + 0.1 * language)


def ratios_to_expected(counts: sp.csr_array, topics: Array, mixed: Array) -> tuple[sp.csr_array, float]:
    """Counts over what is expected of them in a word of the document, (m, q), and the log-likelihood."""
    per_word = np.repeat(mixed, np.diff(counts.indptr), axis=0)
    expected = np.einsum("ij,ij->i", per_word, np.take(topics, counts.indices, axis=0))
    expected = np.maximum(expected, 1e-30)
    ratios = sp.csr_array((counts.data / expected, counts.indices, counts.indptr), shape=counts.shape)
    return ratios, float(np.sum(counts.data * np.log(expected), dtype=np.float64))


def _step(counts: sp.csr_array, topics: Array, mixed: Array, prior: Array) -> tuple[Array, Array, float]:
    """One step of expectation maximisation, and the objective before; the last topic, the language, stays."""
    ratios, likelihood = ratios_to_expected(counts, topics, mixed)
    objective = likelihood + float(np.sum(np.log(mixed) @ prior, dtype=np.float64))
    said = topics * (ratios.T @ mixed)
    said /= np.maximum(said.sum(axis=0), 1e-12)
    said[:, -1] = topics[:, -1]
    mixed = mixed * (ratios @ topics) + prior
    return said, mixed / mixed.sum(axis=1, keepdims=True), objective


def _describe(
    model: TopicModel, look: Look, objectives: tuple[float, ...], seeds: Seeds, rough_weight: float
) -> SharpTopic:
    probabilities = np.zeros_like(model.word_mean)
    probabilities[look.words] = look.topics[:, 0]
    evidence = evidence_of(model, probabilities)
    told = _told(model, evidence)
    base = _base(model, told / model.lengths, rough_weight)
    gain = max(float(probabilities @ evidence) - base, np.finfo(np.float64).tiny)
    if not evidence.any():  # no word tells the topic from the corpus: every document has the share that moments find
        base, gain = -min(rough_weight, 1.0), 1.0
    shares = _share_of(told, model.lengths, base, gain)
    return SharpTopic(
        center=probabilities,
        weight=float(np.clip((model.word_mean @ evidence - base) / gain, 0, 1)),
        objectives=objectives,
        evidence=evidence,
        base=base,
        gain=gain,
        shares=shares,
        typicality=_typicality(model, probabilities, shares, seeds),
        look=look,
    )


def _base(model: TopicModel, levels: Array, rough_weight: float) -> float:
    """The level of the middle document of those without the topic, in length as a weight is.

    Had each document one topic only, all but the topic's weight of the lowest levels would be without it.
    """
    some = slice(None, None, len(levels) // MOST_LEVELS + 1)
    order = np.argsort(levels[some], kind="stable")
    lengths = np.cumsum(model.lengths[some][order])
    middle = np.searchsorted(lengths, (1 - np.clip(rough_weight, 0, 1)) / 2 * lengths[-1])
    return float(levels[some][order][min(int(middle), len(order) - 1)])


def _typicality(model: TopicModel, probabilities: Array, shares: Array, seeds: Seeds) -> Array:
    """How much holding each word tells of being about the topic, (d,): its information in nats per document.

    Notes
    -----
    With D the part of the topic's documents that hold the word and E that of all documents, the divergence
    D log(D/E) + (1-D) log((1-D)/(1-E)), for words with D > E. Probabilities would list words that every topic has, and
    lift those that occur twice; this favours words that many of the topic's documents hold and few others. Where a
    neighbour is in the same documents, its words do not count: they are not likelier in the topic itself.
    """
    scores = shares * model.lengths / (model.lengths + WORDS_ELSEWHERE)
    n_members = int(np.clip(MEMBERS_PER_SEED * seeds.size, MEMBERS_LEAST, MEMBERS_MOST))
    ranked = best_rows(scores, n_members)
    n_clear = int(np.count_nonzero(scores[ranked] > MEMBER_SHARE))
    members = _within(model, ranked[: max(n_clear, MEMBERS_LEAST)], MEMBERS_WORDS, MEMBERS_LEAST)
    held = np.bincount(model.by_document[members].indices, minlength=len(model.word_mean))
    rounding = 1e-9
    inside = np.clip(held / len(members), rounding, 1 - rounding)
    overall = np.clip(model.holding / len(model.lengths), rounding, 1 - rounding)
    told = inside * np.log(inside / overall) + (1 - inside) * np.log((1 - inside) / (1 - overall))
    is_own = (inside > overall) & (probabilities > TYPICAL_LIFT * model.word_mean)
    return np.where(is_own, told, 0.0)
