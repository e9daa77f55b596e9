"""Stop words: those that the caller names, and those of the languages that occur in a corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import Option, SearchError
from mixsearch.io.streams import File, read_text
from mixsearch.text.count.ngrams import ChunkCounts
from mixsearch.text.count.tokens import hash_words
from mixsearch.text.options import CorpusOptions, normalize_text

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
_MIN_OWN = 1 / 2


def list_languages() -> list[str]:
    """Return the codes of the languages whose stop words are known."""
    import stopwordsiso  # parses the lists of all languages

    return sorted(stopwordsiso.langs())


def list_words_of(language: str) -> frozenset[str]:
    """Return the stop words of a language."""
    if language == "en":
        return list_english().union(_CONTRACTED.split()).difference(_ABOUT_TOPICS.split())
    import stopwordsiso

    return frozenset(stopwordsiso.stopwords(language))


def list_english() -> frozenset[str]:
    """Return scikit-learn's stop words of English."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS  # takes longer to import than a question to answer

    return ENGLISH_STOP_WORDS


@dataclass(frozen=True)
class StopWordTable:
    """The stop words of all languages."""

    words: list[str]
    hashes: Array  # rising, (n_words,)
    is_listed: Array  # which language lists which word, float32, (n_words, n_languages)


@dataclass(frozen=True)
class StopWordCounts:
    """How a corpus uses the words of a table."""

    totals: Array  # occurrences in documents whose language lists the word, (n_words,)
    all_totals: Array  # occurrences in all documents, (n_words,)
    lengths: Array  # words of all documents of a language, (n_languages,)

    def __add__(self, other: StopWordCounts) -> StopWordCounts:
        own, others = vars(self), vars(other)
        return StopWordCounts(**{name: own[name] + others[name] for name in own})


@lru_cache(maxsize=4)
def _make_table(lowercase: bool, normal_form: Literal["NFKC", "NFC"] | None) -> StopWordTable:
    options = CorpusOptions(lowercase=lowercase, normal_form=normal_form)
    languages = list_languages()
    lists = [{normalize_text(word, options) for word in list_words_of(language)} for language in languages]
    words = sorted(set().union(*lists))
    hashes = hash_words(words)
    order = np.argsort(hashes)
    words = [words[i] for i in order.tolist()]
    is_listed = np.array([[word in each for each in lists] for word in words], dtype=np.float32)
    return StopWordTable(words, hashes[order], is_listed)


def get_table(options: CorpusOptions) -> StopWordTable:
    """Return the stop words of all languages, normalized as the texts are."""
    return _make_table(options.lowercase, options.normal_form)


def count_stop_words(counts: ChunkCounts, table: StopWordTable) -> StopWordCounts:
    """Count the stop words of a chunk. The language of a document is the one that lists most of its words."""
    nearest = np.searchsorted(table.hashes, counts.keys).clip(max=len(table.hashes) - 1)
    words = np.where(table.hashes[nearest] == counts.keys, nearest, -1)[counts.words]
    found = words >= 0
    rows = np.repeat(np.arange(counts.n_documents), np.diff(counts.bounds))
    used, own = np.unique(words[found], return_inverse=True)
    shape = (counts.n_documents, len(used))
    matrix = sp.csr_array((np.ones(len(own), dtype=np.float32), (rows[found], own)), shape=shape)
    scores = matrix @ table.is_listed[used]
    language = np.where(scores.max(axis=1) >= _MIN_LISTED, scores.argmax(axis=1), -1)
    is_own = (table.is_listed[used][own, language[rows[found]]] > 0) & (language[rows[found]] >= 0)
    lengths = np.bincount(rows, weights=counts.counts, minlength=counts.n_documents)
    n_words, n_languages = table.is_listed.shape
    return StopWordCounts(
        np.bincount(words[found][is_own], weights=counts.counts[found][is_own], minlength=n_words),
        np.bincount(words[found], weights=counts.counts[found], minlength=n_words),
        np.bincount(language + 1, weights=lengths, minlength=n_languages + 1)[1:],
    )


class ChosenStopWords(NamedTuple):
    """Stop words of the languages that occur."""

    left_out: list[str]  # those that are frequent, and mostly used in documents whose language lists them
    listed: list[str]  # all of them, which are no part of a phrase


def choose_stop_words(counts: Sequence[StopWordCounts], options: CorpusOptions) -> ChosenStopWords:
    """Return the stop words of the languages that occur; none if the corpus does not choose them."""
    if not counts:
        return ChosenStopWords([], [])
    table, total = get_table(options), sum_stop_words(counts)
    occurs = total.lengths >= _MIN_LANGUAGE_SHARE * max(total.lengths.sum(), 1)
    is_listed = table.is_listed[:, occurs].any(axis=1)
    is_frequent = total.totals > _MIN_SHARE * (table.is_listed[:, occurs] @ total.lengths[occurs])
    is_own = total.totals >= _MIN_OWN * total.all_totals
    return ChosenStopWords(_take(table.words, is_listed & is_frequent & is_own), _take(table.words, is_listed & is_own))


def _take(words: list[str], chosen: Array) -> list[str]:
    return sorted(words[i] for i in np.flatnonzero(chosen).tolist())


def sum_stop_words(counts: Sequence[StopWordCounts]) -> StopWordCounts:
    """Return the counts of several chunks together."""
    return reduce(StopWordCounts.__add__, counts)


def list_stop_words(options: CorpusOptions) -> list[str]:
    """Return the words to leave out that are known before the texts are read, normalized as the texts are."""
    return sorted({normalize_text(word, options) for word in _load_stop_words(options) if word})


def _load_stop_words(options: CorpusOptions) -> Iterable[str]:
    words = options.stop_words
    if words is None or words == AUTO:
        return ()
    if words == "english":
        return list_english()
    if isinstance(words, str) and words in list_languages():
        return list_words_of(words)
    if isinstance(words, str | os.PathLike):
        needed = "'auto', 'english', the code of a language, a list of words, or a file with one word per line"
        return read_words(File(Path(words)), "stop_words", needed)
    return words


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
