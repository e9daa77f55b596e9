"""The words that the columns of counts stand for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from mixsearch.errors import SearchError


def one_word_per_column(vocabulary: Iterable[str], n_columns: int) -> list[str]:
    """The words in the order of the columns, from a list of them or from a mapping of word to column."""
    if isinstance(vocabulary, str):
        raise SearchError("The vocabulary is one string. Give a list of words, one per column.")
    if isinstance(vocabulary, Mapping):  # as CountVectorizer.vocabulary_ has it: word -> column
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    words = [str(word) for word in vocabulary]
    if len(words) != n_columns:
        raise SearchError(
            f"The vocabulary has {len(words):,} words, but the counts have {n_columns:,} columns. "
            "Give one word per column, in the order of the columns."
        )
    repeated = [word for word, times in Counter(words).most_common(1) if times > 1]
    if repeated:
        raise SearchError(f"The vocabulary has {repeated[0]!r} more than once. Give each column a word of its own.")
    return words
