"""A regression sharpened by likelihood steps for the whole mixture, and how far it can be trusted then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates, Refined
from mixsearch.core.em import EMOptions, EMResult
from mixsearch.core.tensor import all_components, separate_rest
from mixsearch.data.partitions import SamplePartition
from mixsearch.regression._design import Design, scale_design
from mixsearch.regression._em import FEW_PER_PARAMETER, FEW_SAMPLES, Expected, Regressors, climb_regressions, expect
from mixsearch.regression._moments import Lines, RegressionFamily, RegressionPartition

# A component is taken to have this part of an even share at least, and of the variance of y, so that none dies early.
LEAST_SHARE, LEAST_NOISE = 0.2, 0.02


# Draws of imagined samples; numbers that standard errors may take memory for.
N_DRAWS, MOST_SCORES = 1000, 20_000_000


@dataclass(frozen=True, slots=True)
class RefinedRegression(Refined):
    """A regression after likelihood steps, with the mixture that it was told apart from."""

    intercept: float
    noise_variance: float
    mixture: Lines  # the component itself first
    design: Design  # of the mixture's slopes
    offset: float  # of the mixture's levels

    def expect(self, X: Samples, y: Array) -> Expected:
        """What the mixture says of any samples."""
        return expect(self.mixture, self.design.predict(X, self.mixture.slopes), y - self.offset)


class Learned(NamedTuple):
    """The whole mixture, which serves every hint, and the samples that it was learned from."""

    regressors: Regressors
    climbed: EMResult[Lines]


def learn_regressions(model: RegressionFamily, steps: EMOptions) -> Learned:
    """The whole mixture, from all contractions of its third moment and likelihood steps."""
    regressors = regressors_of(model)
    return Learned(regressors, _climb(model, regressors, all_components(_tensor_of_few(model), model.mean), steps))


def _tensor_of_few(model: RegressionFamily) -> Array:
    """The moments of all coordinates of the frame as hints, (k, k, k), of a part of the samples."""
    return model.thin(few_of(model)).tensor(np.eye(model.frame.n_components))


def refine_regression(
    model: RegressionFamily,
    candidates: Candidates,
    steps: EMOptions,
    learned: Learned,
    prefer: Callable[[Lines], Array],
) -> tuple[RefinedRegression, int]:
    """The regression that the hint means, sharpened, and which of the candidates it is.

    Parameters
    ----------
    model : RegressionFamily
    candidates : Candidates
        As moments show them.
    steps : Steps
        For a component that the mixture lacks.
    learned : Learned
        The mixture as `learn_regressions` has it.
    prefer : callable
        From regressions for the design of the fit to what the hint makes of each, (k,).

    Notes
    -----
    Lines at the maximum of the likelihood are much sharper than those of moments: they tell better, too, which of them
    the hint means. Where the mixture lacks the component that moments find, the steps begin there once more, and the
    larger likelihood decides.
    """
    regressors, climbed = learned
    rough, design = model.lines(candidates), regressors.design
    if not np.all(_alive(climbed.state, model)) or _place_of(rough, 0, for_fit(model, design, climbed.state)) is None:
        again = _climb(model, regressors, separate_rest(_tensor_of_few(model), candidates), steps)
        climbed = max(climbed, again, key=lambda each: each.objectives[-1])
    lines = for_fit(model, design, climbed.state)
    place = int(np.argmax(np.where(_alive(lines, model), prefer(lines), -np.inf)))
    rank = int(np.argmin(_squared_distances(lines, place, rough)))
    return refined_of(regressors, climbed, model.offset, place), rank


def _alive(lines: Lines, model: RegressionFamily) -> Array:
    """Which regressions have more samples than it takes to draw a line through them anywhere, (k,)."""
    n = model.partitions.n_rows
    return lines.weights * n > min(model.design.n_coordinates, n / 4)


def _climb(
    model: RegressionFamily, regressors: Regressors, candidates: Candidates, steps: EMOptions
) -> EMResult[Lines]:
    start = _in_units(model, model.lines(candidates), regressors)
    return climb_regressions(regressors, start, steps, few=few_of(model))


def _place_of(rough: Lines, rank: int, lines: Lines) -> int | None:
    """Which line of a mixture a rough one is: less than halfway to any other."""
    distances = _squared_distances(rough, rank, lines)
    nearest = int(np.argmin(distances))
    apart = np.delete(_squared_distances(lines, nearest, lines), nearest)
    return nearest if 4 * distances[nearest] < apart.min(initial=np.inf) else None


def _squared_distances(one: Lines, rank: int, lines: Lines) -> Array:
    """E[(difference of predictions)²] between a line and others, (k,)."""
    return np.asarray(
        np.sum((lines.slopes - one.slopes[:, [rank]]) ** 2, axis=0) + (lines.levels - one.levels[rank]) ** 2
    )


def regressors_of(model: RegressionFamily, design: Design | None = None) -> Regressors:
    """The samples of a fit, in coordinates of about the same variance each, or in those of a design known already."""
    if design is None:
        design = _design_of(model)
    shift = 0.0 if model.fit_intercept else model.offset
    return Regressors(design, model.partitions.map(_samples, shift), constant=model.fit_intercept)


def _design_of(model: RegressionFamily) -> Design:
    design = model.design
    if design.whitener is None:
        design = scale_design(model.partitions, centered=model.fit_intercept)
    return design if model.fit_intercept else replace(design, center=np.zeros_like(design.center))


def _samples(partition: RegressionPartition, shift: float) -> SamplePartition:
    return SamplePartition(
        partition.first, partition.samples, partition.responses + shift if shift else partition.responses
    )


def refined_of(regressors: Regressors, climbed: EMResult[Lines], offset: float, place: int) -> RefinedRegression:
    """One component of a mixture, in the user's units."""
    lines, design = climbed.state.with_first(place), regressors.design
    center = design.coefficients(lines.slopes[:, 0])
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


def for_fit(model: RegressionFamily, design: Design, lines: Lines) -> Lines:
    """Lines for the coordinates in which the likelihood is climbed -> lines for the design of the fit."""
    coefficients = design.coefficients(lines.slopes)
    level = 0.0 if model.fit_intercept else model.offset
    levels = lines.levels - level + (model.design.center - design.center) @ coefficients
    return lines._replace(slopes=model.design.standardised(coefficients), levels=levels)


def few_of(model: RegressionFamily) -> int:
    """Of so many samples one leads near the maximum."""
    n_parameters = model.n_components * (model.design.n_coordinates + 3)
    return max(model.partitions.n_rows // max(FEW_SAMPLES, FEW_PER_PARAMETER * n_parameters), 1)


def _in_units(model: RegressionFamily, lines: Lines, regressors: Regressors) -> Lines:
    """Lines as the moments show them, for the coordinates of the likelihood, with no weight and no noise too small."""
    coefficients = model.design.coefficients(lines.slopes)
    shift = regressors.design.center - model.design.center
    levels = lines.levels + shift @ coefficients if regressors.constant else np.zeros_like(lines.levels)
    weights = np.maximum(lines.weights, LEAST_SHARE / len(levels))
    variances = np.clip(lines.variances, LEAST_NOISE * regressors.energy, regressors.energy)
    slopes = regressors.design.standardised(coefficients)
    # No component can explain more than all of y.
    long = np.sqrt(np.sum(slopes**2, axis=0) * weights / regressors.energy)
    return Lines(slopes / np.maximum(long, 1.0), levels, variances, weights / weights.sum())
