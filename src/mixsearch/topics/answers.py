"""Questions to an index, and answers as plain data: words, documents and the sentences that match."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError, SearchWarning, StorageError, collect_warnings
from mixsearch.machine import map_parallel
from mixsearch.options import Question as Question
from mixsearch.topics.groups import make_unique
from mixsearch.topics.records import to_plain
from mixsearch.topics.topic import Topic, format_about

if TYPE_CHECKING:
    import polars as pl

    from mixsearch.topics.index import TopicIndex

# Letters of scripts without spaces stand beside a word without being part of it.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_LETTER = re.compile(rf"[^\W{_UNSPACED}]")
SNIPPET_LENGTH = 160


@dataclass(frozen=True)
class Answer:
    """The topic of a question, or the error that explains why there is none.

    Parameters
    ----------
    question : Question
        What was asked.
    topic : Topic or None
        What was found.
    warnings : tuple of SearchWarning
        Reasons not to trust the topic.
    error : SearchError or None
        Why there is no topic.
    seconds : float
        How long the search took.
    """

    question: Question
    topic: Topic | None = None
    warnings: tuple[SearchWarning, ...] = ()
    error: SearchError | None = None
    seconds: float = 0.0


def answer_question(index: TopicIndex, question: Question) -> Answer:
    """Find the topic of a question. An error about the hint is part of the answer."""
    start = perf_counter()
    hint = {name: value for name, value in vars(question).items() if name != "name" and value is not None}
    with collect_warnings() as warnings:
        try:
            topic = index.search(**hint)
        except StorageError:
            raise
        except SearchError as error:
            return Answer(question, None, tuple(warnings), error, perf_counter() - start)
    return Answer(question, topic, tuple(warnings), None, perf_counter() - start)


def answer_questions(index: TopicIndex, questions: Sequence[Question]) -> list[Answer]:
    """Find the topics of several questions, in parallel threads.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    questions : sequence of Question
        What to search for.

    Returns
    -------
    list of Answer
        In the order of the questions.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics import Question, answer_questions, build_index, open_index
    >>> built = build_index(make_reviews(500, random_state=0).text, mkdtemp() + "/reviews.index")
    >>> index = open_index(built.path)
    >>> answers = answer_questions(index, [Question("fish", "sushi tuna"), Question("bikes", "zeppelin")])
    >>> answers[1].error.code
    'unknown_word'
    """
    return map_parallel(lambda question: answer_question(index, question), questions)


def name_answers(answers: Iterable[Answer]) -> dict[str, Topic]:
    """Return the topics that were found under the names of their questions, each once."""
    topics: dict[str, Topic] = {}
    for answer in answers:
        if answer.topic is not None:
            topics[make_unique(answer.question.name, topics)] = answer.topic
    return topics


def describe_topic(
    index: TopicIndex, topic: Topic, *, name: str = "", n_words: int = 10, n_documents: int = 5, skip: int = 0
) -> dict[str, Any]:
    """Return a topic as JSON has it.

    Parameters
    ----------
    index : TopicIndex
        The index that found it.
    topic : Topic
        The topic.
    name : str, optional
        What the topic is called; by default the words of its hint as they were read.
    n_words, n_documents : int
        How many words and documents to list.
    skip : int, default=0
        How many of the best documents to leave out.

    Returns
    -------
    dict
        With hint, read_as, sentence, n_documents, n_members, share, n_containing, match, check, words, alternatives,
        documents, warnings and audit: what `Topic.judge` said last, as `AuditResult.to_dict` returns it, or None.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics import describe_topic, build_index, open_index
    >>> built = build_index(make_reviews(500, random_state=0).text, mkdtemp() + "/reviews.index")
    >>> index = open_index(built.path)
    >>> describe_topic(index, index.search("sushi"))["n_containing"] == index.document_frequency("sushi")
    True
    """
    words = topic.words(n_words) if n_words else []
    return {
        "hint": name or topic.hint.words,
        "read_as": topic.hint.words,
        "sentence": topic.sentence,
        "n_documents": topic.n_documents,
        "n_members": topic.n_members,
        "about": None if topic.n_members is None else format_about(topic.n_members),
        "share": topic.weight,
        "n_containing": topic.n_containing,
        "match": topic.check.match,
        "check": str(topic.check),
        "words": [word._asdict() for word in words],
        "alternatives": [{"words": list(each.words), "share": each.share} for each in topic.alternatives],
        "documents": list_documents(index, topic, n_documents, skip, [word.word for word in words]),
        "warnings": [warning.as_dict() for warning in topic.warnings],
        "audit": topic.audited and topic.audited.to_dict(),
    }


def list_documents(index: TopicIndex, topic: Topic, n: int, skip: int, words: Iterable[str]) -> list[dict[str, Any]]:
    """Return the best documents of a topic, each with the part of its text that shows why."""
    best = topic.documents(n, skip=skip) if n else []
    highlighted = [*(term.text for term in topic.hint.terms), *words]
    documents = index.documents([row for row, _ in best])
    listed = []
    for document, (row, membership) in zip(documents, best, strict=True):
        snippet = make_snippet(document.text, highlighted)
        facts = {"row": row, "name": document.name, "membership": membership, "snippet": snippet}
        listed.append(facts | describe_columns(index, document.columns))
    return listed


def describe_columns(index: TopicIndex, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a document as JSON has them, and its title, link and date."""
    plain = {name: to_plain(value) for name, value in values.items()}
    roles = {role: plain.get(index.columns.find(role) or "") for role in ("title", "link", "date")}
    return {**{role: None if value is None else str(value) for role, value in roles.items()}, "columns": plain}


def find_words(text: str, words: Iterable[str]) -> list[tuple[int, int]]:
    """Return where words stand in a text, except inside longer words.

    Notes
    -----
    Searching for one word after the other takes a tenth of the time of a regular expression of all of them, and that
    would have to be compiled for every topic.
    """
    folded = _fold(text)
    spans = {span for word in words for span in _find_word(folded, _fold(word))}
    listed: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
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


def make_snippet(text: str, words: Iterable[str], length: int = SNIPPET_LENGTH) -> str:
    """Return the part of a text with the most occurrences of some words, on one line."""
    plain = " ".join(text.split())
    if len(plain) <= length:
        return plain
    starts: Array = np.array([start for start, _ in find_words(plain, words)] or [0])
    n_following = np.searchsorted(starts, starts + length) - np.arange(len(starts))
    wanted = min(max(int(starts[n_following.argmax()]) - length // 4, 0), len(plain) - length)
    start = plain.rfind(" ", 0, wanted + 1) + 1
    end = len(plain) if start + length >= len(plain) else plain.rfind(" ", start, start + length + 1)
    end = start + length if end <= start else end  # one endless word
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


def frame_documents(
    index: TopicIndex, topics: Mapping[str, Topic], *, text: bool = False, is_sorted: bool = False
) -> pl.DataFrame:
    """Return all documents as a data frame, with their membership in some topics.

    Parameters
    ----------
    index : TopicIndex
        The index.
    topics : mapping of str to Topic
        The topics, each with the name of its column.
    text : bool, default=False
        Whether to add the texts.
    is_sorted : bool, default=False
        Whether to list only the documents of the first topic, best first.

    Returns
    -------
    polars.DataFrame
        With row, id if documents have names, the columns that were kept, and the topics.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics import frame_documents, build_index, open_index
    >>> built = build_index(make_reviews(500, random_state=0).text, mkdtemp() + "/reviews.index")
    >>> index = open_index(built.path)
    >>> frame_documents(index, {"fish": index.search("sushi")}).columns
    ['row', 'fish']
    """
    import polars as pl

    from mixsearch.io.values import rename_repeated

    every = np.arange(index.n_documents)
    columns = index.columns.take(every).get_columns()
    columns += [pl.Series(name, topic.membership()) for name, topic in topics.items()]
    if text:
        columns.append(pl.Series("text", [str(value) for value in index.texts.read(every)]))
    names = rename_repeated([column.name for column in columns])
    frame = pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])
    return frame[next(iter(topics.values())).order] if is_sorted and topics else frame
