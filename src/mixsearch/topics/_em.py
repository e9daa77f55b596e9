"""A topic sharpened by variational steps of LDA on all documents, where the other topics compete for their words.

For counts drawn from the model itself. Real text, damped, is served by the closer look of `_local_em`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import gammaln, psi

from mixsearch._typing import Array
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions, run_em
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.tensor import separate_rest
from mixsearch.data.chunks import ArraySum, RowChunks, chunk_rows, sum_chunks
from mixsearch.data.partitions import Partitions
from mixsearch.data.reductions import Best
from mixsearch.data.threads import n_cores
from mixsearch.topics._documents import DocumentPartition, TopicPartition, rank_documents
from mixsearch.topics._mixture import mix
from mixsearch.topics._moments import TopicFamily

# What every topic is taken to have said of each word before, in words.
WORD_PRIOR = 0.01


# A topic is taken to have this part of an even share of the corpus at least.
LEAST_SHARE = 0.1


# This part of every topic starts as the language of the corpus, so that no word is impossible for it.
LANGUAGE = 0.01


# Numbers, one for each word of a document and topic, that a block of documents takes.
BLOCK_CELLS = 4_000_000


# Below so many of them in all, threads take longer to start than to work.
SMALL_CELLS = 200_000


# Steps that find the shares of a document that was not in the corpus.
N_SHARE_STEPS = 50


@dataclass(frozen=True)
class PosteriorPartition(DocumentPartition):
    """Documents with what is known of the shares of topics in each: a Dirichlet distribution."""

    says: Array  # ω, the weight of each in all averages, (n,)
    beliefs: Array  # γ, (n, k): parameters of the Dirichlet distributions

    @property
    def shares(self) -> Array:
        """θ of every topic, (n, k): its expectation."""
        return shares_under(self.beliefs)


class Lda(NamedTuple):
    """Topics, and documents with what is known of their shares."""

    topics: Array  # φ, (d, k): columns are distributions, the topic found first
    partitions: Partitions[PosteriorPartition]


class Expected(NamedTuple):
    """Sums over documents that one step takes."""

    counts: Array  # words expected of each topic, (d, k)
    bound: float


@dataclass(frozen=True, slots=True)
class LdaTopic(Refined):
    """A topic after steps of LDA, with the others that compete for the words of documents."""

    kept: float  # the part of the way from the moment estimate to where the steps led that was gone
    prior: Array  # α, (k,)
    state: Lda  # where the steps led
    typicality: Array  # (d,): what the word adds to the divergence of the topic from the corpus

    def best_documents(self, n: int) -> Best:
        """The documents of the corpus that are most about the topic, with their rows and shares."""
        best: Best = self.state.partitions.reduce(_best_documents, n).total
        return best

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """The topic's share in any documents, (n,); 0 in those without words."""
        beliefs = self.prior + lengths[:, None] * self.prior / self.prior.sum()
        blocks = blocks_of(counts, len(self.prior))
        for _ in range(N_SHARE_STEPS):
            beliefs, _ = expect(blocks, self.state.topics, beliefs, self.prior)
        return np.where(lengths > 0, shares_under(beliefs)[:, 0], 0.0)


def _best_documents(partition: PosteriorPartition, n: int) -> ArraySum:
    return rank_documents(partition, partition.shares[:, 0], n)


def refine_topic(model: TopicFamily, candidates: Candidates, steps: EMOptions) -> LdaTopic | None:
    """Sharpen the first of the candidates; None where the steps lead away from it.

    Parameters
    ----------
    model : TopicFamily
        The fitted corpus, its counts not damped.
    candidates : Candidates
        All topics as the hint shows them. Those that it does not tell apart are separated first.
    steps : Steps

    Notes
    -----
    Variational Bayes of Blei, Ng and Jordan (2003), which climbs a lower bound of the log-likelihood: with topics φ and
    beliefs γ, each word w of a document belongs to topic i in proportion to exp(E log θᵢ) φᵢ(w), and the words so
    expected make both the next beliefs and the next topics. Given whose words are whose, both are best at once, so that
    one pass over the counts never lowers the bound. Its maximum is near the likelihood's, not at it, and stays a little
    away however many documents there are: `take_back_bias` is for that.
    """
    start, prior = _start(model, separate_rest(model.tensor(np.eye(len(model.mean))), candidates))

    def step(state: Lda) -> tuple[Lda, float]:
        partitions, expected = state.partitions.map_reduce(take_step, state.topics, prior)
        said = expected.counts + WORD_PRIOR
        objective = expected.bound + WORD_PRIOR * float(np.log(state.topics).sum())
        return Lda(said / said.sum(axis=0), partitions), objective

    climbed = run_em(start, step, steps)
    if _nearest(climbed.state.topics, start.topics[:, 0]) != 0:
        return None
    topic = climbed.state.topics[:, 0].copy()
    return LdaTopic(
        center=topic,
        weight=climbed.state.partitions.reduce(_weight).total,
        objectives=climbed.objectives,
        kept=1.0,
        prior=prior,
        state=climbed.state,
        typicality=divergence_by_word(topic, model.word_mean),
    )


def _weight(partition: PosteriorPartition) -> ArraySum:
    """Σ ωθ of the topic found."""
    return ArraySum(float(partition.says @ partition.shares[:, 0]))


def take_back_bias(found: LdaTopic, center: Array, errors: StandardErrors, language: Array) -> LdaTopic:
    """Where the steps led too far from the topic of moments, which has no bias, go back towards it.

    Parameters
    ----------
    found : LdaTopic
    center : array of shape (d,)
        The topic of moments, as a distribution.
    errors : StandardErrors
        Its standard errors.
    language : array of shape (d,)
        The word frequencies of the corpus.

    Notes
    -----
    From an estimate without bias to a better one it is no further than the former's own standard errors, on average
    over all words. With more documents those shrink and the bias of the steps does not: then the part ρ = V / |r - m|²
    of the way is kept, with V the variance of m, and the error stays at most about that of moments.
    """
    moved = found.center - center
    kept = float(np.sum(errors.center**2) / max(float(moved @ moved), np.finfo(np.float64).tiny))
    if kept >= 1 or len(found.prior) == 1:  # one topic is the corpus itself
        return found
    topic = center + kept * moved
    return replace(found, center=topic, kept=kept, typicality=divergence_by_word(topic, language))


def _start(model: TopicFamily, candidates: Candidates) -> tuple[Lda, Array]:
    """Topics as moments find them, made distributions; shares from the linear estimate; and the Dirichlet prior."""
    k = candidates.points.shape[1]
    weights = np.maximum(candidates.weights / candidates.weights.sum(), LEAST_SHARE / k)
    prior = model.alpha0 * weights / weights.sum()
    rough = np.maximum(model.frame.unwhiten(candidates.points).astype(np.float64), 0)
    language = (model.word_mean + np.finfo(np.float64).tiny)[:, None]
    topics = (1 - LANGUAGE) * rough / np.maximum(rough.sum(axis=0), 1e-12) + LANGUAGE * language
    topics = topics + 1e-9 / len(topics)  # for words that the corpus never uses
    # A topic of next to no weight has no center that could tell shares.
    told = candidates.points * np.where(candidates.weights > 0, candidates.weights, 0)
    partitions = model.partitions.map(_first_beliefs, told, prior, model.distinct)
    return Lda(topics / topics.sum(axis=0), partitions), prior


def _first_beliefs(partition: TopicPartition, told: Array, prior: Array, distinct: bool) -> PosteriorPartition:
    shares = np.clip(partition.projected.astype(np.float64) @ told, 0, None) + prior
    beliefs = prior + partition.lengths[:, None] * shares / shares.sum(axis=1, keepdims=True)
    return PosteriorPartition(
        partition.first, partition.by_document, partition.lengths, partition.rows, partition.says(distinct), beliefs
    )


def blocks_of(counts: sp.csr_array, n_topics: int) -> RowChunks:
    """Documents in blocks that bound what a step holds at once."""
    return chunk_rows(counts, max(BLOCK_CELLS // n_topics, 1))


def take_step(partition: PosteriorPartition, topics: Array, prior: Array) -> tuple[PosteriorPartition, Expected]:
    """Documents with the next beliefs, and what was expected under those before."""
    beliefs, expected = expect(blocks_of(partition.by_document, len(prior)), topics, partition.beliefs, prior)
    return replace(partition, beliefs=beliefs), expected


def expect(blocks: RowChunks, topics: Array, beliefs: Array, prior: Array) -> tuple[Array, Expected]:
    """The next beliefs, (n, k), with the words expected of each topic and the bound under those given."""
    following = np.empty_like(beliefs)

    def work(block: tuple[int, slice]) -> Expected:
        number, rows = block
        counts, before = blocks.read(number), beliefs[rows]
        logs = expected_logs(before)
        levels = np.exp(logs)
        per_word = mix(counts, levels, topics)
        ratios = sp.csr_array((counts.data / per_word, counts.indices, counts.indptr), shape=counts.shape)
        following[rows] = prior + levels * (ratios @ topics)
        bound = float(counts.data @ np.log(per_word)) - _divergence(before, logs, prior)
        return Expected(topics * (ratios.T @ levels), bound)

    n_threads = n_cores() if blocks.n_nonzeros * len(prior) > SMALL_CELLS else 1
    return following, sum_chunks(work, blocks.enumerate(), n_threads)


def shares_under(beliefs: Array) -> Array:
    """E θ under each document's beliefs, (n, k)."""
    return np.asarray(beliefs / beliefs.sum(axis=1, keepdims=True))


def expected_logs(beliefs: Array) -> Array:
    """E log θ under each document's beliefs, (n, k)."""
    return np.asarray(psi(beliefs) - psi(beliefs.sum(axis=1, keepdims=True)))


def _divergence(beliefs: Array, logs: Array, prior: Array) -> float:
    """Of the beliefs of all documents from the prior: Σ KL(Dirichlet(γ) | Dirichlet(α))."""
    normalisers = gammaln(beliefs.sum(axis=1)) - gammaln(beliefs).sum(axis=1)
    own = gammaln(prior.sum()) - gammaln(prior).sum()
    return float(np.sum(normalisers - own) + np.sum((beliefs - prior) * logs))


def _nearest(topics: Array, start: Array) -> int:
    """Which of the topics a start resembles most, by the cosine."""
    return int(np.argmax(start @ topics / np.linalg.norm(topics, axis=0)))


def divergence_by_word(topic: Array, language: Array) -> Array:
    """What each word adds to the divergence Σ p log(p/q) of a topic from the corpus, (d,); 0 where p < q."""
    own = np.flatnonzero(topic > language)
    safe = np.maximum(language[own], np.finfo(np.float64).tiny)
    divergence = np.zeros_like(topic)
    divergence[own] = topic[own] * np.log(topic[own] / safe)
    return divergence
