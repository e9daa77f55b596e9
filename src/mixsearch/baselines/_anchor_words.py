"""Topics by anchor words, the method of Arora et al. (2013), and its semi-supervised form."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mixsearch._typing import Array, Matrix
from mixsearch.baselines._anchor_recovery import Recovery, find_anchors, recover_topics
from mixsearch.baselines._tensor_power import OneComponent
from mixsearch.core.second_moment import rescale, second_moment_of_rows
from mixsearch.core.validation import FLOAT_DTYPES, check_choice, check_positive_int
from mixsearch.data.threads import one_blas_thread
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, FewerComponentsWarning, Option, SearchError, SearchWarning, warn_user

# Rows of co-occurrence are projected to this many coordinates to find anchors: distances keep 3% accuracy.
N_PROJECTIONS = 1000
# A pair needs two words.
MIN_WORDS = 2


class NotConvergedWarning(SearchWarning, ConvergenceWarning):
    """The iteration stopped at max_iter before every word reached the tolerance."""

    code = "not_converged"


class AnchorWords(BaseEstimator):
    """Recover all topics of a corpus from anchor words, each of which occurs in one topic only.

    Parameters
    ----------
    n_components : int, default=50
        The number of topics k.
    loss : {"l2", "kl"}, default="l2"
        How words are fitted as mixtures of anchors: RecoverL2 or RecoverKL. The latter needs every row of the words'
        co-occurrence, and is slow.
    solver : {"admm", "exponentiated"}, default="admm"
        How the squared error is minimized: by the alternating direction method of multipliers, or by exponentiated
        gradient as published, which finds the same minimum many times slower. RecoverKL always uses the latter.
    min_documents : int, default=50
        Anchors occur in at least this many documents: rows of rare words lie far out by chance.
    tol : float, default=1e-7
        How far the loss of a word may stay above its minimum.
    max_iter : int, default=2000
        The maximum number of iterations for each word.
    random_state : int, RandomState instance or None, default=0
        The seed of the projection in which anchors are found.

    Attributes
    ----------
    topics_ : array of shape (k, d)
        p(word | topic).
    weights_ : array of shape (k,)
        p(topic).
    anchors_ : array of shape (k,)
        The column of each topic's anchor.
    gaps_ : array of shape (d,)
        Upper bound on how far the loss of each word is above its minimum; 0 for words that occur in no pair.
    n_iter_ : int
        The number of iterations of the slowest word.

    Notes
    -----
    The co-occurrence matrix, (d, d), is never formed unless d is small: anchors are found in a random projection of its
    rows, and the squared error needs only its products with k columns.

    References
    ----------
    Arora, Ge, Halpern, Mimno, Moitra, Sontag, Wu and Zhu (2013). A practical algorithm for topic modeling with provable
    guarantees. ICML.

    Examples
    --------
    >>> from mixsearch.baselines import AnchorWords
    >>> from mixsearch.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, mean_length=60, random_state=0)
    >>> topic = AnchorWords(4).fit(data.counts).find_component(data.labelled_word(1))
    >>> bool(abs(topic.center - data.topics[1]).max() < 0.01)
    True
    """

    n_features_in_: int

    def __init__(
        self,
        n_components: int = 50,
        *,
        loss: Literal["l2", "kl"] = "l2",
        solver: Literal["admm", "exponentiated"] = "admm",
        min_documents: int = 50,
        tol: float = 1e-7,
        max_iter: int = 2000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.solver = solver
        self.min_documents = min_documents
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self, X: ArrayLike | sp.sparray | sp.spmatrix, y: object = None, *, document_weights: ArrayLike | None = None
    ) -> Self:
        """Recover the topics.

        Parameters
        ----------
        X : sparse matrix or array of shape (n, d)
            Word counts, integers, one row per document.
        y : ignored
            For compatibility with scikit-learn.
        document_weights : array of shape (n,), optional
            The weight of each document in the co-occurrence, 1 by default; `compute_word_frequencies` gives those of
            the semi-supervised form. Documents of weight 0, and words that occur only there, are ignored.

        Returns
        -------
        self
        """
        check_positive_int("n_components", self.n_components)
        check_positive_int("min_documents", self.min_documents)
        check_choice("loss", self.loss, ("l2", "kl"))
        check_choice("solver", self.solver, ("admm", "exponentiated"))
        counts = sp.csr_array(validate_data(self, X, accept_sparse="csr", dtype=FLOAT_DTYPES))
        pairs = _select_pairs(counts, document_weights)
        n_documents = np.bincount(pairs.counts.indices, minlength=len(pairs.columns))
        with one_blas_thread:
            cooccurring = compute_cooccurrence(pairs.counts, pairs.weights)
            anchors = self._find_anchors(cooccurring, np.flatnonzero(n_documents >= self.min_documents))
            recovered = recover_topics(
                cooccurring,
                anchors,
                loss=self.loss,
                solver=self.solver,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        self._store(recovered, anchors, pairs.columns)
        return self

    def _find_anchors(self, cooccurring: Matrix, candidates: Array) -> Array:
        if not len(candidates):
            raise SearchError(
                "No word occurs in {min_documents} documents of positive weight, so there are no anchors. Lower "
                "{argument}.",
                code="no_anchors",
                min_documents=self.min_documents,
                argument=Option("min_documents"),
            )
        points = _project_rows(cooccurring, candidates, check_random_state(self.random_state))
        anchors = candidates[find_anchors(points, self.n_components)]
        if len(anchors) < self.n_components:
            warn_user(
                FewerComponentsWarning(
                    "{n_requested} anchors requested, but the {n_candidates:,} words in at least {min_documents} "
                    "documents have only {n_found}. The fit uses those.",
                    n_requested=self.n_components,
                    n_candidates=len(candidates),
                    min_documents=self.min_documents,
                    n_found=len(anchors),
                )
            )
        return np.asarray(anchors)

    def _store(self, recovered: Recovery, anchors: Array, columns: Array) -> None:
        n_words = self.n_features_in_
        self.topics_ = np.zeros((len(anchors), n_words))
        self.topics_[:, columns] = recovered.topics
        self.gaps_ = np.zeros(n_words)
        self.gaps_[columns] = recovered.gaps
        self.weights_, self.anchors_, self.n_iter_ = recovered.weights, columns[anchors], recovered.n_iter
        n_left = int(np.count_nonzero(self.gaps_ > self.tol))
        if n_left:
            warn_user(
                NotConvergedWarning(
                    "{n_left:,} of {n_words:,} words "
                    + pluralize(n_left, "is", "are")
                    + " above the tolerance {tol:g} after {max_iter:,} iterations; "
                    "the largest gap is {max_gap:.1g}. Raise {argument}.",
                    n_left=n_left,
                    n_words=n_words,
                    tol=self.tol,
                    max_iter=self.max_iter,
                    max_gap=float(self.gaps_.max()),
                    argument=Option("max_iter"),
                )
            )

    def find_component(self, word: int) -> OneComponent:
        """Find the topic in which a word is most probable.

        Parameters
        ----------
        word : int
            The column of the word.

        Returns
        -------
        OneComponent
        """
        check_is_fitted(self)
        topic = int(np.argmax(self.topics_[:, word]))
        return OneComponent(self.topics_[topic], float(self.weights_[topic]))


def compute_word_frequencies(counts: ArrayLike | sp.sparray | sp.spmatrix, word: int) -> Array:
    """Return the frequency of a labeled word in each document: the document weights of semi-supervised recovery.

    Parameters
    ----------
    counts : sparse matrix or array of shape (n, d)
        Word counts, one row per document.
    word : int
        The column of the word.

    Returns
    -------
    array of shape (n,)

    Examples
    --------
    >>> compute_word_frequencies([[0, 2], [1, 3]], 1)
    array([1.  , 0.75])
    """
    given: Any = counts if isinstance(counts, sp.sparray | sp.spmatrix) else np.asarray(counts)
    matrix = sp.csr_array(given)
    lengths = np.asarray(matrix.sum(axis=1), dtype=np.float64)
    return np.asarray(matrix[:, [word]].toarray().ravel() / np.where(lengths > 0, lengths, np.inf))


def compute_cooccurrence(counts: sp.csr_array[Any], document_weights: Array | None = None) -> Matrix:
    """Compute the co-occurrence of words, as a linear operator if there are many words.

    Parameters
    ----------
    counts : sparse array of shape (n, d)
        Integers. Documents of fewer than two words have no pairs.
    document_weights : array of shape (n,), optional
        The weight of each document, 1 by default.

    Returns
    -------
    array or LinearOperator of shape (d, d)
        The probability of each pair of words.

    Notes
    -----
    Q = Σ ωᵢ (cᵢcᵢ' - diag(cᵢ)) / (lᵢ(lᵢ-1)) for counts c and lengths l: the distribution of two words drawn from a
    document one after the other, averaged over documents with weights ω that sum to one.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    weights = np.ones(len(lengths)) if document_weights is None else document_weights
    weights = np.where(lengths >= MIN_WORDS, weights, 0.0)
    per_pair = weights / weights.sum() / np.maximum(lengths * (lengths - 1), 1)
    zeros = np.zeros(counts.shape[1])
    return rescale(
        second_moment_of_rows(counts.astype(np.result_type(counts, np.float32)), per_pair),
        scale=1.0,
        metric=zeros + 1,
        diagonal=counts.T @ per_pair,
        direction=zeros,
    )


class _Pairs(NamedTuple):
    """The documents with pairs of words, and their words."""

    counts: sp.csr_array[Any]  # (m, q)
    weights: Array  # (m,)
    columns: Array  # the columns of the words, (q,)


def _select_pairs(counts: sp.csr_array[Any], document_weights: ArrayLike | None) -> _Pairs:
    if counts.nnz and (counts.data.min() < 0 or np.any(counts.data != np.floor(counts.data))):
        raise SearchError("Anchor words need counts: non-negative integers.", code="not_counts")
    weights = np.ones(counts.shape[0]) if document_weights is None else np.asarray(document_weights, dtype=np.float64)
    if weights.shape != (counts.shape[0],) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ArgumentError(
            "{argument} must be {n:,} non-negative numbers, got shape {shape} with minimum {minimum:g}.",
            argument=Option("document_weights"),
            n=counts.shape[0],
            shape=weights.shape,
            minimum=float(weights.min(initial=np.inf)),
        )
    rows = np.flatnonzero((weights > 0) & (np.asarray(counts.sum(axis=1)) >= MIN_WORDS))
    if not len(rows):
        raise SearchError(
            "None of the {n:,} documents has a positive weight and at least {min_words} words: there are no pairs of "
            "words.",
            code="no_pairs",
            n=counts.shape[0],
            min_words=MIN_WORDS,
        )
    kept = counts[rows] if len(rows) < counts.shape[0] else counts
    columns = np.flatnonzero(np.bincount(kept.indices, weights=kept.data, minlength=kept.shape[1]))
    return _Pairs(kept if len(columns) == kept.shape[1] else kept[:, columns], weights[rows], columns)


def _project_rows(cooccurring: Matrix, candidates: Array, random: np.random.RandomState) -> Array:
    """Return the conditional co-occurrence of some words, projected at random if there are many words, (m, p)."""
    d = cooccurring.shape[0]
    word_mean = np.asarray(cooccurring @ np.ones(d, dtype=cooccurring.dtype))
    if d <= N_PROJECTIONS:
        directions = np.eye(d, dtype=cooccurring.dtype)
    else:
        signs = 2 * random.randint(0, 2, size=(d, N_PROJECTIONS), dtype=np.int8) - 1
        directions = signs.astype(cooccurring.dtype) / cooccurring.dtype.type(np.sqrt(N_PROJECTIONS))
    return np.asarray((cooccurring @ directions)[candidates] / word_mean[candidates, None])
