"""Least squares on the probability simplex for many targets at once, by alternating directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.baselines.simplex_descent import Descent, Limits

# Usual for alternating directions: a step goes a little beyond each solution.
BEYOND = 1.6
# Steps between two looks at the gaps, each of which costs as much as a step.
STEPS_PER_LOOK = 10
# The penalty, in units of the geometric mean of the least and the largest curvature. At 1 most targets end sooner, and
# the last ones much later.
PENALTY = 2.0
# Directions in which anchors hardly differ do not set the pace.
LEAST_CURVATURE = 1e-4


class _Plane(NamedTuple):
    """Squares on the plane Σ c = 1 with a penalty for leaving a point: c = center + target' inward + point' back."""

    center: Array  # (k,)
    inward: Array  # (k, k)
    back: Array  # (k, k)


class _State(NamedTuple):
    """The rows at work."""

    rows: Array  # where they stand among all, (b,)
    constant: Array  # what the plane's solution takes from the target, (b, k)
    shares: Array  # solutions with c ≥ 0, (b, k)
    multipliers: Array  # (b, k)

    def take(self, kept: Array) -> _State:
        return _State(*(each[kept] for each in self))


def split_squares(gram: Array, cross: Array, limits: Limits) -> Descent:
    """Minimise |y - cX|² over the simplex for every row y.

    Parameters
    ----------
    gram : array of shape (k, k)
        XX'.
    cross : array of shape (n, k)
        YX'.
    limits : Limits

    Notes
    -----
    The problem is split into squares on the plane Σ c = 1, solved exactly, and c ≥ 0, met by clipping; a multiplier
    draws the two solutions together. All rows share XX', so that a step is one product with a (k, k) matrix.
    """
    n, k = cross.shape
    points, gaps = np.ones((n, k)), np.zeros(n)
    if k == 1:
        return Descent(points, gaps, 0)
    plane = _plane(gram)
    start = np.full((n, k), 1 / k)
    state = _State(np.arange(n), plane.center + cross @ plane.inward, start, np.zeros((n, k)))
    n_steps = 0
    while len(state.rows):
        state = _steps(state, plane.back)
        n_steps += STEPS_PER_LOOK
        now = state.shares / state.shares.sum(axis=1, keepdims=True)
        left = _gaps(now, gram, cross[state.rows])
        ended = (left <= limits.tol) | (n_steps >= limits.max_iter)
        points[state.rows[ended]], gaps[state.rows[ended]] = now[ended], left[ended]
        state = state.take(~ended) if ended.any() else state
    return Descent(points, gaps, n_steps)


def _plane(gram: Array) -> _Plane:
    k = len(gram)
    across = np.eye(k) - 1 / k
    curvatures = np.linalg.eigvalsh(2 * across @ gram @ across)[1:]
    largest = max(float(curvatures[-1]), np.finfo(np.float64).tiny)
    penalty = PENALTY * np.sqrt(max(float(curvatures[0]), LEAST_CURVATURE * largest) * largest)
    inverse = np.linalg.inv(2 * gram + penalty * np.eye(k))
    center = inverse.sum(axis=0) / inverse.sum()
    on_plane = inverse - np.outer(center, inverse.sum(axis=0))
    return _Plane(center, 2 * on_plane, penalty * on_plane)


def _steps(state: _State, back: Array) -> _State:
    _, constant, shares, multipliers = state
    for _ in range(STEPS_PER_LOOK):
        free = (shares - multipliers) @ back
        free += constant
        free *= BEYOND
        free += (1 - BEYOND) * shares
        free += multipliers
        shares = np.maximum(free, 0)
        multipliers = free - shares
    return state._replace(shares=shares, multipliers=multipliers)


def _gaps(points: Array, gram: Array, cross: Array) -> Array:
    """Σ cⱼ (gⱼ - min g) with the gradient g: by how much the squares can be above the least, (b,)."""
    gradients = 2 * (points @ gram - cross)
    return np.asarray(np.einsum("ij,ij->i", points, gradients) - gradients.min(axis=1))
