"""Pairs of adjacent words that mean more than their parts: "machine translation" rather than "large corpus"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.ngrams import ChunkCounts, join_hashes
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.count.vocabulary import Frequencies, Vocabulary, add_frequencies, count_distinct, number_columns
from mixsearch.text.options import CorpusOptions

# Chosen on four corpora: see docs/decisions/phrases.md.
_MIN_NPMI = 0.35
_MIN_DOCUMENTS, _MIN_DOCUMENT_SHARE = 5, 1e-4
# Phrases per word of the vocabulary, at most.
_MAX_SHARE = 0.1
# Slots of the first count, which only tells which pairs can be frequent: 16 MB.
_SLOT_BITS = 22
_MIX = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class PhraseParts:
    """The words that phrases may consist of: the counted ones, and those that are too common alone."""

    frequencies: Frequencies
    words: list[str]  # by rising keys


def list_parts(vocabulary: Vocabulary, common: Frequencies, common_words: list[str]) -> PhraseParts:
    """Return the words of a vocabulary together with common words."""
    counted = vocabulary.by_key()
    words = [*(vocabulary.words[column] for column in vocabulary.columns.tolist()), *common_words]
    order = np.argsort(np.concatenate([counted.keys, common.keys]))
    return PhraseParts(add_frequencies(counted, common), [words[i] for i in order.tolist()])


def min_documents(n_documents: int) -> int:
    """Return in how many documents a phrase must be."""
    return max(_MIN_DOCUMENTS, int(_MIN_DOCUMENT_SHARE * n_documents))


def count_slots(chunks: Iterable[ChunkCounts], keys: Array) -> Array:
    """Count pairs of counted words by the slots of a table, (n_slots,): an upper bound for each pair of a slot.

    Notes
    -----
    Most pairs occur once. Two passes, of which the second counts only pairs in well-filled slots, bound the memory
    (Park, Chen and Yu's algorithm for frequent item sets), and the result is exact.
    """
    slots = np.zeros(1 << _SLOT_BITS, dtype=np.int32)
    for chunk in chunks:
        slots += np.bincount(_find_slots(find_pairs(chunk, keys)[1]), minlength=len(slots)).astype(np.int32)
    return slots


def count_pairs(chunks: Iterable[ChunkCounts], keys: Array, slots: Array, minimum: int) -> Frequencies:
    """Count the pairs whose slots have at least a minimum: by documents, and in total."""
    empty = np.empty(0, dtype=np.int64)
    total = Frequencies(empty.astype(np.uint64), empty, empty)
    for chunk in chunks:
        documents, codes = find_pairs(chunk, keys)
        kept = slots.take(_find_slots(codes)) >= minimum
        total = add_frequencies(total, count_distinct(documents[kept], codes[kept]))
    return total


def take_frequent(pairs: Frequencies, minimum: int, maximum: float) -> Frequencies:
    """Return the pairs that are in at least a minimum and at most a maximum of documents."""
    return pairs.take((pairs.documents >= minimum) & (pairs.documents <= maximum))


def find_pairs(chunk: ChunkCounts, keys: Array) -> tuple[Array, Array]:
    """Return the document and the code of each pair of adjacent words with some rising keys, (n,).

    The code of a pair is a n + b for the words a and b of n.
    """
    nearest = np.searchsorted(keys, chunk.keys).clip(max=len(keys) - 1)
    numbers = np.where(keys[nearest] == chunk.keys, nearest, -1)
    is_joined = chunk.sequence >= 0
    own = numbers.take(np.where(is_joined, chunk.sequence, ~chunk.sequence))
    second = np.flatnonzero(is_joined[1:] & (own[1:] >= 0) & (own[:-1] >= 0)) + 1
    documents = np.searchsorted(chunk.sequence_bounds, second, side="right") - 1
    return documents, (own[second - 1] * len(keys) + own[second]).astype(np.uint64)


def choose_phrases(
    pairs: Frequencies, parts: PhraseParts, n_words: int, n_tokens: int, stop_words: Iterable[str]
) -> Frequencies:
    """Return the pairs that mean more than their parts, at most a share of the number of words. None has a stop word.

    Notes
    -----
    The normalized pointwise mutual information log(p_ab / p_a p_b) / -log(p_ab) is 0 for words that meet by chance and
    1 for words that only occur together (Bouma 2009). Of too many pairs, those stay that save most: the number of
    documents times the pointwise mutual information.
    """
    words = parts.frequencies
    first, second = (part.astype(np.int64) for part in np.divmod(pairs.keys, np.uint64(len(words))))
    share, together = words.totals / n_tokens, pairs.totals / n_tokens
    information = np.log(together / (share[first] * share[second]))
    is_stop = np.isin(words.keys, hash_words(list(stop_words)))
    chosen = np.flatnonzero((information >= _MIN_NPMI * -np.log(together)) & ~is_stop[first] & ~is_stop[second])
    saved = pairs.documents[chosen] * information[chosen]
    return pairs.take(np.sort(chosen[np.argsort(-saved, kind="stable")[: int(_MAX_SHARE * n_words)]]))


def add_phrases(vocabulary: Vocabulary, phrases: Frequencies, parts: PhraseParts) -> Vocabulary:
    """Return a vocabulary with phrases, whose keys are codes over the parts."""
    n_words = len(vocabulary.words)
    first, second = (part.astype(np.int64) for part in np.divmod(phrases.keys, np.uint64(len(parts.words))))
    spelled = (f"{parts.words[a]} {parts.words[b]}" for a, b in zip(first.tolist(), second.tolist(), strict=True))
    words = [*vocabulary.words, *spelled]
    order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
    columns = np.argsort(order)
    used, own = np.unique(np.concatenate([first, second]), return_inverse=True)
    codes = (own[: len(first)] * len(used) + own[len(first) :]).astype(np.uint64)
    rising = np.argsort(codes)
    return Vocabulary(
        [words[i] for i in order.tolist()],
        vocabulary.keys,
        columns[vocabulary.columns],
        np.concatenate([vocabulary.documents, phrases.documents])[order],
        np.concatenate([vocabulary.totals, phrases.totals])[order],
        parts.frequencies.keys[used],
        codes[rising],
        columns[n_words:][rising],
    )


def recall_phrases(vocabulary: Vocabulary, phrases: Mapping[int, tuple[str, str]]) -> Vocabulary:
    """Return a vocabulary with phrases that are known already, given by their columns.

    The columns of a phrase and of its words are those of the whole vocabulary.
    """
    parts = np.array([hash_words(pair) for pair in phrases.values()], dtype=np.uint64).reshape(-1, 2)
    part_keys, own = np.unique(parts, return_inverse=True)
    first, second = own.reshape(-1, 2).T
    codes = (first * len(part_keys) + second).astype(np.uint64)
    rising = np.argsort(codes)
    columns = np.array(list(phrases), dtype=np.int64)
    return replace(vocabulary, part_keys=part_keys, pairs=codes[rising], pair_columns=columns[rising])


def count_phrases(counts: ChunkCounts, vocabulary: Vocabulary) -> tuple[Array, Array]:
    """Return the document and the column of each phrase of a chunk, (n,)."""
    documents, codes = find_pairs(counts, vocabulary.part_keys)
    nearest = np.searchsorted(vocabulary.pairs, codes).clip(max=len(vocabulary.pairs) - 1)
    found = vocabulary.pairs[nearest] == codes
    return documents[found], vocabulary.pair_columns[nearest[found]]


def _find_slots(codes: Array) -> Array:
    return ((codes * _MIX) >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)


def recall_vocabulary(words: Sequence[str], options: CorpusOptions, frequencies: Frequencies) -> Vocabulary:
    """Return the vocabulary of these words, in the same columns, with the frequencies that they have in a corpus."""
    whole = number_columns(list(words), _hash_sequences(words), frequencies)
    if not options.counts_phrases:
        return whole
    # A word has no blank, so what has one is a phrase. No word has the key of a phrase.
    halves = ((column, *word.partition(" ")) for column, word in enumerate(words))
    phrases = {column: (first, second) for column, first, _, second in halves if second}
    return recall_phrases(whole, phrases) if phrases else whole


def _hash_sequences(words: Sequence[str]) -> Array:
    """Return the keys of words and of sequences of words, (d,)."""
    parts = [word.split(" ") for word in words]
    sizes = np.array([len(each) for each in parts])
    hashes = hash_words([part for each in parts for part in each])
    starts = np.cumsum(sizes) - sizes
    keys: Array = hashes[starts]
    for size in np.unique(sizes[sizes > 1]).tolist():
        own = np.flatnonzero(sizes == size)
        keys[own] = join_hashes(hashes, starts[own], size)
    return keys
