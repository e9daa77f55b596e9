"""Texts to tokens: where the words of a block are, and a hash of each.

Words are found and hashed by NumPy over all characters of a block at once, which needs no Python object for each word
and lets threads work side by side. The classes of characters come from Python's own `re` and `str`, so that the words
are exactly those that a regular expression finds.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.options import CorpusOptions

_N_CODES = 0x110000
# Marks lie below here, but for the variation selectors, which are no part of a word's spelling.
_LAST_MARK = 0x1F000
_JOINERS = "\u200c\u200d"
# A tag starts with a letter, a slash or an exclamation mark: "a < b" has none.
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")

# Characters hashed at once: small enough that the sums stay in cache.
_STRETCH = 1 << 16
# Odd, so that it has an inverse modulo 2^64; 5 modulo 8, so that its powers repeat as late as possible.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64

# A class of characters, repeated: \w+, \w\w+, [a-z]{3,}; a word boundary changes nothing beside \w.
_RUN_PATTERN = re.compile(
    r"(?:\(\?u\))?(?:(?P<edge>\\b)(?=\\w))?(?P<atom>\\w|\[[^\[\]]+\])(?P<more>(?P=atom)*)(?:\+|\{(?P<least>\d+),\})"
    r"(?P<end>\\b)?"
)


@dataclass(frozen=True)
class Words:
    """Words as runs of characters of a class."""

    inside: Array  # bool for each code point
    at_edge: Array | None  # what the first or the last character must be
    shortest: int


@dataclass(frozen=True)
class Tokens:
    """The tokens of a block of documents, in order."""

    codes: Array  # code points of all texts
    starts: Array  # of each token in `codes`, (n_tokens,)
    ends: Array
    bounds: Array  # tokens bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)
    hashes: Array  # uint64, (n_tokens,)

    def take(self, kept: Array) -> Tokens:
        """Only the tokens that a mask keeps."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self,
            starts=self.starts[kept],
            ends=self.ends[kept],
            bounds=before[self.bounds],
            hashes=self.hashes[kept],
        )


def find_tokens(texts: Sequence[str], options: CorpusOptions, place: Callable[[int], str]) -> Tokens:
    """The tokens of a block; `place` says where a document comes from, for errors."""
    words = None if options.tokenizer is not None else words_of_pattern(options.token_pattern)
    cleaned = [_clean(text, options) for text in texts]
    if words is not None:
        return _find_words(cleaned, words)
    return _join_tokens([_split(text, options, place, i) for i, text in enumerate(cleaned)])


def hash_words(words: Sequence[str]) -> Array:
    """The hash of each word, (n,)."""
    return _join_tokens([words]).hashes


def _clean(text: str, options: CorpusOptions) -> str:
    if options.strip_tags:
        # Entities come second: &lt;b&gt; speaks of a tag, and is none.
        text = html.unescape(_TAG.sub(" ", text))
    return options.fold_case(text)


def _split(text: str, options: CorpusOptions, place: Callable[[int], str], i: int) -> Sequence[str]:
    if options.tokenizer is None:
        return [token for token in re.findall(options.token_pattern or "", text) if token]
    try:
        # A generator may fail late, so all of it is asked for here.
        found = options.tokenizer(text)
        tokens = list(found)
    except Exception as error:
        raise SearchError(f"The tokenizer raised {type(error).__name__}: {error}, at {place(i)}.") from error
    if isinstance(found, str) or not all(isinstance(token, str) for token in tokens):
        raise SearchError(f"The tokenizer returned {found!r:.80}, needed a list of strings, at {place(i)}.")
    return [token for token in tokens if token]


def _find_words(texts: Sequence[str], words: Words) -> Tokens:
    codes = _code_points("\n".join(texts))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    # Each text and the line break after it: tokens do not reach across, whatever the class of the line break.
    offsets = np.concatenate([[0], np.cumsum(lengths + 1)])
    inside = np.empty(len(codes) + 2, dtype=bool)
    inside[[0, -1]] = False
    # Taking is faster than indexing, here and below.
    inside[1:-1] = words.inside.take(codes)
    inside[offsets[1:-1]] = False
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    kept = ends - starts >= words.shortest
    if words.at_edge is not None:
        kept &= words.at_edge[codes[starts]] | words.at_edge[codes[ends - 1]]
    starts, ends = starts[kept], ends[kept]
    return Tokens(codes, starts, ends, np.searchsorted(starts, offsets), hash_spans(codes, starts, ends))


def _join_tokens(tokens_of_text: Sequence[Sequence[str]]) -> Tokens:
    tokens = [token for tokens in tokens_of_text for token in tokens]
    codes = _code_points("".join(tokens))
    ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
    starts = np.concatenate([[0], ends])[:-1]
    bounds = np.concatenate([[0], np.cumsum([len(tokens) for tokens in tokens_of_text], dtype=np.int64)])
    return Tokens(codes, starts, ends, bounds, hash_spans(codes, starts, ends))


def _code_points(text: str) -> Array:
    try:
        return np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
    except UnicodeEncodeError:
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def hash_spans(codes: Array, starts: Array, ends: Array) -> Array:
    """A 64-bit hash of each span of the code points, (n,): equal for equal characters. No span is empty.

    Notes
    -----
    The hash of c_0 ... c_m is Σ value[c_i] b^i modulo 2^64, with a random value for each character. From the sums
    S_j = Σ_{i<j} value[c_i] b^i over a stretch, that of the span from s to e is b^(-s) (S_e - S_s). Among a million
    words, the probability that any two share a hash is about 3e-8.
    """
    hashes = np.empty(len(starts), dtype=np.uint64)
    first = 0
    while first < len(starts):
        begin = int(starts[first])
        last = max(int(np.searchsorted(ends, begin + _STRETCH, side="right")), first + 1)
        stop = int(ends[last - 1])
        powers, inverses = _powers(stop - begin)
        sums = np.zeros(stop - begin + 1, dtype=np.uint64)
        np.cumsum(_random_values().take(codes[begin:stop]) * powers, out=sums[1:])
        s, e = starts[first:last] - begin, ends[first:last] - begin
        hashes[first:last] = (sums.take(e) - sums.take(s)) * inverses.take(s)
        first = last
    return hashes


def _powers(n: int) -> tuple[Array, Array]:
    """The first n powers of the base and of its inverse."""
    powers, inverses = _power_table(max(_STRETCH, n)) if n > _STRETCH else _stretch_powers()
    return powers[:n], inverses


@lru_cache(maxsize=1)
def _stretch_powers() -> tuple[Array, Array]:
    return _power_table(_STRETCH)


def _power_table(n: int) -> tuple[Array, Array]:
    table = []
    for base in (_BASE, pow(_BASE, -1, _MODULUS)):
        powers = np.full(n, base, dtype=np.uint64)
        powers[0] = 1
        table.append(np.cumprod(powers))
    return table[0], table[1]


@lru_cache(maxsize=1)
def _random_values() -> Array:
    return np.random.default_rng(0).integers(0, _MODULUS, _N_CODES, dtype=np.uint64)


@lru_cache(maxsize=8)
def words_of_pattern(pattern: str | None) -> Words | None:
    """The words that a pattern finds, or None where it is more than a repeated class of characters."""
    if pattern is None:
        return Words(_default_class(), _class_of(r"[^\W\d_]"), shortest=2)
    run = _RUN_PATTERN.fullmatch(pattern)
    if run is None or (run["end"] and run["atom"] != r"\w"):
        return None
    n_atoms = 1 + len(run["more"]) // len(run["atom"])
    shortest = n_atoms if run["least"] is None else n_atoms - 1 + int(run["least"])
    return Words(_class_of(run["atom"]), None, shortest) if shortest > 0 else None


def _default_class() -> Array:
    inside = _class_of(r"[^\W_]").copy()
    marks = [code for code in range(0x300, _LAST_MARK) if unicodedata.category(chr(code))[0] == "M"]
    inside[marks] = True
    # Without them, words of Persian and of the Indian scripts fall apart.
    inside[[ord(joiner) for joiner in _JOINERS]] = True
    return inside


def _class_of(atom: str) -> Array:
    """Which code points a class of a regular expression matches, by asking it."""
    members = np.zeros(_N_CODES, dtype=bool)
    for run in re.finditer(f"(?:{atom})+", _all_characters()):
        members[run.start() : run.end()] = True
    return members


@lru_cache(maxsize=1)
def _all_characters() -> str:
    return np.arange(_N_CODES, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
