"""Corpora of real text with the paper's labeled words, and the reference articles that score topics."""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.experiments._data import find_missing, get_data_folder
from mixsearch.experiments._labeled_words import NEWS, REVIEWS
from mixsearch.metrics import Reference
from mixsearch.text import Corpus, CorpusOptions, count_texts, read_corpus

ARTICLES = "reference/wikipedia_en_7k.jsonl.gz"
# Words in fewer documents, or in more than this share of documents, are not counted.
MIN_DOCUMENTS, MAX_DOCUMENT_SHARE = 10, 0.3
AUTHORS_CUT = 450  # of the New York Times in the programs of the paper's authors
# Labeled words in fewer documents are skipped.
MIN_LABELED_DOCUMENTS = 20
# The prefix of names in the UCI bags of words.
NAME_MARK = "zzz_"


@dataclass(frozen=True, slots=True)
class Source:
    """The files of a corpus and its labeled words."""

    title: str
    files: tuple[str, ...]  # below the data folder; any one of them
    queries: tuple[str, ...]  # the paper's labeled words
    text: Callable[[Mapping[str, Any]], str] | None = None  # from a line of JSON; None if the reader finds it
    has_tags: bool = False
    is_large: bool = False  # too large for a quick run
    min_documents: int = MIN_DOCUMENTS  # words of fewer are left out


def _body(row: Mapping[str, Any]) -> str:
    """Return a post without its headers, which name the group. Some files have tabs in place of new lines."""
    return str(row["text"]).replace("\t", "\n").partition("\n\n")[2]


def _bags(name: str) -> tuple[str, ...]:
    return (f"text/docword.{name}.txt.gz", f"text/docword.{name}.txt")


_YELP = "text/yelp_academic_dataset_review.json"
SOURCES = {
    "newsgroups": Source("20 newsgroups", ("text/20news_bydate.jsonl.gz",), NEWS, _body),
    "kos": Source("KOS blog", _bags("kos"), NEWS),
    "ap": Source("Associated Press", _bags("ap"), NEWS),
    "nytimes": Source("NY Times", _bags("nytimes"), NEWS, is_large=True, min_documents=AUTHORS_CUT),
    "yelp-10k": Source("Yelp, 10,000 reviews", ("text/yelp_10k.jsonl.gz",), REVIEWS),
    "imdb": Source("IMDB", ("text/imdb_50k.jsonl.gz",), REVIEWS, has_tags=True, is_large=True),
    "yelp": Source("Yelp", (_YELP, _YELP + ".gz", _YELP + "l", _YELP + "l.gz"), REVIEWS, is_large=True),
}


@dataclass(frozen=True, eq=False)
class TextCorpus:
    """Counts of real text, its labeled words, and the reference that scores topics."""

    name: str
    counts: sp.csr_array[Any]  # (n, d)
    words: list[str]  # (d,)
    reference: Reference

    @cached_property
    def labeled(self) -> dict[str, int]:
        """The columns of the labeled words that occur in enough documents and in the reference."""
        n_documents = np.bincount(self.counts.indices, minlength=len(self.words))
        columns = {
            word: column for column, word in enumerate(self.words) if n_documents[column] >= MIN_LABELED_DOCUMENTS
        }
        queries = SOURCES[self.name].queries
        return {word: columns[word] for word in queries if word in columns and word in self.reference}

    @cached_property
    def frequencies(self) -> Array:
        """The share of each word in all text, (d,)."""
        total = np.asarray(self.counts.sum(axis=0), dtype=np.float64)
        return np.asarray(total / total.sum())

    def names(self, columns: Array) -> list[str]:
        """Return the words of some columns."""
        return [self.words[column] for column in columns.tolist()]


def available() -> list[str]:
    """Return the corpora with files in the data folder, or all if there are none."""
    there = [name for name, source in SOURCES.items() if any(find_missing([file]) is None for file in source.files)]
    return there or list(SOURCES)


def load_text(name: str) -> TextCorpus:
    """Count a corpus and its reference. The last one is cached for the next cases."""
    folder, files = get_data_folder(), SOURCES[name].files
    there = next((folder / file for file in files if (folder / file).is_file()), None)
    if there is None:
        raise SearchError(
            "The folder '{folder}' has no {file}. Put the file there.",
            code="data_missing",
            folder=str(folder),
            file=files[0],
        )
    return _counted(name, there, folder / ARTICLES)


@lru_cache(maxsize=1)
def _counted(name: str, path: Path, articles: Path) -> TextCorpus:
    with _read(path, SOURCES[name]) as corpus:
        counts, words = merge_names(corpus.to_counts(), corpus.vocabulary)
    return TextCorpus(name, counts, words, _reference(words, articles))


def _read(path: Path, source: Source) -> Corpus:
    options = CorpusOptions(
        stop_words="english",
        phrases=False,
        min_df=source.min_documents,
        max_df=MAX_DOCUMENT_SHARE,
        strip_tags=source.has_tags,
        keep_texts=False,
    )
    if source.text is None:
        return read_corpus(path, options)
    return count_texts(map(source.text, _lines(path)), options)


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def merge_names(counts: sp.csr_array[Any], words: Sequence[str]) -> tuple[sp.csr_array[Any], list[str]]:
    """Remove the prefix of names, and add columns that become equal: "zzz_afghan" and "afghan".

    Parameters
    ----------
    counts : sparse array of shape (n, d)
    words : sequence of str
        The words of the columns.

    Returns
    -------
    counts : sparse array of shape (n, m)
    words : list of str
    """
    plain = [word.removeprefix(NAME_MARK).replace("_", " ") if word.startswith(NAME_MARK) else word for word in words]
    if plain == list(words):
        return counts, plain
    columns = {word: column for column, word in enumerate(dict.fromkeys(plain))}
    joined = np.array([columns[word] for word in plain])
    adding = sp.csr_array((np.ones(len(plain), counts.dtype), (np.arange(len(plain)), joined)))
    return sp.csr_array(counts @ adding), list(columns)


def _reference(words: list[str], articles: Path) -> Reference:
    """Return the reference: which articles contain which words, with names of up to two words."""
    counts, vocabulary = _read_articles(articles, 2 if any(" " in word for word in words) else 1)
    columns = {word: column for column, word in enumerate(vocabulary)}
    known = [word for word in words if word in columns]
    return Reference(counts[:, [columns[word] for word in known]], known)


@lru_cache(maxsize=1)
def _read_articles(path: Path, longest: int) -> tuple[sp.csc_array[Any], list[str]]:
    every_word = CorpusOptions(
        text="text",
        ngrams=(1, longest),
        stop_words=None,
        phrases=False,
        min_df=1,
        max_df=1.0,
        max_words=sys.maxsize,
        keep_texts=False,
    )
    with read_corpus(path, every_word) as articles:
        return sp.csc_array(articles.to_counts()), articles.vocabulary
