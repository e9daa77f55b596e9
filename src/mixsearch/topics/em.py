"""Refinement of a topic by variational EM for LDA on all documents, in which all topics compete for their words.

This is for counts drawn from the model itself. For real text, with damped counts, see `local_em`.
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
from mixsearch.data.reductions import TopRows
from mixsearch.data.threads import n_cores
from mixsearch.topics.documents import DocumentPartition, SharePartition, TopicPartition, check_indices, rank_documents
from mixsearch.topics.mixture import mix_topics
from mixsearch.topics.moments import TopicFamily

# Pseudo-count of every word in every topic.
WORD_PRIOR = 0.01
# Every topic starts with at least this fraction of an even share of the corpus.
MIN_SHARE = 0.1
# Every topic starts with this fraction of the corpus mixed in, so that no word is impossible for it.
SMOOTHING = 0.01
# Numbers, one for each stored count and topic, that a chunk of documents may take.
CHUNK_CELLS = 4_000_000
# With fewer of them in all, threads take longer to start than to compute.
THREADED_CELLS = 200_000
# Iterations that find the shares of a document that is not in the corpus.
SHARE_ITER = 50


@dataclass(frozen=True)
class PosteriorPartition(DocumentPartition):
    """Documents with the posterior of their shares of the topics: a Dirichlet distribution each."""

    weights: Array  # ω, the weight of each in all averages, (n,)
    posterior: Array  # γ, (n, k): parameters of the Dirichlet distributions

    @property
    def shares(self) -> Array:
        """θ of every topic, (n, k): its posterior mean."""
        return posterior_mean(self.posterior)


class LdaState(NamedTuple):
    """Topics, and documents with the posterior of their shares."""

    topics: Array  # φ, (d, k): columns are distributions, the topic found first
    partitions: Partitions[PosteriorPartition]


class ExpectedSums(NamedTuple):
    """Sums over documents that one iteration needs."""

    counts: Array  # expected counts of the words of each topic, (d, k)
    bound: float


@dataclass(frozen=True, slots=True)
class LdaTopic(Refined):
    """A topic after variational EM, with the others that compete for the words of documents."""

    em_fraction: float  # 1 for the result of EM, less if it was moved back towards the moment estimate
    prior: Array  # α, (k,)
    state: LdaState  # where EM stopped
    typicality: Array  # (d,): what each word adds to the divergence of the topic from the corpus

    def best_documents(self, n: int, among: Array | None = None) -> TopRows:
        """Return the documents, of all or among some, with the largest shares of the topic, their rows and shares."""
        best: TopRows = self.state.partitions.reduce(_best_documents, n, among).total
        return best

    def corpus_shares(self) -> Array:
        """Return the topic's share in every document of the corpus, (n,)."""
        return self.state.partitions.map(_to_shares).collect().partition.shares

    def share(self, counts: sp.csr_array, lengths: Array) -> Array:
        """Return the topic's share in any documents, (n,); 0 in those without words."""
        posterior = self.prior + lengths[:, None] * self.prior / self.prior.sum()
        chunks = chunk_documents(counts, len(self.prior))
        for _ in range(SHARE_ITER):
            posterior, _ = _e_step(chunks, self.state.topics, posterior, self.prior)
        return np.where(lengths > 0, posterior_mean(posterior)[:, 0], 0.0)


def _best_documents(partition: PosteriorPartition, n: int, among: Array | None) -> ArraySum:
    return rank_documents(partition, partition.shares[:, 0], n, among)


def _to_shares(partition: PosteriorPartition) -> SharePartition:
    return SharePartition(partition.first, partition.shares[:, 0])


def refine_topic(family: TopicFamily, candidates: Candidates, options: EMOptions) -> LdaTopic | None:
    """Refine the first candidate by EM; return None if EM moves away from it.

    Notes
    -----
    Variational Bayes of Blei, Ng and Jordan (2003), which raises a lower bound of the log-likelihood: with topics φ and
    posterior parameters γ, each word w of a document belongs to topic i in proportion to exp(E log θᵢ) φᵢ(w), and the
    expected counts give both the next γ and the next φ. Given the responsibilities, both are optimal at once, so one
    pass over the counts never lowers the bound. Its maximum is near that of the likelihood, and stays a little away
    however many documents there are: `shrink_to_moments` corrects that.
    """
    start, prior = _initial_state(family, separate_rest(family.full_tensor(), candidates))

    def step(state: LdaState) -> tuple[LdaState, float]:
        partitions, expected = state.partitions.map_reduce(update_posterior, state.topics, prior)
        objective = expected.bound + WORD_PRIOR * float(np.log(state.topics).sum())
        return LdaState(_m_step(expected.counts), partitions), objective

    result = run_em(start, step, options)
    if find_nearest(result.state.topics, start.topics[:, 0]) != 0:
        return None
    topic = result.state.topics[:, 0].copy()
    return LdaTopic(
        center=topic,
        weight=result.state.partitions.reduce(_mean_share).total,
        objectives=result.objectives,
        em_fraction=1.0,
        prior=prior,
        state=result.state,
        typicality=divergence_by_word(topic, family.word_mean),
    )


def _mean_share(partition: PosteriorPartition) -> ArraySum:
    """Sum ωθ of the topic found."""
    return ArraySum(float(partition.weights @ partition.shares[:, 0]))


def shrink_to_moments(refined: LdaTopic, center: Array, errors: StandardErrors, word_mean: Array) -> LdaTopic:
    """Move a refined topic back towards the moment estimate, which is unbiased, if EM moved it too far.

    Notes
    -----
    On average over all words, the distance from an unbiased estimate m to a better one r is at most the standard error
    of m. With more documents that error shrinks, but the bias of variational EM does not: then the fraction
    ρ = V / |r - m|² of the move is kept, with V the variance of m, and the error stays at most about that of m.
    """
    move = refined.center - center
    fraction = float(np.sum(errors.center**2) / max(float(move @ move), np.finfo(np.float64).tiny))
    if fraction >= 1 or len(refined.prior) == 1:  # a single topic is the corpus itself
        return refined
    topic = center + fraction * move
    return replace(refined, center=topic, em_fraction=fraction, typicality=divergence_by_word(topic, word_mean))


def _initial_state(family: TopicFamily, candidates: Candidates) -> tuple[LdaState, Array]:
    """Return the topics of the moment estimates, with linear estimates of shares, and the Dirichlet prior."""
    k = candidates.points.shape[1]
    weights = np.maximum(candidates.weights / candidates.weights.sum(), MIN_SHARE / k)
    prior = family.alpha0 * weights / weights.sum()
    rough = np.maximum(family.frame.unwhiten(candidates.points).astype(np.float64), 0)
    corpus = (family.word_mean + np.finfo(np.float64).tiny)[:, None]
    topics = (1 - SMOOTHING) * rough / np.maximum(rough.sum(axis=0), 1e-12) + SMOOTHING * corpus
    topics = topics + 1e-9 / len(topics)  # for words that the corpus never uses
    # The center of a topic with hardly any weight is too noisy to estimate shares from.
    directions = candidates.points * np.where(candidates.weights > 0, candidates.weights, 0)
    partitions = family.partitions.map(_initial_posterior, directions, prior, family.distinct)
    return LdaState(topics / topics.sum(axis=0), partitions), prior


def _initial_posterior(
    partition: TopicPartition, directions: Array, prior: Array, distinct: bool
) -> PosteriorPartition:
    shares = np.clip(partition.projected.astype(np.float64) @ directions, 0, None) + prior
    posterior = prior + partition.lengths[:, None] * shares / shares.sum(axis=1, keepdims=True)
    weights = partition.document_weights(distinct)
    return PosteriorPartition(
        partition.first, check_indices(partition.by_document), partition.lengths, partition.rows, weights, posterior
    )


def chunk_documents(counts: sp.csr_array, n_topics: int) -> RowChunks:
    """Split documents into chunks that bound the memory of an iteration."""
    return chunk_rows(counts, max(CHUNK_CELLS // n_topics, 1))


def update_posterior(
    partition: PosteriorPartition, topics: Array, prior: Array
) -> tuple[PosteriorPartition, ExpectedSums]:
    """Return documents with the next posterior, and the expected sums under the one before."""
    chunks = chunk_documents(partition.by_document, len(prior))
    posterior, expected = _e_step(chunks, topics, partition.posterior, prior)
    return replace(partition, posterior=posterior), expected


def _e_step(chunks: RowChunks, topics: Array, posterior: Array, prior: Array) -> tuple[Array, ExpectedSums]:
    """Return the next posterior, (n, k), with the expected counts of each topic and the bound under the one given."""
    following = np.empty_like(posterior)

    def update_chunk(chunk: tuple[int, slice]) -> ExpectedSums:
        index, rows = chunk
        counts, before = chunks.read(index), posterior[rows]
        logs = expected_log_shares(before)
        levels = np.exp(logs)
        per_word = mix_topics(counts, levels, topics)
        ratios = sp.csr_array((counts.data / per_word, counts.indices, counts.indptr), shape=counts.shape)
        following[rows] = prior + levels * (ratios @ topics)
        bound = float(counts.data @ np.log(per_word)) - _divergence(before, logs, prior)
        return ExpectedSums(topics * (ratios.T @ levels), bound)

    n_threads = n_cores() if chunks.n_nonzeros * len(prior) > THREADED_CELLS else 1
    return following, sum_chunks(update_chunk, chunks.enumerate(), n_threads)


def _m_step(expected_counts: Array) -> Array:
    """Return the next topics, (d, k)."""
    counts = expected_counts + WORD_PRIOR
    return np.asarray(counts / counts.sum(axis=0))


def posterior_mean(posterior: Array) -> Array:
    """Return E θ of each document, (n, k)."""
    return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))


def expected_log_shares(posterior: Array) -> Array:
    """Return E log θ of each document, (n, k)."""
    return np.asarray(psi(posterior) - psi(posterior.sum(axis=1, keepdims=True)))


def _divergence(posterior: Array, logs: Array, prior: Array) -> float:
    """Return Σ KL(Dirichlet(γ) | Dirichlet(α)) over all documents."""
    normalisers = gammaln(posterior.sum(axis=1)) - gammaln(posterior).sum(axis=1)
    own = gammaln(prior.sum()) - gammaln(prior).sum()
    return float(np.sum(normalisers - own) + np.sum((posterior - prior) * logs))


def find_nearest(topics: Array, start: Array) -> int:
    """Return the index of the topic that a start resembles most, by the cosine."""
    return int(np.argmax(start @ topics / np.linalg.norm(topics, axis=0)))


def divergence_by_word(topic: Array, word_mean: Array) -> Array:
    """Return what each word adds to the divergence Σ p log(p/q) of a topic from the corpus, (d,); 0 if p < q."""
    own = np.flatnonzero(topic > word_mean)
    safe = np.maximum(word_mean[own], np.finfo(np.float64).tiny)
    divergence = np.zeros_like(topic)
    divergence[own] = topic[own] * np.log(topic[own] / safe)
    return divergence
