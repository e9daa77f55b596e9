"""The documents that a hint names by itself, before any topic is known: where local EM starts.

A hundred copies of a template say little more about a word than one does, but would outvote all other documents that
contain it. So near-copies together have as many votes as the root of their number. A template that always has the word
is another matter: it is what the word means here. The constants of near-copies rest on docs/decisions/text-engine.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks, top_rows
from mixsearch.errors import WeakHintWarning, warn_user
from mixsearch.topics.documents import (
    DocumentSample,
    PlacedChunk,
    PlacedFamily,
    ScoredChunk,
    ShareChunk,
    local_rows,
    pick_documents,
)
from mixsearch.topics.hint import Term, WordHint, phrase_error, sum_terms
from mixsearch.topics.ranking import NamedDocuments, mean_of_named, measure_counts
from mixsearch.topics.reductions import Maximum, TopRows

# Two documents are near-copies if the cosine of their sets of words, weighted by inverse document frequency, is larger.
MIN_COSINE = 0.5
# Words are hashed into 2^8 signed sums, which estimate a cosine with a standard error of at most 0.06.
SKETCH_BITS = 8
# Each document is compared with this many others, at even steps.
MAX_COMPARED = 64
# Copies are usual if at least this share of the documents have this many near-copies, themselves included.
USUAL_SHARE, MIN_COPIES = 0.5, 3
# Fixed words of a template are in this share of its copies. Fewer of them than the minimum make no template: in a small
# vocabulary all documents look like copies.
FIXED_SHARE, MIN_FIXED, MAX_FIXED = 0.95, 3, 5
# About this many of each group of near-copies take part in local EM, unless fewer documents than that minimum are left.
MAX_COPIES, MIN_DISTINCT = 3, 10
# Odd, with well-mixed upper bits.
_MIX = np.uint64(0x9E3779B97F4A7C15)
# Its multiples modulo 1 are spread evenly, so that a share of any group can be kept without knowing the groups.
_GOLDEN_RATIO = (np.sqrt(5) - 1) / 2
# A hint that fewer documents contain than this carries little information.
MIN_DOCUMENTS = 5
# Rounding errors, relative to the largest score of any document.
SCORE_ROUNDING = 1e-9
# However rare a hint is, local EM takes at least this fraction of the documents that it takes for a frequent one.
MIN_BREADTH = 0.25
# If more documents contain the hint, those with the most of it represent all.
MAX_SEEDS = 2000
# Documents that have more than this share of all words are alike without being copies.
MAX_WORD_SHARE = 0.1
# A template is what a hint asks for if at least this share of its copies contain it.
ASKED_SHARE = 0.9
MergeCopies = bool | Literal["auto"]


class NearCopies(NamedTuple):
    """Near-copies among some documents."""

    n_copies: Array  # an estimate of how many documents are near-copies of each one, itself included, (m,)
    largest: Array  # rows of the largest group of near-copies

    @property
    def are_usual(self) -> bool:
        """Whether most of the documents have near-copies."""
        return bool(np.mean(self.n_copies >= MIN_COPIES) >= USUAL_SHARE)


def find_copies(counts: sp.csr_array, inverse_frequency: Array) -> NearCopies:
    """Find near-copies among documents."""
    m = counts.shape[0]
    sketches, lengths = _sketch_words(counts, inverse_frequency)
    compared = np.linspace(0, m - 1, min(m, MAX_COMPARED)).astype(np.intp)
    are_near = sketches @ sketches[compared].T > MIN_COSINE * np.outer(lengths, lengths[compared])
    # No document is a copy of itself.
    are_near[compared, np.arange(len(compared))] = False
    n_others = np.full(m, len(compared))
    n_others[compared] -= 1
    n_copies = 1 + np.count_nonzero(are_near, axis=1) * ((m - 1) / np.maximum(n_others, 1))
    center = int(np.argmax(np.count_nonzero(are_near, axis=0)))
    return NearCopies(n_copies, np.append(np.flatnonzero(are_near[:, center]), compared[center]))


def thin_copies(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return the rows of documents to keep so that about three of each group of near-copies are left, (n,)."""
    rows = np.arange(counts.shape[0])
    kept = rows[rows * _GOLDEN_RATIO % 1 < MAX_COPIES / find_copies(counts, inverse_frequency).n_copies]
    return kept if len(kept) >= MIN_DISTINCT else rows


def list_fixed_words(counts: sp.csr_array, inverse_frequency: Array) -> Array:
    """Return the columns of the rarest words that nearly all copies of a template have, (n,)."""
    n_with = np.bincount(counts.indices, minlength=counts.shape[1])
    fixed = np.flatnonzero((n_with >= FIXED_SHARE * counts.shape[0]) & (inverse_frequency > 0))
    rarest = fixed[np.argsort(-inverse_frequency[fixed], kind="stable")[:MAX_FIXED]]
    return rarest if len(rarest) >= MIN_FIXED else rarest[:0]


@lru_cache(maxsize=8)
def _hash_words(n_words: int) -> tuple[Array, Array]:
    """Return the index of the sum that each word is added to, and its sign there, (n_words,)."""
    hashes = np.arange(n_words, dtype=np.uint64) * _MIX
    signs = np.where(hashes >> np.uint64(63 - SKETCH_BITS) & np.uint64(1), 1.0, -1.0)
    return (hashes >> np.uint64(64 - SKETCH_BITS)).astype(np.int32), signs


def _sketch_words(counts: sp.csr_array, inverse_frequency: Array) -> tuple[Array, Array]:
    """Return vectors whose scalar products estimate those of sets of words, (m, 2^8), and the lengths of these."""
    buckets, signs = _hash_words(counts.shape[1])
    values = (signs * inverse_frequency).astype(np.float32).take(counts.indices)
    hashed = buckets.take(counts.indices)
    sketches, squares = (
        sp.csr_array((each, hashed, counts.indptr), shape=(counts.shape[0], 1 << SKETCH_BITS))
        for each in (values, values**2)
    )
    return np.asarray(sketches.toarray()), np.sqrt(squares @ np.ones(1 << SKETCH_BITS, np.float32))


class Seeds(NamedTuple):
    """The documents that a hint names."""

    scored: Chunks[ScoredChunk]  # documents of the corpus with their scores under the hint
    min_score: float  # the hint names the documents with larger scores
    named: NamedDocuments | None  # what they have in common; None if the hint names no document
    size: int  # a lower bound of the number of documents about the topic
    merge_copies: bool = False  # few of each group of near-copies are needed
    against: NamedDocuments | None = None  # what documents that are not about the topic have in common


def seed_from_words(hint: WordHint, merge_copies: MergeCopies, family: PlacedFamily, weight: float) -> Seeds:
    """Return the documents that contain the words of a hint, weighted by how much of them is about these."""
    scored = _score_documents(family, hint)
    largest: Maximum = scored.sum(_max_score)
    min_score = SCORE_ROUNDING * largest.value
    n_named, densest = scored.sum(_find_densest, min_score)
    if n_named < MIN_DOCUMENTS and np.any(hint.values > 0):
        warn_user(
            WeakHintWarning(
                "Only {n_named} of {n_documents:,} documents match the hint: too few to find what else belongs to "
                "their topic. Add related words.",
                code="rare_hint",
                n_named=n_named,
                n_documents=family.chunks.n_rows,
            )
        )
    if not n_named:
        return Seeds(scored, min_score, None, _estimate_size(family, weight))
    order = np.argsort(densest.indices)  # as they are stored
    density = densest.scores[order]
    documents = pick_documents(family.chunks, densest.indices[order])
    n_copies, outweigh = np.ones(len(density)), False
    if merge_copies:
        n_copies, outweigh = _count_copies(family, hint, documents, merge_copies)
    # Together, n near-copies have the votes of √n others.
    named = mean_of_named(family, documents, densest.indices, density / np.sqrt(n_copies), n_named)
    return Seeds(scored, min_score, named, n_named, outweigh)


def _count_copies(
    family: PlacedFamily, hint: WordHint, documents: DocumentSample, merge_copies: MergeCopies
) -> tuple[Array, bool]:
    """Return how many near-copies each document with words of a hint has, (m,), and whether they outweigh others.

    "auto" counts none if the vocabulary is too small to tell copies, or the largest template is what is asked for.
    """
    m, d = documents.counts.shape
    if merge_copies == "auto" and documents.counts.nnz > MAX_WORD_SHARE * m * d:
        return np.ones(m), False
    weights = family.idf.copy()
    copies = find_copies(documents.counts, weights)
    if merge_copies == "auto" and copies.are_usual:
        wanted = hint.columns[hint.values > 0]
        weights[wanted] = 0
        fixed = list_fixed_words(documents.counts[copies.largest], weights)
        n_template, n_asked = family.chunks.sum(_count_template, fixed, wanted)
        if n_asked >= ASKED_SHARE * n_template:
            return np.ones(m), False
    return copies.n_copies, copies.are_usual


def _count_template(chunk: PlacedChunk, fixed: Array, wanted: Array) -> Any:
    """Count the documents with all fixed words of a template, and those of them with a wanted word."""
    if not len(fixed):
        return np.zeros(2)
    rows = np.flatnonzero(np.diff(sp.csr_array(chunk.read_words(fixed)).indptr) == len(fixed))
    n_asked = np.count_nonzero(chunk.read_documents(rows)[:, wanted].sum(axis=1))
    return np.array([len(rows), n_asked])


class DensestDocuments(NamedTuple):
    """Documents that contain the words of a hint."""

    n_named: int
    best: TopRows  # by the fraction of the document that is about the hint


def _score_documents(family: PlacedFamily, hint: WordHint) -> Chunks[ScoredChunk]:
    """Score documents by the words of a hint; those of a phrase count where all of them occur."""
    phrases = [(term.parts, sum_terms([term], family.word_mean)) for term in hint.phrases]
    if phrases:
        hint = sum_terms([term for term in hint.terms if len(term.parts) == 1], family.word_mean)
    return family.chunks.map(_score_words, hint, phrases)


def _score_words(
    chunk: PlacedChunk, hint: WordHint, phrases: Sequence[tuple[tuple[Array, ...], WordHint]]
) -> ScoredChunk:
    scores = np.asarray(chunk.read_words(hint.columns) @ hint.values)
    for parts, phrase in phrases:
        is_whole = np.all([np.asarray(chunk.read_words(part).sum(axis=1)) > 0 for part in parts], axis=0)
        scores += is_whole * (chunk.read_words(phrase.columns) @ phrase.values)
    return ScoredChunk(**vars(chunk), scores=scores)


def check_phrases(family: PlacedFamily, hint: WordHint) -> None:
    """Reject a hint of phrases whose words occur, but never together in one document."""
    wanted = [term for term in hint.terms if term.weight > 0]
    if wanted and not any(_occurs(family, term) for term in wanted):
        raise phrase_error(wanted[0].word)


def _occurs(family: PlacedFamily, term: Term) -> bool:
    """Return whether a document contains all words of a term, also those that are not features."""
    # Of a word in many documents, those with most of it are known.
    known = [word for word in term.skipped if word.is_complete]
    if len(term.parts) == 1 and not known:
        return True
    holds = find_named(family, sum_terms([term], family.word_mean))
    for word in known:
        holds &= np.isin(np.arange(len(holds)), word.documents)
    return bool(holds.any())


def find_named(family: PlacedFamily, hint: WordHint) -> Array:
    """Return which documents of the corpus contain the words of a hint, (n,) of bool."""
    scored = _score_documents(family, hint)
    largest: Maximum = scored.sum(_max_score)
    return scored.map(_mark_named, SCORE_ROUNDING * largest.value).collect().chunk.shares > 0


def _mark_named(chunk: ScoredChunk, min_score: float) -> ShareChunk:
    return ShareChunk(chunk.first, chunk.scores > min_score)


def _max_score(chunk: ScoredChunk) -> Any:
    return Maximum(chunk.scores.max(initial=0.0))


def _find_densest(chunk: ScoredChunk, min_score: float) -> DensestDocuments:
    rows = np.flatnonzero(chunk.scores > min_score)
    density = chunk.scores[rows] / chunk.lengths[rows]
    best = top_rows(density, MAX_SEEDS)
    return DensestDocuments(len(rows), TopRows(MAX_SEEDS, density[best], rows[best] + chunk.first))


def seed_from_documents(counts: sp.csr_array, indices: Array, family: PlacedFamily, weight: float) -> Seeds:
    """Return the documents of a hint themselves."""
    documents = measure_counts(family, counts)
    weights = 1 / np.where(documents.lengths > 0, documents.lengths, np.inf)
    named = mean_of_named(family, documents, indices, weights)
    size = max(_estimate_size(family, weight), len(indices))
    return Seeds(family.chunks.map(score_listed, indices), 0.0, named, size)


def score_listed(chunk: PlacedChunk, indices: Array) -> ScoredChunk:
    """Score some documents of the corpus with 1, and the others with 0."""
    scores = np.zeros(len(chunk.lengths))
    scores[local_rows(chunk, indices)[1]] = 1.0
    return ScoredChunk(**vars(chunk), scores=scores)


def breadth_for(n_seeds: int, n_components: int, n_documents: int) -> float:
    """Return how broad local EM should be: the narrower the rarer the hint is compared with the fitted topics."""
    return float(np.clip(np.sqrt(n_seeds * n_components / n_documents), MIN_BREADTH, 1))


def _estimate_size(family: PlacedFamily, weight: float) -> int:
    """Return the number of documents of a topic of this weight, if each document had only one topic."""
    return int(np.clip(weight, 0, 1) * family.chunks.n_rows)
