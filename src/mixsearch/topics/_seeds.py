"""The documents that a hint names by itself, before any topic is known: where local EM starts."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions
from mixsearch.data.reductions import Maximum, TopRows, top_rows
from mixsearch.errors import UnknownWordError, WeakHintWarning, warn_user
from mixsearch.topics._documents import (
    DocumentSample,
    ScoredPartition,
    SharePartition,
    TopicPartition,
    local_rows,
    pick_documents,
)
from mixsearch.topics._dropped import DroppedWords
from mixsearch.topics._hint import Term, WordHint
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._near_copies import find_copies, list_fixed_words
from mixsearch.topics._ranking import NamedDocuments, mean_of_named, measure_counts

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


class Seeds(NamedTuple):
    """The documents that a hint names."""

    scored: Partitions[ScoredPartition]  # documents of the corpus with their scores under the hint
    min_score: float  # the hint names the documents with larger scores
    named: NamedDocuments | None  # what they have in common; None if the hint names no document
    size: int  # a lower bound of the number of documents about the topic
    merge_copies: bool = False  # few of each group of near-copies are needed
    against: NamedDocuments | None = None  # what documents that are not about the topic have in common


def seed_from_words(hint: WordHint, merge_copies: MergeCopies, family: TopicFamily, weight: float) -> Seeds:
    """Return the documents that contain the words of a hint, weighted by how much of them is about these.

    Parameters
    ----------
    hint : WordHint
    merge_copies : bool or "auto"
        Whether near-copies count less; "auto" unless they are what the hint asks for.
    family : TopicFamily
    weight : float
        The weight of the topic found, from which its size follows if no document contains a word of the hint.

    Returns
    -------
    Seeds
    """
    scored = family.partitions.map(_score_words, hint)
    largest: Maximum = scored.reduce(_max_score).total
    min_score = SCORE_ROUNDING * largest.value
    n_named, densest = scored.reduce(_find_densest, min_score)
    if n_named < MIN_DOCUMENTS and np.any(hint.values > 0):
        warn_user(
            WeakHintWarning(
                "Only {n_named} of {n_documents:,} documents contain the words of the hint: too few to find what else "
                "belongs to their topic. Add related words.",
                code="rare_hint",
                n_named=n_named,
                n_documents=family.partitions.n_rows,
            )
        )
    if not n_named:
        return Seeds(scored, min_score, None, _estimate_size(family, weight))
    order = np.argsort(densest.indices)  # as they are stored
    density = densest.scores[order]
    documents = pick_documents(family.partitions, densest.indices[order])
    n_copies, outweigh = np.ones(len(density)), False
    if merge_copies:
        n_copies, outweigh = _count_copies(family, hint, documents, merge_copies)
    # Together, n near-copies have the votes of √n others.
    named = mean_of_named(family, documents, densest.indices, density / np.sqrt(n_copies), n_named)
    return Seeds(scored, min_score, named, n_named, outweigh)


def _count_copies(
    family: TopicFamily, hint: WordHint, documents: DocumentSample, merge_copies: MergeCopies
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
        n_template, n_asked = family.partitions.reduce(_count_template, fixed, wanted).total
        if n_asked >= ASKED_SHARE * n_template:
            return np.ones(m), False
    return copies.n_copies, copies.are_usual


def _count_template(partition: TopicPartition, fixed: Array, wanted: Array) -> ArraySum:
    """Count the documents with all fixed words of a template, and those of them with a wanted word."""
    if not len(fixed):
        return ArraySum(np.zeros(2))
    rows = np.flatnonzero(np.diff(sp.csr_array(partition.by_word[:, fixed]).indptr) == len(fixed))
    n_asked = np.count_nonzero(partition.by_document[rows][:, wanted].sum(axis=1))
    return ArraySum(np.array([len(rows), n_asked]))


class DensestDocuments(NamedTuple):
    """Documents that contain the words of a hint."""

    n_named: int
    best: TopRows  # by the fraction of the document that is about the hint


def _score_words(partition: TopicPartition, hint: WordHint) -> ScoredPartition:
    scores = np.asarray(partition.by_word[:, hint.columns] @ hint.values)
    for phrase in hint.phrases:
        scores -= _score_incomplete(phrase, hint, partition.by_word)
    return ScoredPartition(**vars(partition), scores=scores)


def _score_incomplete(phrase: tuple[Array, ...], hint: WordHint, by_word: sp.csc_array) -> Array:
    """Return the scores from words of a phrase in documents that do not contain all of them, (n,)."""
    is_incomplete = np.any([np.asarray(by_word[:, part].sum(axis=1)) == 0 for part in phrase], axis=0)
    own = np.isin(hint.columns, np.concatenate(phrase))
    return np.asarray(is_incomplete * (by_word[:, hint.columns[own]] @ hint.values[own]))


def check_phrases(family: TopicFamily, hint: WordHint, dropped: DroppedWords | None) -> None:
    """Reject a hint of phrases whose words occur, but never together in one document."""
    wanted = [term for term in hint.terms if term.weight > 0]
    if not wanted or any(_occurs(family, term, dropped) for term in wanted):
        return
    phrase = wanted[0].word
    raise UnknownWordError(
        "No document contains {word!r}: its words occur, but never in the same document. Search for the words one by "
        "one, without quotes or hyphens: {words}.",
        code="phrase_without_documents",
        word=phrase,
        words=phrase,
    )


def _occurs(family: TopicFamily, term: Term, dropped: DroppedWords | None) -> bool:
    """Return whether a document contains all words of a term, also those that are not features."""
    others = [] if dropped is None else [dropped.find(word) for word in term.word.split()]
    # Of a word in many documents, those with most of it are known.
    known = [each for each in others if each is not None and 0 < each.n_documents == len(each.documents)]
    if len(term.parts) == 1 and not known:
        return True
    holds = find_named(family, term.hint(family.word_mean)._replace(terms=(term,)))
    for each in known:
        holds &= np.isin(np.arange(len(holds)), each.documents)
    return bool(holds.any())


def find_named(family: TopicFamily, hint: WordHint) -> Array:
    """Return which documents of the corpus contain the words of a hint, (n,) of bool."""
    scored = family.partitions.map(_score_words, hint)
    largest: Maximum = scored.reduce(_max_score).total
    return scored.map(_mark_named, SCORE_ROUNDING * largest.value).collect().partition.shares > 0


def _mark_named(partition: ScoredPartition, min_score: float) -> SharePartition:
    return SharePartition(partition.first, partition.scores > min_score)


def _max_score(partition: ScoredPartition) -> ArraySum:
    return ArraySum(Maximum(partition.scores.max(initial=0.0)))


def _find_densest(partition: ScoredPartition, min_score: float) -> DensestDocuments:
    rows = np.flatnonzero(partition.scores > min_score)
    density = partition.scores[rows] / partition.lengths[rows]
    best = top_rows(density, MAX_SEEDS)
    return DensestDocuments(len(rows), TopRows(MAX_SEEDS, density[best], rows[best] + partition.first))


def seed_from_documents(counts: sp.csr_array, indices: Array, family: TopicFamily, weight: float) -> Seeds:
    """Return the documents of a hint themselves.

    Parameters
    ----------
    counts : sparse array of shape (q, d)
    indices : array of shape (s,)
        Their indices in the corpus; empty if they are not part of it.
    family : TopicFamily
    weight : float
        The weight of the topic found, from which its size follows.

    Returns
    -------
    Seeds
    """
    documents = measure_counts(family, counts)
    weights = 1 / np.where(documents.lengths > 0, documents.lengths, np.inf)
    named = mean_of_named(family, documents, indices, weights)
    size = max(_estimate_size(family, weight), len(indices))
    return Seeds(family.partitions.map(mark_documents, indices), 0.0, named, size)


def mark_documents(partition: TopicPartition, indices: Array) -> ScoredPartition:
    """Score some documents of the corpus with 1, and the others with 0."""
    scores = np.zeros(len(partition.lengths))
    scores[local_rows(partition, indices)[1]] = 1.0
    return ScoredPartition(**vars(partition), scores=scores)


def breadth_for(n_seeds: int, n_components: int, n_documents: int) -> float:
    """Return how broad local EM should be: the narrower the rarer the hint is compared with the fitted topics."""
    return float(np.clip(np.sqrt(n_seeds * n_components / n_documents), MIN_BREADTH, 1))


def _estimate_size(family: TopicFamily, weight: float) -> int:
    """Return the number of documents of a topic of this weight, if each document had only one topic."""
    return int(np.clip(weight, 0, 1) * family.partitions.n_rows)
