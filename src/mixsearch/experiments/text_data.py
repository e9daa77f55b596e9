"""Corpora of real text with the paper's labelled words, and the articles that say which words belong together."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.errors import SearchError
from mixsearch.experiments.data import data_folder, missing
from mixsearch.experiments.labelled_words import NEWS, REVIEWS
from mixsearch.metrics import Reference
from mixsearch.text import Corpus, CorpusOptions, count_texts, read_corpus

ARTICLES = "reference/wikipedia_en_7k.jsonl.gz"
# Words of fewer documents are not counted, and those of more than this part of all documents tell nothing of topics.
LEAST_DOCUMENTS, MOST_DOCUMENTS = 10, 0.3
# A labelled word is asked for where so many documents hold it.
LEAST_LABELLED = 20
# Names of persons and places in the UCI bags of words begin so.
NAME_MARK = "zzz_"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a corpus is and what to ask it."""

    title: str
    files: tuple[str, ...]  # below the folder of data, any of them
    asked: tuple[str, ...]  # the paper's labelled words
    text: Callable[[Mapping[str, Any]], str] | None = None  # of a line of JSON; None where the reader finds it itself
    has_tags: bool = False
    is_large: bool = False  # too large for a quick run


def _body(row: Mapping[str, Any]) -> str:
    """A post without its headers, which give away the group; some files have tabs where the post had new lines."""
    return str(row["text"]).replace("\t", "\n").partition("\n\n")[2]


def _bags(name: str) -> tuple[str, ...]:
    return (f"text/docword.{name}.txt.gz", f"text/docword.{name}.txt")


_YELP = "text/yelp_academic_dataset_review.json"
SOURCES = {
    "newsgroups": Source("20 newsgroups", ("text/20news_bydate.jsonl.gz",), NEWS, _body),
    "kos": Source("KOS blog", _bags("kos"), NEWS),
    "ap": Source("Associated Press", _bags("ap"), NEWS),
    "nytimes": Source("NY Times", _bags("nytimes"), NEWS, is_large=True),
    "yelp-10k": Source("Yelp, 10,000 reviews", ("text/yelp_10k.jsonl.gz",), REVIEWS),
    "imdb": Source("IMDB", ("text/imdb_50k.jsonl.gz",), REVIEWS, has_tags=True, is_large=True),
    "yelp": Source("Yelp", (_YELP, _YELP + ".gz", _YELP + "l", _YELP + "l.gz"), REVIEWS, is_large=True),
}


@dataclass(frozen=True, eq=False)
class TextCorpus:
    """Counts of real text, what to ask it, and what to judge the answers by."""

    name: str
    counts: sp.csr_array[Any]  # (n, d)
    words: list[str]  # (d,)
    reference: Reference

    @cached_property
    def labelled(self) -> dict[str, int]:
        """The columns of the labelled words that enough documents hold, and that the reference knows."""
        n_holding = np.bincount(self.counts.indices, minlength=len(self.words))
        columns = {word: column for column, word in enumerate(self.words) if n_holding[column] >= LEAST_LABELLED}
        asked = SOURCES[self.name].asked
        return {word: columns[word] for word in asked if word in columns and word in self.reference}

    @cached_property
    def frequencies(self) -> Array:
        """The share of each word in all text, (d,)."""
        total = np.asarray(self.counts.sum(axis=0), dtype=np.float64)
        return np.asarray(total / total.sum())

    def names(self, columns: Array) -> list[str]:
        """The words of some columns."""
        return [self.words[column] for column in columns.tolist()]


def available() -> list[str]:
    """The corpora whose files are in the folder of data; where none is, all: the first will be asked for by name."""
    there = [name for name, source in SOURCES.items() if any(missing([file]) is None for file in source.files)]
    return there or list(SOURCES)


def load_text(name: str) -> TextCorpus:
    """Count a corpus and its reference. The last one stays in memory for the cases that follow."""
    folder, files = data_folder(), SOURCES[name].files
    there = next((folder / file for file in files if (folder / file).is_file()), None)
    if there is None:
        raise SearchError(f"{folder} has no {files[0]}: put the file there.")
    return _counted(name, there, folder / ARTICLES)


@lru_cache(maxsize=1)
def _counted(name: str, path: Path, articles: Path) -> TextCorpus:
    with _read(path, SOURCES[name]) as corpus:
        counts, words = spell_plainly(corpus.to_counts(), corpus.vocabulary)
    return TextCorpus(name, counts, words, _reference(words, articles))


def _read(path: Path, source: Source) -> Corpus:
    options = CorpusOptions(
        stop_words="english",
        min_df=LEAST_DOCUMENTS,
        max_df=MOST_DOCUMENTS,
        strip_tags=source.has_tags,
        keep_texts=False,
    )
    if source.text is None:
        return read_corpus(path, options)
    return count_texts(map(source.text, _lines(path)), options)


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def spell_plainly(counts: sp.csr_array[Any], words: Sequence[str]) -> tuple[sp.csr_array[Any], list[str]]:
    """Write names as texts do, and add up columns that are one word then: "zzz_afghan" and "afghan".

    Parameters
    ----------
    counts : sparse array of shape (n, d)
    words : sequence of str
        Of the columns.
    """
    plain = [word.removeprefix(NAME_MARK).replace("_", " ") if word.startswith(NAME_MARK) else word for word in words]
    if plain == list(words):
        return counts, plain
    columns = {word: column for column, word in enumerate(dict.fromkeys(plain))}
    joined = np.array([columns[word] for word in plain])
    adding = sp.csr_array((np.ones(len(plain), counts.dtype), (np.arange(len(plain)), joined)))
    return sp.csr_array(counts @ adding), list(columns)


def _reference(words: list[str], articles: Path) -> Reference:
    """Which articles hold which of the words; of names, those of two words at most."""
    counts, vocabulary = _read_articles(articles, 2 if any(" " in word for word in words) else 1)
    columns = {word: column for column, word in enumerate(vocabulary)}
    known = [word for word in words if word in columns]
    return Reference(counts[:, [columns[word] for word in known]], known)


@lru_cache(maxsize=1)
def _read_articles(path: Path, longest: int) -> tuple[sp.csc_array[Any], list[str]]:
    with read_corpus(path, CorpusOptions(text="text", ngrams=(1, longest), keep_texts=False)) as articles:
        return sp.csc_array(articles.to_counts()), articles.vocabulary
