"""Latent Dirichlet allocation (LDA): find one topic of word counts from a word, a direction or a few documents.

The model (paper, section 3.2): the words of a document are drawn from Σ θᵢμᵢ, with θ from a Dirichlet distribution of
parameters α₁..α_k that sum to α₀. Moments first, then the fit, refinement by Gibbs sampling, the answer and the
estimator. `mixsearch.paper.lda` has the same moments in plain NumPy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.decomposition import non_negative_factorization  # type: ignore[attr-defined]  # old stubs
from sklearn.utils.validation import check_is_fitted, check_non_negative  # type: ignore[attr-defined]  # old stubs

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.check import check_answer, check_lead
from mixsearch.core.component import Component, add_warnings
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.estimator import RandomState, SemiSupervised
from mixsearch.core.extraction import all_components, extract_by_whitening, find_tensor
from mixsearch.core.family import Preset
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.moments import Hinted, Replicates, rescale, second_moment, weighted_gram
from mixsearch.core.rows import (
    Chunk,
    Chunks,
    SampleChunk,
    leave_one_out,
)
from mixsearch.core.validation import (
    as_search_errors,
    check_choice,
    check_n_features,
    check_n_samples,
    check_not_orthogonal,
    check_one_hint,
    check_positive_int,
    check_samples,
    hint_from_direction,
)
from mixsearch.display import Card
from mixsearch.errors import (
    ArgumentError,
    DroppedDocumentsWarning,
    HintError,
    Option,
    SearchError,
    UnknownWordError,
    warn_user,
)
from mixsearch.machine import one_blas_thread
from mixsearch.mixture.tuning import TUNING as EM


@dataclass(frozen=True)
class Tuning:
    """Chosen on generated corpora by benchmarks/refinement.py and counting.py, reported on those of other seeds."""

    metric: float = 0.25  # words are measured in units of their frequency to this power: noise grows with frequency
    eigen_tol: float = 1e-2  # residual of eigenvectors, relative to each eigenvalue
    n_sweeps: int = 32  # of Gibbs sampling that are averaged, after half as many
    min_separation: float = 1.15  # lead of a hint below which noise may have made it
    beta_range: tuple[float, float] = (0.01, 1.0)  # of the Dirichlet parameter of words in topics


TUNING = Tuning()
# Vectors that one pass over the counts serves; iterations that find shares of documents.
BLOCK, SHARE_ITER = 20, 50
# Counts that a sweep reads at a time, which stay in cache; words for which a sweep draws a topic at all.
SWEPT_COUNTS, MAX_WORDS = 32_000, 1e8
# The least probability of a word, and share of a topic.
MIN_PROBABILITY = 1e-18

# ---- Moments (paper, section 3.2) -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class DocumentChunk(Chunk):
    """Documents with their weights ω in all averages, which sum to one over the corpus."""

    samples: sp.csr_array  # counts c, (n, d)
    lengths: Array  # l, the number of words, (n,)
    rates: Array  # ω per word, pair and triple of words of the document, (n, 3)
    projected: Any = None  # Y: whitened counts W'c, (n, k)


class WordSums(NamedTuple):
    """Weighted sums over three different words x1, x2 and x3 of documents, under a hint v, some in the frame."""

    weight: float  # Σ ω
    first: Array  # Σ ωx1, (d,)
    crossed: Array  # Σ ω⟨x2, v⟩x1, (d,)
    pairs: Array  # Σ ωW'x1x2'W, (k, k)
    triples: Array  # Σ ω⟨x3, v⟩W'x1x2'W, (k, k)

    def moments(self, W: Array, v: Array, alpha0: float) -> tuple[Array, Array, Array]:
        """Compute W'm, W'AW and W'BW.

        Notes
        -----
        Theorem 10: m = α₀E[x1], A = α₀(α₀+1)E[x1x2'] - mm' and B = α₀(α₀+1)(α₀+2)/2 E[⟨x3, v⟩x1x2']
        - α₀(α₀+1)/2 (⟨m, v⟩E[x1x2'] + E[⟨x3, v⟩x1]m' + mE[⟨x3, v⟩x2]') + ⟨m, v⟩mm'.
        """
        first, crossed, pairs, triples = (total / self.weight for total in self[1:])
        two, three = alpha0 * (alpha0 + 1), alpha0 * (alpha0 + 1) * (alpha0 + 2)
        m, score = alpha0 * (W.T @ first), alpha0 * float(first @ v)
        cross = np.outer(W.T @ crossed, m)
        B = three / 2 * triples - two / 2 * (score * pairs + cross + cross.T) + score * np.outer(m, m)
        return m, two * pairs - np.outer(m, m), B


def sum_words(chunk: DocumentChunk, rows: slice, W: Array, v: Array, distinct: bool) -> WordSums:
    """Sum over the words of some documents, under a hint v, (d,).

    Notes
    -----
    Different words of a document are a correction of the paper: with counts c of l words, pairs are
    (cc' - diag(c)) / (l(l-1)), and triples, * elementwise, (⟨c, v⟩cc' - (c*v)c' - c(c*v)' - ⟨c, v⟩diag(c) +
    2diag(c*v)) / (l(l-1)(l-2)). The plug-in of the paper has the first terms only, and powers of l.
    """
    X, Y = chunk.samples[rows], np.asarray(chunk.projected[rows], dtype=np.float64)
    by_word, by_pair, by_triple = chunk.rates[rows].T
    scores = np.asarray(X @ v, dtype=np.float64)
    sums = X.T @ np.column_stack([by_word, by_pair * scores, by_pair, by_triple * scores])
    first, crossed, pair_repeats, triple_repeats = np.asarray(sums, dtype=np.float64).T
    pairs, triples = sum_squares(Y, by_pair), sum_squares(Y, by_triple * scores)
    if distinct:
        words = np.flatnonzero(v)  # of the hint: few, if it is a word
        counts, hint = X if len(words) == len(v) else X[:, words], v[words]
        crossed = crossed - v * pair_repeats
        triple_repeats[words] -= 2 * hint * (counts.T @ by_triple)
        cross = (counts @ (W[words] * hint[:, None])).T @ (Y * by_triple[:, None])
        pairs = pairs - sum_squares(W, pair_repeats)
        triples = triples - cross - cross.T - sum_squares(W, triple_repeats)
    return WordSums(float(by_word @ chunk.lengths[rows]), first, crossed, pairs, triples)


def sum_squares(Y: Array, weights: Array) -> Array:
    """Compute Σ wᵢ yᵢyᵢ', (k, k), from the rows with a weight: under a word as the hint they are few."""
    rows = np.flatnonzero(weights)
    return weighted_gram(Y[rows], weights[rows])


@dataclass(frozen=True, slots=True)
class LdaFamily:
    """The fitted moments of a corpus. Weights αᵢ sum to α₀."""

    frame: Frame
    alpha0: float
    word_mean: Array  # E[x1], (d,): the corpus as one distribution over words
    distinct: bool  # different words only; otherwise the plug-in of the paper, which counts words with themselves
    chunks: Chunks[DocumentChunk]

    @property
    def n_components(self) -> int:
        """The number of topics of the fit."""
        return self.frame.n_components

    @property
    def mean(self) -> Array:
        """W'm, (k,)."""
        return self.frame.whiten(self.alpha0 * self.word_mean)

    @property
    def whitener(self) -> Array:
        """W = S V D^(-1/2), (d, k)."""
        scale = np.ones(1) if self.frame.metric is None else self.frame.metric[:, None]
        return np.asarray(self.frame.basis * scale / np.sqrt(self.frame.values))

    def sum_words(self, v: Array) -> WordSums:
        """Sum over all documents, under a hint over words, (d,)."""
        with one_blas_thread:
            return self.chunks.sum(sum_words, slice(None), self.whitener, v, self.distinct)

    def sum_words_without(self, v: Array) -> list[WordSums]:
        """Sum over all documents but one group, for each group in turn, under a hint over words, (d,)."""
        with one_blas_thread:
            return leave_one_out(self.chunks, sum_words, self.whitener, v, self.distinct)

    def contract(self, v: Array) -> Hinted:
        """Contract the third moment with a hint over words, (d,)."""
        *_, B = self.sum_words(v).moments(self.whitener, v, self.alpha0)
        return Hinted(B, self.mean, self.frame.project_hint(v))

    def hinted(self, hint: Array) -> Hinted:
        """Contract the third moment with a hint c in the frame, (k,): that of the words v = Wc."""
        return self.contract(self.whitener @ hint)

    def replicate(self, v: Array) -> Replicates:
        """Compute the moments of all documents but one group, under a hint over words, for each group in turn."""
        W = self.whitener
        moments = (sums.moments(W, v, self.alpha0) for sums in self.sum_words_without(v))
        mean, second, hinted = map(np.array, zip(*moments, strict=True))
        return Replicates(second, hinted, mean)

    def leave_one_out(self, hint: Array) -> Replicates:
        """Compute the moments of all documents but one group, under a hint in the frame, (k,)."""
        return self.replicate(self.whitener @ hint)

    def residual_replicates(self, direction: Array) -> Array:
        """Compute A W u of all documents but one group, (d, B), for a direction u in the frame, (k,)."""
        v, a0 = self.whitener @ direction, self.alpha0
        means = ((sums.first / sums.weight, sums.crossed / sums.weight) for sums in self.sum_words_without(v))
        return np.column_stack([a0 * (a0 + 1) * crossed - a0**2 * first * (first @ v) for first, crossed in means])


# ---- The fit --------------------------------------------------------------------------------------------------------


def read_counts(chunks: Chunks[SampleChunk]) -> Chunks[SampleChunk]:
    """Check word counts, and store them as sparse rows."""
    counts = chunks.map(lambda chunk: replace(chunk, samples=check_counts(chunk.samples)))
    return replace(counts, layout=counts.layout._replace(is_sparse=True))


def weight_documents(counts: Chunks[SampleChunk], *, distinct: bool, by_length: bool) -> Chunks[DocumentChunk]:
    """Leave out documents that are too short for the moments, and weight the others.

    The paper gives all documents the same weight. Weights that are proportional to the lengths lower the variance.
    """
    lengths = np.concatenate(counts.gather(lambda chunk: count_words(chunk.samples)))
    rows = np.flatnonzero(lengths > 2 * distinct)
    check_n_samples(rows[:, None], 2, "Moments of documents of three words or more")
    if len(rows) < len(lengths):
        counts = counts.take_rows(rows)
        warn_user(
            DroppedDocumentsWarning(
                "{n_dropped:,} of {n_documents:,} documents have fewer than {min_words} words and were left out of the "
                "fit.",
                n_dropped=len(lengths) - len(rows),
                n_documents=len(lengths),
                min_words=3 if distinct else 1,
            )
        )
    total = float(lengths[rows].sum()) if by_length else len(rows)

    def weight(chunk: SampleChunk) -> DocumentChunk:
        lengths = count_words(chunk.samples)
        by_word = (lengths if by_length else 1) / (lengths * total)
        by_pair = by_word / (lengths - distinct)
        rates = np.column_stack([by_word, by_pair, by_pair / (lengths - 2 * distinct)])
        return DocumentChunk(chunk.first, chunk.samples, lengths, rates)

    return counts.map(weight)


def check_counts(X: Samples) -> sp.csr_array:
    """Return word counts with each word of a document stored once; raise if they are negative."""
    counts = sp.csr_array(X)
    if not counts.has_canonical_format or not counts.data.all():
        counts = counts.copy()
        counts.sum_duplicates()
        counts.eliminate_zeros()
    with as_search_errors():
        check_non_negative(counts, "LdaSearch")
    return counts


def has_fractions(counts: Chunks[Any]) -> bool:
    """Test whether some counts are not whole."""
    return bool(counts.sum(lambda chunk: int(np.count_nonzero(chunk.samples.data % 1))))


def count_words(counts: sp.csr_array) -> Array:
    """Count the words of documents, (n,)."""
    return np.asarray(counts.sum(axis=1), dtype=np.float64)


def fit_lda(
    documents: Chunks[DocumentChunk],
    n_components: int,
    *,
    alpha0: float,
    distinct: bool,
    metric: float,
    seed: int,
) -> LdaFamily:
    """Find the signal space of the topics, and project documents onto it.

    Notes
    -----
    Eigenvectors are those of S A S with S = diag(p^(-metric)) and p the frequencies of words, since the noise of a word
    grows with p.
    """
    # 1) the second moment: A = α₀(α₀+1)E[x1x2'] - mm'
    word_mean, repeats = documents.sum(lambda chunk: np.asarray(chunk.samples.T @ chunk.rates[:, :2], np.float64)).T
    S = np.where(word_mean > 0, word_mean, 1.0) ** -metric
    second = second_moment(documents, lambda chunk: np.asarray(chunk.rates[:, 1]))
    diagonal, direction = distinct * S**2 * repeats, alpha0 * S * word_mean
    A = rescale(second, scale=alpha0 * (alpha0 + 1), metric=S, diagonal=diagonal, direction=direction)
    # 2) its signal space. Text has neither a gap in its spectrum to converge to nor equal eigenvalues
    with one_blas_thread:
        values, vectors, _ = top_eigenpairs(A, n_components, seed=seed, tol=TUNING.eigen_tol, block=BLOCK)
    frame = replace(frame_from_eigenpairs(values, vectors), metric=S)
    # 3) documents in its coordinates
    projected = documents.map(lambda chunk: replace(chunk, projected=frame.whiten(chunk.samples)))
    return LdaFamily(frame, alpha0, word_mean, distinct, projected)


# ---- Refinement by Gibbs sampling -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class SampledChunk(Chunk):
    """Documents with one draw of their shares."""

    samples: sp.csr_array  # whole counts, (n, d)
    shares: Array  # θ, (n, k)


class SampledTopics(NamedTuple):
    """The posterior of all topics."""

    topics: Array  # means, (d, k)
    errors: Array  # standard deviations, (d, k)

    def nearest(self, center: Array) -> SampledTopics:
        """Put the topic that is nearest to a moment estimate, (d,), first."""
        first = int(np.argmax(np.maximum(center, 0) @ self.topics / np.linalg.norm(self.topics, axis=0)))
        order = np.append(first, np.delete(np.arange(self.topics.shape[1]), first))
        return SampledTopics(*(values[:, order] for values in self))

    @property
    def center(self) -> Array:
        """The first topic, (d,)."""
        return self.topics[:, 0].copy()

    def infer_shares(self, counts: sp.csr_array) -> Array:
        """Estimate the likeliest shares of all topics in documents, (n, k); 0 in those without words."""
        H = np.ascontiguousarray(self.topics.T, dtype=counts.dtype)
        options = {"solver": "mu", "beta_loss": "kullback-leibler", "tol": 0, "max_iter": SHARE_ITER}
        words = non_negative_factorization(counts, None, H, len(H), update_H=False, **options)[0]
        return np.asarray(words / np.maximum(count_words(counts), 1)[:, None])


def sample_topics(family: LdaFamily) -> SampledTopics:
    """Sample the topics given all documents, from the moments of all topics.

    Notes
    -----
    One sweep of the Gibbs sampler draws the topic of each word given θ and μ, then θ ~ Dirichlet(α + words of each
    topic in the document) and μ ~ Dirichlet(β + counts of each word in the topic). β is that of topics as concentrated
    as the moments show them: E Σ μ(w)² = (β + 1) / (dβ + 1). In the first half of the sweeps that are not averaged, μ
    stays that of the moments: θ at the start is rough, and would lead it astray. The variance of the posterior is that
    given the counts of a sweep and that between sweeps. The latter counts twice: sweeps depend on each other, so that
    their mean errs by about as much.
    """
    rng, n_dropped = np.random.default_rng(0), TUNING.n_sweeps // 2
    # 1) all topics as the third moment shows them, and linear estimates of their shares in documents
    topics, prior, beta, chunks = start_sampling(family)
    total, squares, variances = np.zeros((3, *topics.shape))
    # 2) sweeps over all words
    for sweep in range(n_dropped + TUNING.n_sweeps):
        chunks, counts = chunks.map_sum(sample_words, topics, prior, int(rng.integers(2**32)))
        counts += beta
        if sweep >= n_dropped:
            lengths = counts.sum(axis=0)
            mean = counts / lengths
            total += mean
            squares += mean**2
            variances += mean * (1 - mean) / (lengths + 1)
        if sweep >= n_dropped // 2:
            topics = draw_dirichlet(rng, counts, axis=0)
    # 3) the mean and the deviation of the posterior
    mean = total / TUNING.n_sweeps
    between = np.maximum(squares / TUNING.n_sweeps - mean**2, 0)
    return SampledTopics(mean, np.sqrt(variances / TUNING.n_sweeps + 2 * between))


def start_sampling(family: LdaFamily) -> tuple[Array, Array, float, Chunks[SampledChunk]]:
    """Return the topics of the moment estimates, (d, k), α, (k,), β, and documents with linear estimates of shares."""
    if has_fractions(family.chunks):
        raise SearchError(
            "{argument}=True draws a topic for each word, which needs whole counts. Pass counts instead of frequencies "
            "or tf-idf.",
            code="needs_whole_counts",
            argument=Option("refine"),
        )
    n_words = float(family.chunks.sum(lambda chunk: chunk.lengths.sum()))
    if n_words > MAX_WORDS:
        raise SearchError(
            "{argument}=True draws a topic for each of {n_words:.3g} words, but {most:.0e} are too many. Search "
            "without it, or divide the counts.",
            code="too_many_words",
            argument=Option("refine"),
            n_words=n_words,
            most=MAX_WORDS,
        )
    candidates = all_components(find_tensor(family.hinted, family.n_components), family.mean)
    points, weights = candidates.points, candidates.weights
    prior = np.maximum(weights / weights.sum(), EM.min_start_weight / family.n_components)
    prior *= family.alpha0 / prior.sum()
    topics = np.maximum(family.frame.unwhiten(points).astype(np.float64), 0)
    squares = float(np.mean(np.sum((topics / np.maximum(topics.sum(axis=0), MIN_PROBABILITY)) ** 2, axis=0)))
    beta = float(np.clip((1 - squares) / max(len(topics) * squares - 1, MIN_PROBABILITY), *TUNING.beta_range))
    topics = topics * (n_words * prior / family.alpha0) + beta  # expected counts: no word is impossible

    def start(chunk: DocumentChunk) -> SampledChunk:
        linear = np.asarray(chunk.projected @ (points * weights), dtype=np.float64)
        shares = np.clip(linear, 0, None) / chunk.lengths[:, None] + prior
        return SampledChunk(chunk.first, chunk.samples, shares / shares.sum(axis=1, keepdims=True))

    return topics / topics.sum(axis=0), prior, beta, family.chunks.map(start)


def sample_words(chunk: SampledChunk, topics: Array, prior: Array, seed: int) -> tuple[SampledChunk, Array]:
    """Draw the topic of each word and then the shares of each document; sum the words of each topic, (d, k)."""
    rng = np.random.default_rng([seed, chunk.first])
    (n, k), d, X = chunk.shares.shape, len(topics), chunk.samples
    by_document, by_word = np.zeros((n, k)), np.zeros((d, k))
    size = max(SWEPT_COUNTS * n // max(X.nnz, 1), 1)
    for start in range(0, n, size):
        block = X[start : start + size]
        times = block.data.astype(np.intp)
        rows = np.repeat(np.repeat(np.arange(block.shape[0]), np.diff(block.indptr)), times) + start
        words = np.repeat(block.indices.astype(np.intp), times)
        # In loops over topics, which are few: the draw is the number of topics whose chances sum to no more than a
        # random part of all.
        columns = zip(chunk.shares.T.astype(np.float32), topics.T.astype(np.float32), strict=True)
        chances = np.array([share.take(rows) * topic.take(words) for share, topic in columns])
        for before, after in pairwise(chances):
            after += before
        bound = rng.random(len(words), dtype=np.float32) * chances[-1]
        drawn = np.sum([chance <= bound for chance in chances[:-1]], axis=0, dtype=np.intp)
        by_document += np.bincount(rows * k + drawn, minlength=n * k).reshape(n, k)
        by_word += np.bincount(words * k + drawn, minlength=d * k).reshape(d, k)
    return replace(chunk, shares=draw_dirichlet(rng, by_document + prior, axis=1)), by_word


def draw_dirichlet(rng: np.random.Generator, parameters: Array, *, axis: int) -> Array:
    """Draw distributions that sum to one along an axis."""
    drawn = rng.standard_gamma(parameters)
    return np.asarray(np.maximum(drawn / np.maximum(drawn.sum(axis=axis, keepdims=True), 1e-300), MIN_PROBABILITY))


# ---- The answer -----------------------------------------------------------------------------------------------------


def project_to_simplex(point: Array) -> Array:
    """Return the nearest probability vector, max(point - level, 0), (d,)."""
    falling = np.sort(point)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - levels[np.count_nonzero(falling > levels) - 1], 0))


@dataclass(frozen=True, repr=False, eq=False)
class LdaTopic(Component):
    """One topic of a corpus that follows the model of latent Dirichlet allocation.

    Attributes
    ----------
    center : array of shape (d,)
        The topic as moments estimate it, with small negative entries; the posterior mean after refinement.
    probabilities : array of shape (d,)
        The topic as a distribution over words: the point of the simplex nearest to `center`.
    weight : float
        The topic's share of the corpus, α / α₀.
    stderr : StandardErrors
        Standard errors of `center` and `weight`: by the jackknife, or those of the posterior of `center`.

    See Also
    --------
    Component : `separation`, `scores`, `alternatives`, `warnings` and the rest.

    Examples
    --------
    >>> from mixsearch import LdaSearch
    >>> from mixsearch.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, mean_length=60, random_state=0)
    >>> search = LdaSearch(4, alpha0=data.alpha.sum()).fit(data.counts, vocabulary=data.vocabulary)
    >>> topic = search.search(examples=data.counts[data.shares[:, 1] > 0.99][:5])
    >>> data.vocabulary[data.labelled_word(1)] in dict(topic.top_words(5))
    True
    """

    # No second contraction: noise mixes topics of similar scores, and drives these apart.
    _clear_separation: ClassVar[float] = TUNING.min_separation
    _noisy_separation: ClassVar[float] = TUNING.min_separation
    _family: LdaFamily = field(kw_only=True)
    _words: Array = field(kw_only=True)  # the hint over words, (d,)
    _vocabulary: Sequence[str] | None = field(kw_only=True)
    _refined: SampledTopics | None = field(default=None, kw_only=True)  # with this topic as the first one

    @cached_property
    def probabilities(self) -> Array:
        """The topic as a distribution over words, (d,)."""
        return project_to_simplex(self.center)

    @property
    def weight(self) -> float:
        """The topic's share of the corpus."""
        return float(self._candidates.weights[self._rank]) / self._family.alpha0

    @cached_property
    def _replicates(self) -> Replicates:
        # A hint over words is more than its projection onto the frame.
        return self._family.replicate(self._words)

    def _moment_errors(self) -> StandardErrors:
        center, weight = super()._moment_errors()
        return StandardErrors(self._raise_errors(center), weight / self._family.alpha0)

    def _refined_errors(self, refined: SampledTopics) -> StandardErrors:
        return StandardErrors(self._raise_errors(refined.errors[:, 0]), self.moment_estimate.stderr.weight)

    def _raise_errors(self, errors: Array) -> Array:
        """Raise errors, (d,), to 1/n in a topic of n words: a word without one may be missing by chance."""
        n_words = self.weight * float(self._family.chunks.sum(lambda chunk: chunk.lengths.sum()))
        return np.maximum(errors, 1 / max(n_words, 1.0))

    def top_words(self, n: int = 10) -> list[tuple[str, float]]:
        """Return the words that distinguish the topic from the corpus, with their probabilities.

        Parameters
        ----------
        n : int, default=10
            How many words.

        Returns
        -------
        list of (str, float)
            By falling p log(p / q), with the probabilities p in the topic and q in the corpus. Without a vocabulary,
            words are the numbers of their columns.
        """
        check_positive_int("n", n)
        p, q = self.probabilities, np.maximum(self._family.word_mean, MIN_PROBABILITY)
        names = self._vocabulary or list(map(str, range(len(p))))
        falling = np.argsort(-p * np.log(np.maximum(p / q, 1)), kind="stable")
        return [(names[column], float(p[column])) for column in falling[:n]]

    def membership(self, X: SamplesLike) -> Array:
        """Estimate the share of the topic in each document.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Word counts.

        Returns
        -------
        array of shape (n,)
            In [0, 1]; 0 for a document without words.

        Notes
        -----
        Before refinement by θ₁ = α₁⟨W'μ₁, W'x⟩ from the word frequencies x, which is unbiased until it is clipped.
        """
        counts = check_counts(check_samples(X, len(self.center), self._feature_names))
        if self._refined is not None:
            return self._refined.infer_shares(counts)[:, 0]
        shares = self._frame.whiten(counts) @ (self._candidates.weights[self._rank] * self._point)
        return np.asarray(np.clip(shares / np.maximum(count_words(counts), 1), 0, 1))

    def _card(self) -> Card:
        words = self.top_words()
        title = f"Topic, one of {len(self.scores)}: {', '.join(word for word, _ in words[:5])}"
        return replace(super()._card(), title=title, bars=words, bars_title="typical words and their probabilities")


# ---- The estimator --------------------------------------------------------------------------------------------------


class LdaSearch(SemiSupervised[LdaFamily]):
    """Find one topic of documents from a word, a direction or a few documents, by the model of the paper.

    It is for counts that follow latent Dirichlet allocation. Real text repeats words more often than the model allows,
    and has more topics than any number: `TopicSearch` is made for it.

    Parameters
    ----------
    n_components : int, default=2
        k, the number of topics.
    alpha0 : float, default=0.01
        The sum of the Dirichlet parameters: near 0, documents have one topic; above 1, they mix many.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: plug-in moments, which also pair words with themselves, the same weight for
        each document, no metric, and the topic of the largest score. By default moments are over different words of a
        document, unless counts are fractions, documents count by their length, words are measured in units of their
        frequency to the power of 1/4 before eigenvectors are computed, and the answer is the topic with the largest
        share of the hint.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block.

    Attributes
    ----------
    n_components_ : int
        The number of topics of the fit.
    vocabulary_ : list of str or None
        The words, one per column.
    component_ : LdaTopic
        The topic of the labelled documents, if `fit` was given labels.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> from mixsearch import LdaSearch
    >>> from mixsearch.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, mean_length=60, random_state=0)
    >>> search = LdaSearch(4, alpha0=data.alpha.sum()).fit(data.counts, vocabulary=data.vocabulary)
    >>> topic = search.search(words=data.vocabulary[data.labelled_word(1)])
    >>> bool(abs(topic.probabilities - data.topics[1]).max() < 0.01)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha0: float = 0.01,
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha0 = alpha0
        self.preset = preset
        self.random_state = random_state

    def fit(self, X: SamplesLike, y: ArrayLike | None = None, *, vocabulary: Iterable[str] | None = None) -> Self:
        """Fit the topics. With labels, also find the topic of the known documents.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)
            Word counts, one row per document. Documents of fewer than three words are left out.
        y : array of shape (n,), optional
            1 for known documents of the topic, -1 for unlabelled ones; other labels count as -1. If given, the topic
            found is in `component_`.
        vocabulary : sequence of str, optional
            The words, one per column; by default the column names if X is a data frame.

        Returns
        -------
        self
        """
        samples = self._fit_family(X)
        names = self._get_feature_names() if vocabulary is None else list(map(str, vocabulary))
        if names is not None and not len(names) == len(set(names)) == self.n_features_in_:
            raise ArgumentError(
                "{argument} needs a different word for each of the {n_columns:,} columns, got {n_words:,}.",
                argument=Option("vocabulary"),
                n_columns=self.n_features_in_,
                n_words=len(set(names)),
            )
        self.vocabulary_ = names
        self._search_members(samples, y)
        return self

    def _fit_family(self, X: Any) -> Chunks[SampleChunk]:
        check_positive_int("n_components", self.n_components)
        k, is_paper, alpha0 = int(self.n_components), self._is_paper(), self.alpha0
        if not (isinstance(alpha0, Real) and 1e-6 <= float(alpha0) <= 1e6):
            raise ArgumentError(
                "{argument} must be a number from 1e-6 to 1e6, got {value!r}.",
                argument=Option("alpha0"),
                value=alpha0,
            )
        chunks = self._check_chunks(X)
        check_n_features(chunks.n_features, k, f"{k} topics")
        counts = read_counts(chunks)
        distinct = not is_paper and not has_fractions(counts)
        documents = weight_documents(counts, distinct=distinct, by_length=not is_paper)
        metric, seed = 0.0 if is_paper else TUNING.metric, self._draw_seed()
        self._family = fit_lda(documents, k, alpha0=float(alpha0), distinct=distinct, metric=metric, seed=seed)
        self._shared = {}
        return chunks

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        words: str | int | Iterable[str | int] | Mapping[Any, float] | None = None,
        examples: SamplesLike | None = None,
        not_examples: SamplesLike | None = None,
        refine: bool = False,
    ) -> LdaTopic:
        """Find the topic that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            A weight for every word: a direction v in which the topic lies further out than all others.
        words : str, int, sequence of these, or mapping of these to float, optional
            One word, several, or words with weights: negative for words that the topic should avoid. A word is a name
            of the vocabulary or the number of its column.
        examples : array of shape (q, d), optional
            Counts of a few documents that are mostly about the topic; their mean frequencies, relative to those of the
            corpus, are the hint.
        not_examples : array of shape (q, d), optional
            Documents about other topics, with `examples`: the hint is relative to their mean frequencies.
        refine : bool, default=False
            Refine the topic by Gibbs sampling of all topics, started from their moments: it refines the words, and
            leaves the weight. The answer's `moment_estimate` is the one before.

        Returns
        -------
        LdaTopic
        """
        check_choice("refine", refine, (True, False))
        check_is_fitted(self)
        check_one_hint({"hint": hint, "words": words, "examples": examples})
        # 1) the hint over words
        family = self._family
        hint = hint if words is None else hint_from_words(words, self.vocabulary_, family.word_mean)
        positive, negative = self._check_examples(hint, examples, not_examples)
        if positive is None:
            v = hint_from_direction(hint, self.n_features_in_)
        else:
            v = hint_from_documents(family, positive, negative)
        if family.n_components > 1:
            check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
        # 2) the third moment contracted with the hint, and one eigenvector (Algorithm 1)
        hinted, choose = family.contract(v), "largest" if self._is_paper() else "share"
        component = LdaTopic(
            family.frame,
            extract_by_whitening(hinted, choose),
            _family=family,
            _hinted=hinted,
            _choose=choose,
            _words=v,
            _examples=positive,
            _search=partial(self.search, not_examples=not_examples, refine=refine),
            _vocabulary=self.vocabulary_,
            _feature_names=self._get_feature_names(),
        )
        # 3) optionally, the posterior given all documents
        if refine:
            sampled = self._share("topics", lambda: sample_topics(family))
            component = replace(component, _refined=sampled.nearest(component.center))
        # 4) reasons not to trust the answer
        return add_warnings(
            component, check_answer(component) if words is None else check_lead(component, is_sure=True)
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags


def hint_from_words(words: Any, vocabulary: Sequence[str] | None, word_mean: Array) -> Array:
    """Return the hint of words, (d,).

    Notes
    -----
    A word of weight 1 enters with one over its frequency in the corpus. Then ⟨μᵢ, v⟩ is how many times likelier it is
    in topic i than in the corpus, and rare words count as much as frequent ones.
    """
    items = [words] if isinstance(words, str | Integral) else words
    weights = items if isinstance(items, Mapping) else dict.fromkeys(items, 1.0)
    columns = {word: column for column, word in enumerate(vocabulary or [])}
    v = np.zeros(len(word_mean))
    for word, weight in weights.items():
        column = columns.get(word, -1) if isinstance(word, str) else word
        if not (isinstance(column, int | np.integer) and 0 <= column < len(v) and word_mean[column] > 0):
            raise UnknownWordError(
                "{word!r} is not in the documents of the fit. Give a word of the vocabulary that fit was given, or the "
                "number of its column.",
                word=word,
            )
        v[column] += weight / word_mean[column]
    return v


def hint_from_documents(family: LdaFamily, positive: Samples, negative: Samples | None) -> Array:
    """Return the hint of documents, (d,), of length 1 in the frame: the projection of S²x, with the metric S of words.

    In this metric frequent and rare words are equally noisy.
    """
    away = family.word_mean if negative is None else mean_frequencies(negative)
    direction = family.frame.values * family.frame.whiten(mean_frequencies(positive) - away)
    return np.asarray(family.whitener @ direction / max(float(np.linalg.norm(direction)), MIN_PROBABILITY))


def mean_frequencies(X: Samples) -> Array:
    """Return the mean word frequencies of a few documents, (d,)."""
    counts = check_counts(X)
    lengths = count_words(counts)
    if not lengths.any():
        raise HintError("The documents of the hint contain no word. Give documents with words.", code="empty_documents")
    return np.asarray(counts.T @ (1 / np.where(lengths > 0, lengths, np.inf))) / np.count_nonzero(lengths)
