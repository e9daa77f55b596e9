"""What a search is asked and what it answers, as plain data: for a terminal, a file or a page."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from mixsearch.display import verdict
from mixsearch.errors import SearchError
from mixsearch.estimators import Topic
from mixsearch.estimators.base import ask_in_parallel
from mixsearch.index.topic_index import TopicIndex, snippet
from mixsearch.types import Array

# The separation below which the alternatives are worth a look.
DOUBTFUL = 1.5
# And the confidence below which they are.
UNSURE = 0.8
N_ALTERNATIVES = 3
WORDS_OF_ALTERNATIVE = 6

_LISTENING = Lock()
_HEARD: ContextVar[list[str] | None] = ContextVar("heard", default=None)


@dataclass(frozen=True)
class Query:
    """One hint: words with weights, texts, or rows of documents."""

    name: str  # as it was given
    words: Mapping[str, float] | None = None
    texts: tuple[str, ...] | None = None
    rows: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Asking:
    """How to search, and how much of the answer to tell.

    Parameters
    ----------
    n_words, n_documents, n_related : int
        How many words, documents and related words to tell.
    by : {"typical", "probability"}
        Which words come first, as `Topic.top_words` has it.
    errors : bool
        Tell standard errors and the confidence as well. They read all documents.
    search : dict
        Further arguments of `TopicIndex.search`: n_components, finer, refine.
    """

    n_words: int = 10
    n_documents: int = 5
    n_related: int = 8
    by: str = "typical"
    errors: bool = False
    search: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TopicWord:
    """A word, its probability in the topic, and how many times likelier that is than in the corpus."""

    word: str
    probability: float
    likelier: float
    probability_stderr: float | None = None  # where errors were asked for


@dataclass(frozen=True)
class RelatedWord:
    """A word that points to the topic, and how many times likelier it is there."""

    word: str
    likelier: float


@dataclass(frozen=True)
class TypicalDocument:
    """A document that is about the topic; the snippet is None where texts were not kept."""

    row: int
    name: str | None
    share: float
    snippet: str | None


@dataclass(frozen=True)
class Alternative:
    """Another topic that the hint could mean."""

    words: tuple[str, ...]
    weight: float
    share_of_hint: float


@dataclass(frozen=True, kw_only=True)
class Answer:
    """All that one hint found.

    Attributes
    ----------
    hint : str
        As it was given.
    weight : float
        The topic's share of the corpus.
    separation : float
        By what factor the topic leads the best other one; infinite where there is no other.
    n_components, n_fitted : int
        Topics that the search used, and those that the index has.
    weight_stderr, confidence : float or None
        The standard error of the weight, and the chance that this is the topic that the hint means, where errors were
        asked for.
    words, related_words, documents, alternatives : tuples
        Those that say most come first.
    warnings : tuple of str
        What the user should know before trusting it.
    """

    hint: str
    weight: float
    separation: float
    verdict: str
    share_of_hint: float
    n_components: int
    n_fitted: int
    words: tuple[TopicWord, ...]
    related_words: tuple[RelatedWord, ...]
    documents: tuple[TypicalDocument, ...]
    alternatives: tuple[Alternative, ...]
    weight_stderr: float | None = None
    confidence: float | None = None
    warnings: tuple[str, ...] = ()

    @property
    def is_doubtful(self) -> bool:
        """Whether the alternatives are worth a look."""
        return self.separation < DOUBTFUL or self.is_unsure

    @property
    def is_unsure(self) -> bool:
        """Whether the confidence is known, and low."""
        return self.confidence is not None and self.confidence < UNSURE

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON has it: the same keys always, an infinite separation and what is not known as None."""
        plain = asdict(self)
        return {**plain, "separation": self.separation if math.isfinite(self.separation) else None}


@dataclass(frozen=True)
class Reply:
    """What became of a query: an answer with its topic, or the sentence that says why there is none."""

    query: Query
    answer: Answer | None = None
    topic: Topic | None = None
    error: SearchError | None = None
    seconds: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """The answer as JSON has it, or the hint and its error."""
        return {"hint": self.query.name, "error": str(self.error)} if self.answer is None else self.answer.as_dict()


def ask(index: TopicIndex, queries: Sequence[Query], asking: Asking | None = None, n_jobs: int = -1) -> list[Reply]:
    """Search for every query, in parallel threads; replies keep the order, and an error is that of its query only."""
    wanted = asking or Asking()
    # Python's warnings belong to the process: two callers at once would restore each other's.
    with _LISTENING, _warnings_heard():
        replies: list[Reply] = ask_in_parallel(lambda query: _reply(index, query, wanted), queries, n_jobs)
    return replies


@contextmanager
def _warnings_heard() -> Iterator[None]:
    """Give the warnings of each thread to the query that it works on, instead of printing them."""

    def hear(message: Warning | str, *_: Any, **__: Any) -> None:
        heard = _HEARD.get()
        if heard is not None and str(message) not in heard:
            heard.append(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = hear
        yield


def _reply(index: TopicIndex, query: Query, asking: Asking) -> Reply:
    heard: list[str] = []
    token, start = _HEARD.set(heard), perf_counter()
    try:
        topic = index.search(query.words, text=query.texts, documents=_rows_of(query), **asking.search)
        answer = _describe(index, query, topic, asking, heard)
    except SearchError as error:
        return Reply(query, error=error)
    finally:
        _HEARD.reset(token)
    return Reply(query, answer, topic, seconds=perf_counter() - start)


def telling_words(index: TopicIndex, n: int = 10) -> list[str]:
    """Words that differ most between the topics of an index, frequent ones first: hints to begin with.

    Notes
    -----
    The first component is near the mean of the corpus, to which the words of any language belong.
    """
    frame = index.topics.model_.frame
    told = np.asarray(frame.basis[:, 1:] ** 2 @ frame.values[1:])
    return [index.vocabulary[column] for column in np.argsort(-told, kind="stable")[:n]] if index.vocabulary else []


def _rows_of(query: Query) -> Array | None:
    return None if query.rows is None else np.array(query.rows, dtype=np.int64)


def _describe(index: TopicIndex, query: Query, topic: Topic, asking: Asking, heard: list[str]) -> Answer:
    words = _words_of(topic, asking)
    told = {each.word for each in words}
    related = [pair for pair in topic.related_words(asking.n_related + asking.n_words) if pair[0] not in told]
    return Answer(
        hint=query.name,
        weight=float(topic.weight),
        separation=float(topic.separation),
        verdict=verdict(topic.separation),
        share_of_hint=topic.share,
        n_components=len(topic.scores),
        n_fitted=index.n_components,
        words=words,
        related_words=tuple(RelatedWord(*pair) for pair in related[: asking.n_related]),
        documents=_documents_of(index, topic, [*(query.words or ()), *told], asking.n_documents),
        alternatives=tuple(map(_alternative, topic.alternatives[:N_ALTERNATIVES])),
        weight_stderr=float(topic.stderr.weight) if asking.errors else None,
        confidence=topic.confidence if asking.errors else None,
        warnings=tuple(heard),
    )


def _words_of(topic: Topic, asking: Asking) -> tuple[TopicWord, ...]:
    if not asking.n_words:
        return ()
    pairs = topic.top_words(asking.n_words, by=asking.by)
    columns = topic.top_columns(asking.n_words, by=asking.by)
    usual = topic.model.word_mean[columns].tolist()
    errors = topic.stderr.center[columns].tolist() if asking.errors else [None] * len(pairs)
    return tuple(
        TopicWord(word, probability, probability / mean if mean > 0 else 0.0, error)
        for (word, probability), mean, error in zip(pairs, usual, errors, strict=True)
    )


def _documents_of(index: TopicIndex, topic: Topic, words: Sequence[str], n: int) -> tuple[TypicalDocument, ...]:
    if not n:
        return ()
    best = topic.documents(n)
    found = index.documents([row for row, _ in best])
    return tuple(
        TypicalDocument(each.row, each.name, share, None if each.text is None else snippet(each.text, words))
        for each, (_, share) in zip(found, best, strict=True)
    )


def _alternative(topic: Topic) -> Alternative:
    words = tuple(word for word, _ in topic.top_words(WORDS_OF_ALTERNATIVE))
    return Alternative(words, float(topic.weight), topic.share)
