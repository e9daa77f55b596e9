"""An open index: hints in, topics and their documents out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import collect_warnings
from mixsearch.index.columns import Columns
from mixsearch.index.contents import Contents, read_contents
from mixsearch.index.documents import Document, Documents
from mixsearch.index.groups import TopicGroups, Topics, group_topics
from mixsearch.index.query import Found, Query, check_hint, check_listed
from mixsearch.index.selection import Selection
from mixsearch.index.spelling import spell_hint
from mixsearch.index.vocabulary import CorpusVocabulary
from mixsearch.machine import map_parallel
from mixsearch.topics.component import Topic, keep_documents
from mixsearch.topics.storage import open_search

if TYPE_CHECKING:
    from mixsearch.topics.search import TopicSearch

# If more documents contain a word, this many of them stand for all: any word then takes about the same time.
MAX_DOCUMENTS = 2_000
# Frequent words in the contents of an index.
N_FREQUENT = 10


class TopicIndex(CorpusVocabulary):
    """A corpus on disk, open for searches. `open_index` returns one.

    Parameters
    ----------
    folder : Folder
        The folder of the index.

    Attributes
    ----------
    topics : TopicSearch
        The fitted search. Its arrays are mapped from the files.
    path : Path
        Where the index is.
    generation, created : str
        The state of the index, which changes with every write, and when it was written.
    n_documents, n_components : int
        The number of documents, and of fitted topics.
    vocabulary : list of str
        The words, one per column; empty if the index has none.
    has_texts, has_names : bool
        Whether the index holds the texts and the names of its documents.
    columns : Columns
        The columns of the documents, such as dates and places.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()  # or the path of a file
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> index = open_index(built.path)
    >>> topic = index.search("sushi")
    >>> [document.columns["city"] for document in index.documents([0, 1])] == reviews["city"][:2]
    True
    >>> index.group(["sushi", "delivery"], by="city").to_frame()["label"].unique(maintain_order=True).to_list()
    ['Rome', 'Oslo', 'Lisbon']
    """

    def __repr__(self) -> str:
        sizes = f"{self.n_documents:,} documents, {len(self.vocabulary):,} words, {self.n_components} topics"
        return f"<TopicIndex {str(self.path)!r}: {sizes}>"

    @cached_property
    def topics(self) -> TopicSearch:
        """The fitted search, as an estimator of scikit-learn."""
        return self._fitted.to_estimator(self._folder.facts["search"])

    @cached_property
    def columns(self) -> Columns:
        """The columns of the documents, such as dates and places."""
        return Columns(self._folder)

    @cached_property
    def _stored_documents(self) -> Documents:
        return Documents(self._folder, self._fitted, self.columns, has_names=self.has_names, has_texts=self.has_texts)

    @cached_property
    def _selection(self) -> Selection:
        return Selection(self.columns, self._fitted)

    def match(self, where: str) -> Array:
        """Return which documents match a filter.

        Parameters
        ----------
        where : str
            A condition on the columns, such as ``stars <= 2 and date >= 2024-01-01``.

        Returns
        -------
        array of shape (n,), of bool
            In the order of the corpus, as `columns` is. An error is raised if none matches.
        """
        return self._selection.mask(where)

    def names(self) -> Iterator[str]:
        """Return the names of all documents, in the order of the corpus.

        Returns
        -------
        iterator of str
            Empty for a document without a name.
        """
        return self._stored_documents.names()

    def short_names(self) -> Iterator[str]:
        """Return the names of documents that are too short for a topic.

        Returns
        -------
        iterator of str
            Empty for a document without a name.
        """
        return self._stored_documents.short_names()

    def find(self, query: Query) -> Found:
        """Find the topic of a query.

        Parameters
        ----------
        query : Query
            A hint, and how to search with it.

        Returns
        -------
        Found
            The topic, with the warnings of the search. `describe` turns it into an answer.
        """
        with collect_warnings() as warnings:
            topic = self.search(**query.arguments)
        warnings += check_listed(self, query, topic)
        once = {str(warning): warning for warning in warnings}
        return Found(query, topic, tuple(once.values()), self)

    def search(
        self,
        words: str | Iterable[str] | Mapping[str, float] | None = None,
        *,
        text: str | Sequence[str] | None = None,
        documents: Any = None,
        not_documents: Any = None,
        where: str | None = None,
        within: bool = False,
        **options: Any,
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        words : str, sequence of str, or mapping of str to float, optional
            Words, as `TopicSearch.search` takes them.
        text : str or sequence of str, optional
            One or several texts about the topic.
        documents : sequence of int, optional
            Rows of documents about the topic, alone or with words.
        not_documents : sequence of int, optional
            Rows of documents that are not about the topic, in addition to words or documents that are. They are not
            listed.
        where : str, optional
            A filter, such as ``stars <= 2 and date >= 2024-01-01``: the topic lists and counts only documents that
            match.
        within : bool, default=False
            Also search within the documents that match: the topic is what the hint means there.
        **options
            Passed to `TopicSearch.search`: n_components ("enough" by default), narrower, refine and so on.

        Returns
        -------
        Topic
        """
        with self.explain_failures():
            hint = check_hint(words=words, text=text, documents=documents, not_documents=not_documents)
            return self._search(hint, where, within, options)

    def _search(self, hint: dict[str, Any], where: str | None, within: bool, options: dict[str, Any]) -> Topic:
        hint = {**hint, "words": spell_hint(hint["words"], self.spell, self._token_options)}
        text = hint.pop("text")
        if text is not None:
            hint["documents"] = self.count([text] if isinstance(text, str) else list(text))
        defaults: dict[str, Any] = {"n_components": "enough", "max_documents": MAX_DOCUMENTS}
        if within:
            corpus = self._selection.within(where)
            hint |= self._selection.keep_matching(hint, where)
            return corpus.search.search(**hint, **(defaults | options))
        among = None if where is None else self.match(where)
        found = self._fitted.search.search(**hint, **(defaults | options))
        return found if among is None else keep_documents(found, among)

    def search_many(
        self,
        hints: Iterable[Any],
        *,
        by: Literal["words", "text", "documents"] = "words",
        n_jobs: int | None = -1,
        **options: Any,
    ) -> list[Topic]:
        """Find a topic for each of several hints, in parallel threads.

        Parameters
        ----------
        hints : iterable
            One value per search.
        by : {"words", "text", "documents"}, default="words"
            The argument of `search` that takes each value.
        n_jobs : int, default=-1
            The number of threads; -1 for one per core.
        **options
            Further arguments of every `search`.

        Returns
        -------
        list of Topic
            In the order of the hints.
        """
        arguments: list[dict[str, Any]] = [{by: hint} for hint in hints]
        return map_parallel(lambda hint: self.search(**hint, **options), arguments, n_jobs)

    def documents(self, rows: Sequence[int]) -> list[Document]:
        """Return documents by their rows.

        Parameters
        ----------
        rows : sequence of int
            Rows of the files that were indexed.

        Returns
        -------
        list of Document
            With texts, names and columns if the index holds them.
        """
        with self.explain_failures():
            return self._stored_documents.read(rows)

    def shares(self, topics: Sequence[Topic], rows: Sequence[int]) -> Array:
        """Return the share of each of some topics in documents of the corpus.

        Parameters
        ----------
        topics : sequence of Topic
            Topics that this index found.
        rows : sequence of int
            Rows of documents.

        Returns
        -------
        array of shape (n, q)
            In [0, 1], each topic by itself: rows may sum to more than 1.
        """
        return self._fitted.shares(topics, rows)

    def document_shares(self, topics: Sequence[Topic]) -> Array:
        """Return the share of each of some topics in every document of the corpus.

        Parameters
        ----------
        topics : sequence of Topic
            Topics that this index found.

        Returns
        -------
        array of shape (n, q)
            In [0, 1], in the order of the corpus, as `columns` is. The topics share each document: rows sum to at most
            1. Shares of single documents are noisy, and means over them too large for rare topics: `group` gives means.
        """
        shares = np.clip(self._fitted.document_shares(topics), 0, 1)
        return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1))

    def group(
        self,
        topics: Topics,
        *,
        over: str | None = None,
        by: str | None = None,
        every: str | float | None = None,
        where: str | None = None,
    ) -> TopicGroups:
        """Return the shares of topics over time or by group.

        Parameters
        ----------
        topics : str, Topic, sequence or mapping of them
            Words to search for, or topics that this index found. A mapping gives them names.
        over : str, optional
            A column of dates or numbers, in whose order the groups are.
        by : str, optional
            A column of any kind, whose values are the groups.
        every : {"year", "quarter", "month", "week", "day"} or float, optional
            For dates, the period; for numbers, the width of the ranges. By default from the values.
        where : str, optional
            A filter of the documents.

        Returns
        -------
        TopicGroups
        """
        return group_topics(self, topics, over=over, by=by, every=every, where=where)

    def contents(self) -> Contents:
        """Return the contents of the index, how it was built, and its size.

        Returns
        -------
        Contents
        """
        with self.explain_failures():
            frequent = self._rank_words(self._fitted.word_frequencies, N_FREQUENT)
            return read_contents(self._folder, self._fitted, frequent, self.distinctive_words(), self.starters())

    def show(self, *hints: str, height: int = 640, **options: Any) -> Any:
        """Show topics in a notebook: one page with their words, documents, timelines and warnings.

        Parameters
        ----------
        *hints : str
            One for each topic, as in a search box: "sushi -burger". By default, words to start with.
        height : int, default=640
            The height of the frame, in pixels.
        **options
            Further arguments of `mixsearch.report.make_report`, such as over, by and where.

        Returns
        -------
        ShownReport
            The page is in it, and works without a server: its `html` can be written to a file.
        """
        # Reports are made of indexes, so their module is found only when one is wanted.
        return import_module("mixsearch.report.write").show_topics(self, hints, height=height, **options)


def open_index(path: str | os.PathLike[str]) -> TopicIndex:
    """Open an index, in a time that hardly depends on its size.

    Parameters
    ----------
    path : path
        The folder of the index. Its small files are compared with their checksums; `verify_index` does so with all.

    Returns
    -------
    TopicIndex

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, open_index
    >>> path = mkdtemp() + "/reviews.index"
    >>> built = build_index(make_reviews(500, random_state=0).text, path, IndexOptions(n_components=12))
    >>> index = open_index(path)
    >>> topic = index.search("sushi")
    >>> "sushi" in [word for word, probability in topic.top_words(10)]
    True
    """
    return TopicIndex(open_search(path))


def verify_index(path: str | os.PathLike[str]) -> None:
    """Read every byte of an index and compare it with the checksums, before anything in it is used.

    Parameters
    ----------
    path : path
        The folder of the index.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, verify_index
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> verify_index(built.path)  # no error: the index is as it was written
    """
    open_search(path).verify()
