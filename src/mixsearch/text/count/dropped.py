"""Words of the texts that are not counted as features: which ones, how frequent they are, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.ngrams import BLANK, ChunkCounts
from mixsearch.text.count.vocabulary import Frequencies, Vocabulary, find_bounds
from mixsearch.text.options import CorpusOptions

# Why a word is not a feature: `max_df`, `min_df`, `max_words`.
REASONS = ("too_common", "too_rare", "beyond_max_words")
# A bound on the memory for their spelling; the most frequent ones stay.
MAX_DROPPED = 1_000_000


@dataclass(frozen=True)
class DroppedWords:
    """Words of the texts that are not features, those in most documents first.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words.
    reasons : array of shape (n,), uint8
        Why each was dropped: indices into `REASONS`.
    stop_words : list of str
        Words that were not even counted.
    """

    vocabulary: Vocabulary
    reasons: Array
    stop_words: list[str]


def list_others(frequencies: Frequencies, kept: Vocabulary) -> Frequencies:
    """Return the words that are not in a vocabulary."""
    return frequencies.take(kept.find_columns(frequencies.keys) < 0)


def find_single(frequencies: Frequencies, chunks: Iterable[ChunkCounts]) -> Array:
    """Return which words are no sequences of several, (n,)."""
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
    frequencies: Frequencies, words: list[str], n_documents: int, options: CorpusOptions, stop_words: list[str]
) -> DroppedWords:
    """Return dropped words in the order of their number of documents, then of the alphabet."""
    counts = frequencies.documents.tolist()
    order = np.array(sorted(range(len(words)), key=lambda i: (-counts[i], words[i])), dtype=np.int64)
    ranked = frequencies.take(order)
    vocabulary = Vocabulary(
        [words[i] for i in order.tolist()], frequencies.keys, np.argsort(order), ranked.documents, ranked.totals
    )
    lower, upper = find_bounds(n_documents, options)
    reasons = np.select([ranked.documents > upper, ranked.documents < lower], [0, 1], 2).astype(np.uint8)
    return DroppedWords(vocabulary, reasons, stop_words)
