"""Search for one topic in a corpus of word counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any, Literal, Self, Unpack

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Samples
from mixsearch.core.em import MAX_ITER, EMOptions, em_options, warn_not_refined
from mixsearch.core.estimator import Preset, SemiSupervised, warn_no_signal
from mixsearch.core.extraction import Extraction, ExtractionOptions, extract
from mixsearch.core.hints import check_one_hint, hint_from_direction
from mixsearch.core.moments import Hinted
from mixsearch.core.separation import warn_if_weak
from mixsearch.core.validation import AUTO, check_choice, check_n_components, check_n_features, check_positive_int
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.data.threads import one_blas_thread
from mixsearch.errors import FewerComponentsWarning, HintError, SearchError, WeakHintWarning, warn_user
from mixsearch.storage import Folder
from mixsearch.topics._component import Topic
from mixsearch.topics._counts import LEAST_WORDS, as_counts, counts_of, damped_counts, long_documents
from mixsearch.topics._documents import CountPartition, few_documents, numbers_of
from mixsearch.topics._em import refine_topic, take_back_bias
from mixsearch.topics._hint import WordHint, hint_from_documents, hint_from_words
from mixsearch.topics._local_em import Seeds, sharpen_topic
from mixsearch.topics._moments import TopicFamily, fit_topics
from mixsearch.topics._rank_selection import topic_spectrum
from mixsearch.topics._seeds import breadth, seeds_of_documents, seeds_of_words
from mixsearch.topics._storage import open_search, restore_search, save_search
from mixsearch.topics._vocabulary import one_word_per_column

# Below this part of a hint, fewer components than were fitted no longer stand for it.
LEAST_KEPT = 0.5


# Steps of LDA where the user gives no number: further ones move the shares of documents, hardly the topics.
USUAL_STEPS = 30


# Enough components hold this part of what all of them make of a hint; fewer than these are never enough.
ENOUGH, LEAST_COMPONENTS = 0.8, 20


# Numbers of documents that are no part of the corpus.
NOWHERE: Array = np.zeros(0, dtype=np.intp)


# The weight of a document in all averages, from its length.
SAY: dict[str, Callable[[Array], Array]] = {"length": np.array, "uniform": np.ones_like}


def _are_words(hint: Any) -> bool:
    """Whether a hint is a word, words, or words with weights."""
    listed = isinstance(hint, list | tuple) and len(hint) > 0 and all(isinstance(word, str) for word in hint)
    return listed or isinstance(hint, str | Mapping)


class TopicSearch(SemiSupervised[TopicFamily]):
    """Find one topic of a corpus from a word, several words or a few documents.

    Parameters
    ----------
    n_components : int or "auto", default=50
        The number of topics k. More of them make narrower topics; `search` can use fewer than were fitted. "auto"
        counts the directions that hold half of what they promise on documents that they were not found on
        (`spectrum_`), up to 200 of them: the more text, the more.
    alpha0 : float, default=0.01
        The sum of the Dirichlet parameters: near 0 documents have one topic, above 1 they mix many.
    moments : {"auto", "distinct", "plugin"}, default="auto"
        Average over different words of a document, which is unbiased and needs whole counts; or the paper's plug-in,
        which counts words with themselves. "auto" takes "distinct" for whole counts.
    weights : {"length", "uniform"}, default="length"
        The say of a document: in proportion to its length, or one each as in the paper.
    metric : float, default=0.25
        Measure each word in units of its frequency to this power before eigenvectors are taken; 0 as in the paper.
    damping : bool, default=True
        Replace a count c by log2(1 + c). Real text repeats itself within a document more than the model allows; on
        counts drawn from the model itself it brings a bias: turn it off there.
    random_state : int, RandomState instance or None, default=0
        Of the eigen-solver's starting block. The same value gives the same answer.

    Attributes
    ----------
    n_components_ : int
        How many topics the fit holds; fewer than asked for where the corpus shows no more.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    vocabulary_ : list of str or None
        The words, one per column.
    n_dropped_ : int
        How many documents were too short to enter.
    kept_rows_ : array
        The rows of X that did enter, where X was in memory.
    component_ : Topic
        The topic of the known documents, where `fit` was given labels.
    model_ : TopicFamily
        The frame, the counts and the projected documents.

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

    def __init__(
        self,
        n_components: int | Literal["auto"] = 50,
        *,
        preset: Preset = "default",
        alpha0: float = 0.01,
        moments: str = "auto",
        weights: str = "length",
        metric: float = 0.25,
        damping: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.preset = preset
        self.alpha0 = alpha0
        self.moments = moments
        self.weights = weights
        self.metric = metric
        self.damping = damping
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, vocabulary: Iterable[str] | None = None) -> Self:
        """Fit the corpus; with labels, also find the topic of the known documents.

        Parameters
        ----------
        X : sparse matrix or array of shape (n, d)
            Word counts, one row per document.
        y : array of shape (n,), optional
            1 for the known documents of the wanted topic, -1 for the others. Then `component_` holds the topic found.
        vocabulary : sequence of str, optional
            The words, one per column; the column names where X is a data frame.
        """
        samples = self._fit_family(X)
        names = self._get_feature_names() if vocabulary is None else vocabulary
        self._set_vocabulary(None if names is None else one_word_per_column(names, self.n_features_in_))
        self._search_members(samples, y)
        return self

    def _set_vocabulary(self, vocabulary: list[str] | None) -> None:
        """Give the columns their words."""
        self.vocabulary_ = vocabulary
        self._columns = None if vocabulary is None else {word: column for column, word in enumerate(vocabulary)}

    def _find_columns(self, words: Iterable[str]) -> Array:
        """The column of each word, -1 where it has none, (q,)."""
        if self._columns is None:  # a word is called by its column
            return np.array([int(word) for word in words], dtype=np.intp)
        return np.array([self._columns.get(word, -1) for word in words], dtype=np.intp)

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the fitted search to a folder, without pickle; `load` opens it at once, whatever its size.

        Parameters
        ----------
        path : path
            A folder that does not exist yet. It is there when all of it is written, or not at all.
        overwrite : bool, default=False
            Replace a search that was saved there before.
        """
        check_is_fitted(self)
        save_search(self, path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A search that was saved, its arrays mapped from the files."""
        return cls._from_folder(open_search(path))

    @classmethod
    def _from_folder(cls, folder: Folder) -> Self:
        """A search whose arrays are in a folder that was opened."""
        search = cls(**folder.facts["search"])
        restore_search(search, folder)
        return search

    def _fit_family(self, X: Any) -> Partitions[SamplePartition]:
        counts, is_whole = counts_of(self._check_partitions(X))
        self._check_options(counts.n_features)
        distinct = self._distinct(is_whole)
        counts = damped_counts(counts) if self.damping else counts
        documents = long_documents(counts, LEAST_WORDS if distinct else 0, damping=self.damping)
        self.n_dropped_ = counts.n_rows - documents.n_rows
        self._fit_documents(documents, distinct=distinct)
        return counts

    def _fit_documents(self, partitions: Partitions[CountPartition], *, distinct: bool, **how: Any) -> None:
        """Fit documents that are checked and long enough; `how` is passed to `fit_topics`."""
        self._family = fit_topics(
            partitions,
            self._choose_n_topics(partitions, distinct=distinct),
            alpha0=self.alpha0,
            distinct=distinct,
            say=SAY[self.weights],
            metric=self.metric,
            seed=self._draw_seed(),
            **how,
        )
        self._warn_if_fewer()

    @property
    def kept_rows_(self) -> Array:
        """The rows that became documents of the fit, (n,), where they are in this process."""
        rows: Array = self._family.here.rows
        return rows

    def _choose_n_topics(self, partitions: Partitions[CountPartition], *, distinct: bool) -> int:
        """How many topics to fit, as asked for or as the documents show."""
        k = self._choose_n_components(
            partitions,
            lambda: topic_spectrum(
                partitions,
                alpha0=self.alpha0,
                distinct=distinct,
                say=SAY[self.weights],
                metric=self.metric,
                seed=self._draw_seed(),
            ),
        )
        if self.n_components == AUTO:
            warn_no_signal(self.spectrum_, "one topic")
        return k

    def _warn_if_fewer(self) -> None:
        """Say so where the corpus shows fewer topics than were asked for."""
        asked = self.spectrum_.n_components if self.n_components == AUTO else check_n_components(self.n_components)
        if self.n_components_ < asked:
            warn_user(
                FewerComponentsWarning(
                    f"The corpus shows {self.n_components_} topics, not the {asked} asked for: the other "
                    "eigenvalues of its second moment are not positive. The fit went on with those."
                )
            )

    def _check_options(self, n_words: int) -> None:
        """Refuse options that no corpus of so many words can be fitted with."""
        least = check_n_components(self.n_components)
        check_choice("moments", self.moments, ("auto", "distinct", "plugin"))
        check_choice("weights", self.weights, tuple(SAY))
        if not (isinstance(self.alpha0, Real) and 0 < self.alpha0 < np.inf):
            raise SearchError(f"alpha0 must be a number above 0; found {self.alpha0!r}.")
        if not (isinstance(self.metric, Real) and 0 <= self.metric <= 1):
            raise SearchError(f"metric must be a number from 0 to 1; found {self.metric!r}.")
        check_n_features(n_words, least, f"{least} topics")

    def _distinct(self, is_whole: bool) -> bool:
        if self.moments == "distinct" and not is_whole:
            raise SearchError(
                "moments='distinct' needs whole counts, but X holds fractions. Pass the counts themselves, not "
                "frequencies or tf-idf, or moments='plugin'."
            )
        return is_whole if self.moments == "auto" else self.moments == "distinct"

    def search(
        self,
        hint: Any = None,
        *,
        words: str | Iterable[str | int] | Mapping[str | int, float] | None = None,
        documents: Any = None,
        n_components: int | Literal["enough"] | None = None,
        narrower: float = 0,
        project: bool = False,
        refine: bool | None = None,
        tol: float = 0.01,
        max_iter: int | None = None,
        max_documents: int | None = None,
        **extraction: Unpack[ExtractionOptions],
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), or words, optional
            A weight for every word; or words, as the next argument takes them.
        words : str, sequence of str, or mapping of str to float, optional
            One word, several, or words with weights: negative for words that the topic should avoid. ``"new york"`` is
            a phrase, ``"encrypt*"`` all words that begin so; a column number stands for its word. Unknown words among
            known ones are skipped with a warning.
        documents : sequence of int, or counts of shape (q, d), optional
            Rows of the fitted corpus, or other documents, that are mostly about the topic.
        n_components : int or "enough", optional
            Use the first j of the fitted topics only: fewer make broader topics. "enough" takes as many as hold four
            fifths of what all of them make of the words, and makes the closer look the narrower the rarer they are.
        narrower : float, default=0
            How many times to double that number and to halve the breadth of the closer look, for a narrower topic; or
            the other way round where negative.
        project : bool, default=False
            Replace the words by what the fitted topics make of them. Where the corpus follows the model this takes
            noise off the answer; on real text it blurs words that are rarer than the topics are fine.
        refine : bool or int, optional
            Sharpen the topic. Where counts are damped, as real text asks for, by a closer look at the documents near
            the hint, which brings out topics that are rarer than the fitted ones are fine; there this is the default.
            Where they are not, by likelihood steps of LDA on all documents, for counts drawn from the model itself. A
            number bounds the steps. The answer's `moment_estimate` is the topic without.
        tol : float, default=0.01
            Stop where a step raises the log-likelihood of all documents together by less than this, in nats.
        max_documents : int, optional
            Where more documents than this hold the words of the hint, so many of them, at even steps, stand for all:
            a bound on the time that a frequent word takes. By default all of them do.
        **extraction
            How the topic is extracted: ``method="cancellation"`` and so on, the fields of `Extraction`. Whitening
            here takes the topic with the largest share of the hint, ``choose="share"``; ``choose="largest"``, as in
            the paper, often is a tiny topic on real text.
        """
        check_is_fitted(self)
        if words is None and _are_words(hint):
            hint, words = None, hint
        if extraction.get("method") != "cancellation":
            extraction.setdefault("choose", "share")
        how = Extraction.from_options(extraction, self.search)
        check_one_hint({"hint": hint, "words": words, "documents": documents})
        if max_documents is not None:
            check_positive_int("max_documents", max_documents)
        refine = bool(self.damping) if refine is None else refine
        steps = em_options(refine, tol, max_iter, default_max_iter=MAX_ITER if self.damping else USUAL_STEPS)
        # A search is too short for the threads of BLAS: on a busy machine they would wait for each other.
        with one_blas_thread:
            if documents is not None:
                model = self._narrowed(None, n_components, narrower)
                counts, numbers = self._documents(documents)
                found = self._extract_in_frame(self._hint_of_documents(counts, model), model, how)
                seeds: Callable[[], Seeds] = partial(seeds_of_documents, counts, numbers, model, found.weight)
            else:
                v = self._hint_of_words(hint, words)
                model = self._narrowed(v, n_components, narrower)
                self._warn_if_left_out(v, model)
                if project:
                    found = self._extract_in_frame(model.project(v), model, how)
                else:
                    found = self._extract(model.hinted(v, max_documents), v, model, how, max_documents)
                seeds = partial(seeds_of_words, v, model, found.weight)
            if steps is None:
                return found
            if not self.damping:
                return self._climbed(found, steps)
            by_rarity = n_components == "enough" and documents is None
            return self._sharpened(found, seeds(), steps, by_rarity=by_rarity, narrower=narrower)

    def _climbed(self, found: Topic, steps: EMOptions) -> Topic:
        """After steps of LDA."""
        refined = refine_topic(found._family, found._candidates, steps)
        if refined is None:
            warn_not_refined()
            return found
        language = found._family.word_mean
        return replace(found, _refined=take_back_bias(refined, found.probabilities, found.stderr, language))

    def _sharpened(
        self, found: Topic, seeds: Seeds, steps: EMOptions, *, by_rarity: bool = False, narrower: float = 0
    ) -> Topic:
        """After a closer look."""
        usual = breadth(seeds.size, self.n_components_, self._family.partitions.n_rows) if by_rarity else 1.0
        wide = seeds._replace(size=round(usual * 2.0**-narrower * seeds.size))
        return replace(found, _refined=sharpen_topic(found._family, found._candidates, wide, steps))

    def _narrowed(
        self, hint: WordHint | None, n_components: int | Literal["enough"] | None, narrower: float
    ) -> TopicFamily:
        """The model with as many components as asked for; "enough" where the hint is not of words is all of them."""
        if n_components == "enough":
            usual = self.n_components_ if hint is None else self._enough_components(hint)
        else:
            usual = self._select_family(n_components).frame.n_components
        wanted = int(np.clip(usual * 2.0**narrower, min(2, usual), self.n_components_))
        model: TopicFamily = self._select_family(wanted)
        return model

    def _enough_components(self, hint: WordHint) -> int:
        """How many hold most of what all of them make of a hint."""
        held = np.cumsum(self._family.project(hint) ** 2)
        return int(max(np.searchsorted(held, ENOUGH * held[-1]) + 1, min(LEAST_COMPONENTS, self.n_components_)))

    def _warn_if_left_out(self, hint: WordHint, model: TopicFamily) -> None:
        """With fewer components than were fitted, a word may lie mostly in those left out."""
        whole, part = (np.sum(each.project(hint) ** 2) for each in (self._family, model))
        if part < LEAST_KEPT * whole:
            warn_user(
                WeakHintWarning(
                    "The first {n_components} of {n_fitted} components explain {share:.0%} of the hint, so the topic "
                    "found may be about something else. Use more components.",
                    code="hint_left_out",
                    n_components=model.frame.n_components,
                    n_fitted=self.n_components_,
                    share=float(part / whole),
                )
            )

    def _extract_in_frame(self, hint: Array, model: TopicFamily, how: Extraction) -> Topic:
        return self._extract(model.hinted(hint), hint, model, how)

    def _extract(
        self,
        hinted: Hinted,
        asked: WordHint | Array,
        model: TopicFamily,
        how: Extraction,
        max_documents: int | None = None,
    ) -> Topic:
        found = Topic(
            model.frame,
            extract(hinted, model.frame, how),
            _family=model,
            _hinted=hinted,
            asked=asked,
            _choose=how.choose,
            vocabulary=self.vocabulary_,
            damping=self.damping,
            max_documents=max_documents,
            _feature_names=self._get_feature_names(),
        )
        warn_if_weak(found.separation)
        return found

    def _hint_of_words(self, hint: Any, words: Any) -> WordHint:
        if words is not None:
            return hint_from_words(words, self._columns, self._family.word_mean)
        direction = hint_from_direction(hint, self.n_features_in_)
        return WordHint(np.flatnonzero(direction), direction[direction != 0])

    def _hint_of_documents(self, counts: sp.csr_array, model: TopicFamily) -> Array:
        """In the frame. Words are compared in its metric, where a frequent word is as noisy as a rare one."""
        seen = hint_from_documents(counts, model.word_mean)
        return model.frame.values * model.frame.whiten(seen)

    def _documents(self, documents: Any) -> tuple[sp.csr_array, Array]:
        """Counts of the hinted documents, from their rows in the corpus or as they are, and their numbers there."""
        if np.ndim(documents) != 1:
            return as_counts(self._check_rows(documents, reset=False), self.damping), NOWHERE
        numbers = self._find_documents(documents)
        return few_documents(self._family.partitions, numbers).counts, numbers

    def _find_documents(self, documents: Any) -> Array:
        """Where rows of the user's matrix stand among the documents of the model."""
        rows = np.asarray(documents)
        n_rows = self._family.partitions.n_rows + self.n_dropped_
        if rows.dtype == bool and len(rows) == n_rows:
            rows = np.flatnonzero(rows)
        if not np.issubdtype(rows.dtype, np.integer):
            raise HintError(
                f"documents must be row numbers, a mask of all {n_rows:,} rows, or counts of {self.n_features_in_:,} "
                f"columns; found {len(rows):,} values of type {rows.dtype}. Pass one document as counts[[row]]."
            )
        numbers = numbers_of(self._family.partitions, rows)
        if (numbers < 0).any():
            raise SearchError(
                "Row {row} is not a document of this fit: it was left out, or is not among the {n_rows:,} rows.",
                code="unknown_row",
                row=int(rows[numbers < 0][0]),
                n_rows=n_rows,
            )
        return numbers

    def _search_examples(self, members: Samples) -> Topic:
        counts = sp.csr_array(members)
        hint = self._hint_of_documents(counts, self._family)
        found = self._extract_in_frame(hint, self._family, Extraction(choose="share"))
        steps = em_options(bool(self.damping), 0.0, None)
        if steps is None:
            return found
        return self._sharpened(found, seeds_of_documents(counts, NOWHERE, self._family, found.weight), steps)

    def _whiten(self, X: Samples) -> Array:
        counts = as_counts(X, self.damping)
        lengths = np.asarray(counts.sum(axis=1))
        Y = self._family.frame.whiten(counts) / np.where(lengths > 0, lengths, 1)[:, None]
        return np.asarray(Y, dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
