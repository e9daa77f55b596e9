"""Least squares on the probability simplex for many targets, by the alternating direction method of multipliers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.baselines._simplex_gradient import Limits, SimplexResult

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


class _State(NamedTuple):
    """The rows that have not converged."""

    rows: Array  # their indices, (b,)
    constant: Array  # the part of the plane's solution that depends on the target, (b, k)
    shares: Array  # solutions with c ≥ 0, (b, k)
    multipliers: Array  # (b, k)

    def take(self, kept: Array) -> _State:
        return _State(*(each[kept] for each in self))


def solve_squares_admm(gram: Array, cross: Array, limits: Limits) -> SimplexResult:
    """Minimize |y - cX|² over the simplex for every row y.

    Parameters
    ----------
    gram : array of shape (k, k)
        XX'.
    cross : array of shape (n, k)
        YX'.
    limits : Limits

    Returns
    -------
    SimplexResult

    Notes
    -----
    The problem is split into least squares on the plane Σ c = 1, solved exactly, and c ≥ 0, solved by clipping;
    multipliers make the two solutions agree. All rows share XX', so an iteration is one product with a (k, k) matrix.
    """
    n, k = cross.shape
    points, gaps = np.ones((n, k)), np.zeros(n)
    if k == 1:
        return SimplexResult(points, gaps, 0)
    plane = _make_plane(gram)
    start = np.full((n, k), 1 / k)
    state = _State(np.arange(n), plane.center + cross @ plane.gain, start, np.zeros((n, k)))
    n_iter = 0
    while len(state.rows):
        state = _iterate(state, plane.proximal)
        n_iter += ITERATIONS_PER_CHECK
        current = state.shares / state.shares.sum(axis=1, keepdims=True)
        gap = _compute_gaps(current, gram, cross[state.rows])
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


def _iterate(state: _State, proximal: Array) -> _State:
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


def _compute_gaps(points: Array, gram: Array, cross: Array) -> Array:
    """Return Σ cⱼ (gⱼ - min g) with the gradient g, an upper bound on the excess of the squares, (b,)."""
    gradients = 2 * (points @ gram - cross)
    return np.asarray(np.einsum("ij,ij->i", points, gradients) - gradients.min(axis=1))
