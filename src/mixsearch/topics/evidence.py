"""Evidence of words for a topic: scores and shares of documents, and the words that are typical of it.

With z(w) the probability that word w of a document with a usual share of the topic belongs to it, the mean of z over
the words of a document is linear in the topic's share θ: it is b without the topic and a if the document has no other,
so θ = (mean - b) / (a - b).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk, Chunks, even_slices, sum_chunks, top_rows
from mixsearch.machine import n_cores
from mixsearch.topics.documents import WORDS_ELSEWHERE, PlacedChunk, PlacedFamily, ScoredChunk, choose_rows, local_rows
from mixsearch.topics.old_lda import DocumentChunk
from mixsearch.topics.reductions import TopRows

# The share of the topic in a document for which the evidence of a word is computed.
USUAL_SHARE = 0.03
# A word is evidence for the topic if it is at least this many times likelier in it than in the corpus.
MIN_LIFT = 1.5
# If the lists of documents of those words are longer than this in all, only the strongest words count.
MAX_POSTINGS = 1_000_000
# Shorter lists are read before another thread has started.
THREADED_POSTINGS = 300_000
# The lists are read in this many chunks, whatever the number of cores, which then does not change the sums.
N_CHUNKS = 2
# The median level of documents is computed from at most this many.
MAX_LEVELS = 20_000
# Typical words are those of documents of at least this share, at most six times as many as the hint names.
MEMBER_SHARE = 0.06
TYPICAL_LIFT = 2.0
MEMBERS_PER_SEED, MIN_MEMBERS, MAX_MEMBERS = 6, 5, 5000
# Different words of all members together.
MAX_MEMBER_WORDS = 500_000


def word_evidence(family: PlacedFamily, probabilities: Array) -> Array:
    """Return z, the probability that a word belongs to the topic rather than to the corpus, (d,); 0 if it is weak."""
    own, other = USUAL_SHARE * probabilities, (1 - USUAL_SHARE) * family.word_mean
    words = np.flatnonzero(probabilities > MIN_LIFT * family.word_mean)
    z = own[words] / (own[words] + other[words])
    if family.document_frequency[words].sum() >= MAX_POSTINGS:
        strongest, following = take_smallest(1 - z, family.document_frequency[words], MAX_POSTINGS)
        kept = strongest if len(strongest) else [following]
        words, z = words[kept], z[kept]
    evidence = np.zeros_like(family.word_mean)
    evidence[words] = z
    return evidence


def take_smallest(values: Array, weights: Array, total: float) -> tuple[Array, int]:
    """Return the smallest of some numbers from 0 on whose weights add up to less than a total, and the next one.

    Notes
    -----
    The leading bits of such numbers sort as the numbers do, so that only those with the bits of the last one have to be
    sorted: a third of the time that sorting all takes.
    """
    leading = values.astype(np.float32).view(np.uint32) >> np.uint32(16)
    sums = np.cumsum(np.bincount(leading, weights))
    last = min(int(np.searchsorted(sums, max(total, np.finfo(np.float64).tiny))), len(sums) - 1)
    inside = np.flatnonzero(leading == last)
    inside = inside[np.argsort(values[inside], kind="stable")]
    before = sums[last - 1] if last else 0.0
    n_taken = min(int(np.searchsorted(before + np.cumsum(weights[inside]), total)), len(inside) - 1)
    return np.concatenate([np.flatnonzero(leading < last), inside[:n_taken]]), int(inside[n_taken])


def sum_evidence(chunk: PlacedChunk, evidence: Array) -> Array:
    """Return Σ z over the words of each document, (n,). Only the lists of words with evidence are read."""
    words = np.flatnonzero(evidence != 0)
    if not len(words):
        return np.zeros(len(chunk.lengths))
    weights = evidence[words].astype(chunk.by_word.dtype)
    n_postings = int(np.diff(chunk.by_word.indptr)[words].sum())

    def sum_words(part: slice) -> Any:
        return np.asarray(chunk.read_words(words[part]) @ weights[part])

    n_threads = n_cores() if n_postings > THREADED_POSTINGS else 1
    total = sum_chunks(sum_words, even_slices(len(words), N_CHUNKS), n_threads)
    return np.asarray(total, dtype=np.float64)


def score_documents(chunk: PlacedChunk, evidence: Array) -> ScoredChunk:
    """Return documents with Σ z over their words as scores."""
    return ScoredChunk(**vars(chunk), scores=sum_evidence(chunk, evidence))


def share_from_scores(scores: Array, lengths: Array, base: float, gain: float) -> Array:
    """Return θ = (mean - b) / (a - b), (n,), from Σ z, the lengths, b and a - b."""
    return np.asarray((scores / np.where(lengths > 0, lengths, np.inf) - base) / gain)


def document_shares(chunk: ScoredChunk, base: float, gain: float) -> Array:
    """Return θ of the documents of a chunk, (n,)."""
    return np.asarray((chunk.scores / chunk.lengths - base) / gain)


@dataclass(frozen=True)
class LevelChunk(Chunk):
    """Documents with the mean of z over their words."""

    levels: Array  # (n,)
    lengths: Array  # (n,)


def _compute_levels(chunk: ScoredChunk, step: int) -> LevelChunk:
    """Return every `step`-th document."""
    rows = chunk.rows_at(step)
    lengths = chunk.lengths[rows]
    return LevelChunk(chunk.first // step, chunk.scores[rows] / lengths, lengths)


def base_level(scored: Chunks[ScoredChunk], weight: float) -> float:
    """Return the median level of the documents without the topic, weighted by length.

    If each document had only one topic, all but a fraction `weight` of the lowest levels would be without it.
    """
    sample = scored.map(_compute_levels, scored.n_rows // MAX_LEVELS + 1).collect().chunk
    half = (1 - np.clip(weight, 0, 1)) / 2 * sample.lengths.sum()
    return float(sample.levels[take_smallest(sample.levels, sample.lengths, half)[1]])


def max_members(size: int) -> int:
    """Return the maximum number of members of a topic of at least this size."""
    return int(np.clip(MEMBERS_PER_SEED * size, MIN_MEMBERS, MAX_MEMBERS))


def count_members(best: TopRows, n_members: int) -> int:
    """Return how many of the documents with the largest shares, at most `n_members`, are clearly about a topic."""
    n_clear = max(int(np.count_nonzero(best.scores[:n_members] > MEMBER_SHARE)), MIN_MEMBERS)
    return min(n_clear, count_within(best.values[0][:n_clear], MAX_MEMBER_WORDS, MIN_MEMBERS))


def find_largest_shares(chunk: ScoredChunk, base: float, gain: float, n: int, among: Array | None = None) -> Any:
    """Return the documents of a chunk, or among some, with the largest shares and the number of their words.

    A short document can show a high share by chance, so its share counts less.
    """
    scores = (chunk.scores - base * chunk.lengths) / (gain * (chunk.lengths + WORDS_ELSEWHERE))
    chosen = choose_rows(chunk, among)
    best = top_rows(scores, n) if chosen is None else chosen[top_rows(scores[chosen], n)]
    return best_with_sizes(chunk, scores, best, n)


def best_with_sizes(chunk: DocumentChunk, scores: Array, rows: Array, max_documents: int) -> TopRows:
    """Return documents of a chunk with their scores, and the number of different words of each."""
    starts = chunk.by_document.indptr
    return TopRows(max_documents, scores[rows], rows + chunk.first, (starts[rows + 1] - starts[rows],))


def count_within(sizes: Array, max_words: int, minimum: int) -> int:
    """Return how many of the first documents have at most `max_words` different words in all."""
    return max(int(np.searchsorted(np.cumsum(sizes), max_words)), minimum)


def word_typicality(family: PlacedFamily, probabilities: Array, members: Array) -> Array:
    """Return the information in nats about being a member that each word gives if a document contains it, (d,).

    Notes
    -----
    With D the fraction of the members that contain the word and E that of all documents, the divergence
    D log(D/E) + (1-D) log((1-D)/(1-E)), for words with D > E. Probabilities would rank words that every topic has, and
    lift those that occur twice; this ranks words that many members contain and few others. Words of a neighbour in the
    same documents do not count: they are not likelier in the topic itself.
    """
    n_containing = family.chunks.sum(_count_containing, members)
    rounding = 1e-9
    own = np.flatnonzero(probabilities > TYPICAL_LIFT * family.word_mean)
    inside = np.clip(n_containing[own] / len(members), rounding, 1 - rounding)
    overall = np.clip(family.document_frequency[own] / family.chunks.n_rows, rounding, 1 - rounding)
    divergence = inside * np.log(inside / overall) + (1 - inside) * np.log((1 - inside) / (1 - overall))
    typicality = np.zeros_like(family.word_mean)
    typicality[own] = np.where(inside > overall, divergence, 0.0)
    return typicality


def divergence_by_word(topic: Array, word_mean: Array) -> Array:
    """Compute what each word adds to the divergence Σ p log(p/q) of a topic from the corpus, (d,); 0 if p < q."""
    words = np.flatnonzero(topic > word_mean)
    safe = np.maximum(word_mean[words], np.finfo(np.float64).tiny)
    divergence = np.zeros_like(topic)
    divergence[words] = topic[words] * np.log(topic[words] / safe)
    return divergence


def promote_words(typicality: Array, words: Sequence[Array], probabilities: Array, word_mean: Array) -> Array:
    """Return how typical words are, if those of a hint are at least as typical as every word that they surpass.

    Notes
    -----
    A word surpasses another one if both its probability and its lift are larger. Few members need contain the word of
    a hint if they are filled-in templates: their fixed words are in all of them, and would come first.
    """
    lift = probabilities / np.where(word_mean > 0, word_mean, np.inf)
    ranked = np.flatnonzero(typicality > 0)
    promoted = typicality.copy()
    for columns in words:
        column = columns[np.argmax(probabilities[columns])]
        is_surpassed = (probabilities[ranked] <= probabilities[column]) & (lift[ranked] <= lift[column])
        promoted[column] = typicality[ranked[is_surpassed]].max(initial=typicality[column])
    return promoted


def _count_containing(chunk: PlacedChunk, indices: Array) -> Any:
    """Count how many of some documents contain each word, (d,)."""
    counts = chunk.read_documents(local_rows(chunk, indices)[1])
    return np.bincount(counts.indices, minlength=counts.shape[1])
