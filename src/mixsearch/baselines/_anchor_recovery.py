"""Recover topics from the co-occurrence of words: find anchor words, then write every word as a mixture of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.baselines._simplex_admm import solve_squares_admm
from mixsearch.baselines._simplex_gradient import Limits, SimplexResult, minimize_on_simplex
from mixsearch.data.chunks import row_slices
from mixsearch.data.threads import n_cores, one_blas_thread

# Words solved for together: their coefficients on a hundred anchors fit into the cache.
CHUNK_WORDS = 512
# Added to the anchors' probabilities for the divergence, so that no word has probability zero.
MIN_PROBABILITY = 1e-9


class Recovery(NamedTuple):
    """Topics, and how accurately they were solved for.

    Attributes
    ----------
    topics : array of shape (k, d)
        p(word | topic).
    weights : array of shape (k,)
        p(topic).
    gaps : array of shape (d,)
        Upper bound on how far the loss of each word is above its minimum.
    n_iter : int
        The number of iterations of the slowest word.
    """

    topics: Array
    weights: Array
    gaps: Array
    n_iter: int


def find_anchors(points: Array, n_anchors: int) -> Array:
    """Find points that are corners of the convex hull of all points (FastAnchorWords).

    Parameters
    ----------
    points : array of shape (m, p)
        A row of conditional co-occurrence for each candidate word, whole or randomly projected.
    n_anchors : int
        The number of corners.

    Returns
    -------
    array of shape (n_found,)
        Rows of the corners, in the order of discovery; fewer than requested if all points lie in their affine hull.

    Notes
    -----
    The first is the farthest from the origin, each next one from the affine hull of those before, by stabilized
    Gram-Schmidt. The farthest point of a convex hull from an affine subspace is one of its corners.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.baselines import find_anchors
    >>> points = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3], [0.3, 0.3, 0.3], [0.1, 0.5, 0.2]])
    >>> find_anchors(points, 3).tolist()
    [2, 1, 0]
    """
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
    loss: Literal["l2", "kl"] = "l2",
    solver: Literal["admm", "exponentiated"] = "admm",
    tol: float = 1e-7,
    max_iter: int = 2000,
) -> Recovery:
    """Recover topics from the co-occurrence of words and an anchor word for each topic (RecoverL2, RecoverKL).

    Parameters
    ----------
    cooccurrence : array or LinearOperator of shape (d, d)
        Q: the probability of each pair as two different words of one document; symmetric, every row with a positive
        sum.
    anchors : array of shape (k,)
        The column of an anchor word for each topic.
    loss : {"l2", "kl"}
        The distance of a word from mixtures of anchors: squared error or divergence.
    solver : {"admm", "exponentiated"}
        How the squared error is minimized: by the alternating direction method of multipliers, or by exponentiated
        gradient as published. The divergence is always minimized by the latter.
    tol : float
        How far the loss of a word may stay above its minimum.
    max_iter : int
        The maximum number of iterations for each word.

    Returns
    -------
    Recovery

    Notes
    -----
    An anchor occurs in its topic only. So with normalized rows, a word's row is a mixture of the anchors' rows with
    coefficients p(topic | word), and Bayes' rule turns these into p(word | topic).

    The squared error needs only two products of Q with k columns. The divergence needs every row of Q, a chunk of words
    at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.baselines import recover_topics
    >>> topics = np.array([[0.6, 0.0, 0.4], [0.0, 0.7, 0.3]])  # words 0 and 1 are anchors
    >>> cooccurrence = topics.T @ np.diag([0.5, 0.5]) @ topics
    >>> recover_topics(cooccurrence, np.array([0, 1])).topics.round(2)
    array([[0.6, 0. , 0.4],
           [0. , 0.7, 0.3]])
    """
    n_words, limits = cooccurrence.shape[0], Limits(tol, max_iter)
    word_mean = np.asarray(cooccurrence @ np.ones(n_words, cooccurrence.dtype), dtype=np.float64)
    rows = _take_rows(cooccurrence, anchors) / word_mean[anchors, None]
    if loss == "l2":
        solve = _prepare_squares(cooccurrence, word_mean, rows, solver, limits)
    else:
        solve = _prepare_divergences(cooccurrence, word_mean, rows, limits)
    found = _solve_all(solve, n_words)
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


def _prepare_divergences(
    cooccurrence: Matrix, word_mean: Array, rows: Array, limits: Limits
) -> Callable[[slice], SimplexResult]:
    anchors = rows + MIN_PROBABILITY
    anchors /= anchors.sum(axis=1, keepdims=True)

    def solve(words: slice) -> SimplexResult:
        indices = np.arange(len(word_mean))[words]
        targets = _take_rows(cooccurrence, indices) / word_mean[words, None]
        return minimize_on_simplex(DivergenceLoss(anchors, targets), limits)

    return solve


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


@dataclass(frozen=True, slots=True)
class DivergenceLoss:
    """The divergence of cX from y without the entropy of y: -Σ y log(cX)."""

    anchors: Array  # X, (k, d), positive
    targets: Array  # y, (n, d)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of words and of anchors."""
        return len(self.targets), len(self.anchors)

    @property
    def first_step(self) -> float:
        """A step of about the right size: gradients are near -1 close to the minimum."""
        return 1.0

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Return losses and gradients at coefficients c."""
        expected = points @ self.anchors
        return -np.einsum("ij,ij->i", self.targets, np.log(expected)), -(self.targets / expected) @ self.anchors.T

    def take(self, kept: Array) -> Self:
        """Return the loss of some words."""
        return type(self)(self.anchors, self.targets[kept])
