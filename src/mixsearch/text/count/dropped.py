"""Words of the texts that are not counted as features: which ones, how frequent they are, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError
from mixsearch.text.count.ngrams import BLANK, ChunkCounts
from mixsearch.text.count.vocabulary import Frequencies, Vocabulary

# Why a word is not a feature: `max_df`, `min_df`, `max_words`, `stop_words`; or it came with documents that were added.
REASONS = ("too_common", "too_rare", "beyond_max_words", "stop_word", "added")
# A bound on the memory for their spelling; the most frequent ones stay.
MAX_DROPPED = 1_000_000
# Nobody asks for what has more letters: encoded files and the like.
MAX_LETTERS = 60


class LeftOutWords(NamedTuple):
    """How many words of the texts are not features because of the number of documents that contain them.

    Attributes
    ----------
    n_common, n_rare : int
        Words that are in more documents than `max_df` allows, and in fewer than `min_df` asks for.
    min_documents, max_documents : int
        Smallest and largest number of documents of a feature.
    """

    n_common: int
    n_rare: int
    min_documents: int
    max_documents: int

    def explain(self, error: SearchError) -> SearchError:
        """Return an error about documents with too few words, with the words that were left out."""
        if self.n_common:
            error = error.append(
                "{n_common:,} "
                + pluralize(self.n_common, "word was", "words were")
                + " left out for being in more than {max_documents:,} documents: raise {max_df}.",
                n_common=self.n_common,
                max_documents=self.max_documents,
                max_df=Option("max_df"),
            )
        if self.n_rare:
            error = error.append(
                "{n_rare:,} "
                + pluralize(self.n_rare, "word was", "words were")
                + " left out for being in fewer than {min_documents:,} documents: lower {min_df}.",
                n_rare=self.n_rare,
                min_documents=self.min_documents,
                min_df=Option("min_df"),
            )
        return error


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
    left_out : LeftOutWords or None
        How many of them are too common or too rare; None if the features were known.
    """

    vocabulary: Vocabulary
    reasons: Array
    stop_words: tuple[str, ...]
    left_out: LeftOutWords | None = None


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
    left_out = None
    if bounds is None:
        reasons = np.where(is_stop_word, 3, 4).astype(np.uint8)
    else:
        cases = [is_stop_word, ranked.documents > bounds[1], ranked.documents < bounds[0]]
        reasons = np.select(cases, [3, 0, 1], 2).astype(np.uint8)
        n_common, n_rare = (int(np.count_nonzero(reasons == reason)) for reason in (0, 1))
        left_out = LeftOutWords(n_common, n_rare, ceil(bounds[0]), floor(bounds[1]))
    return DroppedWords(vocabulary, reasons, tuple(sorted(listed.difference(words))), left_out)
