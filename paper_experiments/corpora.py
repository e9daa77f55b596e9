"""Real data: corpora with the paper's labeled words, the reference that scores topics, and the data folder."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, CountVectorizer

from mixsearch._typing import Array
from mixsearch.metrics import Reference
from mixsearch.text import CorpusOptions, read_corpus
from mixsearch.text.count import count_texts

# The environment variable that names the folder.
VARIABLE = "MIXSEARCH_DATA"


def get_data_folder() -> Path:
    """Return the folder of real data."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise FileNotFoundError(f"This experiment reads real data. Give their folder with --data, or in {VARIABLE}.")
    return Path(named)


def find_missing(required_files: Iterable[str]) -> str | None:
    """Return a sentence about the missing files of an experiment, or None."""
    patterns = list(required_files)
    if not patterns:
        return None
    try:
        folder = get_data_folder()
    except FileNotFoundError as error:
        return str(error)
    absent = [pattern for pattern in patterns if not any(folder.glob(pattern))]
    return f"{folder} has no {' and no '.join(absent)}." if absent else None


_NEWS = """
passenger coach art campaign energy tax chef oil court election lawyer anthrax golf bacteria film tourist horse
republican computer palestinian movie tennis fight music tablespoon nuclear racing war quarterback stock ball
patient champion business government season prison internet rain game voter baseball student president afghan medal
teacher television democratic onion campus car industry planet credit race wine prosecutor team economy wind
software
"""

_REVIEWS = """
cheese salon mexican chinese tea sushi nail wash insurance cream hair yoga tire vietnamese donuts crust ice pharmacy
beer bike yogurt korean pizza coffee sandwich pho gym park latte trail dentist starbucks taco salsa thai chocolate
bar noodle burrito salad burger hike pedicure fries dog panda beans subway car cake steak curry massage italian
"""

NEWS, REVIEWS = tuple(_NEWS.split()), tuple(_REVIEWS.split())


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
    "imdb": Source("IMDB", ("text/imdb_50k.jsonl.gz",), REVIEWS, is_large=True),
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
        raise FileNotFoundError(f"The folder {folder} has no {files[0]}.")
    return _counted(name, there, folder / ARTICLES)


@lru_cache(maxsize=1)
def _counted(name: str, path: Path, articles: Path) -> TextCorpus:
    counts, words = merge_names(*_count(path, SOURCES[name]))
    return TextCorpus(name, counts, words, _reference(words, articles))


def _count(path: Path, source: Source) -> tuple[sp.csr_array[Any], list[str]]:
    if path.name.startswith("docword."):
        return read_docword(path, source.min_documents)
    options = CorpusOptions(
        stop_words="en",
        phrases=False,
        min_df=source.min_documents,
        max_df=MAX_DOCUMENT_SHARE,
    )
    with (
        read_corpus(path, options)
        if source.text is None
        else count_texts(map(source.text, _lines(path)), options) as corpus
    ):
        return corpus.to_counts(), list(corpus.vocabulary)


def read_docword(path: Path, min_documents: int = MIN_DOCUMENTS) -> tuple[sp.csr_array[Any], list[str]]:
    """Read a UCI bag of words, docword.NAME.txt[.gz] with vocab.NAME.txt[.gz] beside it, without rare and stop words.

    Three lines hold the numbers of documents, words and counts; each line after them a document, a word and a count.
    """
    with _open(path) as lines:
        n_documents, n_words, n_counts = (int(next(lines)) for _ in range(3))
        triples = np.array([line.split() for line in lines if line.strip()], dtype=np.int64).reshape(-1, 3)
    if len(triples) != n_counts:
        raise ValueError(f"{path} has {len(triples):,} counts, but its third line promises {n_counts:,}.")
    plain = path.with_name(path.name.removesuffix(".gz").replace("docword.", "vocab.", 1))
    with _open(plain if plain.is_file() else plain.with_name(plain.name + ".gz")) as lines:
        words = [line.strip() for line in lines]
    if len(words) != n_words:
        raise ValueError(
            f"The vocabulary of {path} has {len(words):,} words, but its second line promises {n_words:,}."
        )
    documents, columns, values = triples.T
    counts = sp.csr_array((values.astype(np.int32), (documents - 1, columns - 1)), shape=(n_documents, n_words))
    counts.eliminate_zeros()
    frequencies = np.bincount(counts.indices, minlength=n_words)
    kept = (frequencies >= min_documents) & (frequencies <= MAX_DOCUMENT_SHARE * n_documents)
    kept &= [word not in ENGLISH_STOP_WORDS for word in words]
    return sp.csr_array(counts[:, kept]), [word for word, keep in zip(words, kept, strict=True) if keep]


def _open(path: Path) -> IO[str]:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    with _open(path) as lines:
        yield from map(json.loads, lines)


def merge_names(counts: sp.csr_array[Any], words: Sequence[str]) -> tuple[sp.csr_array[Any], list[str]]:
    """Remove the prefix of names, and add columns that become equal: "zzz_afghan" and "afghan"."""
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
    vectorizer = CountVectorizer(token_pattern=r"[^\W_]{2,}", ngram_range=(1, longest))
    counts = vectorizer.fit_transform(line["text"] for line in _lines(path))
    return sp.csc_array(counts), vectorizer.get_feature_names_out().tolist()
