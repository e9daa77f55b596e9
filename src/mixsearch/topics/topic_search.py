"""`TopicSearch`: fit a corpus once, then ask for the topic of any word or document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch.core.family import Preset
from mixsearch.core.validation import as_search_errors, check_choice, check_n_components
from mixsearch.errors import ArgumentError, Option, SearchError
from mixsearch.io.values import is_missing
from mixsearch.lda import LdaSearch
from mixsearch.topics.fitted_corpus import FittedCorpus, check_counts, recover_counts
from mixsearch.topics.hint import Hint, Vocabulary, weigh_documents
from mixsearch.topics.membership import TopicCheck
from mixsearch.topics.search import find_topic, make_hint
from mixsearch.topics.topic import Topic
from mixsearch.topics.tuning import TUNING


def find_lda_topic(corpus: FittedCorpus, hint: Hint, model: LdaSearch, counts: sp.csr_array) -> Topic:
    """Find the topic of a hint by the paper's model and choices: the share of the component in each document."""
    if hint.narrower or hint.meaning is not None:
        raise ArgumentError(
            "The preset 'paper' has neither {narrower} nor {meaning}. Leave them out.",
            code="not_in_preset",
            narrower=Option("narrower"),
            meaning=Option("meaning"),
        )
    if hint.terms:
        terms = [(term, 1.0) for term in hint.terms] + [(term, -1.0) for term in hint.avoided]
        columns = {int(c): sign * term.weight for term, sign in terms for part in term.parts for c in part}
        component = model.search(words=columns)
    else:
        given = [] if hint.counts is None else [recover_counts(hint.counts)]
        component = model.search(
            examples=sp.csr_array(sp.vstack([counts[hint.documents], *given], "csr")),
            not_examples=counts[hint.not_documents] if len(hint.not_documents) else None,
        )
    documents, weights = weigh_documents(corpus, hint)
    shares = component.membership(counts)
    return Topic(
        hint,
        shares,
        True,
        TopicCheck(np.empty(0, dtype=np.intp), corpus.n_documents),
        component.warnings,
        corpus,
        shares,
        None,
        (documents, corpus.take_vectors(documents), weights),
        _lda=component,
    )


class TopicSearch(BaseEstimator):
    """Find one topic of a corpus from a word, several words or a few documents.

    Parameters
    ----------
    n_components : int, default=100
        k, the number of eigenvectors of the second moment that documents are compared in.
    preset : {"default", "paper"}, default="default"
        "paper" uses the model and the choices of the paper: plug-in moments of LDA, and the share of the component
        in each document. See `LdaSearch` for its options.
    random_state : int, default=0
        Seed of the eigensolver's starting block, and of the choice of anchors.

    Attributes
    ----------
    corpus_ : FittedCorpus
        The fitted corpus.
    vocabulary_ : Vocabulary
        Its words.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_reviews
    >>> search = TopicSearch().fit(make_reviews(1000, random_state=0).text)
    >>> topic = search.search("sushi")
    >>> topic.check.match
    'strong'
    """

    def __init__(
        self,
        n_components: int = TUNING.n_components,
        *,
        preset: Preset = "default",
        random_state: int = 0,
    ) -> None:
        self.n_components = n_components
        self.preset = preset
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
    ) -> Self:
        """Fit the corpus.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d), or sequence of str
            Word counts, one row per document; or texts, which are counted as in an index: in any language, without stop
            words, with phrases. None and NaN are documents without words.
        y : object, optional
            Ignored.
        vocabulary : sequence of str, or mapping of str to int, optional
            The words, one per column, or the column of each word. By default the column names if X is a data frame.

        Returns
        -------
        self
        """
        check_choice("preset", self.preset, ("default", "paper"))
        self.corpus_, self.vocabulary_ = self._fit_texts(X) if _are_texts(X) else self._fit_counts(X, vocabulary)
        if self.preset == "paper":
            segments = self.corpus_.segments
            self._counts = recover_counts(sp.vstack([segment.by_document for segment in segments], "csr"))
            self._model = LdaSearch(self.n_components, preset="paper", random_state=self.random_state)
            self._model.fit(self._counts)
        self.n_components_ = len(self.corpus_.frame.values)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.positive_only = tags.input_tags.string = True
        return tags

    def _fit_texts(self, X: Iterable[str | None]) -> tuple[FittedCorpus, Vocabulary]:
        from mixsearch.text.count import count_texts

        texts = ["" if is_missing(text) else text for text in X]
        with count_texts(texts) as counted:
            counts = sp.vstack([chunk.counts for chunk in counted.chunks()], "csr")
            corpus = FittedCorpus.fit(
                check_counts(counts, min_documents=2),
                counted.words,
                n_components=check_n_components(self.n_components),
                n_features=counted.n_features,
                copy_of=counted.copy_of,
                seed=self.random_state,
            )
            return corpus, Vocabulary(counted.words, corpus.document_frequency, split_question, counted.stop_words)

    def _fit_counts(self, X: Any, names: Any) -> tuple[FittedCorpus, Vocabulary]:
        names = getattr(X, "columns", None) if names is None else names
        counts = check_counts(X, min_documents=2)
        self.n_features_in_ = counts.shape[1]
        words = None if names is None else check_vocabulary(names, counts.shape[1])
        corpus = FittedCorpus.fit(
            counts, words, n_components=check_n_components(self.n_components), seed=self.random_state
        )
        return corpus, Vocabulary(corpus.words, corpus.document_frequency)

    def search(
        self,
        words: Any = None,
        *,
        documents: Any = None,
        not_documents: Any = None,
        narrower: float = 0.0,
        meaning: int | None = None,
    ) -> Topic:
        """Find the topic of a hint.

        Parameters
        ----------
        words : str, int, sequence of them, or mapping of str to float, optional
            Words as in a search box, such as ``sushi^2 "happy hour" encrypt* -pizza``; a list of words or numbers of
            columns; or words with weights, negative for words that no member contains.
        documents : sequence of int, or array or sparse matrix of shape (q, d), optional
            Rows of documents about the topic, or word counts of other documents.
        not_documents : sequence of int, optional
            Rows of documents that are not about the topic.
        narrower : float, default=0
            Steps towards a narrower topic; negative for a broader one.
        meaning : int, optional
            Which of the other meanings of the hint to search for: one of the `alternatives` of its answer.

        Returns
        -------
        Topic
        """
        check_is_fitted(self)
        corpus = self.corpus_
        rows, counts = (documents, None) if documents is None or is_rows(documents) else (None, self._count(documents))
        counts = None if counts is None else corpus.read_counts(counts)
        hint = make_hint(corpus, self.vocabulary_, words, rows, not_documents, counts, narrower, meaning)
        if self.preset == "paper":
            return find_lda_topic(corpus, hint, self._model, self._counts)
        return find_topic(corpus, hint)

    def _count(self, documents: Any) -> Any:
        """Count texts that are given as documents; counts stay as they are."""
        if not _are_texts(documents):
            return documents
        from mixsearch.text.count import count_texts

        texts = ["" if is_missing(text) else text for text in documents]
        with count_texts(texts, features=self.corpus_.words[: self.corpus_.n_features]) as counted:
            return counted.to_counts()


def _are_texts(X: Any) -> bool:
    """Return whether the rows of X are texts."""
    if isinstance(X, str):
        raise SearchError("X is one string. Give a list of texts, one per document.", code="one_string")
    if sp.issparse(X) or (hasattr(X, "dtype") and getattr(X.dtype, "kind", "O") not in "OUT") or hasattr(X, "columns"):
        return False
    first = next((text for text in X if not is_missing(text)), None)
    return first is None or isinstance(first, str)


def is_rows(documents: Any) -> bool:
    """Return whether documents are given by numbers, which are their rows."""
    with as_search_errors():  # rows of several lengths
        return not sp.issparse(documents) and np.ndim(documents) <= 1 and np.asarray(documents).dtype.kind in "biuf"


def split_question(text: str) -> list[str]:
    """Split a word or phrase of a question as texts are split by default."""
    from mixsearch.text.tokens import normalize_text, split_words

    return split_words(normalize_text(text))


def check_vocabulary(vocabulary: Iterable[str] | Mapping[str, int], n_columns: int) -> list[str]:
    """Return the words in the order of the columns, from a list of them or from a mapping of words to columns."""
    if isinstance(vocabulary, str):
        raise SearchError("The vocabulary is one string. Give a list of words, one per column.", code="bad_vocabulary")
    if isinstance(vocabulary, Mapping):  # such as CountVectorizer.vocabulary_: word -> column
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    words = [str(word) for word in vocabulary]
    if len(words) != n_columns or len(set(words)) != n_columns:
        raise SearchError(
            "The vocabulary must have one word for each of the {n_columns:,} columns, each once; it has {n_words:,} "
            "({n_distinct:,} different ones).",
            code="bad_vocabulary",
            n_columns=n_columns,
            n_words=len(words),
            n_distinct=len(set(words)),
        )
    return words
