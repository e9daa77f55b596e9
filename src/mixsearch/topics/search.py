"""The search for a topic: from a hint to the documents that belong to it, and to their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import HintError, Option, SearchWarning, WeakHintWarning, warn_user
from mixsearch.machine import one_blas_thread
from mixsearch.options import SearchOptions, check_range
from mixsearch.topics.fitted_corpus import FittedCorpus, Vectors
from mixsearch.topics.hint import Hint, Vocabulary, find_terms, mark_documents, read_words, weigh_documents
from mixsearch.topics.membership import TopicCheck, calibrate
from mixsearch.topics.score import join_vectors, score_documents, take_rows
from mixsearch.topics.topic import Topic, make_topic
from mixsearch.topics.words import find_meanings


@one_blas_thread  # of matrices this small, threads wait for each other
def find_topic(corpus: FittedCorpus, hint: Hint) -> Topic:
    """Find the topic of a hint: which documents belong to it, and what distinguishes their words."""
    # 1) the hint as a distribution over documents: those that contain the words, and those marked
    documents, weights = weigh_documents(corpus, hint)
    vectors = corpus.take_vectors(documents)
    if hint.meaning is not None:
        documents, vectors, weights = choose_meaning(corpus, hint, documents, vectors, weights)
    if hint.counts is not None:
        given = hint.counts[np.diff(hint.counts.indptr) > 0]
        vectors = join_vectors(vectors, corpus.place(given))
        weights = np.append(weights, np.full(given.shape[0], 1 / max(given.shape[0], 1)))
    if not np.any(weights > 0):
        raise HintError(
            "The documents of the hint contain no word of the vocabulary. Give documents with words of it.",
            code="empty_documents",
        )
    # 2) one score per document: contrast of its words and of its coordinates with the corpus, and a walk
    scores = score_documents(corpus, vectors, weights, hint.narrower)
    # 3) membership, by how hint documents score when they are left out
    is_given = mark_documents(corpus, hint.terms)
    is_given[documents] = True
    calibration = calibrate(corpus, vectors, weights, scores, hint.columns, is_given)
    # 4) the topic; its component by the third moment is extracted when it is asked for (paper, Algorithm 1)
    warnings = list_warnings(hint, len(documents), calibration.check)
    return make_topic(corpus, hint, scores, calibration, (documents, vectors, weights), warnings)


def choose_meaning(
    corpus: FittedCorpus, hint: Hint, documents: Array, vectors: Vectors, weights: Array
) -> tuple[Array, Vectors, Array]:
    """Return the hint documents of one of the meanings, and their weights."""
    meanings = find_meanings(corpus, documents, vectors, hint.columns)
    if not 0 <= (hint.meaning or 0) < len(meanings):
        raise HintError(
            "Meaning {meaning} does not exist: the hint has {n_meanings} of them, counted from 0."
            if meanings
            else "The hint has only one meaning, so meaning {meaning} does not exist.",
            code="no_such_meaning",
            meaning=hint.meaning,
            n_meanings=len(meanings),
        )
    rows = np.searchsorted(documents, meanings[hint.meaning or 0].documents)
    return documents[rows], take_rows(vectors, rows), weights[rows] / max(weights[rows].sum(), 1e-12)


def list_warnings(hint: Hint, n_documents: int, check: TopicCheck) -> list[SearchWarning]:
    """List the reasons not to trust an answer, and issue them."""
    warnings: list[SearchWarning] = []
    if hint.terms and check.is_common:
        warnings.append(
            WeakHintWarning(
                "Most documents contain '{words}', so that few are left to compare with. Choose a rarer word."
                if check.n_documents
                else "All documents contain '{words}', so that none are left to compare with. Choose a rarer word.",
                code="common_hint",
                words=hint.words,
            )
        )
    elif hint.terms and check.match is None:
        warnings.append(
            WeakHintWarning(
                "Only {n_documents} documents contain '{words}': too few to check what else belongs to the topic. Add "
                "related words."
                if n_documents > 1
                else "Only one document contains '{words}': too few to check what else belongs to the topic. Add "
                "related words.",
                code="rare_hint",
                n_documents=n_documents,
                words=hint.words,
            )
        )
    elif check.match == "weak":
        warnings.append(
            WeakHintWarning(
                "The documents of the hint have little else in common, so it may not have a topic of its own. Add a "
                "word, or choose a narrower one.",
                code="weak_hint",
            )
        )
    for warning in warnings:
        warn_user(warning)
    return warnings


def make_hint(
    corpus: FittedCorpus,
    vocabulary: Vocabulary,
    words: Any,
    documents: Sequence[int] | None,
    not_documents: Sequence[int] | None,
    counts: sp.csr_array | None,
    narrower: float,
    meaning: int | None,
) -> Hint:
    """Look up the words and rows of a hint; `counts` are damped ones of other documents."""
    check_range(SearchOptions, "narrower", narrower)
    terms, avoided = ((), ()) if words is None else find_terms(read_words(words), vocabulary)
    rows, not_rows = (
        np.unique(corpus.find_rows([] if given is None else given)).astype(np.intp)
        for given in (documents, not_documents)
    )
    if not terms and not len(rows) and counts is None:
        raise HintError(
            "A search needs words or documents. Give {words} or {documents}.",
            code="one_hint_needed",
            words=Option("words"),
            documents=Option("documents"),
        )
    if len(np.intersect1d(rows, not_rows)):
        raise HintError(
            "A document is in {documents} and in {not_documents}. Leave it out of one of the two.",
            code="contradicting_documents",
            documents=Option("documents"),
            not_documents=Option("not_documents"),
        )
    return Hint(terms, avoided, rows, not_rows, counts, narrower, meaning)
