"""Standard errors of a topic, after local EM and after variational EM, without one group of documents at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import polygamma

from mixsearch._typing import Array
from mixsearch.core.jackknife import StandardErrors, jackknife
from mixsearch.data.chunks import chunk_rows, row_slices, sum_chunks
from mixsearch.data.partitions import N_GROUPS, Partition, group_indices
from mixsearch.data.threads import n_cores
from mixsearch.topics.documents import ScoredPartition, pick_documents
from mixsearch.topics.em import (
    CHUNK_CELLS,
    WORD_PRIOR,
    LdaTopic,
    PosteriorPartition,
    chunk_documents,
    expected_log_shares,
    update_posterior,
)
from mixsearch.topics.evidence import document_shares
from mixsearch.topics.local_em import LocalTopic, drop_absent_words, ratios_to_expected
from mixsearch.topics.mixture import mix_topics
from mixsearch.topics.moments import TopicFamily

# Conjugate gradients stop at this fraction of the first residual: standard errors need no more digits.
CG_TOL = 0.02
MAX_CG_ITER = 6
# At most this fraction of a document's information about its shares is taken to be missing.
MAX_MISSING = 0.9
# At least this fraction of all information about the topics is taken to be left.
MIN_CURVATURE = 0.1
# A probability of fewer standard errors than this may be exactly zero in some groups.
NEAR_ZERO = 2.0


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


class GroupShares(NamedTuple):
    """Sums over the documents of each group."""

    weights: Array  # Σ ω, (B,)
    shares: Array  # Σ ωθ, (B,)


def _replicate_weights(family: TopicFamily, refined: LocalTopic) -> Array:
    """Return the mean share of all documents but one group, (B,)."""
    weights, shares = refined.scored.reduce(
        _group_shares, refined.base, refined.gain, family.distinct, family.partitions.n_groups
    )
    return np.asarray((shares.sum() - shares) / (weights.sum() - weights))


def _group_shares(partition: ScoredPartition, base: float, gain: float, distinct: bool, n_groups: int) -> GroupShares:
    weights, groups = partition.document_weights(distinct), group_indices(partition, len(partition.lengths), n_groups)
    shares = weights * document_shares(partition, base, gain)
    return GroupShares(np.bincount(groups, weights, n_groups), np.bincount(groups, shares, n_groups))


class ShareSums(NamedTuple):
    """Sums over documents; over those of each of q groups with one more axis, (..., q)."""

    counts: Array  # expected counts of each topic, (d, k)
    weight: float | Array  # Σ ω
    share: float | Array  # Σ ωθ of the topic found


class Response(NamedTuple):
    """The changes that q moves of the topics cause."""

    counts: Array  # in the expected counts of each topic, (d, k, q)
    weight: Array  # in Σ ωθ of the topic found, (q,)


class WordInformation(NamedTuple):
    """Sums over documents that show how precisely the probabilities of words can be known."""

    information: Array  # about the probability of each word alone, (d,)
    counts: Array  # of each word, (d,)
    n_words: float  # of the topic found


def lda_errors(refined: LdaTopic) -> StandardErrors:
    """Return the standard errors of a topic after variational EM.

    Notes
    -----
    With M the iteration from topics to topics, in which posteriors follow at once, leaving out a group moves the fixed
    point φ = M(φ) by δ with (I - J)δ = M₋(φ) - φ, to first order. M₋ is the iteration without the group, and J the
    derivative of M: the fraction of the information that is missing because the topics of words are unknown. J is
    self-adjoint for ⟨a, b⟩ = Σ nᵢ a b / φᵢ with nᵢ the words of a topic, so conjugate gradients solve for all groups.
    """
    (topics, partitions), prior = refined.state, refined.prior
    everything = partitions.reduce(_share_sums, topics, prior)
    counts = everything.counts + WORD_PRIOR
    centers, weights = [], []
    for some in row_slices(partitions.n_groups, max(CHUNK_CELLS // topics.size, 1)):
        groups = range(some.start, some.stop)
        sums = partitions.reduce(_share_sums_by_group, groups, partitions.n_groups, topics, prior)
        rest = ShareSums(*(np.asarray(total)[..., None] - each for total, each in zip(everything, sums, strict=True)))
        moves, response = _solve_moves(refined, counts, rest.counts + WORD_PRIOR)
        centers.append(moves[:, 0].T)
        weights.append(rest.share / rest.weight + response)
    errors = np.maximum(jackknife(np.concatenate(centers)), _min_errors(refined))
    weight = float(jackknife(np.concatenate(weights)))
    return StandardErrors(floor_errors(errors, float(counts[:, 0].sum())), weight)


def _share_sums(partition: PosteriorPartition, topics: Array, prior: Array) -> ShareSums:
    _, expected = update_posterior(partition, topics, prior)
    weights = partition.weights
    return ShareSums(expected.counts, float(weights.sum()), float(weights @ partition.shares[:, 0]))


def _share_sums_by_group(
    partition: PosteriorPartition, groups: range, n_groups: int, topics: Array, prior: Array
) -> ShareSums:
    """Sum over each of some groups of the jackknife: (d, k, q) and (q,)."""
    each = [_share_sums(partition.thin(n_groups, group), topics, prior) for group in groups]
    return ShareSums(*(np.stack(sums, axis=-1) for sums in zip(*each, strict=True)))


def include_bias(
    errors: StandardErrors, move: Array, unbiased: StandardErrors, em_fraction: float = 1.0
) -> StandardErrors:
    """Return standard errors that include the bias of variational EM.

    Notes
    -----
    The difference of an unbiased estimate and an efficient one has the difference of their variances (Hausman, 1978).
    What exceeds that, over all words together, is bias. It widens all errors by the same factor.
    """
    expected = np.maximum(unbiased.center**2 - errors.center**2, 0)
    variance = max(float(np.sum(errors.center**2)), np.finfo(np.float64).tiny)
    wider = np.sqrt(1 + max(float(np.sum(move**2 - expected)), 0.0) / variance)
    return StandardErrors(
        em_fraction * wider * errors.center + (1 - em_fraction) * unbiased.center,
        float(em_fraction * wider * errors.weight + (1 - em_fraction) * unbiased.weight),
    )


def _min_errors(refined: LdaTopic) -> Array:
    """Return lower bounds for words near zero: their standard errors if all other parameters were known, (d,).

    The probability of a word that other topics explain is zero in this one, and no group moves it; it is known only as
    precisely as the others' counts of the word allow. With s the mixed probabilities of its occurrences, the likelihood
    has the information Σ c(θ/s)² about it. Documents of other topics add almost none; but the bound is at most all
    occurrences of the word, as a fraction of the topic's words.
    """
    known = refined.state.partitions.reduce(_word_information, refined.state.topics)
    has_any = known.information > 0
    alone = np.where(has_any, 1 / np.sqrt(np.where(has_any, known.information, 1)), 0.0)
    largest = known.counts / max(known.n_words, 1.0)
    return np.where(refined.center < NEAR_ZERO * alone, np.minimum(alone, largest), 0.0)


def _word_information(partition: PosteriorPartition, topics: Array) -> WordInformation:
    chunks, shares = chunk_documents(partition.by_document, topics.shape[1]), partition.shares

    def sum_chunk(chunk: tuple[int, slice]) -> WordInformation:
        index, rows = chunk
        counts, own = chunks.read(index), shares[rows, 0]
        squared = counts.data / mix_topics(counts, shares[rows], topics) ** 2
        weighted = sp.csr_array((squared, counts.indices, counts.indptr), shape=counts.shape)
        all_words = np.asarray(counts.sum(axis=0), dtype=np.float64)
        return WordInformation(np.asarray(weighted.T @ own**2), all_words, float(partition.lengths[rows] @ own))

    return sum_chunks(sum_chunk, chunks.enumerate(), n_cores())


def _solve_moves(refined: LdaTopic, counts: Array, rest: Array) -> tuple[Array, Array]:
    """Return how the topics of each replicate differ, (d, k, q), and what that does to the weight, (q,)."""
    lengths = counts.sum(axis=0)[None, :, None]
    # One iteration further: if EM stopped early, rare words would otherwise seem to have negative information.
    topics = counts[:, :, None] / lengths
    first = rest / rest.sum(axis=0) - topics

    def respond(moves: Array) -> Response:
        return refined.state.partitions.reduce(compute_response, refined.state.topics, moves / topics)

    def apply_missing(moves: Array) -> Array:
        """Apply J to each move."""
        changes = respond(moves).counts
        return np.asarray((changes - topics * changes.sum(axis=0)) / lengths)

    solved = _conjugate_gradients(lambda x: x - apply_missing(x), first, lengths / topics)
    return solved, respond(solved).weight


def _conjugate_gradients(apply: Callable[[Array], Array], goal: Array, metric: Array) -> Array:
    """Solve apply(x) = goal for every column of the last axis, where `apply` is self-adjoint under the metric.

    A column for which `apply` turns out flat stops there: a linear answer would be unbounded.
    """

    def inner(a: Array, b: Array) -> Array:
        return np.asarray(np.sum(a * b * metric, axis=(0, 1)))

    x, residual = np.zeros_like(goal), goal
    direction, size = residual, inner(goal, goal)
    small, is_active = CG_TOL**2 * size, size > 0
    for _ in range(MAX_CG_ITER):
        image = apply(direction)
        curvature = inner(direction, image)
        is_active = is_active & (size > small) & (curvature > MIN_CURVATURE * inner(direction, direction))
        if not np.any(is_active):
            break
        length = np.where(is_active, size / np.where(is_active, curvature, 1), 0)
        x, residual = x + length * direction, residual - length * image
        before, size = size, inner(residual, residual)
        direction = residual + size / np.where(before > 0, before, 1) * direction
    return x


def compute_response(partition: PosteriorPartition, topics: Array, logs: Array) -> Response:
    """Return what moves of log φ, (d, k, q), change in the expected counts and in the weight, to first order."""
    chunks = chunk_rows(partition.by_document, max(CHUNK_CELLS // (logs.shape[1] + logs.shape[2]), 1))

    def respond_chunk(chunk: tuple[int, slice]) -> Response:
        index, rows = chunk
        return _respond_in(chunks.read(index), topics, partition.posterior[rows], partition.weights[rows], logs)

    return sum_chunks(respond_chunk, chunks.enumerate(), n_cores())


def _respond_in(counts: sp.csr_array, topics: Array, posterior: Array, weights: Array, logs: Array) -> Response:
    """Return the response in a chunk of documents.

    Notes
    -----
    With r the responsibilities of a word's topics and l the moves of log φ and E log θ together, r moves by
    r(l - ⟨r, l⟩). γ is a sum of responsibilities, and E log θ a function of γ. So with b the moves of γ at fixed E log
    θ, those of E log θ are T(I - ST)⁻¹b, where S = Σ c(diag(r) - rr') and T is the derivative of E log θ by γ.
    """
    by_topic = list(_expected_by_topic(counts, topics, posterior))
    resp = [sp.csr_array((each.data / counts.data, each.indices, each.indptr), each.shape) for each in by_topic]
    drift = reduce(np.add, (_sum_to_words(r).T @ logs[:, i] for i, r in enumerate(resp)))
    direct = np.stack([each @ logs[:, i] - _sum_to_documents(each) @ drift for i, each in enumerate(by_topic)], axis=1)
    S = _resp_covariance(by_topic, resp)
    log_moves = _log_share_response(S, _log_share_derivative(posterior)) @ direct  # of E log θ, (n, k, q)
    moves = direct + S @ log_moves  # of γ
    drift = reduce(np.add, (_sum_to_documents(r).T @ log_moves[:, i] for i, r in enumerate(resp)), drift)
    changes = [
        np.asarray(each.sum(axis=0))[:, None] * logs[:, i] + each.T @ log_moves[:, i] - _sum_to_words(each) @ drift
        for i, each in enumerate(by_topic)
    ]
    return Response(np.stack(changes, axis=1), np.asarray((weights / posterior.sum(axis=1)) @ moves[:, 0]))


def _log_share_response(S: Array, T: Array) -> Array:
    """Return T(I - ST)⁻¹ = L(I - L'SL)⁻¹L' with T = LL', (n, k, k).

    A document that two sets of shares explain equally well would move without bound if moves were linear.
    """
    values, vectors = np.linalg.eigh(T)
    root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    values, vectors = np.linalg.eigh(root.transpose(0, 2, 1) @ S @ root)
    rotated = root @ vectors
    return np.asarray((rotated / (1 - np.clip(values, 0, MAX_MISSING))[:, None, :]) @ rotated.transpose(0, 2, 1))


def _expected_by_topic(counts: sp.csr_array, topics: Array, posterior: Array) -> Iterator[sp.csr_array]:
    """Yield for each topic the part of every count that is expected to be its own."""
    levels = np.exp(expected_log_shares(posterior))
    ratios = counts.data / mix_topics(counts, levels, topics)
    for level, topic in zip(levels.T, topics.T, strict=True):
        own = ratios * np.repeat(level, np.diff(counts.indptr)) * topic[counts.indices]
        yield sp.csr_array((own, counts.indices, counts.indptr), shape=counts.shape)


def _sum_to_documents(expected: sp.csr_array) -> sp.csr_array:
    """Return the matrix that sums one number per stored count over documents, with these weights, (n, z)."""
    return sp.csr_array(
        (expected.data, np.arange(expected.nnz), expected.indptr), shape=(expected.shape[0], expected.nnz)
    )


def _sum_to_words(expected: sp.csr_array) -> sp.csc_array:
    """Return the matrix that sums one number per stored count over words, with these weights, (d, z)."""
    each = np.arange(expected.nnz + 1)
    return sp.csc_array((expected.data, expected.indices, each), shape=(expected.shape[1], expected.nnz))


def _resp_covariance(by_topic: list[sp.csr_array], resp: list[sp.csr_array]) -> Array:
    """Return S = Σ c(diag(r) - rr') of every document, (n, k, k)."""
    together = np.column_stack([r.data for r in resp])
    S = -np.stack([_sum_to_documents(each) @ together for each in by_topic], axis=1)
    k = len(by_topic)
    S[:, range(k), range(k)] += np.column_stack([np.asarray(each.sum(axis=1)) for each in by_topic])
    return S


def _log_share_derivative(posterior: Array) -> Array:
    """Return T, the derivative of E log θ by γ, (n, k, k)."""
    k = posterior.shape[1]
    T = np.tile(-polygamma(1, posterior.sum(axis=1))[:, None, None], (1, k, k))
    T[:, range(k), range(k)] += polygamma(1, posterior)
    return T
