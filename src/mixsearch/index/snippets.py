"""Snippets: the part of a text that shows what it has to do with some words."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from mixsearch._typing import Array

# Letters of scripts without spaces stand beside a word without being part of it.
_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_LETTER = rf"[^\W{_UNSPACED}]"


def match_word(word: str) -> str:
    """Return a regular expression of a word or phrase in a text, except inside a longer word.

    Parameters
    ----------
    word : str
        A word, or words with blanks between them, which may be hyphens in the text.

    Returns
    -------
    str
    """
    return rf"(?<!{_LETTER}){'[ -]'.join(map(re.escape, word.split(' ')))}(?!{_LETTER})"


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
    pattern = re.compile("|".join(match_word(word) for word in words if word) or "(?!)", re.IGNORECASE)
    starts = [found.start() for found in pattern.finditer(plain)]
    wanted = min(max(_find_densest(starts, length) - length // 4, 0), len(plain) - length)
    start = plain.rfind(" ", 0, wanted + 1) + 1
    end = len(plain) if start + length >= len(plain) else plain.rfind(" ", start, start + length + 1)
    end = start + length if end <= start else end  # one endless word
    return f"{'…' if start else ''}{plain[start:end]}{'…' if end < len(plain) else ''}"


def _find_densest(starts: list[int], length: int) -> int:
    """Return the start that is followed by most others within a length, or 0."""
    if not starts:
        return 0
    array: Array = np.array(starts)
    n_following = np.searchsorted(array, array + length) - np.arange(len(array))
    return int(array[np.argmax(n_following)])
