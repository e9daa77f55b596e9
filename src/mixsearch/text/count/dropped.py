"""Words of the texts that are not counted as features: which ones, how frequent they are, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.ngrams import BLANK, ChunkCounts
from mixsearch.text.count.vocabulary import Frequencies, Vocabulary

# Why a word is not a feature: `max_df`, `min_df`, `max_words`, `stop_words`; or it came with documents that were added.
REASONS = ("too_common", "too_rare", "beyond_max_words", "stop_word", "added")
# A bound on the memory for their spelling; the most frequent ones stay.
MAX_DROPPED = 1_000_000
# Nobody asks for what has more letters: encoded files and the like.
MAX_LETTERS = 60


@dataclass(frozen=True)
class DroppedWords:
    """Words of the texts that are not features, those in most documents first.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words.
    reasons : array of shape (n,), uint8
        Why each was dropped: indices into `REASONS`.
    stop_words : tuple of str
        Stop words that were not even counted.
    """

    vocabulary: Vocabulary
    reasons: Array
    stop_words: tuple[str, ...]


def list_others(frequencies: Frequencies, kept: Vocabulary) -> Frequencies:
    """Return the words that are not in a vocabulary."""
    return frequencies.take(kept.find_columns(frequencies.keys) < 0)


def find_single(frequencies: Frequencies, chunks: Iterable[ChunkCounts]) -> Array:
    """Return which words are single words, (n,)."""
    single = np.zeros(len(frequencies), dtype=bool)
    for chunk in chunks:
        if not len(chunk.keys) or not len(single):
            continue
        starts = np.cumsum(chunk.lengths) - chunk.lengths
        has_blank = np.logical_or.reduceat(chunk.letters == BLANK, starts)
        nearest = np.searchsorted(frequencies.keys, chunk.keys).clip(max=len(frequencies) - 1)
        single[nearest[(frequencies.keys[nearest] == chunk.keys) & ~has_blank]] = True
    return single


def take_dropped(frequencies: Frequencies, single: Array | None) -> Frequencies:
    """Return the words to store: single ones, if these are known, and not too many.

    Most sequences of words occur once: they would be more than all words together.
    """
    found = frequencies if single is None else frequencies.take(single)
    if len(found) <= MAX_DROPPED:
        return found
    return found.take(np.sort(np.argsort(-found.documents, kind="stable")[:MAX_DROPPED]))


def describe_dropped(
    frequencies: Frequencies, words: list[str], bounds: tuple[float, float] | None, stop_words: Collection[str]
) -> DroppedWords:
    """Return dropped words in the order of their number of documents, then of the alphabet.

    The bounds are the smallest and the largest number of documents of a feature; None if the features were known.
    """
    short = np.array([len(word) <= MAX_LETTERS for word in words], dtype=bool)
    words, frequencies = [word for word in words if len(word) <= MAX_LETTERS], frequencies.take(short)
    counts = frequencies.documents.tolist()
    order = np.array(sorted(range(len(words)), key=lambda i: (-counts[i], words[i])), dtype=np.int64)
    ranked = frequencies.take(order)
    vocabulary = Vocabulary(
        [words[i] for i in order.tolist()], frequencies.keys, np.argsort(order), ranked.documents, ranked.totals
    )
    listed = set(stop_words)
    is_stop_word = np.array([word in listed for word in vocabulary.words], dtype=bool)
    if bounds is None:
        reasons = np.where(is_stop_word, 3, 4).astype(np.uint8)
    else:
        cases = [is_stop_word, ranked.documents > bounds[1], ranked.documents < bounds[0]]
        reasons = np.select(cases, [3, 0, 1], 2).astype(np.uint8)
    return DroppedWords(vocabulary, reasons, tuple(sorted(listed.difference(words))))
