"""Words to begin with: those that tell topics apart, and those that begin as what was typed."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from mixsearch.index.topic_index import TopicIndex

# After every letter that a word can go on with.
_LAST = chr(0x10FFFF)
# What is typed of a last word: marks before it, its letters, and no blank after them.
_UNFINISHED = re.compile(r'([^\s"^*?]+)$')


@dataclass(frozen=True)
class KnownWord:
    """A word of the corpus, and how many documents hold it."""

    word: str
    n_documents: int


def telling_words(index: TopicIndex, n: int = 10) -> list[str]:
    """Words that differ most between the topics of an index, frequent ones first: hints to begin with.

    Notes
    -----
    The first component is near the mean of the corpus, to which the words of any language belong.
    """
    frame = index.topics.model_.frame
    told = np.asarray(frame.basis[:, 1:] ** 2 @ frame.values[1:])
    return [index.vocabulary[column] for column in np.argsort(-told, kind="stable")[:n]] if index.vocabulary else []


class Completions:
    """The words of an index in the order of a dictionary."""

    def __init__(self, index: TopicIndex) -> None:
        self._index = index
        by_name = sorted((word, column) for column, word in enumerate(index.vocabulary))
        self._words = [word for word, _ in by_name]
        self._n_documents = index.topics.model_.holding[[column for _, column in by_name]]

    def of(self, prefix: str, n: int = 8) -> list[KnownWord]:
        """Words that begin so, those in most documents first."""
        start = self._index.spell(prefix)
        first, last = bisect_left(self._words, start), bisect_left(self._words, start + _LAST)
        ranked = np.argsort(-self._n_documents[first:last], kind="stable")[:n] + first
        return [KnownWord(self._words[place], int(self._n_documents[place])) for place in ranked]

    def finish(self, query: str) -> str:
        """A query whose last word is still being typed, with the most frequent word that begins so in its place.

        Examples
        --------
        ``sushi -bur`` becomes ``sushi -burger``, and ``"new yo`` becomes ``"new york"``.
        """
        typed = query.rstrip("^")
        found = _UNFINISHED.search(typed)
        if found is not None:
            start = found.start() + (found[0].startswith("-") and typed[: found.start()].count('"') % 2 == 0)
            typed = typed[:start] + self._longer(typed[start:])
        return typed.removesuffix(" -").removesuffix("-") + ('"' if typed.count('"') % 2 else "")

    def _longer(self, start: str) -> str:
        """The word itself where there is one, else the likeliest that begins so, else what was typed."""
        longer = self.of(start, 1) if start and self._index.topics.columns_of([self._index.spell(start)])[0] < 0 else []
        return longer[0].word if longer else start
