"""The largest topics of an index, and which documents belong to each: what to look at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import collect_warnings
from mixsearch.topics.index import TopicIndex
from mixsearch.topics.topic import Topic

# Topics with more of the smaller one's members in common are one.
SAME_TOPIC = 0.5
# Words that describe each topic.
N_WORDS = 8
# What stands for a document without a topic; others have the one with the largest membership, from this on.
NO_TOPIC, MIN_MEMBERSHIP = 255, 0.5


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
        topics = index.search_many([[word] for word in words])
    listed = [(word, topic) for word, topic in zip(words, topics, strict=True) if topic.n_members]
    # The same topic from several words: the first one stands for all.
    members = np.array([topic.membership() for _, topic in listed]).reshape(len(listed), index.n_documents)
    groups: list[list[int]] = []
    for i, own in enumerate(members):
        shared = [float(np.minimum(own, members[group[0]]).sum()) for group in groups]
        sizes = [min(own.sum(), members[group[0]].sum()) for group in groups]
        same = [group for group, s, size in zip(groups, shared, sizes, strict=True) if s > SAME_TOPIC * size]
        same[0].append(i) if same else groups.append([i])
    found = [
        ListedTopic(
            hints=tuple(listed[i][0] for i in group),
            words=tuple(word.word for word in listed[group[0]][1].words(N_WORDS)),
            n_members=listed[group[0]][1].n_members or 0.0,
            match=listed[group[0]][1].check.match,
            topic=listed[group[0]][1],
        )
        for group in groups
    ]
    return sorted(found, key=lambda each: -each.n_members)


def assign_topics(topics: Sequence[ListedTopic], documents: Array) -> Array:
    """Find the topic that each of some documents most belongs to, as an index in the list, (m,) of uint8."""
    if not topics:
        return np.full(len(documents), NO_TOPIC, dtype=np.uint8)
    members = np.stack([each.topic.membership()[documents] for each in topics])
    return np.where(members.max(axis=0) >= MIN_MEMBERSHIP, members.argmax(axis=0), NO_TOPIC).astype(np.uint8)
