"""Completion of words: the vocabulary in dictionary order, with document frequencies."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array

# Sorts after every letter that can follow a prefix.
_LAST = chr(0x10FFFF)
# The word at the end of a query: no blank, quote or pattern sign follows it.
_LAST_WORD = re.compile(r'([^\s"^*?]+)$')


@dataclass(frozen=True)
class CorpusWord:
    """A word of the corpus, and the number of documents that contain it."""

    word: str
    n_documents: int


class SortedWords:
    """The words of a vocabulary in dictionary order."""

    def __init__(self, vocabulary: Sequence[str], n_documents: Array) -> None:
        order = sorted(range(len(vocabulary)), key=vocabulary.__getitem__)
        self._words = [vocabulary[column] for column in order]
        self._n_documents = n_documents[order]

    def complete(self, prefix: str, n: int) -> list[CorpusWord]:
        """Return the words with a prefix, those in most documents first."""
        first, last = bisect_left(self._words, prefix), bisect_left(self._words, prefix + _LAST)
        best = np.argsort(-self._n_documents[first:last], kind="stable")[:n] + first
        return [CorpusWord(self._words[position], int(self._n_documents[position])) for position in best]

    def count_documents(self, word: str) -> int:
        """Return the number of documents that contain a word, 0 if it is not in the vocabulary."""
        position = bisect_left(self._words, word)
        is_known = position < len(self._words) and self._words[position] == word
        return int(self._n_documents[position]) if is_known else 0


def split_query(query: str) -> tuple[str, str]:
    """Split a query before the word that is being typed."""
    typed = query.rstrip("^")
    found = _LAST_WORD.search(typed)
    if found is None:
        return typed, ""
    is_quoted = typed[: found.start()].count('"') % 2 == 1
    start = found.start() + (found[0].startswith("-") and not is_quoted)
    return typed[:start], typed[start:]


def close_query(query: str) -> str:
    """Close an open quote and drop a minus without a word."""
    return query.removesuffix(" -").removesuffix("-") + ('"' if query.count('"') % 2 else "")
