"""Many small convex problems at once, each on a probability simplex: exponentiated gradient with a step of its own."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from mixsearch._typing import Array

# A step must lower the objective by this part of what its slope promises, and the next one is longer where the slope
# at its end still is this part of that at its start.
LEAST_DESCENT, STILL_STEEP = 1e-4, 0.75
# No coordinate falls below this: a zero could not come back.
SMALLEST = 1e-30
ROUNDING = 1e-12
# Solved problems are laid aside when they are this part of all.
LAID_ASIDE = 0.125


class Objective(Protocol):
    """Convex functions, one for each of n problems, on the simplex with k corners."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, k)."""

    @property
    def first_step(self) -> float:
        """A length to start from."""

    def evaluate(self, points: Array) -> tuple[Array, Array]:
        """Values, (n,), and gradients, (n, k), at a point for each problem."""

    def take(self, kept: Array) -> Self:
        """Some of the problems, by a mask, (n,)."""


class Limits(NamedTuple):
    """When to stop."""

    tol: float = 1e-7  # how far a value may stay above its minimum
    max_iter: int = 2000  # of each problem; those that need more keep the gap they have


class Descent(NamedTuple):
    """Where the descents ended."""

    points: Array  # (n, k), rows on the simplex
    gaps: Array  # by how much a value can be above its minimum, (n,)
    n_steps: int  # of the slowest


class _State(NamedTuple):
    """The problems at work."""

    rows: Array  # where they stand among all, (b,)
    points: Array  # (b, k)
    values: Array  # (b,)
    gradients: Array  # (b, k)
    steps: Array  # (b,)

    def take(self, kept: Array) -> _State:
        return _State(*(each[kept] for each in self))


def descend_on_simplex(objective: Objective, limits: Limits) -> Descent:
    """Minimise each objective over the simplex.

    Notes
    -----
    A step multiplies a point's coordinates by exp(-η g), with the gradient g and a length η that halves where the
    value did not fall enough and doubles where it could have fallen on. For a convex f, Σ xⱼ (gⱼ - min g) bounds
    f(x) - min f: it is zero where the conditions of Karush, Kuhn and Tucker hold.
    """
    n, k = objective.shape
    points, gaps = np.full((n, k), 1 / k), np.full(n, np.inf)
    state = _State(np.arange(n), points.copy(), *objective.evaluate(points), np.full(n, objective.first_step))
    n_steps = 0
    while len(state.rows):
        now = _gaps(state)
        ended = (now <= limits.tol) | (n_steps >= limits.max_iter)
        if ended.all() or ended.mean() >= LAID_ASIDE:
            points[state.rows[ended]], gaps[state.rows[ended]] = state.points[ended], now[ended]
            state, objective = state.take(~ended), objective.take(~ended)
        if len(state.rows):
            state = _step(objective, state)
            n_steps += 1
    return Descent(points, gaps, n_steps)


def _gaps(state: _State) -> Array:
    lowest = state.gradients.min(axis=1)
    return np.asarray(np.einsum("ij,ij->i", state.points, state.gradients) - lowest * state.points.sum(axis=1))


def _step(objective: Objective, state: _State) -> _State:
    """One step of every problem; those whose value did not fall enough stay, with half the step."""
    _, before, values, gradients, steps = state
    slopes = gradients - gradients.min(axis=1, keepdims=True)
    points = before * np.exp(-steps[:, None] * slopes)
    points /= points.sum(axis=1, keepdims=True)
    np.maximum(points, SMALLEST, out=points)
    new_values, new_gradients = objective.evaluate(points)
    moved = points - before
    promised = np.einsum("ij,ij->i", gradients, moved)
    at_end = np.einsum("ij,ij->i", new_gradients, moved)
    # Near the minimum values differ by rounding alone, and only slopes still tell which of two points is lower.
    alike = np.abs(new_values - values) <= ROUNDING * np.abs(values)
    fell = (new_values <= values + LEAST_DESCENT * promised) | (alike & (at_end <= (2 * LEAST_DESCENT - 1) * promised))
    kept = fell[:, None]
    return _State(
        state.rows,
        np.where(kept, points, before),
        np.where(fell, new_values, values),
        np.where(kept, new_gradients, gradients),
        steps * np.where(fell, np.where(at_end <= STILL_STEEP * promised, 2.0, 1.0), 0.5),
    )
