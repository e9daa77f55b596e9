"""Words of a corpus that mean different topics: each is searched for, and those that mean one topic are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, HintError, Option, SearchError, UnknownWordError
from mixsearch.index.answer import Answer
from mixsearch.index.compare import Outcome, answer_queries
from mixsearch.index.options import AnswerOptions
from mixsearch.index.query import Query
from mixsearch.index.topic_index import TopicIndex

# Words whose topics overlap by more than this mean one topic. Among the topics of 80 words of the docstrings, pairs
# such as file and object, or math and distribution, overlap by 0.72 to 0.97, and hardly any pair by 0.65 to 0.72.
SAME_TOPIC = 0.7
N_WORDS_OF_LABEL = 4
MAX_WORDS = 80
# How many unknown words an error explains.
MAX_EXPLAINED = 3
CHOICES = ("distinctive", "frequent")


@dataclass(frozen=True)
class UnmappedWord:
    """A word without a topic: why, as a code and as a sentence, and words with a similar spelling.

    Parameters
    ----------
    word : str
        The word.
    code : str
        Why it has no topic, for programs.
    message : str
        Why it has no topic, for people.
    suggestions : tuple of str
        Words with a similar spelling, the nearest first.
    """

    word: str
    code: str
    message: str
    suggestions: tuple[str, ...]


class SameTopic(NamedTuple):
    """Outcomes that mean one topic, by index; the first represents them."""

    members: list[int]
    answer: Answer


def search_words(
    index: TopicIndex,
    words: Sequence[str] | None,
    *,
    n: int,
    by: Literal["distinctive", "frequent"],
    refine: bool | None = None,
) -> tuple[list[Outcome], list[UnmappedWord]]:
    """Search for words that are given or chosen; return the topics found, and the words without one."""
    hints = _choose_words(index, n, by) if words is None else _clean_words(words)
    options = AnswerOptions(n_words=N_WORDS_OF_LABEL, n_documents=0, n_related=0)
    queries = [Query(word, words={word: 1.0}, refine=refine) for word in hints]
    outcomes = answer_queries(index, queries, options)
    found = [outcome for outcome in outcomes if outcome.answer is not None]
    skipped = [_explain(outcome.query.name, outcome.error) for outcome in outcomes if outcome.error is not None]
    if not found:
        raise _no_topics_error(skipped)
    return found, skipped


def merge_outcomes(found: Sequence[Outcome], overlaps: Array) -> list[SameTopic]:
    """Group outcomes by topic, the largest topic first.

    The word that singles out a topic best represents it; others join the representative that they overlap most with.
    They are not compared with each other, or a chain of them would join topics that differ.
    """
    answers = [outcome.answer for outcome in found if outcome.answer is not None]
    groups: list[SameTopic] = []
    for position in sorted(range(len(answers)), key=lambda position: -answers[position].lead):
        similar = [float(overlaps[position, group.members[0]]) for group in groups]
        if similar and max(similar) >= SAME_TOPIC:
            groups[similar.index(max(similar))].members.append(position)
        else:
            groups.append(SameTopic([position], answers[position]))
    return sorted(groups, key=lambda group: -group.answer.weight)


def _choose_words(index: TopicIndex, n: int, by: str) -> list[str]:
    if by not in CHOICES:
        raise ArgumentError(
            "{argument} must be one of {choices}, got {value!r}.",
            argument=Option("by"),
            choices=", ".join(map(repr, CHOICES)),
            value=by,
        )
    if not 1 <= n <= MAX_WORDS:
        raise ArgumentError(
            "{argument} must be from 1 to {maximum} words, got {value}.",
            argument=Option("n"),
            maximum=MAX_WORDS,
            value=n,
        )
    if not index.vocabulary:
        raise SearchError("This index has no vocabulary to choose words from.", code="no_vocabulary")
    chosen = index.starters(n) if by == "distinctive" else index.frequent_words(n)
    return [each.word for each in chosen]


def _clean_words(words: Sequence[str]) -> list[str]:
    """Return each word once."""
    given = list(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not given:
        raise HintError("The list of words is empty. Give at least one word.", code="no_words")
    if len(given) > MAX_WORDS:
        raise HintError(
            "A map takes at most {maximum} words, got {n_words}. Leave some out.",
            code="too_many_words",
            maximum=MAX_WORDS,
            n_words=len(given),
        )
    return given


def _explain(word: str, error: SearchError) -> UnmappedWord:
    suggestions = error.suggestions if isinstance(error, UnknownWordError) else ()
    return UnmappedWord(word, error.code, str(error), suggestions)


def _no_topics_error(skipped: Sequence[UnmappedWord]) -> UnknownWordError:
    explained = skipped[:MAX_EXPLAINED]
    reasons = " ".join(word.message for word in explained)
    return UnknownWordError(
        "{reasons}" if len(skipped) == 1 else "None of the {n_words} words has a topic. {reasons}",
        n_words=len(skipped),
        reasons=reasons,
        suggestions=[other for word in explained for other in word.suggestions],
    )
