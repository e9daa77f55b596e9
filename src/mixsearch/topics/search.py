"""Search for one topic in a corpus of word counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Samples, SamplesLike
from mixsearch.core.estimator import RandomState, SemiSupervised, warn_about_count
from mixsearch.core.extraction import Extraction
from mixsearch.core.family import Preset
from mixsearch.core.rows import Chunks, SampleChunk
from mixsearch.core.validation import AUTO, check_n_components
from mixsearch.display import pluralize
from mixsearch.errors import FewerComponentsWarning, SearchError, warn_user
from mixsearch.topics.component import Topic
from mixsearch.topics.counts import MIN_WORDS, check_counts, damp_counts, drop_short_documents
from mixsearch.topics.documents import PlacedFamily, place_corpus
from mixsearch.topics.fitted import FittedTopics, open_fitted
from mixsearch.topics.marked import MarkedDocuments
from mixsearch.topics.old_lda import (
    FIRST_ALPHA0,
    WEIGHTINGS,
    Allocate,
    WordCountChunk,
    estimate_alpha0,
    fit_topics,
    topic_spectrum,
)
from mixsearch.topics.options import (
    MomentsKind,
    TopicOptions,
    WeightsKind,
    are_texts,
    check_corpus,
    check_options,
    check_vocabulary,
    explain_too_few_words,
    fill_missing,
    make_vectorizer,
    resolve_options,
    uses_distinct_words,
)
from mixsearch.topics.storage import open_search, save_search


class TopicSearch(FittedTopics, SemiSupervised[PlacedFamily]):
    """Find one topic of a corpus from a word, several words or a few documents.

    Parameters
    ----------
    n_components : int or "auto", default=50
        k, the number of topics. A larger number gives narrower topics, and `search` can use fewer than were fitted.
        "auto" counts the directions that keep half of their eigenvalue on held-out documents (`spectrum_`), up to 200,
        which large corpora exceed.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: the plug-in moments, the same weight for each document, no metric and no
        damping; `search` then chooses the topic with the largest score and does not refine it. The following options
        override single choices.
    alpha0 : float or "auto", default=0.01
        The sum of the Dirichlet parameters: near 0, documents have one topic; above 1, they mix many. "auto" estimates
        it from counts that follow the model (``damping=False``), at the cost of a second fit.
    moments : {"auto", "distinct", "plugin"}, optional
        "distinct" averages over distinct words of a document, which is unbiased and needs integer counts. "plugin" also
        pairs words with themselves. "auto", the default, uses "distinct" for integer counts.
    weights : {"length", "uniform"}, optional
        The weight of a document in all averages: its length, the default, or the same for each.
    metric : float, optional
        Measure each word in units of its frequency to this power before eigenvectors are computed; 0.25 by default.
    damping : bool, optional
        Replace a count c by log2(1 + c), the default. Real text repeats words within a document more often than the
        model allows. On counts drawn from the model itself damping causes a bias: turn it off there.
    vectorizer : transformer, optional
        Turns the input of `fit` into counts, such as a `CountVectorizer`; a copy of it is fitted. By default texts are
        counted as in an index: in any language, without stop words, with phrases.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block.

    Attributes
    ----------
    n_components_ : int
        The number of topics of the fit; fewer than requested if the corpus supports no more.
    spectrum_ : Spectrum
        The eigenvalues behind ``n_components="auto"``.
    vocabulary_ : list of str or None
        The words, one per column.
    n_dropped_ : int
        The number of documents that were too short for the fit.
    kept_rows_ : array of shape (n,)
        The rows of X that were fitted, if X was in memory.
    alpha0_, alpha0_stderr_ : float
        The estimate of ``alpha0="auto"``, and its standard error.
    vectorizer_ : transformer
        The fitted vectorizer, if `fit` was given texts.
    component_ : Topic
        The topic of the known documents, if `fit` was given labels.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, mean_length=60, random_state=0)
    >>> search = TopicSearch(n_components=4, alpha0=data.alpha.sum(), damping=False)
    >>> search = search.fit(data.counts, vocabulary=data.vocabulary)
    >>> word = data.vocabulary[data.labelled_word(1)]
    >>> topic = search.search(words=word)
    >>> bool(abs(topic.probabilities - data.topics[1]).max() < 0.01)
    True
    """

    _moment_power: ClassVar[int] = 0  # counts have a limit of their own

    def __init__(
        self,
        n_components: int | Literal["auto"] = 50,
        *,
        preset: Preset = "default",
        alpha0: float | Literal["auto"] = 0.01,
        moments: MomentsKind | None = None,
        weights: WeightsKind | None = None,
        metric: float | None = None,
        damping: bool | None = None,
        vectorizer: BaseEstimator | None = None,
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.preset = preset
        self.alpha0 = alpha0
        self.moments = moments
        self.weights = weights
        self.metric = metric
        self.damping = damping
        self.vectorizer = vectorizer
        self.random_state = random_state

    def fit(
        self,
        X: SamplesLike,
        y: ArrayLike | None = None,
        *,
        vocabulary: Iterable[str] | Mapping[str, int] | None = None,
    ) -> Self:
        """Fit the corpus. With labels, also find the topic of the known documents.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d), or sequence of str
            Word counts, one row per document; or texts, which are counted. None and NaN are documents without words.
        y : array of shape (n,), optional
            1 for known documents of the topic, -1 for unlabelled ones; other labels count as -1. If given, the topic
            found is in `component_`.
        vocabulary : sequence of str, or mapping of str to int, optional
            The words, one per column, or the column of each word. By default the column names if X is a data frame.

        Returns
        -------
        self
        """
        self._forget("vectorizer_")
        check_corpus(X, self.vectorizer)
        if self.vectorizer is not None or are_texts(X):
            X, vocabulary = self._count_texts(X, vocabulary)
        try:
            samples = self._fit_family(X)
        except SearchError as error:
            explained = explain_too_few_words(error, getattr(self, "vectorizer_", None))
            if explained is error:
                raise
            raise explained from None
        names = self._get_feature_names() if vocabulary is None else vocabulary
        self._set_vocabulary(None if names is None else check_vocabulary(names, self.n_features_in_))
        self._search_members(samples, y)
        return self

    def _count_texts(self, X: Any, vocabulary: Any) -> tuple[Any, Any]:
        """Fit the vectorizer, and return the counts with their words."""
        vectorizer = make_vectorizer(self.vectorizer)
        counts = vectorizer.fit_transform(fill_missing(X) if are_texts(X) else X)
        self.vectorizer_ = vectorizer
        return counts, vectorizer.get_feature_names_out() if vocabulary is None else vocabulary

    def _check_rows(self, X: Any, *, reset: bool) -> Samples:
        if not reset and hasattr(self, "vectorizer_") and are_texts(X):
            X = self.vectorizer_.transform(fill_missing(X))
        return SemiSupervised._check_rows(self, X, reset=reset)

    def _get_feature_names(self) -> list[str] | None:
        return SemiSupervised._get_feature_names(self)

    def _check_fitted(self) -> None:
        check_is_fitted(self)

    def _fit_family(self, X: Any) -> Chunks[SampleChunk]:
        counts, is_whole = check_counts(self._check_chunks(X))
        options = self._check_options(counts.n_features)
        distinct = uses_distinct_words(options, is_whole=is_whole)
        counts = damp_counts(counts) if options.damping else counts
        documents = drop_short_documents(counts, MIN_WORDS if distinct else 0, damping=options.damping)
        self.n_dropped_ = counts.n_rows - documents.n_rows
        self._fit_documents(documents, distinct=distinct)
        return counts

    def _check_options(self, n_words: int) -> TopicOptions:
        """Set and return the options of the fit, with those of the preset filled in."""
        self._options = resolve_options(self.get_params())
        check_options(self._options, self.n_components, n_words)
        return self._options

    def _fit_documents(
        self,
        chunks: Chunks[WordCountChunk],
        *,
        distinct: bool,
        allocate: Allocate = np.empty,
        on_pass: Callable[[int], None] | None = None,
    ) -> None:
        """Fit documents that are checked and long enough."""
        options = self._options
        self._forget("alpha0_", "alpha0_stderr_")
        weighting = WEIGHTINGS[options.weights]
        common: dict[str, Any] = {
            "alpha0": FIRST_ALPHA0 if options.alpha0 == AUTO else options.alpha0,
            "distinct": distinct,
            "weighting": weighting,
            "metric": options.metric,
        }
        k = self._choose_n_components(chunks, lambda: topic_spectrum(chunks, **common, seed=self._draw_seed()))
        if self.n_components == AUTO:
            warn_about_count(self.spectrum_)
        if options.alpha0 == AUTO:
            rough = fit_topics(chunks, k, **common, seed=self._draw_seed())
            self.alpha0_, self.alpha0_stderr_ = estimate_alpha0(rough)
            self._options, common["alpha0"] = options._replace(alpha0=self.alpha0_), self.alpha0_
        # Text has more topics than any number: only counts that follow the model can show that some are missing.
        check_rest = self.n_components != AUTO and distinct and not options.damping
        family = fit_topics(
            chunks,
            k,
            **common,
            seed=self._draw_seed(),
            check_rest=check_rest,
            allocate=allocate,
            on_pass=on_pass,
        )
        self._family = place_corpus(family)
        self._warn_if_fewer()

    def _warn_if_fewer(self) -> None:
        requested = self.spectrum_.n_components if self.n_components == AUTO else check_n_components(self.n_components)
        if self.n_components_ < requested:
            warn_user(
                FewerComponentsWarning(
                    "The corpus supports {n_fitted} "
                    + pluralize(self.n_components_, "topic")
                    + ", but {n_requested} were requested: the other eigenvalues of "
                    "its second moment are not positive. The fit uses {n_fitted}.",
                    n_fitted=self.n_components_,
                    n_requested=requested,
                )
            )

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted search to a folder, without pickle. `load` opens it at once.

        Parameters
        ----------
        path : path
            A folder that does not exist yet. It is written completely or not at all.
        overwrite : bool, default=False
            Replace a search that was saved there before.
        """
        check_is_fitted(self)
        save_search(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Open a search that was saved. Its arrays are mapped from the files.

        Parameters
        ----------
        path : path
            The folder.

        Returns
        -------
        TopicSearch
        """
        folder = open_search(path)
        return cls._from_fitted(open_fitted(folder), folder.facts["search"])

    @classmethod
    def _from_fitted(cls, fitted: FittedTopics, parameters: Mapping[str, Any]) -> Self:
        """Return the estimator of a stored fit that is open."""
        search = cls(**parameters)
        vars(search).update(vars(fitted))
        return search

    def _search_examples(self, members: Samples) -> Topic:
        how, options = Extraction(choose=self._default_choose), self._check_refinement(None, 0.0, None)
        return self._make_query(self._family, how, options).search_documents(MarkedDocuments(sp.csr_array(members)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
