"""Solve many small convex problems on the probability simplex by exponentiated gradient."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from mixsearch._typing import Array

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


class Objective(Protocol):
    """Convex functions of n problems on the simplex with k corners."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of problems and of coordinates, (n, k)."""

    @property
    def first_step(self) -> float:
        """The initial step length."""

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Return values, (n,), and gradients, (n, k), at one point per problem."""

    def take(self, kept: Array) -> Self:
        """Select problems by a mask, (n,)."""


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


def minimize_on_simplex(objective: Objective, limits: Limits) -> SimplexResult:
    """Minimize each objective over the simplex.

    Parameters
    ----------
    objective : Objective
    limits : Limits

    Returns
    -------
    SimplexResult

    Notes
    -----
    A step multiplies coordinates by exp(-η g), with the gradient g and a step length η that halves if the value did not
    decrease enough and doubles if the slope at its end is still steep. For a convex f, Σ xⱼ (gⱼ - min g) bounds
    f(x) - min f: it is zero if the Karush-Kuhn-Tucker conditions hold.
    """
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


def _step(objective: Objective, state: _State) -> _State:
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
