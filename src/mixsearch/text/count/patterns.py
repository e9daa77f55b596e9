"""Regular expressions of words as classes of characters, which NumPy looks up for all characters at once."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mixsearch._typing import Array

_N_CODES = 0x110000
# Combining marks are below, except the variation selectors, which do not belong to the spelling of a word.
_END_OF_MARKS = 0x1F000
_JOINERS = "\u200c\u200d"

# A repeated class of characters: \w+, \w\w+, [a-z]{3,}. A word boundary next to \w changes nothing.
_RUN_PATTERN = re.compile(
    r"(?:\(\?u\))?(?:(?P<edge>\\b)(?=\\w))?(?P<atom>\\w|\[[^\[\]]+\])(?P<more>(?P=atom)*)(?:\+|\{(?P<min>\d+),\})"
    r"(?P<end>\\b)?"
)


@dataclass(frozen=True)
class WordPattern:
    """Words as runs of characters of a class."""

    inside: Array  # bool for each code point
    at_edge: Array | None  # class of which the first or the last character must be
    min_length: int
    is_default: bool = False


@lru_cache(maxsize=8)
def parse_word_pattern(pattern: str | None) -> WordPattern | None:
    """Return the words that a regular expression finds, or None if it is not a repeated class of characters."""
    if pattern is None:
        return WordPattern(_find_default_class(), find_class(r"[^\W\d_]"), min_length=2, is_default=True)
    run = _RUN_PATTERN.fullmatch(pattern)
    if run is None or (run["end"] and run["atom"] != r"\w"):
        return None
    n_atoms = 1 + len(run["more"]) // len(run["atom"])
    min_length = n_atoms if run["min"] is None else n_atoms - 1 + int(run["min"])
    return WordPattern(find_class(run["atom"]), None, min_length) if min_length > 0 else None


def _find_default_class() -> Array:
    inside = find_class(r"[^\W_]").copy()
    marks = [code for code in range(0x300, _END_OF_MARKS) if unicodedata.category(chr(code))[0] == "M"]
    inside[marks] = True
    # Without them, words of Persian and of the Indian scripts would be split.
    inside[[ord(joiner) for joiner in _JOINERS]] = True
    return inside


@lru_cache(maxsize=8)
def find_class(atom: str) -> Array:
    """Return which code points a class of a regular expression matches, as a mask."""
    members = np.zeros(_N_CODES, dtype=bool)
    for run in re.finditer(f"(?:{atom})+", _list_characters()):
        members[run.start() : run.end()] = True
    return members


@lru_cache(maxsize=1)
def _list_characters() -> str:
    return np.arange(_N_CODES, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
