"""A vocabulary that is known already: documents that are added to an index are counted with its words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.text.count.ngrams import join_hashes
from mixsearch.text.count.phrases import recall_phrases
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.count.vocabulary import Frequencies, Vocabulary, number_columns
from mixsearch.text.options import CorpusOptions


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
