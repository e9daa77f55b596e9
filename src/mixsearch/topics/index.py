"""An open index: hints in, topics and their documents out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse as sp

from mixsearch.errors import Coded
from mixsearch.io.disk import damage_error
from mixsearch.io.folder import Folder, open_folder
from mixsearch.text.options import CorpusOptions
from mixsearch.topics.completion import (
    CorpusWord,
    choose_starters,
    complete_word,
    make_speller,
    split_query,
)
from mixsearch.topics.fitted_corpus import FittedCorpus, damp_counts
from mixsearch.topics.hint import Vocabulary
from mixsearch.topics.records import ID, Columns, Document, StoredColumn, open_texts
from mixsearch.topics.search import find_topic, make_hint
from mixsearch.topics.storage import SEGMENTS, Growth, check_indices, open_corpus, read_growth
from mixsearch.topics.topic import Topic

if TYPE_CHECKING:
    from mixsearch.topics.groups import TopicGroups


@dataclass(frozen=True, kw_only=True)
class Contents:
    """The contents of an index, how it was built, and its size."""

    path: str
    created: str
    written_by: str
    format_version: int
    n_documents: int
    n_empty: int  # documents without features
    n_words: int
    n_features: int
    n_nonzeros: int
    n_components: int
    has_names: bool
    reading: dict[str, Any]
    n_bytes: int
    starters: list[CorpusWord]
    columns: list[StoredColumn]
    growth: Growth

    def as_dict(self) -> dict[str, Any]:
        """Return the contents as JSON has them.

        Returns
        -------
        dict
        """
        return {**asdict(self), "growth": self.growth.as_dict()}


class TopicIndex:
    """A corpus on disk, open for searches. `open_index` returns one.

    Parameters
    ----------
    folder : Folder
        The folder of the index.

    Attributes
    ----------
    corpus : FittedCorpus
        The words and documents. Its arrays are mapped from the files.
    columns : Columns
        The columns of the documents, such as dates and places.
    path : Path
        Where the index is.
    generation, created : str
        The state of the index, which changes with every write, and when it was written.
    n_documents, n_components : int
        The number of documents, and of eigenvectors that they are compared in.
    has_names : bool
        Whether the documents have names.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.index import open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()  # or the path of a file
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> index = open_index(built.path)
    >>> topic = index.search("sushi")
    >>> [document.columns["city"] for document in index.documents([0, 1])] == reviews["city"][:2]
    True
    """

    def __init__(self, folder: Folder) -> None:
        self.folder, self.path = folder, folder.path
        self.generation, self.created = folder.generation, folder.manifest.created
        self.corpus = open_corpus(folder)
        self.facts: Mapping[str, Any] = folder.facts.get("corpus", {})
        if not _describe_corpus(self.facts):
            raise damage_error("'{path}' is damaged: it does not describe its corpus.", path=str(self.path))
        self.has_names = bool(self.facts["has_names"])
        self.columns = Columns(folder, folder.facts[SEGMENTS], has_names=self.has_names)
        self.n_documents, self.n_components = self.corpus.n_documents, len(self.corpus.frame.values)

    def __repr__(self) -> str:
        return f"<TopicIndex {str(self.path)!r}: {self.n_documents:,} documents, {self.corpus.n_words:,} words>"

    # ---- Search ----

    def search(
        self,
        words: Any = None,
        *,
        text: str | Sequence[str] | None = None,
        documents: Sequence[int] | None = None,
        not_documents: Sequence[int] | None = None,
        where: str | None = None,
        narrower: float = 0.0,
        meaning: int | None = None,
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        words : str, sequence of str, or mapping of str to float, optional
            Words, as `TopicSearch.search` takes them.
        text : str or sequence of str, optional
            One or several texts about the topic.
        documents : sequence of int, optional
            Rows of documents about the topic.
        not_documents : sequence of int, optional
            Rows of documents that are not about the topic. They are not listed.
        where : str, optional
            A filter of the documents to list and count, such as ``stars <= 2 and date >= 2024-01-01``.
        narrower : float, default=0
            Steps towards a narrower topic; negative for a broader one.
        meaning : int, optional
            Which of the other meanings of the hint to search for: one of the `alternatives` of its answer.

        Returns
        -------
        Topic
        """
        with self.explain_failures():
            counts = None if text is None else damp_counts(self._count([text] if isinstance(text, str) else text))
            hint = make_hint(self.corpus, self.vocabulary, words, documents, not_documents, counts, narrower, meaning)
            subset = None if where is None else self.columns.match(where)
            topic = find_topic(self._checked_corpus, hint)
            return topic if subset is None else topic.within(subset)

    def group(
        self,
        topics: Any,
        *,
        over: str | None = None,
        by: str | None = None,
        every: str | float | None = None,
        where: str | None = None,
    ) -> TopicGroups:
        """Compute the shares of topics over time, by group, or both.

        Parameters
        ----------
        topics : str, Topic, sequence or mapping of them
            Words to search for, or topics that this index found. A mapping gives them names.
        over : str, optional
            A column of dates or numbers, in whose order the groups are.
        by : str, optional
            A column of any kind, whose values are the groups.
        every : {"year", "quarter", "month", "week", "day"} or float, optional
            year, quarter, month, week or day for dates; a width for numbers. By default from the values.
        where : str, optional
            A filter of the documents.

        Returns
        -------
        TopicGroups
        """
        from mixsearch.topics.groups import group_topics, name_topics

        if not isinstance(topics, Mapping):
            listed = [topics] if isinstance(topics, str | Topic) else list(topics)
            topics = name_topics([self.search(topic) if isinstance(topic, str) else topic for topic in listed])
        by_name = {name: self.search(topic) if isinstance(topic, str) else topic for name, topic in topics.items()}
        over, by = (None if name is None else self.columns.require(name) for name in (over, by))
        names = [name for name in (over, by) if name is not None]
        columns = self.columns.take(np.arange(self.n_documents), names) if names else pl.DataFrame()
        are_years = any(column.name == over and column.role == "date" for column in self.columns.described)
        subset = None if where is None else self.columns.match(where)
        return group_topics(
            by_name, columns, over=over, by=by, every=every, where=where, subset=subset, are_years=are_years
        )

    # ---- Documents ----

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Read documents by their rows.

        Parameters
        ----------
        rows : sequence of int
            Rows of the files that were indexed.

        Returns
        -------
        list of Document
            With their texts, and names and columns if they have them.
        """
        if not len(rows):
            return []
        with self.explain_failures():
            indices = self.corpus.find_rows(rows)
            names = self.columns.take(indices, [ID])[ID].fill_null("").to_list() if self.has_names else repeat(None)
            texts = self.texts.read(indices)
            values = self.columns.list_values(indices)
            return [Document(*each) for each in zip(map(int, rows), names, texts, values, strict=False)]

    @cached_property
    def texts(self) -> Any:
        """The texts of all documents, which are read when they are asked for."""
        return open_texts(self.folder, self.folder.facts[SEGMENTS])

    # ---- Words ----

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words, and how many documents contain each."""
        stop_words = self.facts["tokens"]["stop_words"]
        return Vocabulary(
            self.corpus.words, self.corpus.document_frequency, lambda word: self._speller(word), stop_words
        )

    @cached_property
    def _speller(self) -> Any:
        return make_speller(self.vocabulary.stop_words, lambda word: self.vocabulary.find(word) is not None)

    def spell(self, word: str) -> str:
        """Spell a word or phrase as the texts do.

        Parameters
        ----------
        word : str
            In any case and Unicode form. What the texts have as several words, such as "zero-shot", becomes a phrase.

        Returns
        -------
        str
        """
        return " ".join(self._speller(word))

    def document_frequency(self, word: str) -> int:
        """Count the documents that contain a word or a phrase of the vocabulary.

        Parameters
        ----------
        word : str
            As it is typed.

        Returns
        -------
        int
        """
        column = self.vocabulary.find(self.spell(word))
        return 0 if column is None else int(self.corpus.document_frequency[column])

    def complete_word(self, prefix: str, n: int = 8) -> list[CorpusWord]:
        """Complete a word: list those with a prefix, the most frequent first.

        Parameters
        ----------
        prefix : str
            The first letters, in any case.
        n : int, default=8
            The maximum number of words.

        Returns
        -------
        list of CorpusWord
        """
        return complete_word(self._word_series, self.corpus.document_frequency, self.spell(prefix), n)

    @cached_property
    def _word_series(self) -> pl.Series:
        return pl.Series(self.corpus.words, dtype=pl.String)

    def complete_query(self, query: str) -> str:
        """Complete the last word of a query if it is not a word yet.

        Parameters
        ----------
        query : str
            Words as in a search box: ``sushi -bur`` or ``"new yo``.

        Returns
        -------
        str
            With the most frequent word in place of its prefix: ``sushi -burger`` or ``"new york"``.
        """
        before, word = split_query(query)
        completed = self.complete_word(word, 1) if word and not self.document_frequency(word) else []
        completion = (before + (completed[0].word if completed else word)).removesuffix(" -").removesuffix("-")
        return completion + ('"' if completion.count('"') % 2 else "")  # an open quote is closed

    def starters(self, n: int = 10) -> list[CorpusWord]:
        """List words to begin with, one per topic.

        Parameters
        ----------
        n : int, default=10
            The maximum number of words.

        Returns
        -------
        list of CorpusWord
            The most distinctive words first.
        """
        return choose_starters(self.corpus, self.corpus.words, n)

    def _count(self, texts: Sequence[str]) -> sp.csr_array:
        """Count the features in other texts, (q, d)."""
        from mixsearch.text.count import count_texts  # with readers of all formats, which words need not wait for

        with count_texts(
            texts, CorpusOptions(**self.facts["tokens"]), features=self.corpus.words[: self.corpus.n_features]
        ) as counted:
            return counted.to_counts()

    # ---- The folder ----

    @cached_property
    def _checked_corpus(self) -> FittedCorpus:
        """The corpus, when its indices have been compared with their bounds: before the first search."""
        check_indices(self.folder, self.corpus)
        return self.corpus

    @property
    def n_rows(self) -> int:
        """The number of rows that were ever read, with those of documents that were left out or removed."""
        return int(self.facts["n_rows"])

    @property
    def reading(self) -> CorpusOptions:
        """How the texts were read and counted."""
        return CorpusOptions(**self.facts["reading"])

    def contents(self) -> Contents:
        """Describe the contents of the index, how it was built, and its size.

        Returns
        -------
        Contents
        """
        corpus = self.corpus
        with self.explain_failures():
            return Contents(
                path=str(self.path),
                created=self.created,
                written_by=self.folder.manifest.written_by,
                format_version=self.folder.manifest.version,
                n_documents=self.n_documents,
                n_empty=int(np.count_nonzero(corpus.lengths == 0)),
                n_words=corpus.n_words,
                n_features=corpus.n_features,
                n_nonzeros=sum(int(segment.by_document.nnz) for segment in corpus.segments),
                n_components=self.n_components,
                has_names=self.has_names,
                reading=self.facts["reading"],
                n_bytes=sum(file.size for file in self.folder.manifest.files.values()),
                starters=self.starters(),
                columns=self.columns.described,
                growth=read_growth(self.folder),
            )

    def show(self, *hints: str, **options: Any) -> Any:
        """Show topics in a notebook: the page with its data inside.

        Parameters
        ----------
        *hints : str
            One for each topic, as in a search box: "sushi -burger".
        **options
            Further arguments of `make_report`, such as by and where.

        Returns
        -------
        Report
        """
        from mixsearch.options import Question

        make_report = import_module("mixsearch.report").make_report  # reports import indexes
        return make_report(self, [Question(hint, hint) for hint in hints], **options)

    @contextmanager
    def explain_failures(self) -> Iterator[None]:
        """Report a damaged index instead of an unexpected error that follows from it."""
        self.check_files()
        try:
            yield
        except Coded:
            raise
        except Exception as error:
            self.folder.verify()
            if isinstance(error, OSError | np.linalg.LinAlgError | pl.exceptions.PolarsError):
                sentence = "'{path}' cannot be read ({error})."
                raise damage_error(sentence, path=str(self.path), error=str(error)) from error
            raise

    def check_files(self) -> None:
        """Raise `DamagedFolderError` if a file of the index was cut in place: reading it would end the process."""
        self.folder.check_sizes()


def _describe_corpus(facts: Any) -> bool:
    """Return whether facts of an index say how its texts were read."""
    try:
        for name in ("tokens", "reading"):
            CorpusOptions(**facts[name])
        has_words = all(isinstance(word, str) for word in facts["tokens"]["stop_words"])
        return has_words and isinstance(facts["n_rows"], int) and isinstance(facts["has_names"], bool)
    except (KeyError, TypeError, ValueError):
        return False


def open_index(path: str | os.PathLike[str], *, verify: bool = False) -> TopicIndex:
    """Open an index, in a time that hardly depends on its size.

    Parameters
    ----------
    path : path
        The folder of the index.
    verify : bool, default=False
        Read every byte and compare it with the checksums, before anything is used. By default, small files are compared
        when the index is opened, and large tables before their first use.

    Returns
    -------
    TopicIndex

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.topics.build import IndexOptions, build_index
    >>> from mixsearch.topics.index import open_index
    >>> path = mkdtemp() + "/reviews.index"
    >>> built = build_index(make_reviews(500, random_state=0).text, path, IndexOptions(n_components=12))
    >>> index = open_index(path)
    >>> "sushi" in [word for word, share in index.search("sushi").top_words(10)]
    True
    """
    return TopicIndex(open_folder(path, check_all=verify))
