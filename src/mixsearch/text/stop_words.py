"""Stop words: those that the caller names, and those of the languages that occur in a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import Option, SearchError
from mixsearch.io.streams import File, read_text
from mixsearch.text.options import CorpusOptions
from mixsearch.text.tokens import clean_texts

# The value of the option that leaves the choice to the corpus.
AUTO = "auto"
# Listed words of English that topics are about.
_ABOUT_TOPICS = (
    "amount bill bottom call cry describe detail empty fill fire front interest mill mine move name part serious show "
    "side sincere system thick thin third top un"
)
# What is left of "don't" and "we've".
_CONTRACTED = "ain aren couldn didn doesn don hadn hasn haven isn ll mustn shouldn ve wasn weren wouldn"
# Lists have words of all kinds. Those that make up less than this share of the words of their language stay.
_MIN_SHARE = 1 / 2000
# A document needs this many different stop words of a language to be written in it.
_MIN_LISTED = 2
# A language with a smaller share of the corpus is a few names and titles.
_MIN_LANGUAGE_SHARE = 1 / 1000
# A word stays if it is mostly used in languages that do not list it: "war" in English, beside some German.
_MIN_USED = 1 / 2
# All of the first documents are looked at, and every tenth of the others.
_N_FIRST, _STEP = 10_000, 10


def list_languages() -> list[str]:
    """Return the codes of the languages whose stop words are known."""
    import stopwordsiso  # parses the lists of all languages

    return sorted(stopwordsiso.langs())


def list_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language; "english" for those of scikit-learn."""
    if language in ("en", "english"):
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes longer to import than a search

        edited = ENGLISH_STOP_WORDS.union(_CONTRACTED.split()).difference(_ABOUT_TOPICS.split())
        return frozenset(edited if language == "en" else ENGLISH_STOP_WORDS)
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(language))


def list_stop_words(options: CorpusOptions) -> list[str]:
    """Return the stop words that the caller has named, normalized as the texts are; none if the corpus chooses."""
    words = options.stop_words
    if words is None or words == AUTO:
        return []
    if isinstance(words, str) and (words == "english" or words in list_languages()):
        return sorted(_clean(list_words_of(words), options))
    if isinstance(words, str | os.PathLike):
        needed = "'auto', 'english', the code of a language, a list of words, or a file with one word per line"
        words = read_words(File(Path(words)), "stop_words", needed)
    return sorted(_clean(words, options))


def _clean(words: Iterable[str], options: CorpusOptions) -> set[str]:
    return set(clean_texts(pl.Series(list(words), dtype=pl.String), options)) - {""}


def read_words(path: File, argument: str, needed: str) -> list[str]:
    """Read a file with one word per line, named by an argument of the caller."""
    if not path.path.is_file():
        raise SearchError(
            "No file {file!r}. {argument} must be " + needed + ".",
            code="file_missing",
            file=str(path),
            argument=Option(argument),
        )
    return [line.strip() for line in read_text(path).rstrip().split("\n")]


@lru_cache(maxsize=2)
def _make_table(options: CorpusOptions) -> tuple[list[str], Array]:
    """Return the stop words of all languages, and which language lists which word, float32, (n_words, n_languages)."""
    lists = [_clean(list_words_of(language), options) for language in list_languages()]
    words = sorted(set().union(*lists))
    return words, np.array([[word in listed for listed in lists] for word in words], dtype=np.float32)


class StopWordCounter:
    """How a corpus uses the listed words of all languages."""

    def __init__(self, options: CorpusOptions) -> None:
        self._words, self._is_listed = _make_table(CorpusOptions(lowercase=options.lowercase))
        self._rows = {word: row for row, word in enumerate(self._words)}
        self._row_of = np.zeros(0, dtype=np.int32)  # of each token of a lexicon, -1 for those that no list has
        n_words, n_languages = self._is_listed.shape
        self._n_documents = 0
        self._n_used = np.zeros((2, n_words))  # in documents whose language lists the word, and in all
        self._lengths = np.zeros(n_languages)  # words of all documents of a language

    def add(self, new: Sequence[str], n_documents: int, documents: Array, tokens: Array, counts: Array) -> None:
        """Add documents, of which the lexicon knows all but the new tokens: the language of each lists most words."""
        rows = np.fromiter((self._rows.get(token, -1) for token in new), np.int32, len(new))
        self._row_of = np.concatenate([self._row_of, rows])
        first, self._n_documents = self._n_documents, self._n_documents + n_documents
        is_sampled = (first + documents < _N_FIRST) | ((first + documents) % _STEP == 0)
        documents, tokens, counts = (each[is_sampled] for each in (documents, tokens, counts))
        rows = self._row_of[tokens]
        is_listed = rows >= 0
        used, columns = np.unique(rows[is_listed], return_inverse=True)
        owners, listed_counts = documents[is_listed], counts[is_listed]
        shape = (n_documents, len(used))
        has_word = sp.csr_array((np.ones(len(columns), np.float32), (owners, columns)), shape=shape)
        scores = np.asarray(has_word @ self._is_listed[used])
        language = np.where(scores.max(axis=1) >= _MIN_LISTED, scores.argmax(axis=1), -1)
        of_language = (self._is_listed[used][columns, language[owners]] > 0) & (language[owners] >= 0)
        self._n_used[0, used] += np.bincount(columns, listed_counts * of_language, len(used))
        self._n_used[1, used] += np.bincount(columns, listed_counts, len(used))
        lengths = np.bincount(documents, counts, n_documents)
        self._lengths += np.bincount(language + 1, lengths, len(self._lengths) + 1)[1:]

    def choose(self) -> tuple[list[str], list[str]]:
        """Return the stop words of the languages that occur: the frequent ones, and all, which no phrase contains."""
        in_language, in_all = self._n_used
        occurs = self._lengths >= _MIN_LANGUAGE_SHARE * max(self._lengths.sum(), 1)
        is_stop = self._is_listed[:, occurs].any(axis=1) & (in_language >= _MIN_USED * in_all)
        is_frequent = in_language > _MIN_SHARE * (self._is_listed[:, occurs] @ self._lengths[occurs])
        chosen = (np.flatnonzero(each).tolist() for each in (is_stop & is_frequent, is_stop))
        frequent, listed = ([self._words[row] for row in rows] for rows in chosen)
        return frequent, listed
