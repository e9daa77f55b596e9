"""Texts to tokens: the positions of the words of a chunk, and a hash of each.

NumPy finds and hashes words over all characters of a chunk at once. This needs no Python object per word and runs in
parallel threads. The classes of characters come from Python's own `re` and `str`, so that the words are exactly those
that a regular expression finds.
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
from mixsearch.text.count.scripts import KATAKANA, find_scripts, split_at_scripts, split_into_pairs
from mixsearch.text.options import CorpusOptions, normalize_text

_N_CODES = 0x110000
# Combining marks are below, except the variation selectors, which do not belong to the spelling of a word.
_END_OF_MARKS = 0x1F000
_JOINERS = "\u200c\u200d"
# A tag starts with a letter, a slash or an exclamation mark: "a < b" is not one.
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")

# What may be between the words of a phrase: a blank, the end of a line, a hyphen.
_BLANKS, _MAX_GAP = r"[\s\u2010-\u2013-]", 2

# Characters hashed at once: small enough that the sums stay in cache.
_SEGMENT = 1 << 16
# Odd, so that it has an inverse modulo 2^64; 5 modulo 8, so that its powers repeat as late as possible.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64

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


@dataclass(frozen=True)
class Tokens:
    """The tokens of a chunk of documents, in order."""

    codes: Array  # code points of all texts
    starts: Array  # of each token in `codes`, (n_tokens,)
    ends: Array
    bounds: Array  # tokens bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)
    hashes: Array  # uint64, (n_tokens,)
    is_joined: Array | None = None  # whether only a blank or a hyphen is between a token and the one before

    def take(self, kept: Array) -> Tokens:
        """Return the tokens of a mask."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self,
            starts=self.starts[kept],
            ends=self.ends[kept],
            bounds=before[self.bounds],
            hashes=self.hashes[kept],
            is_joined=None if self.is_joined is None else (self.is_joined & np.append(False, kept[:-1]))[kept],
        )


def find_tokens(texts: Sequence[str], options: CorpusOptions, locate: Callable[[int], str]) -> Tokens:
    """Return the tokens of a chunk; `locate` returns the place of a document in the source, for errors."""
    pattern = None if options.tokenizer is not None else parse_word_pattern(options.token_pattern)
    cleaned = [_clean(text, options) for text in texts]
    if pattern is not None:
        tokens = _find_words(cleaned, pattern, splits_scripts=options.segmenter is not None and pattern.is_default)
        return replace(tokens, is_joined=_find_joined(tokens)) if options.counts_phrases else tokens
    tokens = _join_tokens([_split(text, options, locate, i) for i, text in enumerate(cleaned)])
    return replace(tokens, is_joined=_find_following(tokens)) if options.counts_phrases else tokens


def spell_tokens(tokens: Tokens) -> list[str]:
    """Return tokens as strings."""
    letters = decode(tokens.codes)
    return [letters[start:end] for start, end in zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True)]


def hash_words(words: Sequence[str]) -> Array:
    """Return the hash of each word, (n,)."""
    return _join_tokens([words]).hashes


def _clean(text: str, options: CorpusOptions) -> str:
    if options.strip_tags:
        # Entities come second: &lt;b&gt; is not a tag.
        text = html.unescape(_TAG.sub(" ", text))
    return normalize_text(text, options)


def _split(text: str, options: CorpusOptions, locate: Callable[[int], str], i: int) -> Sequence[str]:
    if options.tokenizer is None:
        return [token for token in re.findall(options.token_pattern or "", text) if token]
    try:
        # A generator may fail late, so it is exhausted here.
        found = options.tokenizer(text)
        tokens = list(found)
    except Exception as error:
        raise SearchError(
            "The tokenizer raised {reason} at {place}.",
            code="tokenizer_failed",
            reason=f"{type(error).__name__}: {error}",
            place=locate(i),
        ) from error
    if isinstance(found, str) or not all(isinstance(token, str) for token in tokens):
        raise SearchError(
            "The tokenizer must return a list of strings, but returned {returned} at {place}.",
            code="tokenizer_failed",
            returned=f"{found!r:.80}",
            place=locate(i),
        )
    return [token for token in tokens if token]


def _find_words(texts: Sequence[str], pattern: WordPattern, *, splits_scripts: bool) -> Tokens:
    codes = _encode("\n".join(texts))
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    # Each text and the line break after it: tokens do not cross it, even if the class contains line breaks.
    offsets = np.concatenate([[0], np.cumsum(lengths + 1)])
    inside = np.empty(len(codes) + 2, dtype=bool)
    inside[[0, -1]] = False
    # `take` is faster than indexing, here and below.
    inside[1:-1] = pattern.inside.take(codes)
    inside[offsets[1:-1]] = False
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts, ends = edges[::2], edges[1::2]
    scripts = find_scripts(codes) if splits_scripts else None
    if scripts is None:
        starts, ends = _keep_words(codes, starts, ends, pattern)
    else:
        starts, ends = _split_scripts(codes, scripts, starts, ends, pattern)
    return Tokens(codes, starts, ends, np.searchsorted(starts, offsets), hash_spans(codes, starts, ends))


def _keep_words(codes: Array, starts: Array, ends: Array, pattern: WordPattern) -> tuple[Array, Array]:
    """Return the runs of characters that are words."""
    kept = ends - starts >= pattern.min_length
    if pattern.at_edge is not None:
        kept &= pattern.at_edge[codes[starts]] | pattern.at_edge[codes[ends - 1]]
    return starts[kept], ends[kept]


def _split_scripts(
    codes: Array, scripts: Array, starts: Array, ends: Array, pattern: WordPattern
) -> tuple[Array, Array]:
    """Return the words of scripts with spaces, and pairs of characters of the others, in order."""
    starts, ends = split_at_scripts(scripts, starts, ends)
    is_spaced = np.isin(scripts[starts], (0, KATAKANA))
    words = _keep_words(codes, starts[is_spaced], ends[is_spaced], pattern)
    pairs = split_into_pairs(codes, scripts, starts[~is_spaced], ends[~is_spaced])
    order = np.argsort(np.concatenate([words[0], pairs[0]]), kind="stable")
    return np.concatenate([words[0], pairs[0]])[order], np.concatenate([words[1], pairs[1]])[order]


def _find_following(tokens: Tokens) -> Array:
    """Return whether each token follows another one of its document, (n_tokens,)."""
    follows = np.ones(len(tokens.starts), dtype=bool)
    follows[tokens.bounds[:-1][np.diff(tokens.bounds) > 0]] = False
    return follows


def _find_joined(tokens: Tokens) -> Array:
    """Return whether each token follows another one with only blanks or a hyphen between them, (n_tokens,)."""
    is_joined = _find_following(tokens)
    is_blank, last = _find_class(_BLANKS), len(tokens.codes) - 1
    gaps = tokens.starts[1:] - tokens.ends[:-1]
    before, after = tokens.ends[:-1].clip(max=last), tokens.starts[1:] - 1
    is_joined[1:] &= (gaps >= 1) & (gaps <= _MAX_GAP)
    is_joined[1:] &= is_blank.take(tokens.codes.take(before)) & is_blank.take(tokens.codes.take(after))
    return is_joined


def _join_tokens(tokens_by_text: Sequence[Sequence[str]]) -> Tokens:
    tokens = [token for tokens in tokens_by_text for token in tokens]
    codes = _encode("".join(tokens))
    ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
    starts = np.concatenate([[0], ends])[:-1]
    bounds = np.concatenate([[0], np.cumsum([len(tokens) for tokens in tokens_by_text], dtype=np.int64)])
    return Tokens(codes, starts, ends, bounds, hash_spans(codes, starts, ends))


def _encode(text: str) -> Array:
    try:
        return np.frombuffer(text.encode("latin-1"), dtype=np.uint8)
    except UnicodeEncodeError:
        return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def decode(codes: Array) -> str:
    """Return code points as a string."""
    if codes.dtype == np.uint8:
        return codes.tobytes().decode("latin-1")
    return codes.tobytes().decode("utf-32-le", "surrogatepass")


def hash_spans(codes: Array, starts: Array, ends: Array) -> Array:
    """Return a 64-bit hash of each span of the code points, (n,). No span may be empty.

    Notes
    -----
    The hash of c_0 ... c_m is Σ value[c_i] b^i modulo 2^64, with a random value for each character. From the sums
    S_j = Σ_{i<j} value[c_i] b^i over a segment, that of the span from s to e is b^(-s) (S_e - S_s). Among a million
    words, the probability that any two share a hash is about 3e-8.
    """
    hashes = np.empty(len(starts), dtype=np.uint64)
    first = 0
    while first < len(starts):
        begin = int(starts[first])
        last = max(int(np.searchsorted(ends, begin + _SEGMENT, side="right")), first + 1)
        stop = int(ends[last - 1])
        powers, inverses = _get_powers(stop - begin)
        sums = np.zeros(stop - begin + 1, dtype=np.uint64)
        np.cumsum(_draw_values().take(codes[begin:stop]) * powers, out=sums[1:])
        s, e = starts[first:last] - begin, ends[first:last] - begin
        hashes[first:last] = (sums.take(e) - sums.take(s)) * inverses.take(s)
        first = last
    return hashes


def _get_powers(n: int) -> tuple[Array, Array]:
    """Return n powers of the base, and at least n of its inverse."""
    powers, inverses = _compute_powers(n) if n > _SEGMENT else _get_segment_powers()
    return powers[:n], inverses


@lru_cache(maxsize=1)
def _get_segment_powers() -> tuple[Array, Array]:
    return _compute_powers(_SEGMENT)


def _compute_powers(n: int) -> tuple[Array, Array]:
    table = []
    for base in (_BASE, pow(_BASE, -1, _MODULUS)):
        powers = np.full(n, base, dtype=np.uint64)
        powers[0] = 1
        table.append(np.cumprod(powers))
    return table[0], table[1]


@lru_cache(maxsize=1)
def _draw_values() -> Array:
    return np.random.default_rng(0).integers(0, _MODULUS, _N_CODES, dtype=np.uint64)


@lru_cache(maxsize=8)
def parse_word_pattern(pattern: str | None) -> WordPattern | None:
    """Return the words that a regular expression finds, or None if it is not a repeated class of characters."""
    if pattern is None:
        return WordPattern(_find_default_class(), _find_class(r"[^\W\d_]"), min_length=2, is_default=True)
    run = _RUN_PATTERN.fullmatch(pattern)
    if run is None or (run["end"] and run["atom"] != r"\w"):
        return None
    n_atoms = 1 + len(run["more"]) // len(run["atom"])
    min_length = n_atoms if run["min"] is None else n_atoms - 1 + int(run["min"])
    return WordPattern(_find_class(run["atom"]), None, min_length) if min_length > 0 else None


def _find_default_class() -> Array:
    inside = _find_class(r"[^\W_]").copy()
    marks = [code for code in range(0x300, _END_OF_MARKS) if unicodedata.category(chr(code))[0] == "M"]
    inside[marks] = True
    # Without them, words of Persian and of the Indian scripts would be split.
    inside[[ord(joiner) for joiner in _JOINERS]] = True
    return inside


@lru_cache(maxsize=8)
def _find_class(atom: str) -> Array:
    """Return which code points a class of a regular expression matches, as a mask."""
    members = np.zeros(_N_CODES, dtype=bool)
    for run in re.finditer(f"(?:{atom})+", _list_characters()):
        members[run.start() : run.end()] = True
    return members


@lru_cache(maxsize=1)
def _list_characters() -> str:
    return np.arange(_N_CODES, dtype=np.uint32).tobytes().decode("utf-32-le", "surrogatepass")
