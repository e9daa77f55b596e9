"""The corpus behind a search, as an index needs it: fit documents that are counted already, look up words and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks
from mixsearch.io.folder import Folder
from mixsearch.topics.component import Topic
from mixsearch.topics.counts import MIN_WORDS
from mixsearch.topics.documents import PlacedChunk, broad_places, pick_documents, to_unit_length
from mixsearch.topics.fitted import FittedTopics, open_fitted
from mixsearch.topics.local_em import ABOUT_SHARE, SCALE_ERROR, LocalTopic
from mixsearch.topics.old_lda import WordCountChunk, check_indices
from mixsearch.topics.query import index_documents
from mixsearch.topics.within import DroppedWordsWithin, restrict_family

if TYPE_CHECKING:
    from mixsearch.topics.old_lda import Allocate
    from mixsearch.topics.search import TopicSearch


def make_search(n_components: int | Literal["auto"], n_words: int, options: Mapping[str, Any]) -> TopicSearch:
    """Return a search for a corpus of this many words, with checked options."""
    from mixsearch.topics.search import TopicSearch  # an estimator of scikit-learn, which only a fit needs

    search = TopicSearch(n_components, **options)
    search._check_options(n_words)
    return search


def is_damped(search: FittedTopics) -> bool:
    """Return whether a search replaces a count c by log2(1 + c)."""
    return bool(search._options.damping)


def get_min_words(search: FittedTopics) -> int:
    """Return the number of words that a document must have."""
    return 1 if search._options.moments == "plugin" else MIN_WORDS


def fit_corpus(
    search: TopicSearch,
    documents: Chunks[WordCountChunk],
    *,
    vocabulary: list[str],
    n_dropped: int,
    allocate: Allocate = np.empty,
    on_pass: Callable[[int], None] | None = None,
) -> None:
    """Fit a search to whole counts that are checked, damped if it damps, and of documents that are long enough."""
    search.n_features_in_, search.n_dropped_ = documents.n_features, n_dropped
    distinct = search._options.moments != "plugin"
    search._fit_documents(documents, distinct=distinct, allocate=allocate, on_pass=on_pass)
    search._set_vocabulary(vocabulary)


class FittedCorpus:
    """The words and documents of a fitted search, as an index needs them.

    Attributes
    ----------
    search : FittedTopics
        The fitted search.
    chunks : Chunks of PlacedChunk
        The documents, in this process or on a cluster.
    n_nonzeros : int
        The number of non-zero counts.
    is_distinct : bool
        Whether moments pair words with other words only.
    document_frequencies, word_frequencies, word_variances : arrays of shape (d,)
        The number of documents that contain each word, its frequency in the corpus, and its variance between topics.
    eigenvalues : array of shape (k,)
        The eigenvalues of the second moment, falling.
    common_words : dict of str to int
        Words that are too common to be features, with the number of documents that contain each.
    """

    def __init__(self, search: FittedTopics) -> None:
        self._search = search

    @classmethod
    def from_folder(cls, folder: Folder) -> FittedCorpus:
        """Open a search that was stored in a folder. Its arrays are mapped from the files."""
        return cls(open_fitted(folder))

    @property
    def search(self) -> FittedTopics:
        """The fitted search."""
        return self._search

    def to_estimator(self, parameters: Mapping[str, Any]) -> TopicSearch:
        """Return the search as an estimator of scikit-learn."""
        from mixsearch.topics.search import TopicSearch

        return TopicSearch._from_fitted(self._search, parameters)

    @property
    def chunks(self) -> Chunks[PlacedChunk]:
        """The documents, in this process or on a cluster."""
        return self._search._family.chunks

    @property
    def n_nonzeros(self) -> int:
        """The number of non-zero counts."""
        return sum(int(each.by_document.nnz) for each in self._search._family.segments)

    @property
    def is_distinct(self) -> bool:
        """Whether moments pair words with other words only."""
        return self._search._family.distinct

    @property
    def document_frequencies(self) -> Array:
        """The number of documents that contain each word, (d,)."""
        return np.asarray(self._search._family.document_frequency)

    @property
    def word_frequencies(self) -> Array:
        """The frequency of each word in the corpus, (d,)."""
        return self._search._family.word_mean

    @property
    def eigenvalues(self) -> Array:
        """The eigenvalues of the second moment, (k,), falling."""
        return self._search._family.frame.values

    @property
    def word_variances(self) -> Array:
        """How much each word varies between topics, (d,)."""
        return np.asarray(np.sum(self._deviations(slice(None)) ** 2, axis=1))

    def _deviations(self, columns: Array | slice) -> Array:
        """Return words in the frame, without the direction of the corpus, (q, k).

        The second moment is VΛV', and the mean m of the corpus is V√Λ c, with c = W'm about a unit vector. The rows of
        V√Λ(I - cc') then have the covariances between topics as inner products.
        """
        family = self._search._family
        points = np.asarray(family.frame.basis[columns]) * np.sqrt(family.frame.values)
        mean = family.mean / np.linalg.norm(family.mean)
        return np.asarray(points - np.outer(points @ mean, mean))

    def word_directions(self, columns: Array) -> Array:
        """Return in which direction words differ between topics: two of one topic point the same way."""
        return to_unit_length(self._deviations(columns))

    @property
    def common_words(self) -> dict[str, int]:
        """Words that are too common to be features, with the number of documents that contain each."""
        dropped = self._search._dropped
        return {} if dropped is None else dropped.common

    def is_dropped(self, word: str) -> bool:
        """Return whether a word is in the texts, or a stop word, but not a feature."""
        return self._search._dropped is not None and word in self._search._dropped

    def count_dropped(self, word: str) -> int:
        """Return the number of documents that contain a word that is not a feature."""
        found = None if self._search._dropped is None else self._search._dropped.find(word)
        return 0 if found is None else found.n_documents

    @property
    def segments(self) -> tuple[PlacedChunk, ...]:
        """All documents in one chunk or a few."""
        return self._search._family.segments

    def find_columns(self, words: Iterable[str]) -> Array:
        """Return the column of each word."""
        columns = self._search._columns
        if columns is None:
            return np.array([int(word) for word in words], dtype=np.intp)
        return np.array([columns.get(word, -1) for word in words], dtype=np.intp)

    def places(self, step: int = 1) -> Array:
        """Return the directions of documents in the signal space."""
        family = self._search._family
        projected = np.concatenate([segment.projected for segment in family.segments])[::step]
        return broad_places(projected, family.frame.values)

    def shares(self, topics: Sequence[Topic], rows: Sequence[int]) -> Array:
        """Return the share of each of some topics in documents of the corpus."""
        counts = pick_documents(self.chunks, self.find_documents(rows)).counts
        return np.column_stack([topic._shares_in(counts) for topic in topics])

    def document_shares(self, topics: Sequence[Topic]) -> Array:
        """Return the share of each of some topics in every document of the corpus."""
        return np.column_stack([self._estimate_shares(topic) for topic in topics])

    def _estimate_shares(self, topic: Topic) -> Array:
        if topic._family.chunks.n_rows == self.chunks.n_rows:
            return topic._corpus_shares()
        segments = self._search._family.segments
        return np.concatenate([topic._estimate_shares_in(check_indices(each.by_document)) for each in segments])

    def scale_errors(self, topics: Sequence[Topic]) -> Array:
        """Return the standard errors of the factors by which the shares of topics may be wrong in all documents."""
        return np.array([SCALE_ERROR if isinstance(topic._refined, LocalTopic) else 0.0 for topic in topics])

    def find_about(self, topic: Topic) -> Array | None:
        """Return which documents of the corpus are to a fair part about a topic."""
        if not isinstance(topic._refined, LocalTopic):
            return None
        return np.asarray(self._estimate_shares(topic) >= ABOUT_SHARE)

    def find_holding(self, topic: Topic) -> Array | None:
        """Return which documents of the corpus contain the words of the hint of a topic."""
        return topic._find_holding(self._search._family)

    def within(self, indices: Array) -> FittedCorpus:
        """Return the same fit for some documents of the corpus only."""
        search = copy(self._search)
        search._family = restrict_family(self._search._family, indices)
        if search._dropped is not None:
            search._dropped = DroppedWordsWithin(search._dropped, indices)
        return FittedCorpus(search)

    def find_documents(self, rows: Sequence[int]) -> Array:
        """Return the indices in the corpus of rows of the user's matrix."""
        return index_documents(self.chunks, self._search.n_dropped_, rows)
