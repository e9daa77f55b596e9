"""Search for one topic in a corpus of word counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real
from typing import Any, Self, Unpack

import numpy as np
import scipy.sparse as sp

from mixsearch.display import Card, plain_number, separation_in_words
from mixsearch.errors import (
    DroppedDocumentsWarning,
    FewerComponentsWarning,
    HintError,
    SearchError,
    WeakHintWarning,
    warn_user,
)
from mixsearch.estimators.base import SemiSupervised, require_choice, require_room, require_whole
from mixsearch.estimators.samples import check_samples
from mixsearch.extraction import Extraction, ExtractionOptions, extract, warn_if_weak
from mixsearch.hints import hint_from_direction, hint_from_documents, hint_from_words, require_one
from mixsearch.linalg import project_to_simplex
from mixsearch.models import TopicModel, fit_topics
from mixsearch.types import Array, Component, Hinted, Samples, WordHint

# Three words of a document make a third moment.
LEAST_WORDS = 3
# Below this part of a hint, fewer components than were fitted no longer stand for it.
LEAST_KEPT = 0.5
# Ranks posts better for their group than none does (benchmarks/choices.py).
WORDS_ELSEWHERE = 20


@dataclass(frozen=True, repr=False, eq=False)
class Topic(Component):
    """One topic of a corpus.

    Attributes
    ----------
    probabilities : array of shape (d,)
        The topic as a distribution over words. `center` is the raw estimate, with small negative entries.
    weight : float
        The topic's share of the corpus, αᵢ/α₀.

    See Also
    --------
    Component : `separation`, `scores`, `share`, `alternatives` and the rest.
    """

    model: TopicModel = field(kw_only=True)
    vocabulary: Sequence[str] | None = field(kw_only=True)
    kept_rows: Array = field(kw_only=True)  # rows of the user's matrix behind the documents of the model
    damping: bool = field(kw_only=True)

    @property
    def weight(self) -> float:
        """The topic's share of the corpus."""
        return super().weight / self.model.alpha0

    @cached_property
    def probabilities(self) -> Array:
        """The topic as a distribution over words, (d,): the point of the simplex nearest to `center`."""
        return project_to_simplex(self.center)

    def top_words(self, n: int = 10) -> list[tuple[str, float]]:
        """The likeliest words with their probabilities."""
        require_whole("n", n)
        best = np.argsort(-self.probabilities, kind="stable")[:n]
        names = best.tolist() if self.vocabulary is None else [self.vocabulary[column] for column in best]
        return [(str(name), float(self.probabilities[column])) for name, column in zip(names, best, strict=True)]

    def documents(self, n: int = 10) -> list[tuple[int, float]]:
        """The documents of the corpus that are most about the topic: row and share of the topic.

        A short document can show a high share by chance, so documents are ranked as if each went on for a few words
        about something else.
        """
        shares, lengths = self._shares(self.model.projected, self.model.lengths), self.model.lengths
        best = np.argsort(-shares * lengths / (lengths + WORDS_ELSEWHERE), kind="stable")[:n]
        return [(int(self.kept_rows[row]), float(np.clip(shares[row], 0, 1))) for row in best]

    def score_samples(self, X: Any) -> Array:
        """The share of the topic in each document, in [0, 1], (n,); 0 for a document without words."""
        counts = as_counts(check_samples(X, len(self.center), self.feature_names), self.damping)
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
        return np.clip(self._shares(self.frame.whiten(counts), lengths), 0, 1)

    def _shares(self, Y: Array, lengths: Array) -> Array:
        """Unbiased estimates of the topic's share θ₁ in documents of whitened counts Y, (n,).

        Notes
        -----
        E[W'x | θ] = Σ θᵢuᵢ/√αᵢ for the frequencies x of a document, so θ₁ = α₁⟨W'μ₁, W'x⟩.
        """
        return np.asarray(Y @ (super().weight * self.point)) / np.where(lengths > 0, lengths, np.inf)

    def _card(self) -> Card:
        words = self.top_words(10)
        return Card(
            title=f"Topic, one of {len(self.scores)}: {', '.join(word for word, _ in words[:5])}",
            facts=[
                ("weight", f"{plain_number(100 * self.weight)}% of the corpus"),
                ("separation", separation_in_words(self.separation)),
                ("share of the hint", plain_number(self.share)),
            ],
            bars=words,
            bars_title="likeliest words",
        )


def as_counts(X: Samples, damping: bool) -> sp.csr_array:
    """Checked word counts, each word of a document once, as log2(1 + c) where they are damped.

    Damping keeps a word that is repeated in one document from owning a topic.
    """
    counts = sp.csr_array(X)
    if not counts.has_canonical_format:
        counts = counts.copy()
        counts.sum_duplicates()
    if counts.nnz and counts.data.min() < 0:
        raise SearchError(
            f"Negative values in data passed to TopicSearch: the smallest is {counts.data.min():g}, and counts are "
            "0 or more."
        )
    if not damping:
        return counts
    return sp.csr_array((np.log2(1 + counts.data), counts.indices, counts.indptr), shape=counts.shape)


def _are_words(hint: Any) -> bool:
    """Whether a hint is a word, words, or words with weights."""
    listed = isinstance(hint, list | tuple) and len(hint) > 0 and all(isinstance(word, str) for word in hint)
    return listed or isinstance(hint, str | Mapping)


class TopicSearch(SemiSupervised):
    """Find one topic of a corpus from a word, several words or a few documents.

    Parameters
    ----------
    n_components : int, default=50
        The number of topics k. More of them make narrower topics; `search` can use fewer than were fitted.
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
    vocabulary_ : list of str or None
        The words, one per column.
    n_dropped_ : int
        How many documents were too short to enter.
    component_ : Topic
        The topic of the known documents, where `fit` was given labels.
    model_ : TopicModel
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
        n_components: int = 50,
        *,
        alpha0: float = 0.01,
        moments: str = "auto",
        weights: str = "length",
        metric: float = 0.25,
        damping: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
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
        samples = self._fit_model(X)
        self.vocabulary_ = self._read_vocabulary(vocabulary)
        self._columns = None if self.vocabulary_ is None else {w: i for i, w in enumerate(self.vocabulary_)}
        self._search_members(samples, y)
        return self

    def _read_vocabulary(self, vocabulary: Iterable[str] | None) -> list[str] | None:
        if vocabulary is None:
            return list(map(str, self.feature_names_in_)) if hasattr(self, "feature_names_in_") else None
        if isinstance(vocabulary, str):
            raise SearchError("The vocabulary is one string. Give a list of words, one per column.")
        if isinstance(vocabulary, Mapping):  # as CountVectorizer.vocabulary_ has it: word -> column
            vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
        words = [str(word) for word in vocabulary]
        if len(words) != self.n_features_in_:
            raise SearchError(
                f"The vocabulary has {len(words):,} words, but the counts have {self.n_features_in_:,} columns. "
                "Give one word per column, in the order of the columns."
            )
        repeated = [word for word, times in Counter(words).most_common(1) if times > 1]
        if repeated:
            raise SearchError(f"The vocabulary has {repeated[0]!r} more than once. Give each column a word of its own.")
        return words

    def _fit_model(self, X: Any) -> Samples:
        counts = as_counts(self._checked(X, reset=True), damping=False)
        self._check_options(counts)
        distinct = self._distinct(counts)
        counts = as_counts(counts, self.damping)
        kept = self._long_enough(counts, LEAST_WORDS if distinct else 0)
        self.kept_rows_ = np.flatnonzero(kept)
        self.n_dropped_ = int(len(kept) - len(self.kept_rows_))
        counts_kept = counts[self.kept_rows_] if self.n_dropped_ else counts
        say = np.asarray(counts_kept.sum(axis=1), dtype=np.float64) ** (self.weights == "length")
        self.model_ = fit_topics(
            counts_kept,
            self.n_components,
            alpha0=self.alpha0,
            distinct=distinct,
            say=say / say.sum(),
            metric=self.metric,
            seed=self._seed(),
        )
        if self.n_components_ < self.n_components:
            warn_user(
                f"The corpus shows {self.n_components_} topics, not the {self.n_components} asked for: the other "
                "eigenvalues of its second moment are not positive. The fit went on with those.",
                FewerComponentsWarning,
            )
        return counts

    def _check_options(self, counts: sp.csr_array) -> None:
        require_whole("n_components", self.n_components)
        require_choice("moments", self.moments, ("auto", "distinct", "plugin"))
        require_choice("weights", self.weights, ("length", "uniform"))
        if not (isinstance(self.alpha0, Real) and 0 < self.alpha0 < np.inf):
            raise SearchError(f"alpha0 must be a number above 0; found {self.alpha0!r}.")
        if not (isinstance(self.metric, Real) and 0 <= self.metric <= 1):
            raise SearchError(f"metric must be a number from 0 to 1; found {self.metric!r}.")
        require_room(
            counts, self.n_components, counts.shape[1], "topics", "their word vectors must be linearly independent"
        )

    def _distinct(self, counts: sp.csr_array) -> bool:
        whole = bool(np.all(counts.data == np.floor(counts.data)))
        if self.moments == "distinct" and not whole:
            raise SearchError(
                "moments='distinct' needs whole counts, but X holds fractions. Pass the counts themselves, not "
                "frequencies or tf-idf, or moments='plugin'."
            )
        return whole if self.moments == "auto" else self.moments == "distinct"

    def _long_enough(self, counts: sp.csr_array, least: int) -> Array:
        """Which documents hold the three words that a third moment takes."""
        lengths = np.asarray(counts.sum(axis=1))
        kept = lengths >= least if least else lengths > 0
        n_kept, n = int(np.count_nonzero(kept)), len(lengths)
        if n_kept < 2:
            raise SearchError(
                f"Found n_samples={n}, of which {n_kept} documents have at least {max(least, 1)} words; a corpus needs "
                "at least 2 such documents."
            )
        if n_kept < n:
            warn_user(
                f"{n - n_kept:,} of {n:,} documents have fewer than {max(least, 1)} words"
                f"{' (repeats damped)' if self.damping and least else ''} and were left out of the fit.",
                DroppedDocumentsWarning,
            )
        return np.asarray(kept)

    def search(
        self,
        hint: Any = None,
        *,
        words: str | Iterable[str | int] | Mapping[str | int, float] | None = None,
        documents: Any = None,
        n_components: int | None = None,
        project: bool = False,
        **extraction: Unpack[ExtractionOptions],
    ) -> Topic:
        """Find the topic that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), or words, optional
            A weight for every word; or words, as the next argument takes them.
        words : str, sequence of str, or mapping of str to float, optional
            One word, several, or words with weights: negative for words that the topic should avoid. A column number
            stands for its word.
        documents : sequence of int, or counts of shape (q, d), optional
            Rows of the fitted corpus, or other documents, that are mostly about the topic.
        n_components : int, optional
            Use the first j of the fitted topics only: fewer make broader topics.
        project : bool, default=False
            Replace the words by what the fitted topics make of them. Where the corpus follows the model this takes
            noise off the answer; on real text it blurs words that are rarer than the topics are fine.
        **extraction
            How the topic is extracted: ``method="cancellation"`` and so on, the fields of `Extraction`. Whitening
            here takes the topic with the largest share of the hint, ``choose="share"``; ``choose="largest"``, as in
            the paper, often is a tiny topic on real text.
        """
        if words is None and _are_words(hint):
            hint, words = None, hint
        if extraction.get("method") != "cancellation":
            extraction.setdefault("choose", "share")
        how = Extraction.of(extraction)
        model = self._model(n_components)
        require_one({"hint": hint, "words": words, "documents": documents})
        if documents is not None:
            return self._extract(
                model.hinted_in_frame(self._hint_of_documents(self._documents(documents), model)), model, how
            )
        v = self._hint_of_words(hint, words)
        self._warn_if_left_out(v, model)
        return self._extract(model.hinted_in_frame(model.project(v)) if project else model.hinted(v), model, how)

    def _warn_if_left_out(self, hint: WordHint, model: TopicModel) -> None:
        """With fewer components than were fitted, a word may lie mostly in those left out."""
        whole, part = (np.sum(each.project(hint) ** 2) for each in (self.model_, model))
        if part < LEAST_KEPT * whole:
            warn_user(
                f"The first {model.frame.n_components} of {self.n_components_} components hold {part / whole:.0%} of "
                "what all of them make of the hint: the topic found may be about something else. Use more components.",
                WeakHintWarning,
            )

    def _extract(self, hinted: Hinted, model: TopicModel, how: Extraction) -> Topic:
        candidates = extract(hinted, model.frame, how)
        found = Topic(
            model.frame,
            candidates,
            model=model,
            vocabulary=self.vocabulary_,
            kept_rows=self.kept_rows_,
            damping=self.damping,
            feature_names=self._names(),
        )
        warn_if_weak(found.separation)
        return found

    def _hint_of_words(self, hint: Any, words: Any) -> WordHint:
        if words is not None:
            return hint_from_words(words, self._columns, self.model_.word_mean)
        direction = hint_from_direction(hint, self.n_features_in_)
        return WordHint(np.flatnonzero(direction), direction[direction != 0])

    def _hint_of_documents(self, counts: sp.csr_array, model: TopicModel) -> Array:
        """In the frame. Words are compared in its metric, where a frequent word is as noisy as a rare one."""
        seen = hint_from_documents(counts, model.word_mean)
        return model.frame.values * model.frame.whiten(seen)

    def _documents(self, documents: Any) -> sp.csr_array:
        """Counts of the hinted documents, from their rows in the corpus or as they are."""
        if np.ndim(documents) != 1:
            return as_counts(self._checked(documents, reset=False), self.damping)
        rows = np.asarray(documents)
        n_rows = len(self.kept_rows_) + self.n_dropped_
        if rows.dtype == bool and len(rows) == n_rows:
            rows = np.flatnonzero(rows)
        if not np.issubdtype(rows.dtype, np.integer):
            raise HintError(
                f"documents must be row numbers, a mask of all {n_rows:,} rows, or counts of {self.n_features_in_:,} "
                f"columns; found {len(rows):,} values of type {rows.dtype}. Pass one document as counts[[row]]."
            )
        places = np.searchsorted(self.kept_rows_, rows)
        known = places < len(self.kept_rows_)
        known[known] = self.kept_rows_[places[known]] == rows[known]
        if not known.all():
            raise SearchError(
                f"Row {rows[~known][0]} is not a document of this fit: it was too short, or is not among the "
                f"{n_rows:,} rows."
            )
        return sp.csr_array(self.model_.by_document[places])

    def _arguments(self, hint: Any) -> dict[str, Any]:
        """Counts are documents, an array is a direction, words with numbers are words with weights."""
        if sp.issparse(hint) or (isinstance(hint, np.ndarray) and hint.ndim == 2):
            return {"documents": hint}
        if isinstance(hint, np.ndarray):
            return {"hint": hint}
        if isinstance(hint, dict) and not all(isinstance(weight, Real) for weight in hint.values()):
            return hint
        return {"words": hint}

    def _search_examples(self, members: Samples) -> Topic:
        hint = self._hint_of_documents(sp.csr_array(members), self.model_)
        return self._extract(self.model_.hinted_in_frame(hint), self.model_, Extraction(choose="share"))

    def _whiten(self, X: Samples) -> Array:
        counts = as_counts(X, self.damping)
        lengths = np.asarray(counts.sum(axis=1))
        Y = self.model_.frame.whiten(counts) / np.where(lengths > 0, lengths, 1)[:, None]
        return np.asarray(Y, dtype=X.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
