"""Texts to tokens: the positions of the words of a chunk, and a hash of each.

NumPy finds and hashes words over all characters of a chunk at once. This needs no Python object per word and runs in
parallel threads. The classes of characters come from Python's own `re` and `str`, so that the words are exactly those
that a regular expression finds.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.text.count.characters import (
    KATAKANA,
    WordPattern,
    find_class,
    find_scripts,
    parse_word_pattern,
    split_at_scripts,
    split_into_pairs,
)
from mixsearch.text.options import CorpusOptions, normalize_text

_N_CODES = 0x110000
# A tag starts with a letter, a slash or an exclamation mark: "a < b" is not one.
_TAG = re.compile(r"<[A-Za-z/!][^<>]*>")

# What may be between the words of a phrase: a blank, the end of a line, a hyphen.
_BLANKS, _MAX_GAP = r"[\s\u2010-\u2013-]", 2

_HYPHEN, _FIRST_OTHER, _LAST_OTHER = ord("-"), 0x2010, 0x2013

# Characters hashed at once: small enough that the sums stay in cache.
_SEGMENT = 1 << 16
# Odd, so that it has an inverse modulo 2^64; 5 modulo 8, so that its powers repeat as late as possible.
_BASE = 0x9E3779B97F4A7C15
_MODULUS = 1 << 64


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
        tokens = _find_words(cleaned, pattern, options)
    else:
        tokens = _join_tokens([_split(text, options, locate, i) for i, text in enumerate(cleaned)])
    if options.counts_phrases:
        tokens = replace(tokens, is_joined=_find_following(tokens) if pattern is None else _find_joined(tokens))
    return tokens


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


def _find_words(texts: Sequence[str], pattern: WordPattern, options: CorpusOptions) -> Tokens:
    codes = _encode("\n".join(texts))
    with_names = pattern.is_default and options.phrases
    if with_names:
        codes = _unify_hyphens(codes)
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
    scripts = find_scripts(codes) if pattern.is_default else None
    if scripts is None:
        starts, ends = _keep_words(codes, starts, ends, pattern, with_names=with_names)
    else:
        find_words = partial(_keep_words, codes, pattern=pattern, with_names=with_names)
        starts, ends = _split_scripts(codes, scripts, starts, ends, find_words)
    return Tokens(codes, starts, ends, np.searchsorted(starts, offsets), hash_spans(codes, starts, ends))


def _keep_words(
    codes: Array, starts: Array, ends: Array, pattern: WordPattern, *, with_names: bool
) -> tuple[Array, Array]:
    """Return the runs of characters that are words, and names with a number after their first words, in order."""
    kept = ends - starts >= pattern.min_length
    if pattern.at_edge is None:
        return starts[kept], ends[kept]
    has_letter = pattern.at_edge[codes[starts]] | pattern.at_edge[codes[ends - 1]]
    kept &= has_letter
    words = starts[kept], ends[kept]
    return _merge_spans([words, _find_numbered_names(codes, starts, ends, has_letter)]) if with_names else words


def _unify_hyphens(codes: Array) -> Array:
    """Return code points with the usual hyphen in place of the others, (n_characters,)."""
    if codes.dtype == np.uint8:
        return codes
    return np.where((codes >= _FIRST_OTHER) & (codes <= _LAST_OTHER), np.uint32(_HYPHEN), codes)


def _find_numbered_names(codes: Array, starts: Array, ends: Array, has_letter: Array) -> tuple[Array, Array]:
    """Return where letters, a hyphen and a number stand together."""
    numbers = np.flatnonzero(has_letter[:-1] & ~has_letter[1:] & (starts[1:] - ends[:-1] == 1)) + 1
    is_number = find_class(r"\d").take(codes.take(starts[numbers]))
    numbers = numbers[is_number & (codes.take(starts[numbers] - 1) == _HYPHEN)]
    return starts[numbers - 1], ends[numbers]


def _merge_spans(found: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """Return spans of characters in order. Of two that start together, the one that was found first comes first."""
    starts, ends = (np.concatenate([each[side] for each in found]) for side in (0, 1))
    order = np.argsort(starts, kind="stable")
    return starts[order], ends[order]


def _split_scripts(
    codes: Array,
    scripts: Array,
    starts: Array,
    ends: Array,
    find_words: Callable[[Array, Array], tuple[Array, Array]],
) -> tuple[Array, Array]:
    """Return the words of scripts with spaces, and pairs of characters of the others, in order."""
    starts, ends = split_at_scripts(scripts, starts, ends)
    is_spaced = np.isin(scripts[starts], (0, KATAKANA))
    found = [
        find_words(starts[is_spaced], ends[is_spaced]),
        split_into_pairs(codes, scripts, starts[~is_spaced], ends[~is_spaced]),
    ]
    return _merge_spans(found)


def _find_following(tokens: Tokens) -> Array:
    """Return whether each token follows another one of its document, (n_tokens,)."""
    follows = np.ones(len(tokens.starts), dtype=bool)
    follows[tokens.bounds[:-1][np.diff(tokens.bounds) > 0]] = False
    return follows


def _find_joined(tokens: Tokens) -> Array:
    """Return whether each token follows another one with only blanks or a hyphen between them, (n_tokens,)."""
    is_joined = _find_following(tokens)
    is_blank, last = find_class(_BLANKS), len(tokens.codes) - 1
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
