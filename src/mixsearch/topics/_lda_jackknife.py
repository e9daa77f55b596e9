"""How far a topic of LDA would move without one block of documents, counting that all shares and topics follow."""

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
from mixsearch.data.threads import n_cores
from mixsearch.topics._em import (
    BLOCK_CELLS,
    WORD_PRIOR,
    LdaTopic,
    PosteriorPartition,
    blocks_of,
    expected_logs,
    take_step,
)
from mixsearch.topics._jackknife import one_word_at_least
from mixsearch.topics._mixture import mix

# Conjugate gradients stop at this part of the first residual: standard errors need no more digits.
RESIDUAL = 0.02


MOST_ROUNDS = 6


# Of what a document tells of its shares, this part is taken to be missing at most.
MOST_MISSING = 0.9


# And of what all of them tell of the topics, this part is taken to be left at least.
LEAST_CURVATURE = 0.1


# A probability of fewer standard errors than this may be pinned at zero in some blocks.
NEAR_ZERO = 2.0


class Said(NamedTuple):
    """Sums over documents, or over those of q blocks each by itself: then with an axis more, (..., q)."""

    counts: Array  # words expected of each topic, (d, k)
    weight: float | Array  # Σ ω
    share: float | Array  # Σ ωθ of the topic found


class Response(NamedTuple):
    """What q moves of the topics change."""

    counts: Array  # words expected of each topic, (d, k, q)
    weight: Array  # Σ ωθ of the topic found, (q,)


class Told(NamedTuple):
    """Sums over documents that tell how well the probabilities of words can be known."""

    information: Array  # of the probability of each word alone, (d,)
    counts: Array  # of each word, (d,)
    n_words: float  # of the topic found


def lda_errors(found: LdaTopic) -> StandardErrors:
    """Standard errors of a topic after steps of LDA.

    Notes
    -----
    With M the step from topics to topics, beliefs following them at once, leaving out a block moves the fixed point
    φ = M(φ) by δ where (I - J)δ = M₋(φ) - φ, to first order: M₋ is the step without the block and J the derivative of
    M, the part of the information that is missing since nobody tells which word is of which topic. J is self-adjoint
    for ⟨a, b⟩ = Σ nᵢ a b / φᵢ with nᵢ the words of a topic, so that conjugate gradients solve for all blocks.
    """
    (topics, partitions), prior = found.state, found.prior
    everything = partitions.reduce(_said, topics, prior)
    said = everything.counts + WORD_PRIOR
    centers, weights = [], []
    for some in row_slices(partitions.n_groups, max(BLOCK_CELLS // topics.size, 1)):
        blocks = partitions.reduce(_said_by_block, range(some.start, some.stop), partitions.n_groups, topics, prior)
        without = Said(*(np.asarray(all_of)[..., None] - each for all_of, each in zip(everything, blocks, strict=True)))
        moves, response = _moves(found, said, without.counts + WORD_PRIOR)
        centers.append(moves[:, 0].T)
        weights.append(without.share / without.weight + response)
    errors = np.maximum(jackknife(np.concatenate(centers)), _least_errors(found))
    return StandardErrors(one_word_at_least(errors, float(said[:, 0].sum())), float(jackknife(np.concatenate(weights))))


def _said(partition: PosteriorPartition, topics: Array, prior: Array) -> Said:
    _, expected = take_step(partition, topics, prior)
    return Said(expected.counts, float(partition.says.sum()), float(partition.says @ partition.shares[:, 0]))


def _said_by_block(partition: PosteriorPartition, blocks: range, n_groups: int, topics: Array, prior: Array) -> Said:
    """The same in some blocks of the jackknife, each by itself: (d, k, q) and (q,)."""
    each = [_said(partition.thin(n_groups, block), topics, prior) for block in blocks]
    return Said(*(np.stack(sums, axis=-1) for sums in zip(*each, strict=True)))


def allow_for_bias(errors: StandardErrors, moved: Array, unbiased: StandardErrors, kept: float = 1.0) -> StandardErrors:
    """Standard errors that cover the bias of variational steps as well.

    Parameters
    ----------
    errors : StandardErrors
        Of the refined topic, by chance alone.
    moved : array of shape (d,)
        Where the steps led, less the topic of moments, which has no bias.
    unbiased : StandardErrors
        Of the latter.
    kept : float
        The part of that way that was gone.

    Notes
    -----
    Of an efficient estimate and an unbiased one, the difference has the difference of their variances (Hausman, 1978).
    What it has beyond that, over all words together, is bias, and widens all errors in the same proportion.
    """
    expected = np.maximum(unbiased.center**2 - errors.center**2, 0)
    variance = max(float(np.sum(errors.center**2)), np.finfo(np.float64).tiny)
    wider = np.sqrt(1 + max(float(np.sum(moved**2 - expected)), 0.0) / variance)
    return StandardErrors(
        kept * wider * errors.center + (1 - kept) * unbiased.center,
        float(kept * wider * errors.weight + (1 - kept) * unbiased.weight),
    )


def _least_errors(found: LdaTopic) -> Array:
    """For words near zero what the standard errors would be if all but the word's own probability were known, (d,).

    A word that other topics explain is pinned at zero in this one, and no block moves it; its probability is known only
    as well as the others' counts of the word allow. With mixed chances s of its occurrences, the likelihood has the
    information Σ c(θ/s)² of it. What only other topics' documents say has next to none; but all occurrences of a word
    together are no more of the topic's words than they are.
    """
    told = found.state.partitions.reduce(_told, found.state.topics)
    known = told.information > 0
    alone = np.where(known, 1 / np.sqrt(np.where(known, told.information, 1)), 0.0)
    most = told.counts / max(told.n_words, 1.0)
    return np.where(found.center < NEAR_ZERO * alone, np.minimum(alone, most), 0.0)


def _told(partition: PosteriorPartition, topics: Array) -> Told:
    blocks, shares = blocks_of(partition.by_document, topics.shape[1]), partition.shares

    def work(block: tuple[int, slice]) -> Told:
        number, rows = block
        counts, own = blocks.read(number), shares[rows, 0]
        squared = counts.data / mix(counts, shares[rows], topics) ** 2
        weighted = sp.csr_array((squared, counts.indices, counts.indptr), shape=counts.shape)
        all_words = np.asarray(counts.sum(axis=0), dtype=np.float64)
        return Told(np.asarray(weighted.T @ own**2), all_words, float(partition.lengths[rows] @ own))

    return sum_chunks(work, blocks.enumerate(), n_cores())


def _moves(found: LdaTopic, said: Array, without: Array) -> tuple[Array, Array]:
    """How each replicate's topics differ from those found, (d, k, q), and what that does to the weight, (q,)."""
    lengths = said.sum(axis=0)[None, :, None]
    # One step on: where steps stopped early, rare words would else seem to tell less than nothing.
    topics = said[:, :, None] / lengths
    first = without / without.sum(axis=0) - topics

    def respond(moves: Array) -> Response:
        return found.state.partitions.reduce(_respond, found.state.topics, moves / topics)

    def missing(moves: Array) -> Array:
        """J applied to each move."""
        counts = respond(moves).counts
        return np.asarray((counts - topics * counts.sum(axis=0)) / lengths)

    solved = _conjugate_gradients(lambda x: x - missing(x), first, lengths / topics)
    return solved, respond(solved).weight


def _conjugate_gradients(apply: Callable[[Array], Array], goal: Array, metric: Array) -> Array:
    """Solve apply(x) = goal for every column of the last axis, where `apply` is self-adjoint under the metric.

    A column for which `apply` turns out flat stays as it is there: a linear answer would have no bounds.
    """

    def inner(a: Array, b: Array) -> Array:
        return np.asarray(np.sum(a * b * metric, axis=(0, 1)))

    x, residual = np.zeros_like(goal), goal
    direction, size = residual, inner(goal, goal)
    enough, going = RESIDUAL**2 * size, size > 0
    for _ in range(MOST_ROUNDS):
        image = apply(direction)
        curved = inner(direction, image)
        going = going & (size > enough) & (curved > LEAST_CURVATURE * inner(direction, direction))
        if not np.any(going):
            break
        length = np.where(going, size / np.where(going, curved, 1), 0)
        x, residual = x + length * direction, residual - length * image
        before, size = size, inner(residual, residual)
        direction = residual + size / np.where(before > 0, before, 1) * direction
    return x


def _respond(partition: PosteriorPartition, topics: Array, logs: Array) -> Response:
    """What moves of log φ, (d, k, q), change in the words expected of the topics and in the weight, to first order."""
    blocks = chunk_rows(partition.by_document, max(BLOCK_CELLS // (logs.shape[1] + logs.shape[2]), 1))

    def work(block: tuple[int, slice]) -> Response:
        number, rows = block
        return _respond_in(blocks.read(number), topics, partition.beliefs[rows], partition.says[rows], logs)

    return sum_chunks(work, blocks.enumerate(), n_cores())


def _respond_in(counts: sp.csr_array, topics: Array, beliefs: Array, says: Array, logs: Array) -> Response:
    """The same in a block of documents, for moves of the logarithms of topics, (d, k, q).

    Notes
    -----
    With r the chances of a word's topics and l the moves of log φ and E log θ together, chances move by r(l - ⟨r, l⟩).
    Beliefs are sums of chances and E log θ is a function of beliefs, so that with b the moves of γ at fixed E log θ,
    those of E log θ are T(I - ST)⁻¹b, where S = Σ c(diag(r) - rr') and T is the derivative of E log θ by γ.
    """
    by_topic = list(_expected_by_topic(counts, topics, beliefs))
    chances = [sp.csr_array((each.data / counts.data, each.indices, each.indptr), each.shape) for each in by_topic]
    drift = reduce(np.add, (_by_word(r).T @ logs[:, i] for i, r in enumerate(chances)))
    pushed = np.stack([each @ logs[:, i] - _by_document(each) @ drift for i, each in enumerate(by_topic)], axis=1)
    spread = _spread(by_topic, chances)
    leant = _leaning(spread, _bend(beliefs)) @ pushed  # moves of E log θ, (n, k, q)
    moved = pushed + spread @ leant  # of γ
    drift = reduce(np.add, (_by_document(r).T @ leant[:, i] for i, r in enumerate(chances)), drift)
    said = [
        np.asarray(each.sum(axis=0))[:, None] * logs[:, i] + each.T @ leant[:, i] - _by_word(each) @ drift
        for i, each in enumerate(by_topic)
    ]
    return Response(np.stack(said, axis=1), np.asarray((says / beliefs.sum(axis=1)) @ moved[:, 0]))


def _leaning(spread: Array, bend: Array) -> Array:
    """T(I - ST)⁻¹ = L(I - L'SL)⁻¹L' with T = LL', (n, k, k).

    A document that two sets of shares explain equally well would move without bounds, if moves were linear.
    """
    values, vectors = np.linalg.eigh(bend)
    root = vectors * np.sqrt(np.maximum(values, 0))[:, None, :]
    values, vectors = np.linalg.eigh(root.transpose(0, 2, 1) @ spread @ root)
    turned = root @ vectors
    return np.asarray((turned / (1 - np.clip(values, 0, MOST_MISSING))[:, None, :]) @ turned.transpose(0, 2, 1))


def _expected_by_topic(counts: sp.csr_array, topics: Array, beliefs: Array) -> Iterator[sp.csr_array]:
    """For each topic the part of every count that is expected to be its own."""
    levels = np.exp(expected_logs(beliefs))
    ratios = counts.data / mix(counts, levels, topics)
    for level, topic in zip(levels.T, topics.T, strict=True):
        own = ratios * np.repeat(level, np.diff(counts.indptr)) * topic[counts.indices]
        yield sp.csr_array((own, counts.indices, counts.indptr), shape=counts.shape)


def _by_document(expected: sp.csr_array) -> sp.csr_array:
    """From one number for each stored count to sums over documents, with these weights, (n, z)."""
    return sp.csr_array(
        (expected.data, np.arange(expected.nnz), expected.indptr), shape=(expected.shape[0], expected.nnz)
    )


def _by_word(expected: sp.csr_array) -> sp.csc_array:
    """From one number for each stored count to sums over words, with these weights, (d, z)."""
    each = np.arange(expected.nnz + 1)
    return sp.csc_array((expected.data, expected.indices, each), shape=(expected.shape[1], expected.nnz))


def _spread(by_topic: list[sp.csr_array], chances: list[sp.csr_array]) -> Array:
    """S = Σ c(diag(r) - rr') of every document, (n, k, k)."""
    together = np.column_stack([r.data for r in chances])
    S = -np.stack([_by_document(each) @ together for each in by_topic], axis=1)
    k = len(by_topic)
    S[:, range(k), range(k)] += np.column_stack([np.asarray(each.sum(axis=1)) for each in by_topic])
    return S


def _bend(beliefs: Array) -> Array:
    """T, the derivative of E log θ by the beliefs, (n, k, k)."""
    k = beliefs.shape[1]
    T = np.tile(-polygamma(1, beliefs.sum(axis=1))[:, None, None], (1, k, k))
    T[:, range(k), range(k)] += polygamma(1, beliefs)
    return T
