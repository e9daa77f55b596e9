"""One topic of a corpus: its words, its documents, its share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, DataFrame, SamplesLike
from mixsearch.confidence import ConfidentComponent, ExampleFit, confidence_without_model, separation_in_words
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.moments import Replicates
from mixsearch.core.rows import top_rows
from mixsearch.core.validation import check_choice, check_positive_int, check_samples
from mixsearch.display import Card, plain_number
from mixsearch.machine import one_blas_thread
from mixsearch.topics.confidence import trust_in_words
from mixsearch.topics.counts import as_counts
from mixsearch.topics.documents import PlacedChunk, PlacedFamily, ShareChunk, rank_documents
from mixsearch.topics.evidence import divergence_by_word, promote_words
from mixsearch.topics.hint import WordHint
from mixsearch.topics.local_em import LocalTopic, estimate_errors, floor_errors
from mixsearch.topics.old_lda import LdaTopic, check_indices, project_to_simplex
from mixsearch.topics.reductions import TopRows
from mixsearch.topics.seeds import find_named

# A word in few documents belongs to a topic by chance more easily: this many more are assumed not to be about it.
DOCUMENTS_ELSEWHERE = 10
# On four of five labelled corpora, the number of documents about a topic is within this factor of those of its label
# for 93% of words or more; on the fifth, of narrow labels, for 68%. Documents drawn by LDA would need a factor of two
# at most (benchmarks/topic_sizes.py).
COUNT_FACTOR = 4.0
NORMAL_95 = 1.96
# A difference in probability never outweighs one in typicality.
TIE = 1e-12

# Words that distinguish the topic from the corpus, or the likeliest ones.
WordOrder = Literal["typical", "probability"]


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


class DocumentCount(NamedTuple):
    """How many documents are about a topic, with a 95% interval.

    Attributes
    ----------
    n : float
        The number of documents.
    low, high : float
        The ends of the interval.
    n_holding : int or None
        How many documents contain the words of the hint, if it consists of words.
    """

    n: float
    low: float
    high: float
    n_holding: int | None


@dataclass(frozen=True, repr=False, eq=False)
class Topic(ConfidentComponent):
    """One topic of a corpus.

    Attributes
    ----------
    probabilities : array of shape (d,)
        The topic as a distribution over words.
    weight : float
        The topic's share of the corpus.
    center : array of shape (d,)
        Equal to `probabilities` after refinement. For a moment estimate the raw vector, with small negative entries, to
        which its standard errors belong.

    See Also
    --------
    Component : `separation`, `scores`, `share`, `alternatives` and the rest.

    Examples
    --------
    >>> from mixsearch import TopicSearch
    >>> from mixsearch.datasets import make_reviews
    >>> reviews = make_reviews(1000, random_state=0)
    >>> topic = TopicSearch(n_components=12).fit(reviews.text).search("sushi")
    >>> sorted(word for word, probability in topic.top_words(3))
    ['salmon', 'sushi', 'tuna']
    >>> row, share = topic.documents(1)[0]  # the review that is most about it
    >>> "sushi" in reviews.text[row]
    True
    >>> topic.confidence > 0.9, len(topic.warnings)
    (True, 0)
    """

    _family: PlacedFamily = field(kw_only=True)
    _hint: WordHint | Array = field(kw_only=True)  # over words, or in the frame
    _vocabulary: Sequence[str] | None = field(kw_only=True)
    _damping: bool = field(kw_only=True)
    _max_documents: int | None = field(default=None, kw_only=True)  # that represent all documents matching the hint
    _refined: LocalTopic | LdaTopic | None = field(default=None, kw_only=True)
    _example_fit: ExampleFit | None = field(default=None, kw_only=True)  # of a search by documents
    _among: Array | None = field(default=None, kw_only=True)  # (n,): which documents are listed and counted; None: all

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the topic that the hint means.

        After local EM of words, the probability that they have a topic and this is it, calibrated on labelled text;
        after local EM of several documents, a value that depends on their number. Otherwise the probability that the
        topic comes first on new documents too. Each is multiplied by the probability that the words or documents of the
        hint are about one topic.
        """
        if self._rests_on_words:
            return self._trust * self._trust_in_words
        if self._example_fit is None or not self._rests_on_documents:
            return super().confidence
        return self._trust * confidence_without_model(self._example_fit.posterior)

    @property
    def _rests_on_words(self) -> bool:
        """Whether local EM found the topic from words that documents contain."""
        is_local = isinstance(self._refined, LocalTopic) and self._refined.named.size > 0
        return is_local and isinstance(self._hint, WordHint) and bool(np.any(self._hint.values > 0))

    @cached_property
    def _trust_in_words(self) -> float:
        """The probability that a topic from words, after local EM, is about them, and they about nothing else."""
        assert isinstance(self._refined, LocalTopic)
        with one_blas_thread:
            return trust_in_words(self._refined, self._candidates, self.share)

    @property
    def _rests_on_documents(self) -> bool:
        """Whether local EM found the topic from several documents of the hint."""
        fit = self._example_fit
        return fit is not None and len(fit.posterior) > 1 and isinstance(self._refined, LocalTopic)

    @property
    def weight(self) -> float:
        """The topic's share of the corpus."""
        return self._moment_weight / self._family.alpha0 if self._refined is None else self._refined.weight

    @cached_property
    def document_count(self) -> DocumentCount:
        """How many documents are about the topic, with a 95% interval, and how many contain the words of the hint.

        After local EM, these are the documents that are at least a quarter about the topic. Counts alone do not
        determine their number: the interval is a factor that held for labelled corpora, wider than the model needs. It
        refers to the topic found; `confidence` is the probability that this is the topic meant. Without local EM, the
        number is `weight` times the number of documents, with an interval from its standard error. With a filter, only
        matching documents count.
        """
        among = self._among
        n = self._family.chunks.n_rows if among is None else int(np.count_nonzero(among))
        n_holding = self._count_holding()
        if isinstance(self._refined, LocalTopic):
            about = float(self._refined.count_about(among))
            return DocumentCount(about, about / COUNT_FACTOR, min(about * COUNT_FACTOR, n), n_holding)
        weight, error = self.weight, NORMAL_95 * self.stderr.weight
        if among is not None:
            weight = float(self._corpus_shares()[among].mean())
            error *= max(weight, 0) / max(self.weight, np.finfo(float).tiny)
        about, low, high = (n * float(np.clip(weight + each, 0, 1)) for each in (0, -error, error))
        return DocumentCount(about, low, high, n_holding)

    def _count_holding(self) -> int | None:
        """Return how many documents contain the words of the hint, if local EM found the topic from words."""
        if not isinstance(self._refined, LocalTopic) or not self._rests_on_words:
            return None
        if not self._refined.has_hint_documents:
            return 0
        if isinstance(self._hint, WordHint) and self._hint.is_partial:
            return None
        if self._among is None:
            return self._refined.named.size
        is_holding = self._find_holding(self._family)
        return None if is_holding is None else int(np.count_nonzero(is_holding & self._among))

    def _find_holding(self, family: PlacedFamily) -> Array | None:
        """Return which documents of a fit contain the words of the hint, (n,), if local EM started from words."""
        if not isinstance(self._hint, WordHint) or not self._rests_on_words or self._hint.is_partial:
            return None
        return find_named(family, self._hint)

    @property
    def _moment_weight(self) -> float:
        """α of the topic. All of them sum to α₀."""
        return float(self._candidates.weights[self._rank])

    def _moment_center(self) -> Array:
        with one_blas_thread:  # one product, done before other threads have woken up
            return self._frame.unwhiten(self._point)

    @cached_property
    def probabilities(self) -> Array:
        """The topic as a distribution over words, (d,): the point of the simplex nearest to `center`."""
        return project_to_simplex(self.center) if self._refined is None else self._refined.center

    def _moment_errors(self) -> StandardErrors:
        with one_blas_thread:
            center, weight = super()._moment_errors()
        return StandardErrors(floor_errors(center, self._count_words()), weight / self._family.alpha0)

    def _count_words(self) -> float:
        """Count the words of the topic in all documents."""
        n_words = self._family.chunks.sum(lambda chunk: float(chunk.lengths.sum()))
        return self.weight * float(n_words)

    @cached_property
    def _replicates(self) -> Replicates:
        # A hint over words is more than its projection onto the frame.
        return self._family.leave_one_out(self._hint, self._max_documents)

    def _refined_errors(self, refined: LocalTopic | LdaTopic) -> StandardErrors:
        with one_blas_thread:
            if isinstance(refined, LocalTopic):
                return estimate_errors(self._family, refined)
            errors = floor_errors(refined.errors, self._count_words())
            return StandardErrors(errors, self.moment_estimate.stderr.weight)

    def top_words(self, n: int = 10, *, by: WordOrder = "typical") -> list[tuple[str, float]]:
        """Return words of the topic with their probabilities.

        Parameters
        ----------
        n : int, default=10
            How many words.
        by : {"typical", "probability"}, default="typical"
            Rank words by how well they distinguish the topic's documents from others, or by probability, which ranks
            common words of the language high.

        Returns
        -------
        list of (str, float)
        """
        return [(self._spell(column), float(self.probabilities[column])) for column in self._top_columns(n, by)]

    def word_table(self, n: int = 10, *, by: WordOrder = "typical", errors: bool = False) -> list[WordStatistics]:
        """Return words of the topic with their probabilities, lifts and standard errors.

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
        columns = self._top_columns(n, by)
        p, q = self.probabilities[columns].tolist(), self._family.word_mean[columns].tolist()
        stderr = self.stderr.center[columns].tolist() if errors else [None] * len(columns)
        return [
            WordStatistics(self._spell(column), own, own / mean if mean > 0 else 0.0, error)
            for column, own, mean, error in zip(columns, p, q, stderr, strict=True)
        ]

    def to_frame(self, n: int | None = None, *, by: WordOrder = "typical", errors: bool = False) -> DataFrame:
        """Return the words of the topic as a data frame of Polars.

        Parameters
        ----------
        n : int, optional
            How many words; all by default.
        by : {"typical", "probability"}, default="typical"
            Which words come first, as in `top_words`.
        errors : bool, default=False
            Add a column with standard errors.

        Returns
        -------
        polars.DataFrame
            With the columns word, probability, lift and, with `errors`, stderr.
        """
        import polars as pl

        words = self.word_table(len(self.probabilities) if n is None else n, by=by, errors=errors)
        names = WordStatistics._fields if errors else WordStatistics._fields[:-1]
        return pl.DataFrame({name: [getattr(word, name) for word in words] for name in names})

    def _top_columns(self, n: int, by: WordOrder) -> Array:
        check_positive_int("n", n)
        check_choice("by", by, ("typical", "probability"))
        # If fewer words than requested are typical, the likeliest follow.
        return top_rows(self.probabilities * TIE + self._typicality if by == "typical" else self.probabilities, n)

    @cached_property
    def _typicality(self) -> Array:
        if not isinstance(self._refined, LocalTopic):
            return divergence_by_word(self.probabilities, self._family.word_mean)
        terms = self._hint.terms if isinstance(self._hint, WordHint) else ()
        wanted = [part for term in terms if term.weight > 0 for part in term.parts]
        return promote_words(self._refined.typicality, wanted, self.probabilities, self._family.word_mean)

    def related_words(self, n: int = 10) -> list[tuple[str, float]]:
        """Return words that point to the topic, however rare they are. They make good hints for a narrower search.

        Parameters
        ----------
        n : int, default=10
            The maximum number of words.

        Returns
        -------
        list of (str, float)
            Each word with the factor by which it is likelier in the topic than in the corpus.
        """
        check_positive_int("n", n)
        p, q = self.probabilities, self._family.word_mean
        lift = p / np.where(q > 0, q, np.inf)
        frequency = self._family.document_frequency
        precision = np.minimum(lift * max(self.weight, 1e-6), 1)
        ranked = top_rows(precision * frequency / (frequency + DOCUMENTS_ELSEWHERE), n)
        return [(self._spell(column), float(lift[column])) for column in ranked if lift[column] > 1]

    def _spell(self, column: int) -> str:
        return str(column) if self._vocabulary is None else self._vocabulary[column]

    def documents(self, n: int = 10) -> list[tuple[int, float]]:
        """Return the documents of the corpus that are most about the topic.

        Parameters
        ----------
        n : int, default=10
            The maximum number of documents.

        Returns
        -------
        list of (int, float)
            The row of each document and the topic's share in it.

        Notes
        -----
        A short document can show a high share by chance, so documents are ranked as if each had a few more words on
        another topic.
        """
        check_positive_int("n", n)
        rows, shares = self._best_documents(n).values
        return list(zip(rows.tolist(), np.clip(shares, 0, 1).tolist(), strict=True))

    def _best_documents(self, n: int) -> TopRows:
        if isinstance(self._refined, LocalTopic):
            return self._refined.best_documents(n, self._among)
        estimate, among = self._share_estimate, self._among
        best: TopRows = self._family.chunks.sum(lambda chunk: rank_documents(chunk, estimate(chunk), n, among))
        return best

    def _corpus_shares(self) -> Array:
        """Return the topic's share in every document of the corpus, (n,): unbiased, so that means over many are too."""
        if isinstance(self._refined, LocalTopic):
            return self._refined.corpus_shares()
        estimate = self._share_estimate
        shares = self._family.chunks.map(lambda chunk: ShareChunk(chunk.first, estimate(chunk)))
        return shares.collect().chunk.shares

    @property
    def _share_estimate(self) -> Callable[[PlacedChunk], Array]:
        """Estimate the topic's share in documents of the corpus, by moments or by their posterior."""
        if isinstance(self._refined, LdaTopic):
            refined = self._refined
            return lambda chunk: refined.share(check_indices(chunk.by_document), chunk.lengths)
        direction = self._share_direction
        return lambda chunk: _linear_shares(chunk.projected, chunk.lengths, direction)

    def membership(self, X: SamplesLike) -> Array:
        """Return the share of the topic in each document.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Word counts.

        Returns
        -------
        array of shape (n,)
            In [0, 1]; 0 for a document without words.
        """
        return self._shares_in(as_counts(check_samples(X, len(self.center), self._feature_names), self._damping))

    def _shares_in(self, counts: sp.csr_array) -> Array:
        """Return the share of the topic in documents of these counts, damped if those of the fit are, (n,)."""
        return np.clip(self._estimate_shares_in(counts), 0, 1)

    def _estimate_shares_in(self, counts: sp.csr_array) -> Array:
        """Return the shares without bias: also below 0 and above 1, (n,)."""
        lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
        if self._refined is not None:
            return self._refined.share(counts, lengths)
        return _linear_shares(self._frame.whiten(counts), lengths, self._share_direction)

    @property
    def _share_direction(self) -> Array:
        """α₁W'μ₁, (k,): what a word in the frame adds to the topic's share of its document."""
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


def keep_documents(topic: Topic, among: Array | None) -> Topic:
    """Return a topic that lists and counts only some documents of the corpus."""
    known = topic._among
    return replace(topic, _among=known if among is None else among if known is None else among & known)


def list_alternatives(topic: Topic, n: int) -> list[Topic]:
    """Return the first others of the topics that a hint could mean. Their words are found in one product."""
    points = topic._candidates.points
    ranks = [rank for rank in range(points.shape[1]) if rank != topic._rank][:n]
    others = [topic._with_rank(rank) for rank in ranks]
    with one_blas_thread:
        centers = np.ascontiguousarray(topic._frame.unwhiten(points[:, ranks]).T)
    for other, center in zip(others, centers, strict=True):
        vars(other)["center"] = center  # as the property would keep it
    return others


def has_quick_confidence(topic: Topic) -> bool:
    """Return whether the confidence of a topic takes no longer than the search for it."""
    return topic._rests_on_words or topic._rests_on_documents


def _linear_shares(Y: Array, lengths: Array, direction: Array) -> Array:
    """Return unbiased estimates of the topic's share θ₁ in documents of whitened counts Y, (n,).

    Notes
    -----
    E[W'x | θ] = Σ θᵢuᵢ/√αᵢ for the frequencies x of a document, so θ₁ = α₁⟨W'μ₁, W'x⟩.
    """
    return np.asarray(Y @ direction) / np.where(lengths > 0, lengths, np.inf)
