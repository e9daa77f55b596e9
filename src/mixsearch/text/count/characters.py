"""Classes of characters that NumPy looks up for all characters at once: those of words, and scripts without spaces."""

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

# Runs of letters of scripts without spaces are split into overlapping pairs of characters: in Chinese, a pair is a word
# more often than not, elsewhere a good part of one. A character is what a reader takes for one, such as a consonant of
# Thai with the vowels around it. Scripts with spaces are 0. Katakana spells foreign words, so its runs stay whole.
HAN, HIRAGANA, KATAKANA, THAI, LAO, KHMER, MYANMAR = range(1, 8)
_RANGES = {
    HAN: [(0x2E80, 0x2FD5), (0x3005, 0x3007), (0x3021, 0x3029), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x323AF)],
    HIRAGANA: [(0x3041, 0x309F)],
    KATAKANA: [(0x30A1, 0x30FF), (0x31F0, 0x31FF), (0xFF66, 0xFF9F)],
    THAI: [(0x0E00, 0x0E7F)],
    LAO: [(0x0E80, 0x0EFF)],
    KHMER: [(0x1780, 0x17DD)],
    MYANMAR: [(0x1000, 0x109F), (0xA9E0, 0xA9FE), (0xAA60, 0xAA7F)],
}
# Vowels written after their consonant, and before it, which Unicode has as letters of their own in Thai and Lao.
_AFTER, _BEFORE = "ะาำๅະາຳ", "เแโใไເແໂໃໄ"
# The next consonant is written below the one before.
_STACKERS = "\u17d2\u1039"


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


def find_scripts(codes: Array) -> Array | None:
    """Return the script of each character, (n,); None if all of them are of scripts with spaces."""
    if codes.dtype == np.uint8:
        return None
    scripts = _list_scripts().take(codes)
    return scripts if scripts.any() else None


def split_at_scripts(scripts: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """Split runs of letters where the script changes."""
    changes = np.flatnonzero(scripts[1:] != scripts[:-1]) + 1
    run = np.searchsorted(starts, changes, side="right") - 1
    within = changes[(run >= 0) & (changes > starts[run]) & (changes < ends[run])]
    return np.sort(np.concatenate([starts, within])), np.sort(np.concatenate([ends, within]))


def split_into_pairs(codes: Array, scripts: Array, starts: Array, ends: Array) -> tuple[Array, Array]:
    """Return the overlapping pairs of characters of runs of letters, each of one script.

    A single Chinese character is a word too, and so is a single one of another script that takes several letters.
    """
    if not len(starts):
        return starts, ends
    covered = np.zeros(len(codes) + 1, dtype=np.int8)
    covered[starts] += 1
    covered[ends] -= 1
    joins_previous, joins_next = _list_joining()
    begins = np.cumsum(covered[:-1], dtype=np.int8).astype(bool)
    begins &= ~joins_previous.take(codes)
    begins[1:] &= ~joins_next.take(codes[:-1])
    begins[starts] = True
    first = np.flatnonzero(begins)
    run_ends = ends[np.searchsorted(starts, first, side="right") - 1]
    character_ends = np.minimum(np.append(first[1:], len(codes)), run_ends)
    is_last = character_ends == run_ends
    pairs = np.flatnonzero(~is_last)
    is_single = is_last & np.isin(first, starts) & ((scripts[first] == HAN) | (character_ends - first > 1))
    pair_starts = np.concatenate([first[pairs], first[is_single]])
    pair_ends = np.concatenate([character_ends[pairs + 1], character_ends[is_single]])
    order = np.argsort(pair_starts)
    return pair_starts[order], pair_ends[order]


@lru_cache(maxsize=1)
def _list_scripts() -> Array:
    """Return the script of each code point. Digits belong to none."""
    scripts = np.zeros(_N_CODES, dtype=np.uint8)
    for script, ranges in _RANGES.items():
        for low, high in ranges:
            scripts[low : high + 1] = script
    digits = [code for code in np.flatnonzero(scripts).tolist() if unicodedata.category(chr(code)) == "Nd"]
    scripts[digits] = 0
    return scripts


@lru_cache(maxsize=1)
def _list_joining() -> tuple[Array, Array]:
    """Return which code points belong to the character before, and which to the one after."""
    scripts = _list_scripts()
    previous, following = np.zeros(_N_CODES, dtype=bool), np.zeros(_N_CODES, dtype=bool)
    marks = [code for code in np.flatnonzero(scripts).tolist() if unicodedata.category(chr(code))[0] == "M"]
    previous[[*marks, *map(ord, _AFTER)]] = True
    following[list(map(ord, _BEFORE + _STACKERS))] = True
    return previous, following
