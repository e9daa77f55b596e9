"""Words as they are typed: spelled as in the texts, completed, and proposed to start with."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.text.tokens import normalize_text, split_words
from mixsearch.topics.fitted_corpus import FittedCorpus
from mixsearch.topics.tuning import TUNING

# Words whose spelling is kept: every key of a word asks for it several times.
_N_SPELLED = 1024
# The word at the end of a query: no blank, quote or pattern sign follows it.
_LAST_WORD = re.compile(r'([^\s"^*?]+)$')


@dataclass(frozen=True)
class CorpusWord:
    """A word of the corpus, and the number of documents that contain it."""

    word: str
    n_documents: int


# ---- Spelling and completion ----------------------------------------------------------------------------------------


def make_speller(stop_words: Collection[str], is_word: Callable[[str], bool]) -> Callable[[str], tuple[str, ...]]:
    """Return a function from a word or phrase as it is typed to its words as the texts were split."""

    @lru_cache(_N_SPELLED)
    def spell(text: str) -> tuple[str, ...]:
        normal = normalize_text(text)
        if is_word(normal) or "*" in normal or "?" in normal:
            return (normal,)
        words = split_words(normal, is_word)
        if len(words) > 1:
            words = [word for word in words if word not in stop_words] or words
            if len("".join(words)) > len(normal):
                # Of overlapping pairs of characters, those across two words are often too rare to be counted.
                words = [word for word in words if is_word(word)] or words
        return tuple(words) or (normal,)

    return spell


def complete_word(words: pl.Series, n_documents: Array, prefix: str, n: int) -> list[CorpusWord]:
    """List the words with a prefix, those in most documents first."""
    columns = words.str.starts_with(prefix).arg_true().to_numpy()
    columns = columns[n_documents[columns] > 0]
    best = columns[np.argsort(-n_documents[columns], kind="stable")[:n]]
    return [CorpusWord(word, int(count)) for word, count in zip(words.gather(best), n_documents[best], strict=True)]


def split_query(query: str) -> tuple[str, str]:
    """Split a query before the word that is being typed."""
    typed = query.rstrip("^")
    match = _LAST_WORD.search(typed)
    if match is None:
        return typed, ""
    is_quoted = typed[: match.start()].count('"') % 2 == 1
    start = match.start() + (match[0].startswith("-") and not is_quoted)
    return typed[:start], typed[start:]


# ---- Words to start with --------------------------------------------------------------------------------------------


def find_directions(corpus: FittedCorpus) -> Array:
    """Return how each feature varies between topics: its covariance with others is that of these rows, (d, k).

    The covariance A - mm' of unit tf-idf vectors is, in the frame, that of the matrix diag(values) - gg' with g = V'm.
    """
    frame = corpus.frame
    g = frame.basis.T @ frame.mean
    values, vectors = np.linalg.eigh(np.diag(frame.values) - np.outer(g, g))
    return np.asarray(frame.basis @ (vectors * np.sqrt(np.maximum(values, 0))))


def choose_starters(corpus: FittedCorpus, words: Sequence[str], n: int) -> list[CorpusWord]:
    """Choose the words that vary most between topics, one per topic."""
    directions = find_directions(corpus)
    lengths = np.maximum(np.linalg.norm(directions, axis=1), 1e-12)
    n_documents = corpus.document_frequency[: len(lengths)]
    left = np.where(n_documents > 0, lengths, 0)
    chosen: list[int] = []
    while len(chosen) < n and left.max(initial=0) > 0:
        column = int(left.argmax())
        left[column] = 0
        if words[column][0].isalpha():
            chosen.append(column)
            left[directions @ directions[column] > TUNING.same_topic * lengths * lengths[column]] = 0
    return [CorpusWord(words[column], int(n_documents[column])) for column in chosen]
