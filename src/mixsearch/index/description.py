"""Describe the topic of a query: its words, documents with snippets, alternatives and warnings, as an answer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.confidence import verdict, verdict_by_confidence, verdict_code
from mixsearch.errors import SearchWarning, SkippedWordsWarning
from mixsearch.index.answer import (
    Alternative,
    Answer,
    AnswerOptions,
    AnswerWarning,
    RelatedWord,
    SkippedWord,
    TopicWord,
    TypicalDocument,
)
from mixsearch.index.columns import Columns, to_plain
from mixsearch.index.groups import find_column
from mixsearch.index.query import N_ALTERNATIVES, Found
from mixsearch.topics.component import Topic, has_quick_confidence

if TYPE_CHECKING:
    from mixsearch.index.topic_index import TopicIndex

N_WORDS_OF_ALTERNATIVE = 6
# Of a topic with more documents, those that are most about it are sorted.
MAX_SORTED = 1000
# Letters of scripts without spaces stand beside a word without being part of it.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_LETTER = re.compile(rf"[^\W{_UNSPACED}]")


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
    """Return the columns of a document as JSON has them, and its title, link and date."""
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


def sort_documents(index: TopicIndex, topic: Topic, column: str, *, descending: bool) -> list[tuple[int, float]]:
    """Return the documents about a topic in the order of a column."""
    name = find_column(index.columns, column)
    n_about = topic.document_count.n if has_quick_confidence(topic) else MAX_SORTED
    best = topic.documents(int(np.clip(n_about, 1, MAX_SORTED)))
    indices = index.fitted.find_documents([row for row, _ in best])
    values = index.columns.take(indices, [name])[name].to_list()
    known = [i for i, value in enumerate(values) if value is not None and value == value]  # not NaN
    # A sort in reverse keeps equal values in their order, too.
    ranked = sorted(known, key=lambda i: _sort_key(values[i]), reverse=descending)
    missing = sorted(set(range(len(best))) - set(known))
    return [best[i] for i in (*ranked, *missing)]


def _sort_key(value: Any) -> Any:
    """Return the sort key of a value: texts as in a dictionary, ignoring case."""
    return value.casefold() if isinstance(value, str) else value


def find_words(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Return where words stand in a text, except inside longer words.

    Notes
    -----
    Searching for one word after the other takes a tenth of the time of a regular expression of all of them, and that
    would have to be compiled for every topic.
    """
    folded = _fold(text)
    found = {span for word in words for span in _find_word(folded, _fold(word))}
    listed: list[tuple[int, int]] = []
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if not listed or start >= listed[-1][1]:
            listed.append((start, end))
    return listed


def _fold(text: str) -> str:
    """Return a text of the same length in lower case, with blanks for hyphens."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    return lower.replace("-", " ")


def _find_word(text: str, word: str) -> Iterator[tuple[int, int]]:
    start = text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        if not _LETTER.match(text, end) and not (start and _LETTER.match(text, start - 1)):
            yield start, end
        start = text.find(word, start + 1)


def make_snippet(text: str, words: Iterable[str], length: int = 160) -> str:
    """Return the part of a text with the most occurrences of some words, on one line."""
    plain = " ".join(text.split())
    if len(plain) <= length:
        return plain
    starts = [start for start, _ in find_words(plain, words)]
    wanted = min(max(_find_densest(starts, length) - length // 4, 0), len(plain) - length)
    start = plain.rfind(" ", 0, wanted + 1) + 1
    end = len(plain) if start + length >= len(plain) else plain.rfind(" ", start, start + length + 1)
    end = start + length if end <= start else end  # one endless word
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


def _find_densest(starts: list[int], length: int) -> int:
    """Return the start that is followed by most others within a length, or 0."""
    if not starts:
        return 0
    array: Array = np.array(starts)
    n_following = np.searchsorted(array, array + length) - np.arange(len(array))
    return int(array[np.argmax(n_following)])
