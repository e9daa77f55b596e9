"""Snippets: the part of a text that shows what it has to do with some words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from mixsearch._typing import Array

_WORD_CHARACTER = re.compile(r"\w")


def make_snippet(text: str, words: Iterable[str], length: int = 160) -> str:
    """Return the part of a text with the most occurrences of some words, on one line.

    Parameters
    ----------
    text : str
        A text of any length.
    words : iterable of str
        Words or phrases; case does not matter.
    length : int, default=160
        The maximum number of characters, without the ellipses.

    Returns
    -------
    str

    Examples
    --------
    >>> make_snippet("A long story. In the end there is sushi for everyone.", ["sushi"], length=24)
    '…there is sushi for…'
    """
    plain = " ".join(text.split())
    if len(plain) <= length:
        return plain
    lowered = plain.lower()
    starts = sorted({start for word in words for start in _find_word(word.lower(), lowered)})
    wanted = min(max(_find_densest(starts, length) - length // 4, 0), len(plain) - length)
    start = plain.rfind(" ", 0, wanted + 1) + 1
    end = len(plain) if start + length >= len(plain) else plain.rfind(" ", start, start + length + 1)
    end = start + length if end <= start else end  # one endless word
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


def _find_word(word: str, text: str) -> Iterator[int]:
    """Yield where a word starts in a text, except inside a longer word."""
    start = text.find(word)
    while start >= 0:
        neighbours = text[start - 1 : start] + text[start + len(word) : start + len(word) + 1]
        if not _WORD_CHARACTER.search(neighbours):
            yield start
        start = text.find(word, start + 1)


def _find_densest(starts: list[int], length: int) -> int:
    """Return the start that is followed by most others within a length, or 0."""
    if not starts:
        return 0
    array: Array = np.array(starts)
    n_following = np.searchsorted(array, array + length) - np.arange(len(array))
    return int(array[np.argmax(n_following)])
