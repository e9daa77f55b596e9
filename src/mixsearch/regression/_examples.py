"""Regressions that moments cannot tell: the likelihood tells them apart, from a few examples of one of them.

Moments need linearly independent coefficients, which two lines on one feature cannot have, and an x that is not too far
from normal. A few examples are enough to begin with: least squares gives their line, the samples that it does not
explain give the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import f

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.data.partitions import SamplePartition
from mixsearch.regression._em import Regressors, climb_regressions, least_squares
from mixsearch.regression._moments import Lines, RegressionFamily
from mixsearch.regression._refinement import RefinedRegression, few_of, for_fit, refined_of, regressors_of

# Starts from other samples for the other lines; each is followed for so many steps, and the best one to the end.
N_STARTS = 20


FIRST_STEPS = EMOptions(max_iter=5, tol=1.0)


# Examples that a line of the mixture fits worse than they would by this chance are of another.
CHANCE = 1e-3


# The noise of a line through so few samples, as a part of the variance of y.
ROUGH_NOISE = 0.05


# So few samples have many maxima with a line of hardly any noise through some of them: deviations may differ tenfold.
LEAST_VARIANCE = 0.01


class ToldByExamples(NamedTuple):
    """A component that examples and the likelihood alone told."""

    refined: RefinedRegression
    lines: Lines  # of all components, for the design of the fit, the one found first


def tell_by_examples(model: RegressionFamily, X: Samples, y: Array, steps: EMOptions) -> ToldByExamples:
    """Find the regression of a few examples, and all others with it.

    Notes
    -----
    The likelihood of a mixture has many maxima: of several starts, with the others' lines through samples drawn at
    random from those that the examples' line does not explain, the one with the largest likelihood is kept.
    """
    regressors = replace(regressors_of(model), least_variance=LEAST_VARIANCE)
    few = SamplePartition(0, X, y - (model.offset if regressors.constant else 0.0))
    rng = np.random.default_rng(0)  # the same answer every time
    part = regressors.thin(few_of(model)).collect()
    starts = _draw_starts(part, few, model.n_components, rng)
    best = max((climb_regressions(part, start, FIRST_STEPS) for start in starts), key=_objective)
    climbed = climb_regressions(regressors, best.state, steps)
    lines, design = climbed.state, regressors.design
    place = int(np.argmax(lines.odds(design.predict(X, lines.slopes), few.responses)))
    refined = refined_of(regressors, climbed, model.offset, place)
    return ToldByExamples(refined, for_fit(model, design, refined.mixture))


def is_explained(refined: RefinedRegression, X: Samples, y: Array) -> bool:
    """Whether a few examples may be of a regression, by the F-test against their own least squares.

    Examples that are too few for a line of their own are of any.
    """
    Z = refined.design.predict(X, np.eye(refined.design.n_coordinates))
    Z = np.column_stack([Z, np.ones(len(y))])
    n_fitted, n_free = Z.shape[1], len(y) - Z.shape[1]
    if n_free < 1:
        return True
    own = float(np.sum((y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]) ** 2))
    more = float(np.sum((y - X @ refined.center - refined.intercept) ** 2)) - own
    ratio = (more / n_fitted) / max(own / n_free, np.finfo(float).tiny)
    return bool(f.sf(ratio, n_fitted, n_free) > CHANCE)


def _objective(climbed: EMResult[Lines]) -> float:
    return climbed.objectives[-1]


def _draw_starts(part: Regressors, few: SamplePartition, n_lines: int, rng: np.random.Generator) -> list[Lines]:
    samples = part.partitions.collect().partition
    Z, y = _features(part, samples), samples.responses
    first = _line_through(_features(part, few), few.responses)
    return [_lines_of(part, _draw_lines(Z, y, first, n_lines, part.energy, rng)) for _ in range(N_STARTS)]


def _line_through(Z: Array, y: Array) -> Array:
    return least_squares(Z.T @ Z, Z.T @ y)


def _draw_lines(Z: Array, y: Array, first: Array, n_lines: int, energy: float, rng: np.random.Generator) -> Array:
    """The examples' line, and lines through samples that no line before them explains, (r + 1, k) or (r, k)."""
    fits, unexplained = [first], (y - Z @ first) ** 2
    for _ in range(n_lines - 1):
        # Squares are capped: one outlier must not be in every draw.
        chances = np.minimum(unexplained, ROUGH_NOISE * energy) + 1e-9 * energy
        rows = rng.choice(len(y), size=min(Z.shape[1] + 2, len(y)), replace=False, p=chances / chances.sum())
        fits.append(_line_through(Z[rows], y[rows]))
        unexplained = np.minimum(unexplained, (y - Z @ fits[-1]) ** 2)
    return np.column_stack(fits)


def _lines_of(regressors: Regressors, fits: Array) -> Lines:
    """With the same noise and the same weight each."""
    k = fits.shape[1]
    slopes, levels = (fits[:-1], fits[-1]) if regressors.constant else (fits, np.zeros(k))
    return Lines(slopes, levels, np.full(k, ROUGH_NOISE * regressors.energy), np.full(k, 1 / k))


def _features(regressors: Regressors, samples: SamplePartition) -> Array:
    """Standardised samples, and 1 where lines have levels, (n, r) or (n, r + 1): there are few of them."""
    Z = regressors.design.predict(samples.samples, np.eye(regressors.design.n_coordinates))
    return np.column_stack([Z, np.ones(len(Z))]) if regressors.constant else Z
