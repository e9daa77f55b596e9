"""Describe the topic that a query found: its words, documents, alternatives and doubts, as an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mixsearch.core.separation import verdict, verdict_by_confidence, verdict_code
from mixsearch.errors import SearchWarning, SkippedWordsWarning
from mixsearch.index.answer import (
    Alternative,
    Answer,
    AnswerWarning,
    RelatedWord,
    SkippedWord,
    TopicWord,
    TypicalDocument,
)
from mixsearch.index.columns import Columns, to_plain
from mixsearch.index.options import AnswerOptions
from mixsearch.index.query import N_ALTERNATIVES, Found
from mixsearch.index.snippets import make_snippet
from mixsearch.index.sorting import sort_documents
from mixsearch.topics import Topic, has_quick_confidence

N_WORDS_OF_ALTERNATIVE = 6


def describe(found: Found, options: AnswerOptions | None = None) -> Answer:
    """Describe the topic that a query found.

    Parameters
    ----------
    found : Found
        What `TopicIndex.find` returned.
    options : AnswerOptions, optional
        How much to describe.

    Returns
    -------
    Answer

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import AnswerOptions, IndexOptions, Query, build_index, describe, open_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> found = open_index(built.path).find(Query("sushi", {"sushi": 1}))
    >>> answer = describe(found, AnswerOptions(n_words=3, n_documents=2))
    >>> answer.verdict_code, sorted(each.word for each in answer.words), len(answer.documents)
    ('clear', ['salmon', 'sushi', 'tuna'], 2)
    """
    options = options or AnswerOptions()
    topic = found.choose(options.alternative)
    words = _describe_words(topic, options)
    listed = {each.word for each in words}
    confidence = topic.confidence if options.confidence or has_quick_confidence(topic) else None
    code, words_of_verdict = _judge(topic.separation, confidence)
    return Answer(
        hint=found.query.name,
        alternative=options.alternative,
        weight=float(topic.weight),
        **_count_documents(topic),
        separation=float(topic.separation) if math.isfinite(topic.separation) else None,
        verdict=words_of_verdict,
        verdict_code=code,
        share_of_hint=topic.share,
        n_components=len(topic.scores),
        n_fitted=found.index.n_components,
        words=words,
        related_words=_describe_related(topic, listed, options),
        documents=_describe_documents(found, topic, listed, options),
        alternatives=_describe_alternatives(found, options),
        weight_stderr=float(topic.stderr.weight) if options.errors else None,
        confidence=confidence,
        skipped=_list_skipped(found.warnings),
        warnings=tuple(AnswerWarning(**warning.as_dict()) for warning in found.warnings),
        where=found.query.where,
        within=found.query.within,
        n_matching=None if found.query.where is None else int(found.index.match(found.query.where).sum()),
    )


def _count_documents(topic: Topic) -> dict[str, Any]:
    """Return how many documents are about a topic, unless that takes long."""
    if not has_quick_confidence(topic):
        return dict.fromkeys(("n_about", "n_about_low", "n_about_high", "n_holding"))
    count = topic.document_count
    return {"n_about": count.n, "n_about_low": count.low, "n_about_high": count.high, "n_holding": count.n_holding}


def _judge(separation: float, confidence: float | None) -> tuple[str, str]:
    """Return the verdict as a code and in words: by the confidence, or by the separation if that is not known."""
    if confidence is None:
        return verdict_code(separation), verdict(separation)
    return verdict_by_confidence(confidence)


def _describe_words(topic: Topic, options: AnswerOptions) -> tuple[TopicWord, ...]:
    if not options.n_words:
        return ()
    return tuple(
        TopicWord(word.word, word.probability, word.lift, word.stderr)
        for word in topic.word_table(options.n_words, by=options.words_by, errors=options.errors)
    )


def _describe_related(topic: Topic, listed: set[str], options: AnswerOptions) -> tuple[RelatedWord, ...]:
    """Describe related words that are not listed already."""
    pairs = topic.related_words(options.n_related + options.n_words)
    others = [RelatedWord(word, likelier) for word, likelier in pairs if word not in listed]
    return tuple(others[: options.n_related])


def _describe_documents(
    found: Found, topic: Topic, listed: set[str], options: AnswerOptions
) -> tuple[TypicalDocument, ...]:
    if not options.n_documents:
        return ()
    best = _rank_documents(found, topic, options)[options.skip_documents :]
    words = [*(found.query.words or ()), *listed]
    documents = found.index.documents([row for row, _ in best])
    return tuple(
        TypicalDocument(
            each.row,
            each.name,
            share,
            None if each.text is None else make_snippet(each.text, words),
            **describe_columns(found.index.columns, each.columns),
        )
        for each, (_, share) in zip(documents, best, strict=True)
    )


def _rank_documents(found: Found, topic: Topic, options: AnswerOptions) -> list[tuple[int, float]]:
    """Return the first documents, with those to skip."""
    n = options.skip_documents + options.n_documents
    if options.sort_by is None:
        return topic.documents(n)
    return sort_documents(found.index, topic, options.sort_by, descending=options.descending)[:n]


def describe_columns(columns: Columns, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a document as JSON has them, and its title, link and date.

    Parameters
    ----------
    columns : Columns
        Which columns there are.
    values : mapping of str
        Those of the document.

    Returns
    -------
    dict
        With title, link, date and columns.
    """
    plain = {name: to_plain(value) for name, value in values.items()}
    roles = {role: plain.get(columns.find(role) or "") for role in ("title", "link", "date")}
    return {**{role: None if value is None else str(value) for role, value in roles.items()}, "columns": plain}


def _describe_alternatives(found: Found, options: AnswerOptions) -> tuple[Alternative, ...]:
    """Describe what else the hint could mean; the topic found comes first if another one is described."""
    others = [(rank, topic) for rank, topic in enumerate(found.first_readings) if rank != options.alternative]
    return tuple(
        Alternative(
            rank,
            tuple(word for word, _ in other.top_words(N_WORDS_OF_ALTERNATIVE)),
            float(other.weight),
            other.share,
        )
        for rank, other in others[:N_ALTERNATIVES]
    )


def _list_skipped(warnings: Sequence[SearchWarning]) -> tuple[SkippedWord, ...]:
    skipped = [warning for warning in warnings if isinstance(warning, SkippedWordsWarning)]
    return tuple(
        SkippedWord(word, tuple(each.suggestions.get(word, ())), *reason)
        for each in skipped
        for word, reason in each.reasons.items()
    )
