"""The corpus behind a fitted search: what an index builds, opens and looks up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.partitions import Partitions
from mixsearch.storage import Folder
from mixsearch.topics._documents import CountPartition, TopicPartition
from mixsearch.topics._search import TopicSearch


def make_search(n_components: int | str, n_words: int, options: dict[str, Any]) -> TopicSearch:
    """Return a search, after a check that its options suit a corpus with this number of words."""
    search = TopicSearch(n_components, **options)  # type: ignore[arg-type]
    search._check_options(n_words)
    return search


def fit_corpus(
    search: TopicSearch,
    documents: Partitions[CountPartition],
    *,
    vocabulary: list[str],
    n_dropped: int,
    allocate: Callable[..., Array] = np.empty,
    on_pass: Callable[[int], None] | None = None,
) -> None:
    """Fit a search to documents that are long enough, wherever they are.

    Parameters
    ----------
    search : TopicSearch
        The search to fit.
    documents : Partitions
        The counts.
    vocabulary : list of str
        The words, one per column.
    n_dropped : int
        How many documents were left out.
    allocate : callable
        Returns an array for the projected documents, given its shape and type.
    on_pass : callable, optional
        Called with the number of passes over the documents so far.
    """
    how: dict[str, Any] = {} if on_pass is None else {"on_pass": on_pass}
    search._fit_documents(documents, distinct=search.moments != "plugin", allocate=allocate, **how)
    search.n_dropped_ = n_dropped
    search._set_vocabulary(vocabulary)


class FittedCorpus:
    """The words and documents of a fitted search.

    Parameters
    ----------
    search : TopicSearch
        A fitted search.
    """

    def __init__(self, search: TopicSearch) -> None:
        self._search = search

    @classmethod
    def from_folder(cls, folder: Folder) -> FittedCorpus:
        """Open the corpus of a search that was stored in a folder."""
        return cls(TopicSearch._from_folder(folder))

    @property
    def search(self) -> TopicSearch:
        """The fitted search."""
        return self._search

    @property
    def partitions(self) -> Partitions[TopicPartition]:
        """The documents, wherever they are."""
        return self._search._family.partitions

    @property
    def n_nonzeros(self) -> int:
        """The number of non-zero counts."""
        return int(self._search._family.here.by_document.nnz)

    @property
    def document_frequencies(self) -> Array:
        """The number of documents that contain each word, (d,)."""
        return np.asarray(self._search._family.holding)

    @property
    def word_frequencies(self) -> Array:
        """The mean frequency of each word, (d,)."""
        return self._search._family.word_mean

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues of the second moment, (k,)."""
        return self._search._family.frame.values

    @property
    def word_variances(self) -> Array:
        """How much each word varies between topics, (d,).

        The first component is near the mean of the corpus, which holds the common words of the language. For the
        others, Σ λⱼ vⱼ² over the eigenpairs of the second moment is the variance of a word.
        """
        frame = self._search._family.frame
        return np.asarray(frame.basis[:, 1:] ** 2 @ frame.values[1:])

    def find_columns(self, words: Iterable[str]) -> Array:
        """Return the column of each word, -1 if it has none, (q,)."""
        return self._search._find_columns(words)

    def find_documents(self, rows: Sequence[int]) -> Array:
        """Return the index of each document in the corpus, given its row in the user's data, (q,)."""
        return self._search._find_documents(rows)
