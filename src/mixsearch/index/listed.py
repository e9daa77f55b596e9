"""Check which words of a hint are among the first words of its topic: those asked for should be, those avoided not."""

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
    """Return a doubt if a topic lists none of the words that were asked for, and one if it lists words to avoid.

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
    words = {index.spell(word): weight for word, weight in (query.words or {}).items()}
    listed = [word for word, _ in topic.top_words(N_READ)]
    asked = _check_asked(index, [word for word, weight in words.items() if weight > 0], listed)
    return [*asked, *_check_avoided([word for word, weight in words.items() if weight < 0], listed)]


def _check_asked(index: TopicIndex, words: list[str], listed: list[str]) -> list[WeakHintWarning]:
    parts = [part for word in words for part in (word, *word.split())]
    features = [part for part in dict.fromkeys(parts) if "*" in part or "?" in part or index.has_feature(part)]
    if not features or any(fnmatchcase(word, part) for part in features for word in listed):
        return []
    return [
        WeakHintWarning(
            ("{words} is not" if len(words) == 1 else "None of {words} is")
            + " among the first {n_words} words of this topic, so it may be a broader one. Search for a narrower "
            "topic ({argument}), or add a word.",
            code="word_not_listed",
            words=", ".join(map(repr, words)),
            n_words=N_READ,
            argument=Option("narrower=1"),
        )
    ]


def _check_avoided(words: list[str], listed: list[str]) -> list[WeakHintWarning]:
    parts = [part for each in listed for part in (each, *each.split())]
    found = [word for word in words if any(fnmatchcase(part, word) for part in parts)]
    if not found:
        return []
    return [
        WeakHintWarning(
            ("{words} is" if len(found) == 1 else "{words} are")
            + " still among the first {n_words} words of this topic. Add a word that sets it apart from what you want "
            "to avoid.",
            code="avoided_word_listed",
            words=", ".join(map(repr, found)),
            n_words=N_READ,
        )
    ]
