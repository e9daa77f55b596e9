"""Several queries at once: their answers, and what their topics have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning, StorageError
from mixsearch.index.answer import Answer, AnswerOptions, TypicalDocument
from mixsearch.index.description import describe
from mixsearch.index.groups import make_unique
from mixsearch.index.query import Found, Query
from mixsearch.index.topic_index import TopicIndex
from mixsearch.machine import map_parallel
from mixsearch.topics.component import Topic


@dataclass(frozen=True)
class Outcome:
    """The outcome of a query: an answer with its topic, or the error that explains why there is none."""

    query: Query
    answer: Answer | None = None
    topic: Topic | None = None
    warnings: tuple[SearchWarning, ...] = ()
    error: SearchError | None = None
    seconds: float = 0.0

    @classmethod
    def from_found(cls, found: Found, options: AnswerOptions) -> Self:
        """Describe what a query found."""
        return cls(found.query, describe(found, options), found.choose(options.alternative), found.warnings)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as JSON has it, or the hint and its error."""
        if self.answer is not None:
            return self.answer.as_dict()
        return {"hint": self.query.name, "error": None if self.error is None else self.error.as_dict()}


def answer_queries(
    index: TopicIndex, queries: Sequence[Query], options: AnswerOptions | None = None, *, n_jobs: int = -1
) -> list[Outcome]:
    """Find and describe the topic of every query, in parallel threads.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    queries : sequence of Query
        What to search for.
    options : AnswerOptions, optional
        How much of each topic to describe.
    n_jobs : int, default=-1
        The number of threads; -1 for one per core.

    Returns
    -------
    list of Outcome
        In the order of the queries. An error of one query leaves the others alone. The shares of all topics in a
        document add up to at most 1.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, Query, answer_queries, build_index, open_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> outcomes = answer_queries(open_index(built.path), [Query(word, {word: 1}) for word in ("sushi", "opera")])
    >>> outcomes[0].answer.verdict
    'clearly about what was asked'
    >>> print(outcomes[1].error)
    'opera' is not among the 138 words. No word has a similar spelling.
    """
    options = options or AnswerOptions()
    outcomes: list[Outcome] = map_parallel(lambda query: _answer(index, query, options), queries, n_jobs)
    return _share_documents(index, outcomes, is_sorted=options.sort_by is not None)


def _share_documents(index: TopicIndex, outcomes: Sequence[Outcome], *, is_sorted: bool) -> list[Outcome]:
    """Return outcomes whose topics share documents: together they have at most all of each."""
    topics = {position: each.topic for position, each in enumerate(outcomes) if each.topic is not None}
    rows = sorted({document.row for each in outcomes for document in _documents_of(each)})
    if len(topics) < 2 or not rows:
        return list(outcomes)
    shares = index.shares(list(topics.values()), rows)
    index_of_row = {row: i for i, row in enumerate(rows)}
    for column, position in enumerate(topics):
        for document in _documents_of(outcomes[position]):
            shares[index_of_row[document.row], column] = document.share
    shares /= np.maximum(shares.sum(axis=1, keepdims=True), 1)
    shared = list(outcomes)
    for column, position in enumerate(topics):
        own = dict(zip(rows, shares[:, column].tolist(), strict=True))
        shared[position] = _with_shares(outcomes[position], own, is_sorted=is_sorted)
    return shared


def _documents_of(outcome: Outcome) -> tuple[TypicalDocument, ...]:
    return () if outcome.answer is None else outcome.answer.documents


def _with_shares(outcome: Outcome, shares: Mapping[int, float], *, is_sorted: bool) -> Outcome:
    """Return an outcome with other shares of its documents, the largest first unless they are sorted by a column."""
    documents = [replace(document, share=shares[document.row]) for document in _documents_of(outcome)]
    ranked = tuple(documents if is_sorted else sorted(documents, key=lambda document: -document.share))
    return outcome if outcome.answer is None else replace(outcome, answer=replace(outcome.answer, documents=ranked))


def name_outcomes(outcomes: Sequence[Outcome]) -> dict[str, Topic]:
    """Return the topics of outcomes under different names."""
    topics: dict[str, Topic] = {}
    for outcome in outcomes:
        if outcome.topic is not None:
            topics[make_unique(outcome.query.name, topics)] = outcome.topic
    return topics


def compare_topics(outcomes: Sequence[Outcome]) -> list[list[float | None]]:
    """Measure what each pair of topics has in common."""
    found = [position for position, outcome in enumerate(outcomes) if outcome.topic is not None]
    table: list[list[float | None]] = [[None] * len(outcomes) for _ in outcomes]
    if found:
        overlaps = compute_overlaps([outcome.topic.probabilities for outcome in outcomes if outcome.topic is not None])
        for position, row in zip(found, overlaps.tolist(), strict=True):
            for other, overlap in zip(found, row, strict=True):
                table[position][other] = overlap
    return table


def _answer(index: TopicIndex, query: Query, options: AnswerOptions) -> Outcome:
    start = perf_counter()
    try:
        with index.explain_failures():
            outcome = Outcome.from_found(index.find(query), options)
    except StorageError:
        raise  # it is about the index, not about the query
    except SearchError as error:
        return Outcome(query, error=error)
    return replace(outcome, seconds=perf_counter() - start)


def compute_overlaps(probabilities: npt.ArrayLike) -> Array:
    """Measure what each pair of topics has in common.

    Notes
    -----
    The sum over words of the smaller probability, Σ min(p, q) = (Σp + Σq - Σ|p - q|) / 2: one minus the total variation
    distance.
    """
    from scipy.spatial.distance import pdist, squareform  # which an answer to one query need not wait for

    rows = np.asarray(probabilities, dtype=np.float64)
    totals = rows.sum(axis=1)
    overlaps = (totals[:, None] + totals - squareform(pdist(rows, "cityblock"))) / 2
    return np.asarray(np.clip(overlaps, 0.0, 1.0))


def take_off_corpus(probabilities: npt.ArrayLike, corpus: npt.ArrayLike) -> Array:
    """Return what topics have beyond the corpus, as distributions over words."""
    rows = np.asarray(probabilities, dtype=np.float64)
    own = np.maximum(rows - np.asarray(corpus), 0)
    totals = own.sum(axis=1, keepdims=True)
    return np.where(totals > 0, own / np.where(totals > 0, totals, 1), rows)
