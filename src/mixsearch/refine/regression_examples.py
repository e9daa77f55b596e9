"""More regressions than features: the likelihood tells them apart, from a few examples of one of them.

Moments need linearly independent coefficients, which two lines on one feature cannot have. A few examples are enough to
begin with: least squares gives their line, the samples that it does not explain give the others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch.models.regression import Lines, RegressionModel
from mixsearch.refine.regression import RefinedRegression, refined_of, regressors_of
from mixsearch.refine.regression_steps import Position, Regressors, climb_regressions, least_squares, look
from mixsearch.refine.steps import Climbed, Steps
from mixsearch.types import Array, Samples

# Starts from other samples for the other lines; each is followed for so many steps, and the best one to the end.
N_STARTS = 20
FIRST_STEPS = Steps(most=5, tolerance=1.0)
# The noise of a line through so few samples, as a part of the variance of y.
ROUGH_NOISE = 0.05


class ToldByExamples(NamedTuple):
    """A component that examples and the likelihood alone told."""

    refined: RefinedRegression
    lines: Lines  # of all components, for the design of the fit, the one found first
    chances: Array  # that the examples are of each component, (k,), falling


def tell_by_examples(model: RegressionModel, X: Samples, y: Array, steps: Steps) -> ToldByExamples:
    """Find the regression of a few examples, and all others with it.

    Notes
    -----
    The likelihood of a mixture has many maxima: of several starts, with the others' lines through samples drawn at
    random from those that the examples' line does not explain, the one with the largest likelihood is kept.
    """
    regressors = regressors_of(model)
    few = Regressors(regressors.design, X, y - (model.offset if regressors.constant else 0.0), regressors.constant)
    rng = np.random.default_rng(0)  # the same answer every time
    starts = [_draw_lines(regressors, few, model.n_components, rng) for _ in range(N_STARTS)]
    best = max((climb_regressions(regressors, start, FIRST_STEPS) for start in starts), key=_objective)
    climbed = climb_regressions(regressors, best.state.lines, steps)
    chances = _chances(few, climbed.state.lines)
    order = np.argsort(-chances, kind="stable")
    lines = climbed.state.lines
    lines = Lines(lines.slopes[:, order], *(each[order] for each in lines[1:]))
    refined = refined_of(regressors, Climbed(look(regressors, lines), climbed.objectives), model.offset)
    return ToldByExamples(refined, _for_fit(model, regressors, lines), chances[order])


def _objective(climbed: Climbed[Position]) -> float:
    return climbed.objectives[-1]


def _draw_lines(regressors: Regressors, few: Regressors, n_lines: int, rng: np.random.Generator) -> Lines:
    """The examples' line, and lines through samples that no line before them explains."""
    Z, y = _features(regressors), regressors.responses
    fits = [least_squares(_features(few), few.responses, np.ones(len(few.responses)))]
    unexplained = (y - Z @ fits[0]) ** 2
    for _ in range(n_lines - 1):
        # Squares are capped: one outlier must not be in every draw.
        chances = np.minimum(unexplained, ROUGH_NOISE * regressors.energy) + 1e-9 * regressors.energy
        rows = rng.choice(len(y), size=min(Z.shape[1] + 2, len(y)), replace=False, p=chances / chances.sum())
        fits.append(least_squares(Z[rows], y[rows], np.ones(len(rows))))
        unexplained = np.minimum(unexplained, (y - Z @ fits[-1]) ** 2)
    coefficients = np.column_stack(fits)
    slopes, levels = (coefficients[:-1], coefficients[-1]) if regressors.constant else (coefficients, np.zeros(n_lines))
    return Lines(slopes, levels, np.full(n_lines, ROUGH_NOISE * regressors.energy), np.full(n_lines, 1 / n_lines))


def _features(regressors: Regressors) -> Array:
    """Standardised samples, and 1 where lines have levels, (n, r) or (n, r + 1): there are few of them."""
    Z = regressors.design.predict(regressors.samples, np.eye(regressors.design.n_coordinates))
    return np.column_stack([Z, np.ones(len(Z))]) if regressors.constant else Z


def _chances(few: Regressors, lines: Lines) -> Array:
    """The probability of each line, all as likely beforehand, that all examples are of it, (k,)."""
    residuals = look(few, lines).expected.residuals
    logs = np.sum(residuals**2 / (-2 * lines.variances) - 0.5 * np.log(lines.variances), axis=0)
    return np.asarray(softmax(logs))


def _for_fit(model: RegressionModel, regressors: Regressors, lines: Lines) -> Lines:
    """Lines for the coordinates in which the likelihood is climbed -> lines for the design of the fit."""
    coefficients = regressors.design.coefficients(lines.slopes)
    level = 0.0 if regressors.constant else model.offset
    levels = lines.levels - level + (model.design.center - regressors.design.center) @ coefficients
    return lines._replace(slopes=model.design.standardised(coefficients), levels=levels)
