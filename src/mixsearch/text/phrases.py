"""Pairs of adjacent words that mean more than their parts: "machine translation" rather than "large corpus"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from mixsearch._typing import Array

# Chosen on four corpora: see docs/decisions/phrases.md.
_MIN_NPMI = 0.35
_MIN_DOCUMENTS, _MIN_DOCUMENT_SHARE = 5, 1e-4
# Phrases per feature, at most.
_MAX_SHARE = 0.1
# Slots of the first count, which only tells which pairs can be frequent: 16 MB.
_SLOT_BITS = 22
# Of a key that has the code of a pair and the document of a chunk.
_DOCUMENT_BITS = 22
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Sequences(NamedTuple):
    """The tokens of some documents in order."""

    tokens: Array  # int32, (n_tokens,)
    bounds: Array  # tokens bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)


ReadSequences = Callable[[], Iterable[Sequences]]


class Parts(NamedTuple):
    """The words that phrases may consist of."""

    tokens: Array  # their tokens, (n,)
    number_of: Array  # the number of each token among these words, or -1, (n_tokens,)


def number_parts(tokens: Array, n_tokens: int) -> Parts:
    """Number the words that phrases may consist of."""
    number_of = np.full(n_tokens, -1, dtype=np.int64)
    number_of[tokens] = np.arange(len(tokens))
    return Parts(tokens, number_of)


def find_pairs(sequences: Sequences, parts: Parts) -> tuple[Array, Array]:
    """Return the document and the code of each pair of adjacent words, (n,): a n + b for the words a and b of n."""
    numbers = parts.number_of[sequences.tokens]
    is_pair = (numbers[1:] >= 0) & (numbers[:-1] >= 0)
    starts = sequences.bounds[1:-1]
    is_pair[starts[(starts > 0) & (starts < len(numbers))] - 1] = False  # they are in different documents
    first = np.flatnonzero(is_pair)
    documents = np.repeat(np.arange(len(sequences.bounds) - 1), np.diff(sequences.bounds))[first]
    return documents, numbers[first] * len(parts.tokens) + numbers[first + 1]


class Phrases(NamedTuple):
    """Phrases by rising codes, with their columns and frequencies."""

    parts: Parts
    codes: Array  # (n_phrases,)
    columns: Array
    documents: Array
    totals: Array

    def spell(self, tokens: pl.Series) -> pl.Series:
        """Return phrases as their two words with a blank between them, (n_phrases,)."""
        halves = zip("ab", np.divmod(self.codes, max(len(self.parts.tokens), 1)), strict=True)
        frame = pl.DataFrame({name: tokens.gather(self.parts.tokens[half]) for name, half in halves})
        return frame.select(pl.concat_str("a", "b", separator=" ")).to_series().rename("")

    def find(self, sequences: Sequences) -> tuple[Array, Array]:
        """Return the document and the column of each phrase in some documents, (n,)."""
        if not len(self.codes):
            return self.codes, self.codes
        documents, codes = find_pairs(sequences, self.parts)
        nearest = np.searchsorted(self.codes, codes).clip(max=len(self.codes) - 1)
        is_phrase = self.codes[nearest] == codes
        return documents[is_phrase], self.columns[nearest[is_phrase]]


def find_phrases(read: ReadSequences, parts: Parts, totals: Array, limits: tuple[int, float, int]) -> Phrases:
    """Find the pairs that mean more than their parts, given the numbers of all, of most documents, and of features.

    Notes
    -----
    The normalized pointwise mutual information log(p_ab / p_a p_b) / -log(p_ab) is 0 for words that meet by chance and
    1 for words that only occur together (Bouma 2009). Of too many pairs, those stay that save most: the number of
    documents times the pointwise mutual information.
    """
    n_documents, max_documents, n_features = limits
    minimum = max(_MIN_DOCUMENTS, int(_MIN_DOCUMENT_SHARE * n_documents))
    codes, documents, n_together = _count_pairs(read, parts, minimum)
    together, share = n_together / totals.sum(), totals[parts.tokens] / totals.sum()
    first, second = np.divmod(codes, max(len(parts.tokens), 1))
    information = np.log(together / (share[first] * share[second]))
    is_phrase = (documents >= minimum) & (documents <= max_documents) & (information >= _MIN_NPMI * -np.log(together))
    chosen = np.flatnonzero(is_phrase)
    saved = documents[chosen] * information[chosen]
    chosen = np.sort(chosen[np.argsort(-saved, kind="stable")[: int(_MAX_SHARE * n_features)]])
    return Phrases(parts, codes[chosen], codes[chosen], documents[chosen], n_together[chosen])


def _count_pairs(read: ReadSequences, parts: Parts, minimum: int) -> tuple[Array, Array, Array]:
    """Count pairs by documents and in total, (n,) each; many that are in fewer documents than the minimum are left out.

    Notes
    -----
    Most pairs occur once. Two passes, of which the second counts only pairs in well-filled slots of a table, bound the
    memory (Park, Chen and Yu's algorithm for frequent item sets), and the result is exact.
    """
    slots = np.zeros(1 << _SLOT_BITS, dtype=np.int32)
    for sequences in read():
        slots += np.bincount(_find_slots(find_pairs(sequences, parts)[1]), minlength=len(slots)).astype(np.int32)
    is_full, counted = slots >= minimum, np.zeros((3, 0), dtype=np.int64)
    for sequences in read():
        documents, codes = find_pairs(sequences, parts)
        kept = is_full[_find_slots(codes)]
        keys = codes[kept] << _DOCUMENT_BITS | documents[kept]
        keys.sort()
        codes = keys >> _DOCUMENT_BITS
        starts = _find_starts(codes)
        n_documents = np.add.reduceat(np.append(np.diff(keys) > 0, 1), starts) if len(keys) else starts
        counted = _add_equal(np.hstack([counted, [codes[starts], n_documents, np.diff(starts, append=len(codes))]]))
    return counted[0], counted[1], counted[2]


def _add_equal(counted: Array) -> Array:
    """Add the frequencies, in columns, of equal codes."""
    counted = counted[:, np.argsort(counted[0], kind="stable")]
    starts = _find_starts(counted[0])
    return np.vstack([counted[0, starts], np.add.reduceat(counted[1:], starts, axis=1)]) if len(starts) else counted


def _find_starts(values: Array) -> Array:
    """Return where runs of equal values start."""
    return np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])


def _find_slots(codes: Array) -> Array:
    return ((codes.astype(np.uint64) * _MIX) >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)
