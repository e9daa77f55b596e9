"""Topics by anchor words (NMF), the method of Arora et al. (2013), and its semi-supervised form (SS-NMF)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mixsearch._typing import Array, Matrix
from mixsearch.core.moments import rescale, second_moment
from mixsearch.core.rows import chunk_in_memory, row_slices
from mixsearch.core.validation import FLOAT_DTYPES
from mixsearch.machine import n_cores, one_blas_thread
from paper_experiments.baselines.tensor_power import OneComponent

# Armijo condition: a step must lower the objective by this fraction of what the slope predicts.
MIN_DECREASE = 1e-4
# The next step is longer if the slope at the end of a step is at least this fraction of that at its start.
MIN_SLOPE = 0.75
# Lower bound of coordinates: a zero would stay zero.
MIN_COORDINATE = 1e-30
# Relative differences below this are rounding errors.
ROUNDING = 1e-12
# Solved problems are removed once they are this fraction of all.
MIN_SOLVED = 0.125


class Limits(NamedTuple):
    """Stopping criteria."""

    tol: float = 1e-7  # how far a value may be above its minimum
    max_iter: int = 2000  # for each problem


class SimplexResult(NamedTuple):
    """The points found for all problems."""

    points: Array  # (n, k), rows on the simplex
    gaps: Array  # upper bounds on how far values are above their minima, (n,)
    n_iter: int  # of the slowest problem


class _State(NamedTuple):
    """The problems that are not solved yet."""

    rows: Array  # their indices, (b,)
    points: Array  # (b, k)
    values: Array  # (b,)
    gradients: Array  # (b, k)
    steps: Array  # (b,)

    def take(self, kept: Array) -> _State:
        return _State(*(each[kept] for each in self))


@dataclass(frozen=True, slots=True)
class SquaredLoss:
    """|y - cX|² - |y|² for rows y of words and X of anchors, from their products."""

    gram: Array  # XX', (k, k)
    cross: Array  # yX', (n, k)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of words and of anchors."""
        return self.cross.shape[0], self.cross.shape[1]

    @property
    def first_step(self) -> float:
        """A step that is never too long: its inverse bounds all second derivatives."""
        return 1 / (2 * float(np.abs(self.gram).max()))

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Return losses and gradients at coefficients c."""
        residual = points @ self.gram
        residual -= self.cross
        return np.einsum("ij,ij->i", points, residual - self.cross), 2 * residual

    def take(self, kept: Array) -> Self:
        """Return the loss of some words."""
        return type(self)(self.gram, self.cross[kept])


def minimize_on_simplex(objective: SquaredLoss, limits: Limits) -> SimplexResult:
    """Minimize each objective over the simplex by exponentiated gradient, as published."""
    n, k = objective.shape
    points, gaps = np.full((n, k), 1 / k), np.full(n, np.inf)
    state = _State(np.arange(n), points.copy(), *objective.evaluate(points), np.full(n, objective.first_step))
    n_iter = 0
    while len(state.rows):
        gap = _compute_gaps(state)
        ended = (gap <= limits.tol) | (n_iter >= limits.max_iter)
        if ended.all() or ended.mean() >= MIN_SOLVED:
            points[state.rows[ended]], gaps[state.rows[ended]] = state.points[ended], gap[ended]
            state, objective = state.take(~ended), objective.take(~ended)
        if len(state.rows):
            state = _step(objective, state)
            n_iter += 1
    return SimplexResult(points, gaps, n_iter)


def _compute_gaps(state: _State) -> Array:
    lowest = state.gradients.min(axis=1)
    return np.asarray(np.einsum("ij,ij->i", state.points, state.gradients) - lowest * state.points.sum(axis=1))


def _step(objective: SquaredLoss, state: _State) -> _State:
    """Take one step of every problem. Those without enough decrease keep their point and halve the step."""
    _, before, values, gradients, steps = state
    slopes = gradients - gradients.min(axis=1, keepdims=True)
    points = before * np.exp(-steps[:, None] * slopes)
    points /= points.sum(axis=1, keepdims=True)
    np.maximum(points, MIN_COORDINATE, out=points)
    new_values, new_gradients = objective.evaluate(points)
    moved = points - before
    predicted = np.einsum("ij,ij->i", gradients, moved)
    at_end = np.einsum("ij,ij->i", new_gradients, moved)
    # Near the minimum values differ by rounding errors only: slopes show which of two points is lower.
    equal = np.abs(new_values - values) <= ROUNDING * np.abs(values)
    accepted = (new_values <= values + MIN_DECREASE * predicted) | (
        equal & (at_end <= (2 * MIN_DECREASE - 1) * predicted)
    )
    kept = accepted[:, None]
    return _State(
        state.rows,
        np.where(kept, points, before),
        np.where(accepted, new_values, values),
        np.where(kept, new_gradients, gradients),
        steps * np.where(accepted, np.where(at_end <= MIN_SLOPE * predicted, 2.0, 1.0), 0.5),
    )


# Over-relaxation, a usual value for this method.
RELAXATION = 1.6
# Iterations between two checks of the gaps, each of which costs as much as an iteration.
ITERATIONS_PER_CHECK = 10
# The penalty, relative to the geometric mean of the smallest and largest curvature. At 1 most targets converge sooner,
# but the last ones much later.
PENALTY = 2.0
# Lower bound of the smallest curvature relative to the largest: anchors may hardly differ in some directions.
MIN_CURVATURE = 1e-4


class _Plane(NamedTuple):
    """The minimizer on the plane Σ c = 1 with a proximal term: c = center + target' gain + point' proximal."""

    center: Array  # (k,)
    gain: Array  # (k, k)
    proximal: Array  # (k, k)


class _AdmmState(NamedTuple):
    """The rows that have not converged."""

    rows: Array  # their indices, (b,)
    constant: Array  # the part of the plane's solution that depends on the target, (b, k)
    shares: Array  # solutions with c ≥ 0, (b, k)
    multipliers: Array  # (b, k)

    def take(self, kept: Array) -> _AdmmState:
        return _AdmmState(*(each[kept] for each in self))


def solve_squares_admm(gram: Array, cross: Array, limits: Limits) -> SimplexResult:
    """Minimize |y - cX|² over the simplex for every row y."""
    n, k = cross.shape
    points, gaps = np.ones((n, k)), np.zeros(n)
    if k == 1:
        return SimplexResult(points, gaps, 0)
    plane = _make_plane(gram)
    start = np.full((n, k), 1 / k)
    state = _AdmmState(np.arange(n), plane.center + cross @ plane.gain, start, np.zeros((n, k)))
    n_iter = 0
    while len(state.rows):
        state = _iterate(state, plane.proximal)
        n_iter += ITERATIONS_PER_CHECK
        current = state.shares / state.shares.sum(axis=1, keepdims=True)
        gap = _bound_excess(current, gram, cross[state.rows])
        ended = (gap <= limits.tol) | (n_iter >= limits.max_iter)
        points[state.rows[ended]], gaps[state.rows[ended]] = current[ended], gap[ended]
        state = state.take(~ended) if ended.any() else state
    return SimplexResult(points, gaps, n_iter)


def _make_plane(gram: Array) -> _Plane:
    k = len(gram)
    across = np.eye(k) - 1 / k
    curvatures = np.linalg.eigvalsh(2 * across @ gram @ across)[1:]
    largest = max(float(curvatures[-1]), np.finfo(np.float64).tiny)
    penalty = PENALTY * np.sqrt(max(float(curvatures[0]), MIN_CURVATURE * largest) * largest)
    inverse = np.linalg.inv(2 * gram + penalty * np.eye(k))
    center = inverse.sum(axis=0) / inverse.sum()
    on_plane = inverse - np.outer(center, inverse.sum(axis=0))
    return _Plane(center, 2 * on_plane, penalty * on_plane)


def _iterate(state: _AdmmState, proximal: Array) -> _AdmmState:
    _, constant, shares, multipliers = state
    for _ in range(ITERATIONS_PER_CHECK):
        free = (shares - multipliers) @ proximal
        free += constant
        free *= RELAXATION
        free += (1 - RELAXATION) * shares
        free += multipliers
        shares = np.maximum(free, 0)
        multipliers = free - shares
    return state._replace(shares=shares, multipliers=multipliers)


def _bound_excess(points: Array, gram: Array, cross: Array) -> Array:
    """Return Σ cⱼ (gⱼ - min g) with the gradient g, an upper bound on the excess of the squares, (b,)."""
    gradients = 2 * (points @ gram - cross)
    return np.asarray(np.einsum("ij,ij->i", points, gradients) - gradients.min(axis=1))


# Words solved for together: their coefficients on a hundred anchors fit into the cache.
CHUNK_WORDS = 512


class Recovery(NamedTuple):
    """Topics, and how accurately they were solved for."""

    topics: Array  # (k, d): p(word | topic)
    weights: Array  # (k,): p(topic)
    gaps: Array  # (d,): upper bound on how far the loss of each word is above its minimum
    n_iter: int  # number of iterations of the slowest word


def find_anchors(points: Array, n_anchors: int) -> Array:
    """Find points that are corners of the convex hull of all points (FastAnchorWords)."""
    found = [int(np.einsum("ij,ij->i", points, points).argmax())]
    centered = points - points[found[0]]
    squares = np.einsum("ij,ij->i", centered, centered)
    rounding = 100 * np.finfo(points.dtype).eps * float(squares.max())
    basis = np.zeros((0, points.shape[1]), dtype=points.dtype)
    while len(found) < n_anchors and squares.max() > rounding:
        found.append(int(squares.argmax()))
        direction = centered[found[-1]]
        for _ in range(2):  # a second time removes the rounding errors of the first
            direction = direction - (basis @ direction) @ basis
        direction /= np.linalg.norm(direction)
        basis = np.vstack([basis, direction])
        squares -= (centered @ direction) ** 2
    return np.array(found)


def recover_topics(
    cooccurrence: Matrix,
    anchors: Array,
    *,
    solver: Literal["admm", "exponentiated"] = "admm",
    tol: float = 1e-7,
    max_iter: int = 2000,
) -> Recovery:
    """Recover topics from the co-occurrence of words and an anchor word for each topic (RecoverL2)."""
    n_words, limits = cooccurrence.shape[0], Limits(tol, max_iter)
    word_mean = np.asarray(cooccurrence @ np.ones(n_words, cooccurrence.dtype), dtype=np.float64)
    rows = _take_rows(cooccurrence, anchors) / word_mean[anchors, None]
    found = _solve_all(_prepare_squares(cooccurrence, word_mean, rows, solver, limits), n_words)
    found.points[anchors] = np.eye(len(anchors))  # known, and exact
    joint = found.points * word_mean[:, None]
    weights = joint.sum(axis=0)
    return Recovery((joint / weights).T, weights / weights.sum(), found.gaps, found.n_iter)


def _take_rows(matrix: Matrix, indices: Array) -> Array:
    """Return some rows of a symmetric matrix, (b, d)."""
    units = np.zeros((matrix.shape[0], len(indices)), dtype=matrix.dtype)
    units[indices, np.arange(len(indices))] = 1
    return np.asarray(matrix @ units, dtype=np.float64).T


def _solve_all(solve: Callable[[slice], SimplexResult], n_words: int) -> SimplexResult:
    """Solve for all words, a chunk at a time on each core."""
    with one_blas_thread, ThreadPoolExecutor(n_cores()) as pool:
        points, gaps, n_iter = zip(*pool.map(solve, row_slices(n_words, CHUNK_WORDS)), strict=True)
    return SimplexResult(np.concatenate(points), np.concatenate(gaps), max(n_iter))


def _prepare_squares(
    cooccurrence: Matrix, word_mean: Array, rows: Array, solver: str, limits: Limits
) -> Callable[[slice], SimplexResult]:
    gram = rows @ rows.T
    cross = np.asarray(cooccurrence @ rows.T.astype(cooccurrence.dtype), dtype=np.float64) / word_mean[:, None]
    if solver == "admm":
        return lambda words: solve_squares_admm(gram, cross[words], limits)
    return lambda words: minimize_on_simplex(SquaredLoss(gram, cross[words]), limits)


# Rows of co-occurrence are projected to this many coordinates to find anchors: distances keep 3% accuracy.
N_PROJECTIONS = 1000
# A pair needs two words.
MIN_WORDS = 2


class AnchorWords(BaseEstimator):
    """Recover all topics of a corpus from anchor words, each of which occurs in one topic only."""

    n_features_in_: int

    def __init__(
        self,
        n_components: int = 50,
        *,
        solver: Literal["admm", "exponentiated"] = "admm",
        min_documents: int = 50,
        tol: float = 1e-7,
        max_iter: int = 2000,
        random_state: int | np.random.RandomState | None = 0,
    ) -> None:
        self.n_components = n_components
        self.solver = solver
        self.min_documents = min_documents
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(
        self, X: ArrayLike | sp.sparray | sp.spmatrix, y: object = None, *, document_weights: ArrayLike | None = None
    ) -> Self:
        """Recover the topics."""
        counts = sp.csr_array(validate_data(self, X, accept_sparse="csr", dtype=FLOAT_DTYPES))
        pairs = _select_pairs(counts, document_weights)
        n_documents = np.bincount(pairs.counts.indices, minlength=len(pairs.columns))
        with one_blas_thread:
            cooccurring = compute_cooccurrence(pairs.counts, pairs.weights)
            anchors = self._find_anchors(cooccurring, np.flatnonzero(n_documents >= self.min_documents))
            recovered = recover_topics(
                cooccurring,
                anchors,
                solver=self.solver,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        self._store(recovered, anchors, pairs.columns)
        return self

    def _find_anchors(self, cooccurring: Matrix, candidates: Array) -> Array:
        if not len(candidates):
            raise ValueError(f"No word occurs in {self.min_documents} documents of positive weight.")
        points = _project_rows(cooccurring, candidates, check_random_state(self.random_state))
        anchors = candidates[find_anchors(points, self.n_components)]
        if len(anchors) < self.n_components:
            warnings.warn(f"{self.n_components} anchors requested, {len(anchors)} found.", stacklevel=3)
        return np.asarray(anchors)

    def _store(self, recovered: Recovery, anchors: Array, columns: Array) -> None:
        n_words = self.n_features_in_
        self.topics_ = np.zeros((len(anchors), n_words))
        self.topics_[:, columns] = recovered.topics
        self.gaps_ = np.zeros(n_words)
        self.gaps_[columns] = recovered.gaps
        self.weights_, self.anchors_, self.n_iter_ = recovered.weights, columns[anchors], recovered.n_iter
        if n_left := int(np.count_nonzero(self.gaps_ > self.tol)):
            message = f"{n_left:,} of {n_words:,} words are above the tolerance after {self.max_iter:,} iterations."
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def find_component(self, word: int) -> OneComponent:
        """Find the topic in which a word is most probable."""
        check_is_fitted(self)
        topic = int(np.argmax(self.topics_[:, word]))
        return OneComponent(self.topics_[topic], float(self.weights_[topic]))


def compute_word_frequencies(counts: sp.csr_array[Any], word: int) -> Array:
    """Return the frequency of a labeled word in each document: the document weights of semi-supervised recovery."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    return np.asarray(counts[:, [word]].toarray().ravel() / np.where(lengths > 0, lengths, np.inf))


def compute_cooccurrence(counts: sp.csr_array[Any], document_weights: Array | None = None) -> Matrix:
    """Compute the co-occurrence of words, as a linear operator if there are many words."""
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64)
    weights = np.ones(len(lengths)) if document_weights is None else document_weights
    weights = np.where(lengths >= MIN_WORDS, weights, 0.0)
    per_pair = weights / weights.sum() / np.maximum(lengths * (lengths - 1), 1)
    zeros = np.zeros(counts.shape[1])
    return rescale(
        second_moment(chunk_in_memory(counts.astype(np.result_type(counts, np.float32))), lambda _: per_pair),
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
    weights = np.ones(counts.shape[0]) if document_weights is None else np.asarray(document_weights, dtype=np.float64)
    rows = np.flatnonzero((weights > 0) & (np.asarray(counts.sum(axis=1)) >= MIN_WORDS))
    if not len(rows):
        raise ValueError("There are no pairs of words: every document has zero weight or fewer than two words.")
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
