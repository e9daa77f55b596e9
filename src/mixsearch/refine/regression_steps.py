"""Likelihood steps for all regressions of a mixture, in all dimensions at once.

Outside the span of all slopes a standardised x tells nothing of membership, so that the information there is one k x k
matrix for every direction alike: a Newton step costs two thin products with the samples, and three or four reach the
maximum. A few of the samples lead most of the way there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch.linalg import invert_information
from mixsearch.models.design import Design
from mixsearch.models.regression import Lines
from mixsearch.refine.steps import Climbed, Steps, climb
from mixsearch.types import Array, Samples

# The first steps take so many samples, and so many per parameter.
FEW_SAMPLES, FEW_PER_PARAMETER = 20_000, 20
# Steps of expectation maximisation before those of Newton, which want to start near the maximum.
START = Steps(most=30, tolerance=5.0)
# No noise variance falls below these parts of their average and of the variance of y: a line through a few samples has
# an infinite likelihood otherwise.
LEAST_VARIANCE, LEAST_ENERGY = 1e-3, 1e-10
# Directions in which all slopes together are this small count as outside their span.
LEAST_SPAN = 1e-3
# Of logarithms of variances and weights, in one step.
LONGEST_STEP = 2.0
# A step that lowers the likelihood is halved so many times before it is given up.
MOST_HALVINGS = 8


class Expected(NamedTuple):
    """What a mixture says of the samples."""

    residuals: Array  # (n, k)
    memberships: Array  # (n, k)
    objective: float

    def pulls(self, variances: Array) -> Array:
        """Derivatives of each sample's log-likelihood by its predictions, (n, k)."""
        return self.memberships * self.residuals / variances


@dataclass(frozen=True)
class Regressors:
    """Samples as likelihood steps see them: standardised around their mean, or around zero without intercepts."""

    design: Design
    samples: Samples
    responses: Array  # (n,)
    constant: bool  # whether the components have levels of their own
    least_variance: float = LEAST_VARIANCE

    @cached_property
    def energy(self) -> float:
        """The variance of y, or a trace of one where y is constant."""
        return max(float(np.var(self.responses)), np.finfo(float).tiny)

    @cached_property
    def drift(self) -> Array:
        """The mean of z, where it has one, as a unit column, (r, 1) or (r, 0): outside the span there shall be none."""
        mean = self.design.sum_rows(self.samples, np.ones((len(self.responses), 1)))
        length = float(np.linalg.norm(mean))
        return mean / length if length > 1e-6 * len(self.responses) else mean[:, :0]

    def thin(self, step: int) -> Regressors:
        """Every so many-th sample."""
        return replace(self, samples=self.samples[::step], responses=self.responses[::step])


class Position(NamedTuple):
    """A mixture with what it says of the samples, in the span of its slopes."""

    lines: Lines
    basis: Array  # Q of the span, (r, q), orthonormal
    inside: Array  # zQ, and 1 where components have levels, (n, q) or (n, q + 1)
    expected: Expected


def climb_regressions(regressors: Regressors, start: Lines, steps: Steps, *, few: int = 1) -> Climbed[Lines]:
    """From rough lines to the maximum of the likelihood."""
    part = regressors.thin(few)
    lines = _maximise_in_span(part, start)
    if few > 1:
        lines = _ascend(part, lines, Steps(steps.most, 1.0)).state
    return _ascend(regressors, lines, steps)


def _ascend(regressors: Regressors, start: Lines, steps: Steps) -> Climbed[Lines]:
    """Newton steps, which know the objective of where they lead before they are taken."""
    here = look(regressors, start)
    objectives = [here.expected.objective]
    while len(objectives) <= steps.most:
        beyond = _step(regressors, here)
        if beyond is None:
            break
        here = beyond
        objectives.append(here.expected.objective)
        if objectives[-1] - objectives[-2] < steps.tolerance:
            break
    return Climbed(here.lines, tuple(objectives))


def look(regressors: Regressors, lines: Lines, *, whole: bool = False) -> Position:
    """One pass over the samples; the span may be taken to be the whole space."""
    k, r = len(lines.levels), len(lines.slopes)
    directions = np.eye(r) if whole else np.hstack([lines.slopes, regressors.drift])
    seen = regressors.design.predict(regressors.samples, directions)
    left, values, right = np.linalg.svd(directions, full_matrices=False)
    kept = values > LEAST_SPAN * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    inside = seen @ (right[kept].T / values[kept])
    if regressors.constant:
        inside = np.column_stack([inside, np.ones(len(inside))])
    expected = expect(lines, seen @ lines.slopes if whole else seen[:, :k], regressors.responses)
    return Position(lines, left[:, kept], inside, expected)


def expect(lines: Lines, predicted: Array, responses: Array) -> Expected:
    """Residuals, memberships and the log-likelihood, from what the slopes alone predict, (n, k)."""
    # One row per component: sums over few columns would be slow.
    residuals = responses - predicted.T - lines.levels[:, None]
    logs = np.square(residuals)
    logs *= -0.5 / lines.variances[:, None]
    logs += (np.log(lines.weights) - 0.5 * np.log(2 * np.pi * lines.variances))[:, None]
    top = logs.max(axis=0)
    logs -= top
    np.exp(logs, out=logs)
    total = logs.sum(axis=0)
    logs /= total
    return Expected(residuals.T, logs.T, float(top.sum() + np.log(total).sum()))


def _step(regressors: Regressors, here: Position) -> Position | None:
    """The next position, or None where no part of the step gains."""
    move = _newton(regressors, here)
    for halvings in range(MOST_HALVINGS + 1):
        beyond = look(regressors, _moved(regressors, here, move, 0.5**halvings))
        if beyond.expected.objective >= here.expected.objective:
            return beyond
    return None


class Move(NamedTuple):
    """A Newton step."""

    inside: Array  # of the coefficients on the inside features, (q, k) or (q + 1, k)
    outside: Array  # of the slopes outside their span, (r, k)
    variances: Array  # of the logarithms, (k,)
    weights: Array  # of the logarithms up to a constant, (k,)


def _newton(regressors: Regressors, here: Position) -> Move:
    """The step that the information asks for: full for all that lies in the span, k x k outside of it.

    Notes
    -----
    z outside the span is uncorrelated with all that is inside and has covariance I, whence the block form. The sum of
    the outer products of the scores stands for the information: it is never negative, and agrees with minus the second
    derivative at the maximum up to the noise of the samples.
    """
    lines, (residuals, memberships, _) = here.lines, here.expected
    pulls = here.expected.pulls(lines.variances)
    n, k = pulls.shape
    n_scores = k * here.inside.shape[1] + 2 * k
    some = max(n // max(FEW_SAMPLES, FEW_PER_PARAMETER * n_scores), 1)
    part = Expected(residuals[::some], memberships[::some], 0.0)
    scores = scores_of(lines, here.inside[::some], part)
    information = scores.T @ scores * (n / len(scores))
    gradient = np.concatenate(
        [
            (pulls.T @ here.inside).ravel(),
            0.5 * (np.sum(pulls * residuals, axis=0) - memberships.sum(axis=0)),
            memberships.sum(axis=0) - n * lines.weights,
        ]
    )
    move = invert_information(information) @ gradient
    total = regressors.design.sum_rows(regressors.samples, pulls)
    beside = total - here.basis @ (here.basis.T @ total)
    outside = beside @ invert_information(pulls.T @ pulls)
    return Move(move[: -2 * k].reshape(k, -1).T, outside, move[-2 * k : -k], move[-k:])


def scores_of(lines: Lines, inside: Array, expected: Expected) -> Array:
    """Derivatives of each sample's log-likelihood, (n, p): by inside coefficients, log variances and log weights."""
    pulls = expected.pulls(lines.variances)
    by_slopes = (pulls[:, :, None] * inside[:, None, :]).reshape(len(inside), -1)
    by_variances = 0.5 * (pulls * expected.residuals - expected.memberships)
    return np.hstack([by_slopes, by_variances, expected.memberships - lines.weights])


def _moved(regressors: Regressors, here: Position, move: Move, part: float) -> Lines:
    """Lines after a part of a step.

    The noise variance has counted what the slopes lacked outside the span: it loses what they gain there.
    """
    slopes, levels, variances, weights = here.lines
    inside, outside = part * move.inside, part * move.outside
    if regressors.constant:
        levels, inside = levels + inside[-1], inside[:-1]
    longest = LONGEST_STEP * part
    variances = variances * np.exp(np.clip(part * move.variances, -longest, longest))
    variances = np.maximum(variances - np.sum(outside**2, axis=0), 0.1 * variances)
    weights = softmax(np.log(weights) + np.clip(part * move.weights, -longest, longest))
    return Lines(slopes + here.basis @ inside + outside, levels, _floored(variances, weights, regressors), weights)


def _floored(variances: Array, weights: Array, regressors: Regressors) -> Array:
    return np.maximum(
        variances, max(regressors.least_variance * float(weights @ variances), LEAST_ENERGY * regressors.energy)
    )


def _maximise_in_span(regressors: Regressors, start: Lines) -> Lines:
    """Steps of expectation maximisation with slopes that stay in their span."""
    here = look(regressors, start)
    inside, responses, levelled = here.inside, regressors.responses, regressors.constant

    def lines_of(fits: Array, variances: Array, weights: Array) -> Lines:
        slopes, levels = (fits[:-1], fits[-1]) if levelled else (fits, np.zeros(len(weights)))
        return Lines(here.basis @ slopes, levels, variances, weights)

    def step(lines: Lines) -> tuple[Lines, float]:
        expected = expect(lines, inside[:, : here.basis.shape[1]] @ (here.basis.T @ lines.slopes), responses)
        members, sizes = expected.memberships, np.maximum(expected.memberships.sum(axis=0), 1e-9)
        fits = np.column_stack([least_squares(inside, responses, own) for own in members.T])
        variances = np.sum(members * (responses[:, None] - inside @ fits) ** 2, axis=0) / sizes
        weights = sizes / sizes.sum()
        return lines_of(fits, _floored(variances, weights, regressors), weights), expected.objective

    return climb(start, step, START).state


def least_squares(inside: Array, responses: Array, weights: Array) -> Array:
    """Coefficients on few features, (q,); the smallest, where samples of any weight do not tell them all."""
    weighted = inside * weights[:, None]
    return np.asarray(np.linalg.pinv(weighted.T @ inside, rcond=1e-12, hermitian=True) @ (weighted.T @ responses))
