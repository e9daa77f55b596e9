"""Topics by anchor words, the method of Arora et al. (2013), and its form that knows a labelled word."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mixsearch._typing import Array, Matrix
from mixsearch.baselines.anchor_recovery import Recovery, find_anchors, recover_topics
from mixsearch.baselines.tensor_power import OneComponent
from mixsearch.core.second_moment import change, second_moment_of_rows
from mixsearch.core.validation import FLOAT_DTYPES, check_choice, check_positive_int
from mixsearch.data.threads import one_blas_thread
from mixsearch.errors import FewerComponentsWarning, SearchError, SearchWarning, warn_user

# Coordinates that rows of co-occurrence are projected to before anchors are looked for: distances keep 3% accuracy.
N_PROJECTIONS = 1000
# Two different words of a document make a pair.
LEAST_WORDS = 2


class NotConvergedWarning(SearchWarning, ConvergenceWarning):
    """The iteration stopped at its limit before every word reached the tolerance."""

    code = "not_converged"


class AnchorWords(BaseEstimator):
    """Recover all topics of a corpus from anchor words, each of which occurs in one topic only.

    Parameters
    ----------
    n_components : int, default=50
        The number of topics k.
    loss : {"l2", "kl"}, default="l2"
        How words are fitted as mixtures of anchors: RecoverL2 or RecoverKL. The second needs every row of the words'
        co-occurrence, and is slow.
    solver : {"splitting", "exponentiated"}, default="splitting"
        How squares are minimised: by alternating directions, or by exponentiated gradient as published, which is many
        times slower and ends at the same minimum. RecoverKL knows the second only.
    min_documents : int, default=50
        A word can be an anchor where so many documents hold it: rows of rare words lie far out by chance.
    tol : float, default=1e-7
        How far the distance of a word from its mixture may stay above the least.
    max_iter : int, default=2000
        Of the solver, for each word.
    random_state : int, RandomState instance or None, default=0
        Of the projection in which anchors are looked for.

    Attributes
    ----------
    topics_ : array of shape (k, d)
        p(word | topic).
    weights_ : array of shape (k,)
        p(topic).
    anchors_ : array of shape (k,)
        The column of each topic's anchor.
    gaps_ : array of shape (d,)
        By how much the distance of each word can be above the least; 0 for words that occur in no pair.
    n_steps_ : int
        That the slowest word took.

    Notes
    -----
    Co-occurrence itself, (d, d), is never formed, unless d is small: anchors are looked for in a random projection of
    its rows, and squares need its products with k columns only, all through the same sparse products as the moments of
    a search.

    Examples
    --------
    >>> from mixsearch.baselines import AnchorWords
    >>> from mixsearch.datasets import make_topics
    >>> data = make_topics(3000, 200, 4, mean_length=60, random_state=0)
    >>> topic = AnchorWords(4).fit(data.counts).component_of(data.labelled_word(1))
    >>> bool(abs(topic.center - data.topics[1]).max() < 0.01)
    True
    """

    n_features_in_: int

    def __init__(
        self,
        n_components: int = 50,
        *,
        loss: str = "l2",
        solver: str = "splitting",
        min_documents: int = 50,
        tol: float = 1e-7,
        max_iter: int = 2000,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.solver = solver
        self.min_documents = min_documents
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, document_weights: Any = None) -> Self:
        """Recover the topics.

        Parameters
        ----------
        X : sparse matrix or array of shape (n, d)
            Word counts, one row per document, whole numbers.
        y : ignored
        document_weights : array of shape (n,), optional
            The say of each document in the co-occurrence, one each by default; `weights_of_word` makes the
            semi-supervised form of them. Documents of weight 0, and words that only those hold, do not enter.
        """
        check_positive_int("n_components", self.n_components)
        check_positive_int("min_documents", self.min_documents)
        check_choice("loss", self.loss, ("l2", "kl"))
        check_choice("solver", self.solver, ("splitting", "exponentiated"))
        counts = sp.csr_array(validate_data(self, X, accept_sparse="csr", dtype=FLOAT_DTYPES))
        pairs = _pairs(counts, document_weights)
        n_holding = np.bincount(pairs.counts.indices, minlength=len(pairs.columns))
        with one_blas_thread:
            cooccurring = cooccurrence(pairs.counts, pairs.weights)
            anchors = self._find_anchors(cooccurring, np.flatnonzero(n_holding >= self.min_documents))
            recovered = recover_topics(
                cooccurring,
                anchors,
                loss=self.loss,
                solver=self.solver,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        self._keep(recovered, anchors, pairs.columns)
        return self

    def _find_anchors(self, cooccurring: Matrix, candidates: Array) -> Array:
        if not len(candidates):
            raise SearchError(
                f"No word is in {self.min_documents} documents of positive weight, so none can be an anchor. Lower "
                "min_documents."
            )
        points = _projected_rows(cooccurring, candidates, check_random_state(self.random_state))
        anchors = candidates[find_anchors(points, self.n_components)]
        if len(anchors) < self.n_components:
            warn_user(
                FewerComponentsWarning(
                    f"Found {len(anchors)} anchors among {len(candidates):,} words in at least {self.min_documents} "
                    f"documents, not the {self.n_components} asked for. The fit went on with those."
                )
            )
        return np.asarray(anchors)

    def _keep(self, recovered: Recovery, anchors: Array, columns: Array) -> None:
        n_words = self.n_features_in_
        self.topics_ = np.zeros((len(anchors), n_words))
        self.topics_[:, columns] = recovered.topics
        self.gaps_ = np.zeros(n_words)
        self.gaps_[columns] = recovered.gaps
        self.weights_, self.anchors_, self.n_steps_ = recovered.weights, columns[anchors], recovered.n_steps
        n_left = int(np.count_nonzero(self.gaps_ > self.tol))
        if n_left:
            warn_user(
                NotConvergedWarning(
                    f"{n_left:,} of {n_words:,} words are above the tolerance {self.tol:g} after "
                    f"{self.max_iter:,} "
                    f"steps; the worst gap is {self.gaps_.max():.1g}. Raise max_iter."
                )
            )

    def component_of(self, word: int) -> OneComponent:
        """The topic in which a word, given by its column, is likeliest."""
        check_is_fitted(self)
        topic = int(np.argmax(self.topics_[:, word]))
        return OneComponent(self.topics_[topic], float(self.weights_[topic]))


def weights_of_word(counts: Any, word: int) -> Array:
    """The frequency of a labelled word in each document, (n,): the document weights of semi-supervised recovery.

    Parameters
    ----------
    counts : sparse matrix or array of shape (n, d)
    word : int
        Its column.
    """
    matrix = sp.csr_array(counts)
    lengths = np.asarray(matrix.sum(axis=1), dtype=np.float64)
    return np.asarray(matrix[:, [word]].toarray().ravel() / np.where(lengths > 0, lengths, np.inf))


def cooccurrence(counts: sp.csr_array[Any], document_weights: Array | None = None) -> Matrix:
    """How often two words are together in documents, as an operator where there are many words, (d, d).

    Parameters
    ----------
    counts : sparse array of shape (n, d)
        Whole numbers; documents of fewer than two words make no pair.
    document_weights : array of shape (n,), optional
        The say of each document; one each by default.

    Notes
    -----
    Q = Σ ωᵢ (cᵢcᵢ' - diag(cᵢ)) / (lᵢ(lᵢ-1)) for counts c and lengths l: the distribution of two words drawn from a
    document one after the other, averaged over documents with weights ω that sum to one.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    says = np.ones(len(lengths)) if document_weights is None else document_weights
    says = np.where(lengths >= LEAST_WORDS, says, 0.0)
    per_pair = says / says.sum() / np.maximum(lengths * (lengths - 1), 1)
    zeros = np.zeros(counts.shape[1])
    return change(
        second_moment_of_rows(counts.astype(np.result_type(counts, np.float32)), per_pair),
        scale=1.0,
        metric=zeros + 1,
        diagonal=counts.T @ per_pair,
        direction=zeros,
    )


class _Pairs(NamedTuple):
    """The documents that make pairs, and the words that they hold."""

    counts: sp.csr_array[Any]  # (m, q)
    weights: Array  # (m,)
    columns: Array  # of the words among all, (q,)


def _pairs(counts: sp.csr_array[Any], document_weights: Any) -> _Pairs:
    if counts.nnz and (counts.data.min() < 0 or np.any(counts.data != np.floor(counts.data))):
        raise SearchError("Anchor words need counts: whole numbers, 0 or more. Pass the counts themselves.")
    weights = np.ones(counts.shape[0]) if document_weights is None else np.asarray(document_weights, dtype=np.float64)
    if weights.shape != (counts.shape[0],) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise SearchError(
            f"document_weights must be {counts.shape[0]:,} numbers, 0 or more; found shape {weights.shape}"
            f"{f' with a smallest value of {weights.min():g}' if weights.size else ''}."
        )
    rows = np.flatnonzero((weights > 0) & (np.asarray(counts.sum(axis=1)) >= LEAST_WORDS))
    if not len(rows):
        raise SearchError(
            f"None of the {counts.shape[0]:,} documents has a positive weight and at least {LEAST_WORDS} words: there "
            "are no pairs of words to count."
        )
    kept = counts[rows] if len(rows) < counts.shape[0] else counts
    columns = np.flatnonzero(np.bincount(kept.indices, weights=kept.data, minlength=kept.shape[1]))
    return _Pairs(kept if len(columns) == kept.shape[1] else kept[:, columns], weights[rows], columns)


def _projected_rows(cooccurring: Matrix, candidates: Array, random: np.random.RandomState) -> Array:
    """Conditional co-occurrence of some words, whole or in random coordinates, (m, p)."""
    d = cooccurring.shape[0]
    word_mean = np.asarray(cooccurring @ np.ones(d, dtype=cooccurring.dtype))
    if d <= N_PROJECTIONS:
        directions = np.eye(d, dtype=cooccurring.dtype)
    else:
        signs = 2 * random.randint(0, 2, size=(d, N_PROJECTIONS), dtype=np.int8) - 1
        directions = signs.astype(cooccurring.dtype) / cooccurring.dtype.type(np.sqrt(N_PROJECTIONS))
    return np.asarray((cooccurring @ directions)[candidates] / word_mean[candidates, None])
