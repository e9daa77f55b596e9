"""One topic of a corpus: its words, its documents, its share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.jackknife import StandardErrors, component_errors
from mixsearch.core.moments import Replicates
from mixsearch.core.sample_component import SampleComponent
from mixsearch.core.separation import separation_in_words
from mixsearch.core.validation import check_choice, check_positive_int, check_samples
from mixsearch.data.chunks import ArraySum
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.data.reductions import Best, top_rows
from mixsearch.data.threads import one_blas_thread
from mixsearch.display import Card, plain_number
from mixsearch.topics._counts import as_counts
from mixsearch.topics._documents import TopicPartition, rank_documents
from mixsearch.topics._em import LdaTopic, divergence_by_word
from mixsearch.topics._hint import WordHint
from mixsearch.topics._jackknife import one_word_at_least, sharp_errors
from mixsearch.topics._lda_jackknife import allow_for_bias, lda_errors
from mixsearch.topics._local_em import SharpTopic
from mixsearch.topics._moments import TopicFamily
from mixsearch.topics._replicates import replicate_outside, replicate_topics
from mixsearch.topics._simplex import project_to_simplex

# A word in few documents belongs to a topic by chance more easily: as many others are taken not to.
DOCUMENTS_ELSEWHERE = 10


# A difference in probability never outweighs one in what words tell.
TIE = 1e-12


class WordStatistics(NamedTuple):
    """A word of a topic.

    Attributes
    ----------
    word : str
        The word.
    probability : float
        Its probability in the topic.
    lift : float
        How many times likelier it is there than in the corpus.
    stderr : float or None
        The standard error of the probability, if computed.
    """

    word: str
    probability: float
    lift: float
    stderr: float | None


@dataclass(frozen=True, repr=False, eq=False)
class Topic(SampleComponent):
    """One topic of a corpus.

    Attributes
    ----------
    probabilities : array of shape (d,)
        The topic as a distribution over words.
    weight : float
        The topic's share of the corpus.
    center : array of shape (d,)
        The same as `probabilities`; of a `moment_estimate` the raw vector, with small negative entries, to which its
        standard errors belong.

    See Also
    --------
    Component : `separation`, `scores`, `share`, `alternatives` and the rest.
    """

    _family: TopicFamily = field(kw_only=True)
    asked: WordHint | Array = field(kw_only=True)  # the hint, as words or in the frame
    vocabulary: Sequence[str] | None = field(kw_only=True)
    damping: bool = field(kw_only=True)
    max_documents: int | None = field(default=None, kw_only=True)  # of those that hold the hint, that were looked at
    _refined: SharpTopic | LdaTopic | None = field(default=None, kw_only=True)

    @property
    def weight(self) -> float:
        """The topic's share of the corpus."""
        return self._moment_weight / self._family.alpha0 if self._refined is None else self._refined.weight

    @property
    def _moment_weight(self) -> float:
        """α of the topic, as moments have it: all of them sum to α₀."""
        return float(self._candidates.weights[self._rank])

    def _moment_center(self) -> Array:
        with one_blas_thread:  # one product, over before the other threads have woken up
            return self._frame.unwhiten(self._point)

    @cached_property
    def probabilities(self) -> Array:
        """The topic as a distribution over words, (d,): the point of the simplex nearest to `center`."""
        return project_to_simplex(self.center) if self._refined is None else self._refined.center

    def _moment_errors(self) -> StandardErrors:
        with one_blas_thread:
            outside = replicate_outside(self._family, self._direction)
            center, weight = component_errors(self._frame, self._direction, self._replicates, outside)
        n_words = self.weight * self._family.n_words
        return StandardErrors(one_word_at_least(center, n_words), weight / self._family.alpha0)

    @cached_property
    def _replicates(self) -> Replicates:
        with one_blas_thread:
            return replicate_topics(self._family, self.asked, self.max_documents)

    def _tensor_within(self, basis: Array) -> Array:
        with one_blas_thread:
            return self._family.tensor(basis)

    def _refined_errors(self, refined: SharpTopic | LdaTopic) -> StandardErrors:
        with one_blas_thread:
            if isinstance(refined, SharpTopic):
                return sharp_errors(self._family, refined)
            moments, led = self.moment_estimate, refined.state.topics[:, 0]
            return allow_for_bias(lda_errors(refined), led - moments.center, moments.stderr, refined.kept)

    def top_words(self, n: int = 10, *, by: str = "typical") -> list[tuple[str, float]]:
        """The words of the topic with their probabilities.

        Parameters
        ----------
        n : int, default=10
            How many.
        by : {"typical", "probability"}, default="typical"
            First those that tell most of whether a document is about the topic, or those that are likeliest, common
            words of the language among them.
        """
        return self.words_at(self.top_columns(n, by=by))

    def word_table(self, n: int = 10, *, by: str = "typical", errors: bool = False) -> list[WordStatistics]:
        """Return the words of the topic with their probabilities, how much likelier they are, and standard errors.

        Parameters
        ----------
        n : int, default=10
            How many words.
        by : {"typical", "probability"}, default="typical"
            Which words come first, as in `top_words`.
        errors : bool, default=False
            Compute standard errors.

        Returns
        -------
        list of WordStatistics
        """
        columns = self.top_columns(n, by=by)
        probabilities, expected = self.probabilities[columns].tolist(), self._family.word_mean[columns].tolist()
        stderr = self.stderr.center[columns].tolist() if errors else [None] * len(columns)
        return [
            WordStatistics(self._name(column), probability, probability / mean if mean > 0 else 0.0, error)
            for column, probability, mean, error in zip(columns, probabilities, expected, stderr, strict=True)
        ]

    def words_at(self, columns: Array) -> list[tuple[str, float]]:
        """The words of some columns with their probabilities."""
        return [(self._name(column), float(self.probabilities[column])) for column in columns]

    def top_columns(self, n: int = 10, *, by: str = "typical") -> Array:
        """The columns of `top_words`, (n,): where `probabilities` and `stderr.center` have them."""
        check_positive_int("n", n)
        check_choice("by", by, ("typical", "probability"))
        # Where fewer words than asked for tell anything, the likeliest follow.
        return top_rows(self.probabilities * TIE + self._typicality if by == "typical" else self.probabilities, n)

    @cached_property
    def _typicality(self) -> Array:
        if self._refined is not None:
            return self._refined.typicality
        return divergence_by_word(self.probabilities, self._family.word_mean)

    def related_words(self, n: int = 10) -> list[tuple[str, float]]:
        """Words that point to the topic, however rare they are, with how many times likelier they are in it.

        They make good hints for a narrower search.
        """
        check_positive_int("n", n)
        p, q = self.probabilities, self._family.word_mean
        lift = p / np.where(q > 0, q, np.inf)
        n_holding = self._family.holding
        chance = np.minimum(lift * max(self.weight, 1e-6), 1)
        ranked = top_rows(chance * n_holding / (n_holding + DOCUMENTS_ELSEWHERE), n)
        return [(self._name(column), float(lift[column])) for column in ranked if lift[column] > 1]

    def _name(self, column: int) -> str:
        return str(column) if self.vocabulary is None else self.vocabulary[column]

    def documents(self, n: int = 10) -> list[tuple[int, float]]:
        """The documents of the corpus that are most about the topic: row and share of the topic.

        A short document can show a high share by chance, so documents are ranked as if each went on for a few words
        about something else.
        """
        check_positive_int("n", n)
        rows, shares = self._best_documents(n).about
        return list(zip(rows.tolist(), np.clip(shares, 0, 1).tolist(), strict=True))

    def _best_documents(self, n: int) -> Best:
        if self._refined is not None:
            return self._refined.best_documents(n)
        best: Best = self._family.partitions.reduce(_best_by_moments, self._told_by_word, n).total
        return best

    def membership(self, X: Any) -> Any:
        """The share of the topic in each document, in [0, 1], (n,); 0 for a document without words."""
        if is_dask(X):
            return dask_arrays().map_rows(self.membership, X, len(self.center))
        counts = as_counts(check_samples(X, len(self.center), self._feature_names), self.damping)
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
        if self._refined is not None:
            return np.clip(self._refined.share(counts, lengths), 0, 1)
        return np.clip(_linear_shares(self._frame.whiten(counts), lengths, self._told_by_word), 0, 1)

    @property
    def _told_by_word(self) -> Array:
        """α₁W'μ₁, (k,): what a word in the frame adds to the topic's share in its document."""
        return self._moment_weight * self._point

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
            bars_title="typical words and their probabilities",
        )


def _linear_shares(Y: Array, lengths: Array, told: Array) -> Array:
    """Unbiased estimates of the topic's share θ₁ in documents of whitened counts Y, (n,).

    Notes
    -----
    E[W'x | θ] = Σ θᵢuᵢ/√αᵢ for the frequencies x of a document, so θ₁ = α₁⟨W'μ₁, W'x⟩.
    """
    return np.asarray(Y @ told) / np.where(lengths > 0, lengths, np.inf)


def _best_by_moments(partition: TopicPartition, told: Array, n: int) -> ArraySum:
    return rank_documents(partition, _linear_shares(partition.projected, partition.lengths, told), n)
