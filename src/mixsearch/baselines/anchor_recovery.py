"""From the co-occurrence of words to topics: find anchor words, then write every word as a mixture of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.baselines.simplex_descent import Descent, Limits, descend_on_simplex
from mixsearch.baselines.simplex_splitting import split_squares
from mixsearch.data.chunks import row_slices
from mixsearch.data.threads import n_cores, one_blas_thread

# Words that are solved for together: their coefficients on a hundred anchors stay in cache.
BLOCK_WORDS = 512
# What divergence adds to the anchors' probabilities, so that no word is impossible beside all of them.
FLOOR = 1e-9


class Recovery(NamedTuple):
    """Topics, and how well the mixtures behind them were solved."""

    topics: Array  # p(word | topic), (k, d), rows on the simplex
    weights: Array  # p(topic), (k,)
    gaps: Array  # by how much the distance of each word from its mixture can be above the least, (d,)
    n_steps: int  # of the slowest word


def find_anchors(points: Array, n_anchors: int) -> Array:
    """The points that are farthest from what the others span: corners of their convex hull (FastAnchorWords).

    Parameters
    ----------
    points : array of shape (m, p)
        A row of conditional co-occurrence for each candidate word, whole or randomly projected.
    n_anchors : int
        How many corners to find.

    Returns
    -------
    array of shape (n_found,)
        Rows of the corners, in the order in which they were found; fewer than asked for where all points lie in the
        affine hull of those.

    Notes
    -----
    The first is the farthest from the origin, each further one from the affine hull of those before, by stabilised
    Gram-Schmidt. The farthest point of a convex hull from an affine subspace is one of its corners.
    """
    found = [int(np.einsum("ij,ij->i", points, points).argmax())]
    centred = points - points[found[0]]
    squares = np.einsum("ij,ij->i", centred, centred)
    rounding = 100 * np.finfo(points.dtype).eps * float(squares.max())
    basis = np.zeros((0, points.shape[1]), dtype=points.dtype)
    while len(found) < n_anchors and squares.max() > rounding:
        found.append(int(squares.argmax()))
        direction = centred[found[-1]]
        for _ in range(2):  # once leaves rounding errors of what was taken off
            direction = direction - (basis @ direction) @ basis
        direction /= np.linalg.norm(direction)
        basis = np.vstack([basis, direction])
        squares -= (centred @ direction) ** 2
    return np.array(found)


def recover_topics(
    cooccurrence: Matrix,
    anchors: Array,
    *,
    loss: str = "l2",
    solver: str = "splitting",
    tol: float = 1e-7,
    max_iter: int = 2000,
) -> Recovery:
    """Topics from the co-occurrence of words and an anchor word for each topic (RecoverL2, RecoverKL).

    Parameters
    ----------
    cooccurrence : array or LinearOperator of shape (d, d)
        Q: the probability of each pair as two different words of one document; symmetric, every row with a positive
        sum.
    anchors : array of shape (k,)
        The column of a word for each topic.
    loss : {"l2", "kl"}
        How the distance of a word from mixtures of anchors is measured: squares or divergence.
    solver : {"splitting", "exponentiated"}
        How squares are minimised: alternating directions, or exponentiated gradient as published. Divergence knows the
        second only.
    tol : float
        How far a distance may stay above the least.
    max_iter : int
        Of each word.

    Notes
    -----
    An anchor has its topic only. So with rows normalised, a word's row is the mixture of the anchors' rows with
    coefficients p(topic | word), and Bayes' rule turns these into p(word | topic).

    Squares need the anchors' rows and their products with all rows, never the whole of Q: two products of Q with k
    columns. Divergence needs every row of Q, a block of words at a time.
    """
    n_words, limits = cooccurrence.shape[0], Limits(tol, max_iter)
    word_mean = np.asarray(cooccurrence @ np.ones(n_words, cooccurrence.dtype), dtype=np.float64)
    rows = _rows(cooccurrence, anchors) / word_mean[anchors, None]
    if loss == "l2":
        solve = _squares(cooccurrence, word_mean, rows, solver, limits)
    else:
        solve = _divergences(cooccurrence, word_mean, rows, limits)
    found = _solve_all(solve, n_words)
    found.points[anchors] = np.eye(len(anchors))  # known, and exact
    joint = found.points * word_mean[:, None]
    weights = joint.sum(axis=0)
    return Recovery((joint / weights).T, weights / weights.sum(), found.gaps, found.n_steps)


def _rows(matrix: Matrix, numbers: Array) -> Array:
    """Some rows of a symmetric matrix, (b, d)."""
    units = np.zeros((matrix.shape[0], len(numbers)), dtype=matrix.dtype)
    units[numbers, np.arange(len(numbers))] = 1
    return np.asarray(matrix @ units, dtype=np.float64).T


def _solve_all(solve: Callable[[slice], Descent], n_words: int) -> Descent:
    """Solve for all words, a block of them at a time on each core."""
    with one_blas_thread, ThreadPoolExecutor(n_cores()) as pool:
        points, gaps, n_steps = zip(*pool.map(solve, row_slices(n_words, BLOCK_WORDS)), strict=True)
    return Descent(np.concatenate(points), np.concatenate(gaps), max(n_steps))


def _squares(
    cooccurrence: Matrix, word_mean: Array, rows: Array, solver: str, limits: Limits
) -> Callable[[slice], Descent]:
    gram = rows @ rows.T
    cross = np.asarray(cooccurrence @ rows.T.astype(cooccurrence.dtype), dtype=np.float64) / word_mean[:, None]
    if solver == "splitting":
        return lambda words: split_squares(gram, cross[words], limits)
    return lambda words: descend_on_simplex(Squares(gram, cross[words]), limits)


def _divergences(cooccurrence: Matrix, word_mean: Array, rows: Array, limits: Limits) -> Callable[[slice], Descent]:
    anchors = rows + FLOOR
    anchors /= anchors.sum(axis=1, keepdims=True)

    def solve(words: slice) -> Descent:
        numbers = np.arange(len(word_mean))[words]
        targets = _rows(cooccurrence, numbers) / word_mean[words, None]
        return descend_on_simplex(Divergences(anchors, targets), limits)

    return solve


@dataclass(frozen=True, slots=True)
class Squares:
    """|y - cX|² - |y|² for rows y of words and X of anchors: all that it takes of them is products."""

    gram: Array  # XX', (k, k)
    cross: Array  # yX', (n, k)

    @property
    def shape(self) -> tuple[int, int]:
        """Words and anchors."""
        return self.cross.shape[0], self.cross.shape[1]

    @property
    def first_step(self) -> float:
        """One that never is too long: no second derivative is larger than its inverse."""
        return 1 / (2 * float(np.abs(self.gram).max()))

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Squares and their gradients at coefficients c."""
        residual = points @ self.gram
        residual -= self.cross
        return np.einsum("ij,ij->i", points, residual - self.cross), 2 * residual

    def take(self, kept: Array) -> Self:
        """Some of the words."""
        return type(self)(self.gram, self.cross[kept])


@dataclass(frozen=True, slots=True)
class Divergences:
    """The divergence of cX from y, less the entropy of y: -Σ y log(cX)."""

    anchors: Array  # X, (k, d), positive
    targets: Array  # y, (n, d)

    @property
    def shape(self) -> tuple[int, int]:
        """Words and anchors."""
        return len(self.targets), len(self.anchors)

    @property
    def first_step(self) -> float:
        """One of about the right size: gradients are near -1 where mixtures are good."""
        return 1.0

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Divergences and their gradients at coefficients c."""
        expected = points @ self.anchors
        return -np.einsum("ij,ij->i", self.targets, np.log(expected)), -(self.targets / expected) @ self.anchors.T

    def take(self, kept: Array) -> Self:
        """Some of the words."""
        return type(self)(self.anchors, self.targets[kept])
