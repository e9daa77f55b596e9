"""A regression sharpened by likelihood steps for the whole mixture, and how far it can be trusted then."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mixsearch.blocks import spread_over_blocks
from mixsearch.models.design import Design, scale_design
from mixsearch.models.regression import Lines, RegressionModel
from mixsearch.refine.regression_steps import (
    FEW_PER_PARAMETER,
    FEW_SAMPLES,
    Position,
    Regressors,
    climb_regressions,
    expect,
    look,
    scores_of,
)
from mixsearch.refine.rest import separate_rest
from mixsearch.refine.steps import Climbed, Steps
from mixsearch.types import Array, Candidates, Refined, Samples, StandardErrors
from mixsearch.uncertainty import jackknife, newton_replicates

# A component is taken to have this part of an even share at least, and of the variance of y, so that none dies early.
LEAST_SHARE, LEAST_NOISE = 0.2, 0.02


@dataclass(frozen=True, slots=True)
class RefinedRegression(Refined):
    """A regression after likelihood steps, with the mixture that it was told apart from."""

    intercept: float
    noise_variance: float
    mixture: Lines  # the component itself first
    design: Design  # of the mixture's slopes
    offset: float  # of the mixture's levels

    def memberships(self, X: Samples, y: Array) -> Array:
        """The probability of every component for each sample, (n, k)."""
        return expect(self.mixture, self.design.predict(X, self.mixture.slopes), y - self.offset).memberships


def refine_regression(model: RegressionModel, candidates: Candidates, steps: Steps) -> RefinedRegression | None:
    """Sharpen the first of the candidates; None where the steps lead away from it."""
    part = model.thin(_few(model))
    rough = model.lines(separate_rest(lambda c: part.hinted(c).matrix, candidates))
    regressors = regressors_of(model)
    start = _in_units(model, rough, regressors)
    climbed = climb_regressions(regressors, start, steps, few=_few(model))
    moved = climbed.state.lines.slopes - start.slopes[:, :1]
    if np.argmin(np.sum(moved**2, axis=0) + (climbed.state.lines.levels - start.levels[0]) ** 2) != 0:
        return None
    return refined_of(regressors, climbed, model.offset)


def regressors_of(model: RegressionModel) -> Regressors:
    """The samples of a fit, in coordinates of about the same variance each."""
    design = model.design
    if design.whitener is None:
        design = scale_design(model.samples, centered=model.fit_intercept)
    if model.fit_intercept:
        return Regressors(design, model.samples, model.responses, constant=True)
    at_zero = replace(design, center=np.zeros_like(design.center))
    return Regressors(at_zero, model.samples, model.responses + model.offset, constant=False)


def refined_of(regressors: Regressors, climbed: Climbed[Position], offset: float) -> RefinedRegression:
    """The first component, in the user's units."""
    lines, design = climbed.state.lines, regressors.design
    center = np.asarray(design.coefficients(lines.slopes[:, 0]))
    level = offset if regressors.constant else 0.0
    return RefinedRegression(
        center=center,
        weight=float(lines.weights[0]),
        objectives=climbed.objectives,
        intercept=level + float(lines.levels[0] - design.center @ center) if regressors.constant else 0.0,
        noise_variance=float(lines.variances[0]),
        mixture=lines,
        design=design,
        offset=level,
    )


def _few(model: RegressionModel) -> int:
    """Of so many samples one leads near the maximum."""
    n_parameters = model.n_components * (model.design.n_coordinates + 3)
    return max(len(model.responses) // max(FEW_SAMPLES, FEW_PER_PARAMETER * n_parameters), 1)


def _in_units(model: RegressionModel, lines: Lines, regressors: Regressors) -> Lines:
    """Lines as the moments show them, for the coordinates of the likelihood, with no weight and no noise too small."""
    coefficients = model.design.coefficients(lines.slopes)
    shift = regressors.design.center - model.design.center
    levels = lines.levels + shift @ coefficients if regressors.constant else np.zeros_like(lines.levels)
    weights = np.maximum(lines.weights, LEAST_SHARE / len(levels))
    variances = np.clip(lines.variances, LEAST_NOISE * regressors.energy, regressors.energy)
    return Lines(regressors.design.standardised(coefficients), levels, variances, weights / weights.sum())


def refined_regression_errors(model: RegressionModel, refined: RefinedRegression) -> StandardErrors:
    """Standard errors of a refined regression.

    Notes
    -----
    Leaving out a block moves the estimate by one Newton step: by the full information for all that lies in the span of
    the slopes, by the k x k one outside of it, where one more pass over the samples adds up each block.
    """
    regressors, lines = regressors_of(model), refined.mixture
    here = look(regressors, lines)
    moves = newton_replicates(scores_of(lines, here.inside, here.expected))
    q, k = here.basis.shape[1], len(lines.levels)
    slopes = here.basis @ moves[:, :q].T
    pulls = here.expected.pulls(lines.variances)
    own = pulls @ np.linalg.pinv(pulls.T @ pulls, rcond=1e-12, hermitian=True)[:, 0]
    sums = regressors.design.sum_rows(regressors.samples, spread_over_blocks(own))
    slopes -= sums - here.basis @ (here.basis.T @ sums)
    weights = lines.weights[0] * (moves[:, -k] - moves[:, -k:] @ lines.weights)
    centers = regressors.design.coefficients(slopes)
    return StandardErrors(jackknife(centers.T), float(jackknife(weights)))
