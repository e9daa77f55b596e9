"""Pairs of adjacent words that mean more than their parts: "machine translation" rather than "large corpus"."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import polars as pl

from mixsearch._typing import Array

# Chosen on four corpora: see docs/decisions.md.
_MIN_NPMI = 0.35
_MIN_DOCUMENTS, _MIN_DOCUMENT_SHARE = 5, 1e-4
# Phrases per feature, at most.
_MAX_SHARE = 0.1
# Slots of the first count, which only tells which pairs can be frequent: 16 MB.
_SLOT_BITS = 22
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Sequences(NamedTuple):
    """The tokens of some documents in order."""

    tokens: Array  # int32, (n_tokens,)
    bounds: Array  # tokens bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)


ReadSequences = Callable[[], Iterable[Sequences]]


class Parts(NamedTuple):
    """The words that phrases may consist of. The pair of words a and b of n has the code a n + b."""

    words: pl.Series  # (n,)
    number_of: Array  # the number of each token among these words, or -1, (n_tokens,)
    pair_of: Array  # the code of each token that is a compound of two of them, or -1, (n_tokens,)

    def find_pairs(self, sequences: Sequences) -> tuple[Array, Array]:
        """Return the document and the code of each pair of words, adjacent or joined by a hyphen, (n_pairs,)."""
        tokens, bounds = sequences
        documents = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
        numbers, joined = self.number_of[tokens], self.pair_of[tokens]
        first = np.flatnonzero((numbers[1:] >= 0) & (numbers[:-1] >= 0) & (documents[1:] == documents[:-1]))
        compounds = np.flatnonzero(joined >= 0)
        codes = numbers[first] * len(self.words) + numbers[first + 1]
        return documents[np.append(first, compounds)], np.append(codes, joined[compounds])

    def spell(self, codes: Array) -> pl.Series:
        """Return pairs as two words with a blank between them, (n_pairs,)."""
        first, second = (self.words.gather(half) for half in np.divmod(codes, max(len(self.words), 1)))
        return first + " " + second


def number_parts(words: pl.Series, tokens: pl.Series) -> Parts:
    """Number the words that phrases may consist of, and find the compounds of two of them among the tokens."""
    return Parts(words, number_words(tokens, words), _encode(tokens, "-", words))


def number_words(spelled: pl.Series, words: pl.Series) -> Array:
    """Return the numbers of words, (n,); -1 for those that have none."""
    numbers = words.alias("word").to_frame().with_row_index("number")
    joined = spelled.alias("word").to_frame().join(numbers, on="word", how="left", maintain_order="left")
    return joined["number"].cast(pl.Int64).fill_null(-1).to_numpy().copy()


def _encode(spelled: pl.Series, separator: str, words: pl.Series) -> Array:
    """Return the codes of pairs of words, (n,); -1 for what is not a pair."""
    halves = spelled.str.extract_groups(f"^([^{separator}]+){separator}([^{separator}]+)$").struct.unnest()
    first, second = (number_words(half, words) for half in halves.get_columns())
    return np.where((first >= 0) & (second >= 0), first * len(words) + second, -1)


class Phrases(NamedTuple):
    """Phrases by rising codes, with their columns."""

    parts: Parts
    codes: Array  # (n_phrases,)
    columns: Array

    def find(self, sequences: Sequences) -> tuple[Array, Array]:
        """Return the document and the column of each phrase in some documents, (n,)."""
        documents, codes = self.parts.find_pairs(sequences)
        nearest = np.searchsorted(self.codes, codes).clip(max=len(self.codes) - 1)
        is_phrase = self.codes[nearest] == codes
        return documents[is_phrase], self.columns[nearest[is_phrase]]


def find_phrases(read: ReadSequences, parts: Parts, shares: Array, limits: tuple[int, float, int, int]) -> pl.Series:
    """Find pairs that mean more than their parts, given the shares of these among all words, (n,).

    The limits are the numbers of all documents, of the documents of a phrase at most, of features, and of words in all
    texts.

    Notes
    -----
    The normalized pointwise mutual information log(p_ab / p_a p_b) / -log(p_ab) is 0 for words that meet by chance and
    1 for words that only occur together (Bouma 2009). Of too many pairs, those stay that save most: the number of
    documents times the pointwise mutual information.

    Most pairs occur once. Two passes, of which the second counts only pairs in well-filled slots of a table, bound the
    memory (Park, Chen and Yu's algorithm for frequent item sets), and the result is exact.
    """
    n_documents, max_documents, n_features, n_words = limits
    minimum = max(_MIN_DOCUMENTS, int(_MIN_DOCUMENT_SHARE * n_documents))
    slots = np.zeros(1 << _SLOT_BITS, dtype=np.int32)
    for sequences in read():
        used, n_pairs = np.unique(_find_slots(parts.find_pairs(sequences)[1]), return_counts=True)
        slots[used] += n_pairs.astype(np.int32)
    is_full = slots >= minimum
    counted = pl.DataFrame(schema={"code": pl.Int64, "documents": pl.UInt32, "total": pl.UInt32})
    for sequences in read():
        documents, codes = parts.find_pairs(sequences)
        chosen = np.flatnonzero(is_full[_find_slots(codes)])
        chunk = pl.DataFrame({"code": codes[chosen], "document": documents[chosen]})
        by_code = chunk.group_by("code").agg(documents=pl.col("document").n_unique(), total=pl.len())
        counted = pl.concat([counted, by_code]).group_by("code").sum()
    pairs = counted.filter(pl.col("documents").is_between(minimum, max_documents))
    codes, together = pairs["code"].to_numpy(), pairs["total"].to_numpy() / n_words
    first, second = np.divmod(codes, max(len(shares), 1))
    information = np.log(together / (shares[first] * shares[second]))
    is_phrase = information >= _MIN_NPMI * -np.log(together)
    codes, saved = codes[is_phrase], pairs["documents"].to_numpy()[is_phrase] * information[is_phrase]
    return parts.spell(codes[np.lexsort([codes, -saved])[: int(_MAX_SHARE * n_features)]])


def recall_phrases(names: pl.Series, tokens: pl.Series) -> Phrases:
    """Find the phrases among the names of columns: two words with a blank between them."""
    words = names.filter(names.str.contains("^[^ ]+ [^ ]+$")).str.split(" ").explode().unique().drop_nulls().sort()
    codes = _encode(names, " ", words)
    order = np.argsort(codes)[np.sum(codes < 0) :]
    return Phrases(number_parts(words, tokens), codes[order], order.astype(np.int32))


def _find_slots(codes: Array) -> Array:
    return ((codes.astype(np.uint64) * _MIX) >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)
