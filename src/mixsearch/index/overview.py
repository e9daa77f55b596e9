"""A map of the topics that a set of words finds: what a corpus is about, and what to type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from mixsearch.errors import HintError, SearchError, UnknownWordError
from mixsearch.index.answers import Answer, Asking, Query, Reply
from mixsearch.index.asking import ask
from mixsearch.index.overlap import overlaps
from mixsearch.index.plane import HEIGHT, Circles, arrange
from mixsearch.index.suggesting import telling_words
from mixsearch.index.topic_index import TopicIndex
from mixsearch.types import Array

# Two words with more than this in common mean one topic. Among the topics of 80 words of the docstrings, pairs such as
# file and object, or math and distribution, share 0.72 to 0.97, and hardly any pair from 0.65 to there.
SAME = 0.7
# The words of any language alone are some 0.15 in common.
NEAR = 0.25
N_NEAR = 3
WORDS_OF_LABEL = 4
MOST_WORDS = 80
# Of words that are all unknown, the error names so many.
MOST_TOLD = 3
CHOICES = ("telling", "frequent")


@dataclass(frozen=True)
class Neighbour:
    """Another topic of the map, by its place in the list, and what the two have in common."""

    topic: int
    overlap: float


@dataclass(frozen=True, kw_only=True)
class MappedTopic:
    """A topic and its circle.

    Attributes
    ----------
    words : tuple of str
        The hints that mean it; first the one that singles it out best, of which all else is told.
    label : tuple of str
        Its typical words.
    x, y : float
        The center, as parts of the width and of the height of a map that is half as wide again as it is high.
    radius : float
        As a part of the width.
    weight : float
        The topic's share of the corpus; shares add up to more than 1 where topics overlap.
    separation : float or None
        By what factor it leads the best other topic; None where no other comes near.
    near : tuple of Neighbour
        The topics most like it, if any are: the plane cannot show all of them next to it.
    """

    words: tuple[str, ...]
    label: tuple[str, ...]
    x: float
    y: float
    radius: float
    weight: float
    separation: float | None
    verdict: str
    is_doubtful: bool
    near: tuple[Neighbour, ...]


@dataclass(frozen=True)
class UnmappedWord:
    """A word without a topic, the sentence that says why, and words that are spelt alike."""

    word: str
    message: str
    suggestions: tuple[str, ...]


@dataclass(frozen=True)
class TopicMap:
    """Topics in the plane, the largest first."""

    topics: tuple[MappedTopic, ...]
    skipped: tuple[UnmappedWord, ...]
    n_documents: int

    def as_dict(self) -> dict[str, Any]:
        """The map as JSON has it."""
        return asdict(self)


class _Group(NamedTuple):
    """Replies that mean one topic, the one that speaks for them first."""

    members: list[int]
    answer: Answer


def map_topics(
    index: TopicIndex,
    words: Sequence[str] | None = None,
    *,
    n: int = 30,
    by: str = "telling",
    asking: Asking | None = None,
) -> TopicMap:
    """Search for each of several words, and lay their topics out in the plane.

    Parameters
    ----------
    index : TopicIndex
        Which corpus.
    words : sequence of str, optional
        One hint each. Those without a topic are skipped.
    n : int, default=30
        How many words to choose where none are given.
    by : {"telling", "frequent"}, default="telling"
        Choose those that differ most between topics, or those in most documents.
    asking : Asking, optional
        How to search. As any search by default, so that the map says what a page on one of its topics says; without
        likelihood steps it takes a fourth of the time, with shares and labels that are rougher.
    """
    hints = _choose(index, n, by) if words is None else _tidy(words)
    wanted = replace(asking or Asking(), n_words=WORDS_OF_LABEL, n_documents=0, n_related=0)
    replies = ask(index, [Query(word, words={word: 1.0}) for word in hints], wanted)
    found = [reply for reply in replies if reply.answer is not None]
    skipped = [_skipped(reply) for reply in replies if reply.error is not None]
    if not found:
        raise _none_found(skipped)
    return TopicMap(_lay_out(found), tuple(skipped), index.n_documents)


def _choose(index: TopicIndex, n: int, by: str) -> list[str]:
    if by not in CHOICES:
        raise SearchError(f"by must be one of {', '.join(map(repr, CHOICES))}; found {by!r}.")
    if not 1 <= n <= MOST_WORDS:
        raise SearchError(f"A map takes from 1 to {MOST_WORDS} words; found n={n}.")
    if not index.vocabulary:
        raise SearchError("This index has no vocabulary, so that no words can be chosen for a map.")
    return telling_words(index, n) if by == "telling" else _frequent_words(index, n)


def _frequent_words(index: TopicIndex, n: int) -> list[str]:
    held_most = np.argsort(-index.topics.model_.holding, kind="stable")[:n]
    return [index.vocabulary[column] for column in held_most]


def _tidy(words: Sequence[str]) -> list[str]:
    """Each word once."""
    given = list(dict.fromkeys(word.strip() for word in words if word.strip()))
    if not given:
        raise HintError("The list of words is empty. Give at least one word.")
    if len(given) > MOST_WORDS:
        raise HintError(f"A map takes {MOST_WORDS} words at most; found {len(given)}. Leave some out.")
    return given


def _skipped(reply: Reply) -> UnmappedWord:
    suggestions = reply.error.suggestions if isinstance(reply.error, UnknownWordError) else ()
    return UnmappedWord(reply.query.name, str(reply.error), suggestions)


def _none_found(skipped: Sequence[UnmappedWord]) -> UnknownWordError:
    lead = "" if len(skipped) == 1 else f"None of the {len(skipped)} words has a topic. "
    told = " ".join(word.message for word in skipped[:MOST_TOLD])
    return UnknownWordError(
        "{reasons}",
        reasons=lead + told,
        suggestions=[other for word in skipped[:MOST_TOLD] for other in word.suggestions],
    )


def _lay_out(found: Sequence[Reply]) -> tuple[MappedTopic, ...]:
    shared = overlaps([reply.topic.probabilities for reply in found if reply.topic is not None])
    groups = _merge(found, shared)
    leaders = [group.members[0] for group in groups]
    between = shared[np.ix_(leaders, leaders)]
    circles = arrange(1 - between, np.array([group.answer.weight for group in groups]))
    return tuple(
        _mapped(group, [found[member].query.name for member in group.members], circles, place, between[place])
        for place, group in enumerate(groups)
    )


def _merge(found: Sequence[Reply], shared: Array) -> list[_Group]:
    """Replies by topic, the largest topic first.

    Whoever singles out a topic best speaks for it; others join the speaker that they have most in common with. They are
    not compared with each other, or a chain of them would join topics that differ.
    """
    answers = [reply.answer for reply in found if reply.answer is not None]
    groups: list[_Group] = []
    for place in sorted(range(len(answers)), key=lambda place: -answers[place].lead):
        alike = [float(shared[place, group.members[0]]) for group in groups]
        if alike and max(alike) >= SAME:
            groups[alike.index(max(alike))].members.append(place)
        else:
            groups.append(_Group([place], answers[place]))
    return sorted(groups, key=lambda group: -group.answer.weight)


def _mapped(group: _Group, words: list[str], circles: Circles, place: int, shared: Array) -> MappedTopic:
    (x, y), answer = circles.centers[place].tolist(), group.answer
    return MappedTopic(
        words=tuple(words),
        label=tuple(word.word for word in answer.words),
        x=x,
        y=y / HEIGHT,
        radius=float(circles.radii[place]),
        weight=answer.weight,
        separation=answer.separation,
        verdict=answer.verdict,
        is_doubtful=answer.is_doubtful,
        near=_neighbours(place, shared),
    )


def _neighbours(place: int, shared: Array) -> tuple[Neighbour, ...]:
    nearest = [other for other in np.argsort(-shared, kind="stable").tolist() if other != place][:N_NEAR]
    return tuple(Neighbour(other, float(shared[other])) for other in nearest if shared[other] >= NEAR)
