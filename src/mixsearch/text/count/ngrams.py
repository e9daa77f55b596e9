"""Counts of one block of documents, before anything is known of the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.tokens import Tokens, find_tokens
from mixsearch.text.options import CorpusOptions

# Odd constants that tell "new york" from "york new", and a pair from a word.
_FIRST, _NEXT = np.uint64(0xD1342543DE82EF95), np.uint64(0x2545F4914F6CDD1D)
_BLANK = 32
_SLOT_BITS = 18


@dataclass(frozen=True)
class BlockCounts:
    """Counts of a block over its own words.

    A word is known by its key: the hash of its letters or, in ready-made counts, the number of its column.
    """

    keys: Array  # uint64, (n_words,), rising
    bounds: Array  # entries bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)
    words: Array  # positions in `keys`, (n_entries,); each once in a document
    counts: Array  # (n_entries,)
    letters: Array  # code points of all words, one after the other
    lengths: Array  # of the words, (n_words,)

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(self.bounds) - 1

    def take(self, documents: Array) -> BlockCounts:
        """Only the documents of a mask; words that none of them has keep their place."""
        sizes = np.diff(self.bounds)
        entries = np.repeat(documents, sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes[documents])])
        return replace(self, bounds=bounds, words=self.words[entries], counts=self.counts[entries])


def tokens_of_block(
    texts: Sequence[str], options: CorpusOptions, stop_hashes: Array, place: Callable[[int], str]
) -> Tokens:
    """The tokens of a block without the stop words, whose hashes are sorted."""
    tokens = find_tokens(texts, options, place)
    if not len(stop_hashes):
        return tokens
    nearest = np.searchsorted(stop_hashes, tokens.hashes).clip(max=len(stop_hashes) - 1)
    return tokens.take(stop_hashes[nearest] != tokens.hashes)


def count_tokens(tokens: Tokens, ngrams: tuple[int, int]) -> BlockCounts:
    """Count the words of each document, and sequences of them."""
    lengths = range(ngrams[0], ngrams[1] + 1)
    starts_of_length = [_sequence_starts(tokens, length) for length in lengths]
    hashes = np.concatenate(
        [hash_sequences(tokens, starts, n) for starts, n in zip(starts_of_length, lengths, strict=True)]
    )
    documents = np.concatenate([_documents_of(tokens, starts) for starts in starts_of_length])
    firsts, labels = label(hashes)
    # Rising keys: blocks are merged, and found in the vocabulary, without jumping about in memory.
    order = np.argsort(hashes[firsts])
    firsts, words = firsts[order], np.argsort(order).take(labels)
    bounds, entries, counts = _count_pairs(documents, words, len(tokens.bounds) - 1, len(firsts))
    where = np.concatenate(starts_of_length)[firsts]
    sizes = np.repeat(lengths, [len(starts) for starts in starts_of_length])[firsts]
    letters, letter_counts = _spell(tokens, where, sizes)
    return BlockCounts(hashes[firsts], bounds, entries, counts, letters, letter_counts)


def hash_sequences(tokens: Tokens, starts: Array, length: int) -> Array:
    """Hashes of the sequences of so many tokens that start at these, (n,)."""
    hashes = tokens.hashes[starts]
    for step in range(1, length):
        hashes = hashes * _FIRST + tokens.hashes[starts + step] * _NEXT
    return hashes


def label(hashes: Array) -> tuple[Array, Array]:
    """Where each different hash occurs first, rising, and for each hash which of those it equals.

    Notes
    -----
    Each hash writes its position into one of 2^18 slots, and reads back that of an equal hash, but for the few that
    share their slot with another: only those are sorted. To sort all of them takes four times as long.
    """
    positions = np.arange(len(hashes))
    slot = (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)
    slots = np.empty(1 << _SLOT_BITS, dtype=np.intp)
    # The last writer of a slot stays: backwards, that is the first occurrence.
    slots[slot[::-1]] = positions[::-1]
    first = slots.take(slot)
    displaced = np.flatnonzero(hashes.take(first) != hashes)
    _, index, inverse = np.unique(hashes[displaced], return_index=True, return_inverse=True)
    first[displaced] = displaced[index][inverse]
    is_first = first == positions
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1).take(first)


def _sequence_starts(tokens: Tokens, length: int) -> Array:
    """The tokens at which a sequence of so many starts that stays within its document."""
    if length == 1:
        return np.arange(len(tokens.hashes))
    ends = np.repeat(tokens.bounds[1:], np.diff(tokens.bounds))
    return np.flatnonzero(np.arange(len(ends)) + length <= ends)


def _documents_of(tokens: Tokens, starts: Array) -> Array:
    documents = np.repeat(np.arange(len(tokens.bounds) - 1), np.diff(tokens.bounds))
    return np.asarray(documents[starts])


def _count_pairs(documents: Array, words: Array, n_documents: int, n_words: int) -> tuple[Array, Array, Array]:
    """How often each word occurs in each document, as bounds, words and counts."""
    # Both in one number, the word in the lower bits.
    bits = n_words.bit_length()
    pairs = (documents << bits) | words
    pairs.sort()
    changes = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)])
    counts = np.diff(changes, append=len(pairs))
    found = pairs[changes]
    bounds = np.searchsorted(found, np.arange(n_documents + 1) << bits)
    return bounds, (found & ((1 << bits) - 1)).astype(np.int32), counts.astype(np.int32)


def _spell(tokens: Tokens, where: Array, sizes: Array) -> tuple[Array, Array]:
    """The letters of sequences of tokens, with blanks between the tokens, and their lengths."""
    if not len(where):
        return np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
    # One part for each token of each sequence, with a blank after it.
    last = np.cumsum(sizes) - 1
    parts = np.arange(last[-1] + 1) - np.repeat(last + 1 - sizes, sizes) + np.repeat(where, sizes)
    part_lengths = tokens.ends[parts] - tokens.starts[parts] + 1
    part_ends = np.cumsum(part_lengths)
    places = np.arange(part_ends[-1]) + np.repeat(tokens.starts[parts] - (part_ends - part_lengths), part_lengths)
    letters = tokens.codes[places.clip(max=len(tokens.codes) - 1)]
    letters[part_ends - 1] = _BLANK
    word_lengths = np.diff(part_ends[last], prepend=0) - 1
    return np.delete(letters, part_ends[last] - 1), word_lengths
