"""The largest topics of an index, and which documents belong to each: what to look at first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mixsearch.errors import collect_warnings
from mixsearch.machine import map_parallel
from mixsearch.topics.index import TopicIndex
from mixsearch.topics.topic import Topic

# Topics with more of the smaller one's members in common are one.
SAME_TOPIC = 0.5
# Words that describe each topic.
N_WORDS = 8


@dataclass(frozen=True)
class ListedTopic:
    """A topic of an overview.

    Parameters
    ----------
    hints : tuple of str
        The words that find it, the most distinctive one first.
    words : tuple of str
        Words that distinguish its documents.
    n_members : float
        About how many documents belong to it.
    match : str or None
        How well left-out documents come back: strong, fair or weak; None if they are too few for a check.
    """

    hints: tuple[str, ...]
    words: tuple[str, ...]
    n_members: float
    match: str | None
    topic: Topic = field(repr=False, compare=False)


def list_topics(index: TopicIndex, n: int = 30) -> list[ListedTopic]:
    """List the largest topics of an index.

    Parameters
    ----------
    index : TopicIndex
        The index.
    n : int, default=30
        How many words to start with: at most as many topics are listed.

    Returns
    -------
    list of ListedTopic
        The largest first. Words whose topics share most of their members are listed together.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.index import open_index
    >>> from mixsearch.topics.overview import list_topics
    >>> built = build_index(make_reviews(500, random_state=0).text, mkdtemp() + "/reviews.index")
    >>> topics = list_topics(open_index(built.path), 6)
    >>> topics[0].n_members >= topics[-1].n_members
    True
    """
    words = [starter.word for starter in index.starters(n)]
    with collect_warnings():  # what is listed has a check of its own
        topics = map_parallel(lambda word: index.search([word]), words)
    # The same topic from several words: the first one stands for all.
    listed: list[ListedTopic] = []
    for word, topic in zip(words, topics, strict=True):
        if not topic.n_members:
            continue
        same = [i for i, other in enumerate(listed) if _is_same(topic, other.topic)]
        if same:
            listed[same[0]] = replace(listed[same[0]], hints=(*listed[same[0]].hints, word))
        else:
            described = tuple(each.word for each in topic.words(N_WORDS))
            listed.append(ListedTopic((word,), described, topic.n_members, topic.check.match, topic))
    return sorted(listed, key=lambda each: -each.n_members)


def _is_same(one: Topic, other: Topic) -> bool:
    """Return whether the smaller one of two topics has most of its members in common with the other."""
    a, b = one.membership(), other.membership()
    return bool(np.minimum(a, b).sum() > SAME_TOPIC * min(a.sum(), b.sum()))
