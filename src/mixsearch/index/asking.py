"""Ask an index: a search for every query, and each answer with what it rests on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from mixsearch.display import verdict
from mixsearch.errors import HintError, SearchError, SkippedWordsWarning, collect_warnings
from mixsearch.estimators import Topic
from mixsearch.estimators.base import ask_in_parallel
from mixsearch.index.answers import (
    Alternative,
    Answer,
    Asking,
    Query,
    RelatedWord,
    Reply,
    SkippedWord,
    TopicWord,
    TypicalDocument,
)
from mixsearch.index.topic_index import TopicIndex, snippet
from mixsearch.types import Array

N_ALTERNATIVES = 3
WORDS_OF_ALTERNATIVE = 6


def ask(index: TopicIndex, queries: Sequence[Query], asking: Asking | None = None, n_jobs: int = -1) -> list[Reply]:
    """Search for every query, in parallel threads; replies keep the order, and an error is that of its query only."""
    wanted = asking or Asking()
    replies: list[Reply] = ask_in_parallel(lambda query: reply_to(index, query, wanted), queries, n_jobs)
    return replies


class Found(NamedTuple):
    """The topic of a query, and what was warned of on the way."""

    topic: Topic
    warnings: tuple[Warning, ...]


def find(index: TopicIndex, query: Query, search: Mapping[str, Any]) -> Found:
    """Search for one query."""
    with collect_warnings() as heard:
        topic = index.search(query.words, text=query.texts, documents=_rows_of(query), **search)
    return Found(topic, tuple(heard))


def reply_to(
    index: TopicIndex,
    query: Query,
    asking: Asking,
    find: Callable[[TopicIndex, Query, Mapping[str, Any]], Found] = find,
) -> Reply:
    """What an index says to one query; `find` may know its topic from before."""
    start = perf_counter()
    try:
        found = find(index, query, asking.search)
        topic = _reading(found.topic, asking.alternative)
        answer = _describe(index, query, found, topic, asking)
    except SearchError as error:
        return Reply(query, error=error)
    return Reply(query, answer, topic, seconds=perf_counter() - start)


def _rows_of(query: Query) -> Array | None:
    return None if query.rows is None else np.array(query.rows, dtype=np.int64)


def _reading(found: Topic, alternative: int) -> Topic:
    """The topic found, or another that the hint could mean."""
    if not alternative:
        return found
    if alternative not in found.other_ranks:
        raise HintError(
            f"There is no alternative {alternative}: beside the topic found there are {len(found.other_ranks)}, from 1."
        )
    return found.ranked(alternative)


def _describe(index: TopicIndex, query: Query, found: Found, topic: Topic, asking: Asking) -> Answer:
    words = _words_of(topic, asking)
    told = {each.word for each in words}
    related = [pair for pair in topic.related_words(asking.n_related + asking.n_words) if pair[0] not in told]
    return Answer(
        hint=query.name,
        alternative=topic.rank,
        weight=float(topic.weight),
        separation=float(topic.separation) if math.isfinite(topic.separation) else None,
        verdict=verdict(topic.separation),
        share_of_hint=topic.share,
        n_components=len(topic.scores),
        n_fitted=index.n_components,
        words=words,
        related_words=tuple(RelatedWord(*pair) for pair in related[: asking.n_related]),
        documents=_documents_of(index, topic, [*(query.words or ()), *told], asking),
        alternatives=_alternatives(found.topic, topic),
        weight_stderr=float(topic.stderr.weight) if asking.errors else None,
        confidence=topic.confidence if asking.confidence else None,
        skipped=_skipped(found.warnings),
        warnings=tuple(dict.fromkeys(map(str, found.warnings))),
    )


def _words_of(topic: Topic, asking: Asking) -> tuple[TopicWord, ...]:
    if not asking.n_words:
        return ()
    columns = topic.top_columns(asking.n_words, by=asking.by)
    pairs = topic.words_at(columns)
    usual = topic.model.word_mean[columns].tolist()
    errors = topic.stderr.center[columns].tolist() if asking.errors else [None] * len(pairs)
    return tuple(
        TopicWord(word, probability, probability / mean if mean > 0 else 0.0, error)
        for (word, probability), mean, error in zip(pairs, usual, errors, strict=True)
    )


def _documents_of(index: TopicIndex, topic: Topic, words: Sequence[str], asking: Asking) -> tuple[TypicalDocument, ...]:
    if not asking.n_documents:
        return ()
    best = topic.documents(asking.skip_documents + asking.n_documents)[asking.skip_documents :]
    found = index.documents([row for row, _ in best])
    return tuple(
        TypicalDocument(each.row, each.name, share, None if each.text is None else snippet(each.text, words))
        for each, (_, share) in zip(found, best, strict=True)
    )


def _alternatives(found: Topic, topic: Topic) -> tuple[Alternative, ...]:
    """What else the hint could mean; the topic found first, where it is another that is told."""
    ranks = topic.other_ranks[:N_ALTERNATIVES]
    return tuple(_alternative(found.ranked(rank) if rank else found) for rank in ranks)


def _alternative(topic: Topic) -> Alternative:
    words = tuple(word for word, _ in topic.top_words(WORDS_OF_ALTERNATIVE))
    return Alternative(topic.rank, words, float(topic.weight), topic.share)


def _skipped(heard: Sequence[Warning]) -> tuple[SkippedWord, ...]:
    told = [warning.suggestions for warning in heard if isinstance(warning, SkippedWordsWarning)]
    return tuple(SkippedWord(word, tuple(alike)) for each in told for word, alike in each.items())
