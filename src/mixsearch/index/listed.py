"""Check whether the words of a hint are among the first words of its topic."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from mixsearch.errors import DroppedWordWarning, Option, WeakHintWarning
from mixsearch.index.query import Query
from mixsearch.topics import Topic

if TYPE_CHECKING:
    from mixsearch.index.topic_index import TopicIndex

# Words of a topic that people read.
N_READ = 10


def check_listed(index: TopicIndex, query: Query, topic: Topic) -> list[WeakHintWarning]:
    """Return a doubt if none of the words of the hint is among the topic's first: the topic may be broader.

    Parameters
    ----------
    index : TopicIndex
        The index that was searched.
    query : Query
        What was asked. Texts, documents and words that are not features are not checked.
    topic : Topic
        What was found.

    Returns
    -------
    list of WeakHintWarning
    """
    if any(isinstance(doubt, DroppedWordWarning) for doubt in topic.doubts):
        return []
    wanted = [index.spell(word) for word, weight in (query.words or {}).items() if weight > 0]
    parts = [part for word in wanted for part in (word, *word.split())]
    features = [part for part in dict.fromkeys(parts) if "*" in part or "?" in part or index.has_feature(part)]
    listed = [word for word, _ in topic.top_words(N_READ)]
    if not features or any(fnmatchcase(word, part) for part in features for word in listed):
        return []
    return [
        WeakHintWarning(
            ("{words} is not" if len(wanted) == 1 else "None of {words} is")
            + " among the first {n_words} words of this topic, so it may be a broader one. Search for a narrower "
            "topic ({argument}), or add a word.",
            code="word_not_listed",
            words=", ".join(map(repr, wanted)),
            n_words=N_READ,
            argument=Option("narrower=1"),
        )
    ]
