"""Counts of the words, and n-grams of words, of one chunk of documents."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.tokens import Tokens

# Odd constants that make the hash of a sequence depend on its order and its length.
_FIRST, _NEXT = np.uint64(0xD1342543DE82EF95), np.uint64(0x2545F4914F6CDD1D)
BLANK = 32
_SLOT_BITS = 18


def _make_empty() -> Array:
    return np.empty(0, dtype=np.int32)


@dataclass(frozen=True)
class ChunkCounts:
    """Counts of a chunk over its own words.

    The key of a word is the hash of its letters or, in ready-made counts, the index of its column.
    """

    keys: Array  # uint64, (n_words,), rising
    bounds: Array  # entries bounds[i] to bounds[i + 1] belong to document i, (n_documents + 1,)
    words: Array  # indices into `keys`, (n_entries,); each once in a document
    counts: Array  # (n_entries,)
    letters: Array  # code points of all words, one after the other
    lengths: Array  # of the words, (n_words,)
    # All words in order, for phrases: i if word i follows the one before it immediately, else ~i, (n_tokens,)
    sequence: Array = field(default_factory=_make_empty)
    sequence_bounds: Array = field(default_factory=_make_empty)  # as `bounds`

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return len(self.bounds) - 1

    def take(self, documents: Array) -> ChunkCounts:
        """Return the documents of a mask. Words that none of them has keep their index."""
        sizes = np.diff(self.bounds)
        entries = np.repeat(documents, sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes[documents])])
        taken = replace(self, bounds=bounds, words=self.words[entries], counts=self.counts[entries])
        if not len(self.sequence_bounds):
            return taken
        lengths = np.diff(self.sequence_bounds)
        sequence_bounds = np.concatenate([[0], np.cumsum(lengths[documents])])
        sequence = self.sequence[np.repeat(documents, lengths)]
        return replace(taken, sequence=sequence, sequence_bounds=sequence_bounds)


def remove_stop_words(tokens: Tokens, stop_hashes: Array) -> Tokens:
    """Return the tokens without the stop words, whose hashes are sorted."""
    if not len(stop_hashes):
        return tokens
    nearest = np.searchsorted(stop_hashes, tokens.hashes).clip(max=len(stop_hashes) - 1)
    return tokens.take(stop_hashes[nearest] != tokens.hashes)


def count_ngrams(tokens: Tokens, ngrams: tuple[int, int]) -> ChunkCounts:
    """Count the sequences of words of each document, from the shortest to the longest length."""
    lengths = range(ngrams[0], ngrams[1] + 1)
    starts_by_length = [_find_starts(tokens, length) for length in lengths]
    hashes = np.concatenate(
        [hash_ngrams(tokens, starts, n) for starts, n in zip(starts_by_length, lengths, strict=True)]
    )
    documents = np.concatenate([_find_documents(tokens, starts) for starts in starts_by_length])
    firsts, groups = group_hashes(hashes)
    # Rising keys: chunks are merged, and found in the vocabulary, with sequential memory access.
    order = np.argsort(hashes[firsts])
    firsts, words = firsts[order], np.argsort(order).take(groups)
    bounds, entries, counts = _count_pairs(documents, words, len(tokens.bounds) - 1, len(firsts))
    first_tokens = np.concatenate(starts_by_length)[firsts]
    sizes = np.repeat(lengths, [len(starts) for starts in starts_by_length])[firsts]
    letters, n_letters = _spell(tokens, first_tokens, sizes)
    counted = ChunkCounts(hashes[firsts], bounds, entries, counts, letters, n_letters)
    if tokens.is_joined is None:
        return counted
    sequence = np.where(tokens.is_joined, words, ~words).astype(np.int32)
    return replace(counted, sequence=sequence, sequence_bounds=tokens.bounds)


def hash_ngrams(tokens: Tokens, starts: Array, length: int) -> Array:
    """Return the hashes of the sequences of `length` tokens that begin at `starts`, (n,)."""
    return join_hashes(tokens.hashes, starts, length)


def join_hashes(hashes: Array, starts: Array, length: int) -> Array:
    """Return the hashes of sequences, given those of all words and where each sequence begins, (n,)."""
    joined = hashes[starts]
    for step in range(1, length):
        joined = joined * _FIRST + hashes[starts + step] * _NEXT
    return joined


def group_hashes(hashes: Array) -> tuple[Array, Array]:
    """Return the index of the first occurrence of each different hash, rising, and for each hash its group.

    Notes
    -----
    Each hash writes its index into one of 2^18 slots and reads back that of an equal hash, except for the few that
    share their slot with another hash. Only those are sorted. Sorting all of them takes four times as long.
    """
    indices = np.arange(len(hashes))
    slot = (hashes >> np.uint64(64 - _SLOT_BITS)).astype(np.intp)
    slots = np.empty(1 << _SLOT_BITS, dtype=np.intp)
    # The last write to a slot stays: in reverse order, that is the first occurrence.
    slots[slot[::-1]] = indices[::-1]
    first = slots.take(slot)
    displaced = np.flatnonzero(hashes.take(first) != hashes)
    _, index, inverse = np.unique(hashes[displaced], return_index=True, return_inverse=True)
    first[displaced] = displaced[index][inverse]
    is_first = first == indices
    return np.flatnonzero(is_first), (np.cumsum(is_first) - 1).take(first)


def _find_starts(tokens: Tokens, length: int) -> Array:
    """Return the tokens at which a sequence of `length` tokens begins that stays within its document."""
    if length == 1:
        return np.arange(len(tokens.hashes))
    ends = np.repeat(tokens.bounds[1:], np.diff(tokens.bounds))
    return np.flatnonzero(np.arange(len(ends)) + length <= ends)


def _find_documents(tokens: Tokens, starts: Array) -> Array:
    # 64 bits on every system: `_count_pairs` shifts them.
    documents = np.repeat(np.arange(len(tokens.bounds) - 1, dtype=np.int64), np.diff(tokens.bounds))
    return np.asarray(documents[starts])


def _count_pairs(documents: Array, words: Array, n_documents: int, n_words: int) -> tuple[Array, Array, Array]:
    """Count each word of each document. Return bounds, words and counts as in `ChunkCounts`."""
    # Both in one integer, the word in the lower bits.
    bits = n_words.bit_length()
    pairs = (documents << bits) | words
    pairs.sort()
    changes = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]])[: len(pairs)])
    counts = np.diff(changes, append=len(pairs))
    found = pairs[changes]
    bounds = np.searchsorted(found, np.arange(n_documents + 1, dtype=np.int64) << bits)
    return bounds, (found & ((1 << bits) - 1)).astype(np.int32), counts.astype(np.int32)


def _spell(tokens: Tokens, first_tokens: Array, sizes: Array) -> tuple[Array, Array]:
    """Return the letters of sequences of tokens, with blanks between the tokens, and the lengths of the sequences."""
    if not len(first_tokens):
        return np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
    # Each token of each sequence, with a blank after it.
    last = np.cumsum(sizes) - 1
    indices = np.arange(last[-1] + 1) - np.repeat(last + 1 - sizes, sizes) + np.repeat(first_tokens, sizes)
    lengths = tokens.ends[indices] - tokens.starts[indices] + 1
    ends = np.cumsum(lengths)
    positions = np.arange(ends[-1]) + np.repeat(tokens.starts[indices] - (ends - lengths), lengths)
    letters = tokens.codes[positions.clip(max=len(tokens.codes) - 1)]
    letters[ends - 1] = BLANK
    return np.delete(letters, ends[last] - 1), np.diff(ends[last], prepend=0) - 1
