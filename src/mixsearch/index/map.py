"""A map of topics: the words that find them, one entry for each topic, and its place in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, HintError, Option, SearchError, UnknownWordError
from mixsearch.index.answer import Answer, AnswerOptions
from mixsearch.index.compare import Outcome, answer_queries, compute_overlaps, take_off_corpus
from mixsearch.index.layout import HEIGHT, Circles, arrange_circles
from mixsearch.index.query import Query
from mixsearch.index.topic_index import TopicIndex
from mixsearch.topics.component import Topic

# The common words of a language alone overlap by some 0.15.
NEAR_TOPIC = 0.25
N_NEIGHBOURS = 3
# As many as there are colors to tell apart.
MAX_GROUPS = 8
# Words whose topics overlap by more than this mean one topic. Among the topics of 80 words of the docstrings, pairs
# such as file and object, or math and distribution, overlap by 0.72 to 0.97, and hardly any pair by 0.65 to 0.72.
SAME_TOPIC = 0.7
N_WORDS_OF_LABEL = 4
MAX_WORDS = 80
# How many unknown words an error explains.
MAX_EXPLAINED = 3
CHOICES = ("distinctive", "frequent")


@dataclass(frozen=True)
class Neighbour:
    """Another topic of the map, by its index in the list, and the overlap of the two."""

    topic: int
    overlap: float


@dataclass(frozen=True, kw_only=True)
class MappedTopic:
    """A topic and its circle."""

    words: tuple[str, ...]
    label: tuple[str, ...]
    x: float
    y: float
    radius: float
    weight: float
    separation: float | None
    confidence: float | None
    verdict: str
    verdict_code: str
    is_doubtful: bool
    group: int
    near: tuple[Neighbour, ...]


@dataclass(frozen=True)
class TopicMap:
    """Topics in the plane, the largest first.

    Parameters
    ----------
    topics : tuple of MappedTopic
        The topics.
    skipped : tuple of UnmappedWord
        Words without a topic.
    n_documents : int
        The number of documents of the corpus.
    """

    topics: tuple[MappedTopic, ...]
    skipped: tuple[UnmappedWord, ...]
    n_documents: int

    def as_dict(self) -> dict[str, Any]:
        """Return the map as JSON has it.

        Returns
        -------
        dict
        """
        return asdict(self)


def map_topics(
    index: TopicIndex,
    words: Sequence[str] | None = None,
    *,
    n: int = 30,
    by: Literal["distinctive", "frequent"] = "distinctive",
    refine: bool | None = None,
) -> TopicMap:
    """Search for each of several words, and lay out their topics in the plane.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    words : sequence of str, optional
        One hint each. Words without a topic are skipped.
    n : int, default=30
        How many words to choose if none are given.
    by : {"distinctive", "frequent"}, default="distinctive"
        Choose the words that differ most between topics, one per topic, or those in most documents.
    refine : bool, optional
        Whether to refine the topics; by default as a search does. False takes a fourth of the time, with rougher
        weights and labels.

    Returns
    -------
    TopicMap

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, map_topics, open_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> plane = map_topics(open_index(built.path), ["sushi", "tuna", "pizza"])
    >>> sorted(topic.words for topic in plane.topics)  # words with the same topic share a circle
    [('pizza',), ('sushi', 'tuna')]
    """
    found, skipped = search_words(index, words, n=n, by=by, refine=refine)
    return TopicMap(_lay_out(found, index.fitted.word_frequencies), tuple(skipped), index.n_documents)


def find_mapped_topics(
    index: TopicIndex, words: Sequence[str] | None, *, n: int, by: Literal["distinctive", "frequent"]
) -> list[Topic]:
    """Return the topics of a map, in the order of `TopicMap.topics`."""
    found, _ = search_words(index, words, n=n, by=by)
    topics = [outcome.topic for outcome in found]
    leaders = [topics[group.members[0]] for group in merge_outcomes(found, _compute_overlaps(found))]
    return [topic for topic in leaders if topic is not None]


def _compute_overlaps(found: Sequence[Outcome]) -> Array:
    return compute_overlaps([outcome.topic.probabilities for outcome in found if outcome.topic is not None])


def _lay_out(found: Sequence[Outcome], corpus: Array) -> tuple[MappedTopic, ...]:
    overlaps = _compute_overlaps(found)
    groups = merge_outcomes(found, overlaps)
    leaders = [group.members[0] for group in groups]
    between = overlaps[np.ix_(leaders, leaders)]
    topics = [topic.probabilities for topic in (found[leader].topic for leader in leaders) if topic is not None]
    alike = find_groups(compute_overlaps(take_off_corpus(topics, corpus)))
    circles = arrange_circles(1 - between, np.array([group.answer.weight for group in groups]))
    return tuple(
        _place(
            group,
            [found[member].query.name for member in group.members],
            circles,
            position,
            between[position],
            int(alike[position]),
        )
        for position, group in enumerate(groups)
    )


def find_groups(overlaps: Array) -> Array:
    """Return the group of each topic, from 0, (n,): topics of one group have much in common."""
    from scipy.cluster.hierarchy import cut_tree, linkage  # which only maps need

    n = len(overlaps)
    if n < 2:
        return np.zeros(n, dtype=np.intp)
    tree = linkage((1 - overlaps)[np.triu_indices(n, 1)], "average")
    labels = cut_tree(tree, [min(n, MAX_GROUPS)])[:, 0]  # also if many merge at the same height
    _, first = np.unique(labels, return_index=True)
    order = {labels[i]: group for group, i in enumerate(np.sort(first))}
    return np.array([order[label] for label in labels])


def _place(
    group: SameTopic, words: list[str], circles: Circles, position: int, overlaps: Array, alike: int
) -> MappedTopic:
    (x, y), answer = circles.centers[position].tolist(), group.answer
    return MappedTopic(
        words=tuple(words),
        label=tuple(word.word for word in answer.words),
        x=x,
        y=y / HEIGHT,
        radius=float(circles.radii[position]),
        weight=answer.weight,
        separation=answer.separation,
        confidence=answer.confidence,
        verdict=answer.verdict,
        verdict_code=answer.verdict_code,
        is_doubtful=answer.is_doubtful,
        group=alike,
        near=_find_neighbours(position, overlaps),
    )


def _find_neighbours(position: int, overlaps: Array) -> tuple[Neighbour, ...]:
    ranked = [other for other in np.argsort(-overlaps, kind="stable").tolist() if other != position]
    nearest = [other for other in ranked[:N_NEIGHBOURS] if overlaps[other] >= NEAR_TOPIC]
    return tuple(Neighbour(other, float(overlaps[other])) for other in nearest)


@dataclass(frozen=True)
class UnmappedWord:
    """A word without a topic: why, as a code and as a sentence, and words with a similar spelling."""

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
