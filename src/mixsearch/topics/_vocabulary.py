"""The words of the columns of counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from mixsearch.display import pluralize
from mixsearch.errors import SearchError


def check_vocabulary(vocabulary: Iterable[str] | Mapping[str, int], n_columns: int) -> list[str]:
    """Return the words in the order of the columns, from a list of them or from a mapping of words to columns."""
    if isinstance(vocabulary, str):
        raise SearchError("The vocabulary is one string. Give a list of words, one per column.", code="bad_vocabulary")
    if isinstance(vocabulary, Mapping):  # such as CountVectorizer.vocabulary_: word -> column
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    words = [str(word) for word in vocabulary]
    if len(words) != n_columns:
        raise SearchError(
            "The vocabulary has {n_words:,} "
            + pluralize(len(words), "word")
            + ", but the counts have {n_columns:,} "
            + pluralize(n_columns, "column")
            + ". Give one word per column, in the order of the columns.",
            code="vocabulary_length",
            n_words=len(words),
            n_columns=n_columns,
        )
    repeated = [word for word, times in Counter(words).most_common(1) if times > 1]
    if repeated:
        raise SearchError(
            "The vocabulary contains {word!r} more than once. Give every column its own word.",
            code="repeated_word",
            word=repeated[0],
        )
    return words
