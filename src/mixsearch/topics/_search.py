"""Search for one topic in a corpus of word counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, Unpack

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.em import MAX_ITER, EMOptions, em_options
from mixsearch.core.estimator import Preset, RandomState, SemiSupervised, warn_no_signal
from mixsearch.core.extraction import Extraction, ExtractionOptions
from mixsearch.core.hints import check_one_hint, hint_from_direction
from mixsearch.core.validation import AUTO, check_choice, check_n_components, check_positive_int
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.data.threads import one_blas_thread
from mixsearch.errors import FewerComponentsWarning, warn_user
from mixsearch.storage import Folder
from mixsearch.topics._component import Topic
from mixsearch.topics._counts import MIN_WORDS, as_counts, check_counts, damp_counts, drop_short_documents
from mixsearch.topics._documents import WEIGHTINGS, CountPartition, pick_documents
from mixsearch.topics._dropped import DroppedWords
from mixsearch.topics._dropped_matches import match_dropped
from mixsearch.topics._fit import Allocate, fit_topics
from mixsearch.topics._hint import DroppedHint, WordHint, Words, are_words, hint_from_words
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._options import (
    MomentsKind,
    TopicOptions,
    WeightsKind,
    check_options,
    resolve_options,
    uses_distinct_words,
)
from mixsearch.topics._query import TopicQuery, count_enough, index_documents
from mixsearch.topics._rank_selection import topic_spectrum
from mixsearch.topics._storage import open_search, restore_search, save_search
from mixsearch.topics._texts import are_texts, fill_missing, make_vectorizer
from mixsearch.topics._vocabulary import check_vocabulary

# Maximum number of iterations of LDA by default: more change the shares of documents, hardly the topics.
LDA_MAX_ITER = 30
# Indices of documents that are not part of the corpus.
NOT_IN_CORPUS: Array = np.zeros(0, dtype=np.intp)


class TopicSearch(SemiSupervised[TopicFamily]):
    """Find one topic of a corpus from a word, several words or a few documents.

    Parameters
    ----------
    n_components : int or "auto", default=50
        k, the number of topics. A larger number gives narrower topics, and `search` can use fewer than were fitted.
        "auto" counts the directions that keep half of their eigenvalue on documents from which they were not computed
        (`spectrum_`), up to 200: the more text, the more.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: the plug-in moments, the same weight for each document, no metric and no
        damping; `search` then takes the topic of the largest score and does not refine it. The next options override
        single choices.
    alpha0 : float, default=0.01
        The sum of the Dirichlet parameters: near 0 documents have one topic, above 1 they mix many.
    moments : {"auto", "distinct", "plugin"}, optional
        "distinct" averages over different words of a document, which is unbiased and needs whole counts. "plugin" also
        counts words with themselves. "auto", the default, takes "distinct" for whole counts.
    weights : {"length", "uniform"}, optional
        The weight of a document in all averages: its length, the default, or the same for each.
    metric : float, optional
        Measure each word in units of its frequency to this power before eigenvectors are computed; 0.25 by default.
    damping : bool, optional
        Replace a count c by log2(1 + c), the default. Real text repeats words within a document more often than the
        model allows. On counts drawn from the model itself damping causes a bias: turn it off there.
    vectorizer : transformer, optional
        Turns what `fit` gets into counts, such as a `CountVectorizer`; a copy of it is fitted. By default texts are
        counted as those of an index: any language, without stop words, with phrases.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block.

    Attributes
    ----------
    n_components_ : int
        The number of topics of the fit; fewer than requested if the corpus supports no more.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    vocabulary_ : list of str or None
        The words, one per column.
    n_dropped_ : int
        The number of documents that were too short for the fit.
    kept_rows_ : array of shape (n,)
        The rows of X that were fitted, if X was in memory.
    vectorizer_ : transformer
        What counted the texts, if `fit` was given texts.
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

    _options: TopicOptions
    _dropped: DroppedWords | None = None  # words of a stored corpus that are not features

    def __init__(
        self,
        n_components: int | Literal["auto"] = 50,
        *,
        preset: Preset = "default",
        alpha0: float = 0.01,
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
            1 for the known documents of the wanted topic, -1 for unlabelled ones; other labels count as -1. If given,
            the topic found is in `component_`.
        vocabulary : sequence of str, or mapping of str to int, optional
            The words, one per column, or the column of each word. By default the column names if X is a data frame.

        Returns
        -------
        self
        """
        self._forget("vectorizer_")
        if self.vectorizer is not None or are_texts(X):
            X, vocabulary = self._count_texts(X, vocabulary)
        samples = self._fit_family(X)
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
        return super()._check_rows(X, reset=reset)

    def _fit_family(self, X: Any) -> Partitions[SamplePartition]:
        counts, is_whole = check_counts(self._check_partitions(X))
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
        partitions: Partitions[CountPartition],
        *,
        distinct: bool,
        allocate: Allocate = np.empty,
        on_pass: Callable[[int], None] | None = None,
    ) -> None:
        """Fit documents that are checked and long enough."""
        options = self._options
        weighting = WEIGHTINGS[options.weights]
        common: dict[str, Any] = {
            "alpha0": options.alpha0,
            "distinct": distinct,
            "weighting": weighting,
            "metric": options.metric,
        }
        k = self._choose_n_components(partitions, lambda: topic_spectrum(partitions, **common, seed=self._draw_seed()))
        if self.n_components == AUTO:
            warn_no_signal(self.spectrum_, "one topic")
        # Text has more topics than any number: only counts that follow the model can show that some are missing.
        check_rest = self.n_components != AUTO and distinct and not options.damping
        self._family = fit_topics(
            partitions,
            k,
            **common,
            seed=self._draw_seed(),
            check_rest=check_rest,
            allocate=allocate,
            on_pass=on_pass,
        )
        self._warn_if_fewer()

    def _warn_if_fewer(self) -> None:
        requested = self.spectrum_.n_components if self.n_components == AUTO else check_n_components(self.n_components)
        if self.n_components_ < requested:
            warn_user(
                FewerComponentsWarning(
                    "The corpus supports {n_fitted} topics, but {n_requested} were requested: the other eigenvalues of "
                    "its second moment are not positive. The fit uses {n_fitted}.",
                    n_fitted=self.n_components_,
                    n_requested=requested,
                )
            )

    def _set_vocabulary(self, vocabulary: list[str] | None) -> None:
        self.vocabulary_ = vocabulary
        self._columns = None if vocabulary is None else {word: column for column, word in enumerate(vocabulary)}

    @property
    def kept_rows_(self) -> Array:
        """The rows of X that were fitted, (n,), if X was in memory."""
        segments = self._family.segments
        return segments[0].rows if len(segments) == 1 else np.concatenate([each.rows for each in segments])

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted search to a folder, without pickle. `load` opens it at once, whatever its size.

        Parameters
        ----------
        path : path
            A folder that does not exist yet. It appears when all of it is written, or not at all.
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
        return cls._from_folder(open_search(path))

    @classmethod
    def _from_folder(cls, folder: Folder) -> Self:
        search = cls(**folder.facts["search"])
        search._options = resolve_options(search.get_params())
        return restore_search(search, folder)

    def search(
        self,
        hint: ArrayLike | Words | None = None,
        *,
        words: Words | None = None,
        documents: SamplesLike | Sequence[int] | None = None,
        n_components: int | Literal["enough"] | None = None,
        narrower: float = 0,
        project: bool = False,
        refine: bool | None = None,
        tol: float = 0.01,
        max_iter: int | None = None,
        max_documents: int | None = None,
        merge_copies: bool | Literal["auto"] = "auto",
        **extraction: Unpack[ExtractionOptions],
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), or words, optional
            A weight for every word; or words, as in the next argument.
        words : str, sequence of str, or mapping of str to float, optional
            One word, several, or words with weights: negative for words that the topic should avoid. ``"new york"`` is
            a phrase, and ``"encrypt*"`` means all words that start with "encrypt". A column number stands for its word.
            Unknown words are skipped with a warning if others are known.
        documents : sequence of int, counts of shape (q, d), or sequence of str, optional
            Rows of the fitted corpus, or other documents, that are mostly about the topic; texts if texts were fitted.
        n_components : int or "enough", optional
            Use the first j of the fitted topics only: fewer give broader topics. "enough" uses as many as keep four
            fifths of the projection of the words onto all of them, and makes local EM narrower the rarer the words are.
        narrower : float, default=0
            How many times to double that number and to halve the neighbourhood of local EM, for a narrower topic;
            negative for a broader one.
        project : bool, default=False
            Replace the words by their projection onto the fitted topics. If the corpus follows the model this reduces
            noise; on real text it blurs words that are rarer than the topics can resolve.
        refine : bool, optional
            Refine the topic by EM. If counts are damped, local EM on the documents near the hint, which finds topics
            that are rarer than the fitted ones can resolve; this is the default then. Otherwise variational EM for LDA
            on all documents, for counts drawn from the model itself. The answer's `moment_estimate` is the one before.
        tol : float, default=0.01
            Stop EM once an iteration gains less than this in the log-likelihood of all documents together, in nats.
        max_iter : int, optional
            Maximum number of EM iterations: 30 by default, and never more than 3 for local EM.
        max_documents : int, optional
            If more documents contain the words of the hint, this many at even steps represent all: a bound on the time
            that a frequent word takes. By default all of them are read.
        merge_copies : bool or "auto", default="auto"
            In local EM from words, give n documents that are near-copies of each other the weight of √n others, so
            that a template that mentions a word does not outweigh the documents about it. "auto" does so unless most
            of them are near-copies and their template always has the word: then it is what the word means.
        **extraction
            How the topic is extracted: `method`, `choose`, `normaliser`, `rule`, `threshold` and `rehint`, the
            fields of `Extraction`. Whitening takes the topic with the largest share of the hint, ``choose="share"``;
            ``choose="largest"``, as in the paper, often finds a tiny topic on real text.

        Returns
        -------
        Topic
        """
        check_is_fitted(self)
        if words is None and are_words(hint):
            hint, words = None, hint
        if extraction.get("method") != "cancellation":
            extraction.setdefault("choose", self._default_choose)
        how = Extraction.from_options(extraction, self.search)
        check_one_hint({"hint": hint, "words": words, "documents": documents})
        if max_documents is not None:
            check_positive_int("max_documents", max_documents)
        check_choice("merge_copies", merge_copies, (True, False, "auto"))
        options = self._check_refinement(refine, tol, max_iter)
        # A search is too short for the threads of BLAS: on a busy machine they would wait for each other.
        with one_blas_thread:
            if documents is not None:
                family = self._select_components(None, n_components, narrower)
                query = self._make_query(family, how, options, breadth=2.0**-narrower)
                return query.search_documents(*self._read_documents(documents))
            v = self._read_words(hint, words)
            if isinstance(v, DroppedHint):
                matches = match_dropped(self._family, v, damping=bool(self._options.damping))
                family = self._select_components(matches.hint, n_components, narrower)
                query = self._make_query(family, how, options, breadth=2.0**-narrower)
                return query.search_matches(matches, [word.doubt() for word, _ in v.words])
            family = self._select_components(self._family.project(v), n_components, narrower)
            is_enough = n_components == "enough"
            local = {"breadth": 2.0**-narrower, "by_rarity": is_enough, "merge_copies": merge_copies}
            query = self._make_query(family, how, options, **local)
            return query.search_words(v, project=project, max_documents=max_documents)

    @property
    def _default_choose(self) -> Literal["largest", "share"]:
        return "largest" if self._is_paper() else "share"

    def _check_refinement(self, refine: bool | None, tol: float, max_iter: int | None) -> EMOptions | None:
        damping = bool(self._options.damping)
        refine = damping and not self._is_paper() if refine is None else refine
        return em_options(refine, tol, max_iter, default_max_iter=MAX_ITER if damping else LDA_MAX_ITER)

    def _select_components(
        self, projected: Array | None, n_components: int | Literal["enough"] | None, narrower: float
    ) -> TopicFamily:
        """Return the fit with as many components as requested.

        "enough" depends on the projection of the hint onto all of them, (k,); for a few documents it is all of them.
        """
        if n_components == "enough":
            usual = self.n_components_ if projected is None else count_enough(projected)
        else:
            usual = self._select_family(n_components).n_components
        return self._select_family(int(np.clip(usual * 2.0**narrower, min(2, usual), self.n_components_)))

    def _make_query(self, family: TopicFamily, how: Extraction, options: EMOptions | None, **local: Any) -> TopicQuery:
        return TopicQuery(
            family=family,
            whole=self._family,
            damping=bool(self._options.damping),
            extraction=how,
            refinement=options,
            vocabulary=self.vocabulary_,
            feature_names=self._get_feature_names(),
            **local,
        )

    def _read_words(self, hint: Any, words: Any) -> WordHint | DroppedHint:
        if words is not None:
            return hint_from_words(words, self._columns, self._family.word_mean, self._dropped)
        direction = hint_from_direction(hint, self.n_features_in_)
        return WordHint(np.flatnonzero(direction), direction[direction != 0])

    def _read_documents(self, documents: Any) -> tuple[sp.csr_array, Array]:
        """Return the counts of documents given by rows or as counts, and their indices in the corpus."""
        if np.ndim(documents) != 1 or are_texts(documents):
            return as_counts(self._check_rows(documents, reset=False), self._options.damping), NOT_IN_CORPUS
        indices = index_documents(self._family.partitions, self.n_dropped_, documents)
        return pick_documents(self._family.partitions, indices).counts, indices

    def _search_examples(self, members: Samples) -> Topic:
        how, options = Extraction(choose=self._default_choose), self._check_refinement(None, 0.0, None)
        return self._make_query(self._family, how, options).search_documents(sp.csr_array(members), NOT_IN_CORPUS)

    def _whiten(self, X: Samples) -> Array:
        counts = as_counts(X, self._options.damping)
        lengths = np.asarray(counts.sum(axis=1))
        Y = self._family.frame.whiten(counts) / np.where(lengths > 0, lengths, 1)[:, None]
        return np.asarray(Y, dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
