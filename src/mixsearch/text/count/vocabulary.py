"""The words of a whole corpus: their frequencies, the choice of words, and their spelling."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError
from mixsearch.text.count.ngrams import ChunkCounts
from mixsearch.text.count.tokens import decode
from mixsearch.text.options import WordLimits


@dataclass(frozen=True)
class Frequencies:
    """Words by their keys, with the number of documents they occur in and their total counts."""

    keys: Array  # uint64, (n,), rising
    documents: Array  # (n,)
    totals: Array  # (n,)

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, chosen: Array) -> Frequencies:
        """Return the words of a mask or of indices."""
        return Frequencies(self.keys[chosen], self.documents[chosen], self.totals[chosen])


class FrequencyCounter:
    """Frequencies of the chunks added so far, in 24 bytes of memory per distinct word.

    Notes
    -----
    Frequencies are merged only with others of about their size, as in a binary counter. So each word takes part in
    a number of merges that is logarithmic in the number of chunks.
    """

    def __init__(self) -> None:
        self._runs: list[Frequencies] = []

    def add(self, counts: ChunkCounts) -> None:
        """Add the words of a chunk."""
        self._runs.append(_count_chunk(counts))
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            last = self._runs.pop()
            self._runs.append(add_frequencies(self._runs.pop(), last))

    def sum(self) -> Frequencies:
        """Return the frequencies of all chunks together."""
        empty = np.empty(0, dtype=np.int64)
        return reduce(add_frequencies, reversed(self._runs), Frequencies(empty.astype(np.uint64), empty, empty))


def _count_chunk(counts: ChunkCounts) -> Frequencies:
    n_words = len(counts.keys)
    documents = np.bincount(counts.words, minlength=n_words)
    totals = np.bincount(counts.words, weights=counts.counts, minlength=n_words).astype(np.int64)
    frequencies = Frequencies(counts.keys, documents, totals)
    return frequencies if documents.all() else frequencies.take(documents > 0)


def count_distinct(documents: Array, keys: Array) -> Frequencies:
    """Return the frequencies of keys, given with the document of each occurrence."""
    order = np.lexsort((documents, keys))
    documents, keys = documents[order], keys[order]
    is_new_key = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    is_new = is_new_key | np.append(True, documents[1:] != documents[:-1])[: len(keys)]
    starts = np.flatnonzero(is_new_key)
    n_documents = np.add.reduceat(is_new, starts, dtype=np.int64) if len(starts) else starts
    return Frequencies(keys[starts], n_documents, np.diff(starts, append=len(keys)))


def add_frequencies(one: Frequencies, other: Frequencies) -> Frequencies:
    """Return the frequencies of two sets of documents together."""
    keys = np.concatenate([one.keys, other.keys])
    # Of two sorted runs, the stable sort is a merge.
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])[: len(keys)])
    if not len(keys):
        return one
    documents = np.concatenate([one.documents, other.documents])[order]
    totals = np.concatenate([one.totals, other.totals])[order]
    return Frequencies(keys[starts], np.add.reduceat(documents, starts), np.add.reduceat(totals, starts))


@dataclass(frozen=True)
class Vocabulary:
    """The counted words, and the column of each.

    Attributes
    ----------
    words : list of str
        The words, by column.
    keys : array of shape (d,), uint64
        Keys of the words, rising.
    columns : array of shape (d,)
        Column of each key.
    documents, totals : arrays of shape (d,)
        Number of documents each word occurs in, and its total count, by column.
    part_keys : array of shape (n,), uint64
        Keys of the words that phrases consist of, rising.
    pairs : array of shape (n_phrases,), uint64
        The phrases, rising: a n + b for the words a and b of these.
    pair_columns : array of shape (n_phrases,)
        Column of each phrase.
    """

    words: list[str]
    keys: Array
    columns: Array
    documents: Array
    totals: Array
    part_keys: Array = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    pairs: Array = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    pair_columns: Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def by_key(self) -> Frequencies:
        """Return the frequencies of the words, without phrases, by rising keys."""
        return Frequencies(self.keys, self.documents[self.columns], self.totals[self.columns])

    def find_columns(self, keys: Array) -> Array:
        """Return the column of each key, or -1 if it is not counted."""
        if not len(self.keys):
            return np.full(len(keys), -1)
        nearest = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[nearest] == keys, self.columns[nearest], -1)


class KnownWords(NamedTuple):
    """The words of an index.

    Attributes
    ----------
    words : sequence of str
        The words to count, by column.
    stop_words : sequence of str
        Words that were left out on purpose.
    """

    words: Sequence[str]
    stop_words: Sequence[str] = ()


def leave_out(frequencies: Frequencies, keys: Array) -> Frequencies:
    """Return the frequencies without those of some words."""
    return frequencies.take(~np.isin(frequencies.keys, keys)) if len(keys) else frequencies


def leave_out_sequences(
    frequencies: Frequencies, words: list[str], stop_words: Collection[str]
) -> tuple[Frequencies, list[str]]:
    """Return the words without sequences of words that contain a stop word."""
    left_out = set(stop_words)
    kept = [left_out.isdisjoint(word.split(" ")) for word in words]
    return frequencies.take(np.array(kept, dtype=bool)), [word for word, keep in zip(words, kept, strict=True) if keep]


def choose_words(frequencies: Frequencies, n_documents: int, limits: WordLimits) -> Frequencies:
    """Return the words within `min_df` and `max_df`, at least the `max_words` most frequent ones of them."""
    if not len(frequencies):
        raise SearchError(
            pluralize(n_documents, "The only document has", "The {n_documents:,} documents have")
            + " no words. Check the text column and the token pattern.",
            code="no_words",
            n_documents=n_documents,
        )
    lower, upper = find_bounds(n_documents, limits)
    chosen = frequencies.take((frequencies.documents >= lower) & (frequencies.documents <= upper))
    if not len(chosen):
        raise SearchError(
            "No word occurs in {lower:g} to {upper:g} of the {n_documents:,} documents. Lower {min_df_argument} "
            "({min_df!r}) or raise {max_df_argument} ({max_df!r}).",
            code="no_words_left",
            lower=lower,
            upper=upper,
            n_documents=n_documents,
            min_df_argument=Option("min_df"),
            min_df=limits.min_df,
            max_df_argument=Option("max_df"),
            max_df=limits.max_df,
        )
    if limits.max_words is not None and len(chosen) > limits.max_words:
        # All words that are as frequent as the last one stay until the alphabetical order decides.
        lowest = np.partition(chosen.totals, -limits.max_words)[-limits.max_words]
        chosen = chosen.take(chosen.totals >= lowest)
    return chosen


def find_common(frequencies: Frequencies, n_documents: int, limits: WordLimits) -> Frequencies:
    """Return the words that are in too many documents."""
    return frequencies.take(frequencies.documents > find_bounds(n_documents, limits)[1])


def find_bounds(n_documents: int, limits: WordLimits) -> tuple[float, float]:
    """Return the smallest and the largest number of documents that a counted word occurs in."""
    return to_count(limits.min_df, n_documents), to_count(limits.max_df, n_documents)


def spell_words(frequencies: Frequencies, chunks: Iterable[ChunkCounts]) -> list[str]:
    """Return words as strings, from the letters in the chunks; empty if no chunk has the word."""
    words = [""] * len(frequencies)
    missing = np.ones(len(frequencies), dtype=bool)
    for chunk in chunks:
        if not missing.any():
            break
        nearest = np.searchsorted(frequencies.keys, chunk.keys).clip(max=len(frequencies) - 1)
        new = np.flatnonzero((frequencies.keys[nearest] == chunk.keys) & missing[nearest])
        letters, ends = decode(chunk.letters), np.cumsum(chunk.lengths)[new]
        starts = ends - chunk.lengths[new]
        for index, start, end in zip(nearest[new].tolist(), starts.tolist(), ends.tolist(), strict=True):
            words[index] = letters[start:end]
        missing[nearest[new]] = False
    return words


def build_vocabulary(
    frequencies: Frequencies, words: list[str], max_words: int | None, *, by_alphabet: bool
) -> Vocabulary:
    """Assign columns to words: in alphabetical order, or in that of their keys.

    Of equally frequent words, `max_words` keeps the first ones in alphabetical order.
    """
    chosen = list(range(len(words)))
    if max_words is not None and len(words) > max_words:
        totals = frequencies.totals.tolist()
        chosen = sorted(chosen, key=lambda i: (-totals[i], words[i]))[:max_words]
    chosen.sort(key=words.__getitem__ if by_alphabet else int)
    order = np.array(chosen, dtype=np.int64)
    columns = np.argsort(order)
    kept = frequencies.take(order)
    keys = frequencies.keys[np.sort(order)]
    return Vocabulary([words[i] for i in chosen], keys, columns, kept.documents, kept.totals)


def number_columns(words: list[str], keys: Array, frequencies: Frequencies) -> Vocabulary:
    """Return a vocabulary of words in the order of their columns, given their keys and the frequencies of a corpus."""
    order = np.argsort(keys)
    nearest = np.searchsorted(frequencies.keys, keys).clip(max=max(len(frequencies) - 1, 0))
    found = frequencies.keys[nearest] == keys if len(frequencies) else np.zeros(len(keys), dtype=bool)
    documents, totals = np.zeros((2, len(words)), dtype=np.int64)
    documents[found], totals[found] = frequencies.documents[nearest[found]], frequencies.totals[nearest[found]]
    return Vocabulary(words, keys[order], order, documents, totals)


def to_count(frequency: int | float, n_documents: int) -> float:
    """Return a number of documents, given as one or as a share."""
    return frequency if isinstance(frequency, int) else frequency * n_documents
