"""A regression sharpened by likelihood steps for the whole mixture, and how far it can be trusted then."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch.linalg import invert_information
from mixsearch.models.design import Design, scale_design
from mixsearch.models.regression import Lines, RegressionModel, RegressionShard
from mixsearch.refine.regression_steps import (
    FEW_PER_PARAMETER,
    FEW_SAMPLES,
    Expected,
    Position,
    Regressors,
    climb_regressions,
    expect,
    information_of,
    look,
)
from mixsearch.refine.rest import all_components, separate_rest
from mixsearch.refine.steps import Climbed, Steps
from mixsearch.shards import SampleShard
from mixsearch.types import Array, Candidates, Refined, Samples, StandardErrors, project

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
    climbed: Climbed[Lines]


def learn_regressions(model: RegressionModel, steps: Steps) -> Learned:
    """The whole mixture, from all contractions of its third moment and likelihood steps."""
    regressors = regressors_of(model)
    return Learned(regressors, _climb(model, regressors, all_components(_tensor_of_few(model), model.mean), steps))


def _tensor_of_few(model: RegressionModel) -> Array:
    """The moments of all coordinates of the frame as hints, (k, k, k), of a part of the samples."""
    return model.thin(few_of(model)).tensor(np.eye(model.frame.n_components))


def refine_regression(
    model: RegressionModel,
    candidates: Candidates,
    steps: Steps,
    learned: Learned,
    prefer: Callable[[Lines], Array],
) -> tuple[RefinedRegression, int]:
    """The regression that the hint means, sharpened, and which of the candidates it is.

    Parameters
    ----------
    model : RegressionModel
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


def _alive(lines: Lines, model: RegressionModel) -> Array:
    """Which regressions have more samples than it takes to draw a line through them anywhere, (k,)."""
    n = model.shards.n_rows
    return lines.weights * n > min(model.design.n_coordinates, n / 4)


def _climb(model: RegressionModel, regressors: Regressors, candidates: Candidates, steps: Steps) -> Climbed[Lines]:
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


def regressors_of(model: RegressionModel, design: Design | None = None) -> Regressors:
    """The samples of a fit, in coordinates of about the same variance each, or in those of a design known already."""
    if design is None:
        design = _design_of(model)
    shift = 0.0 if model.fit_intercept else model.offset
    return Regressors(design, model.shards.map(_samples, shift), constant=model.fit_intercept)


def _design_of(model: RegressionModel) -> Design:
    design = model.design
    if design.whitener is None:
        design = scale_design(model.shards, centered=model.fit_intercept)
    return design if model.fit_intercept else replace(design, center=np.zeros_like(design.center))


def _samples(shard: RegressionShard, shift: float) -> SampleShard:
    return SampleShard(shard.first, shard.samples, shard.responses + shift if shift else shard.responses)


def refined_of(regressors: Regressors, climbed: Climbed[Lines], offset: float, place: int) -> RefinedRegression:
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


def for_fit(model: RegressionModel, design: Design, lines: Lines) -> Lines:
    """Lines for the coordinates in which the likelihood is climbed -> lines for the design of the fit."""
    coefficients = design.coefficients(lines.slopes)
    level = 0.0 if model.fit_intercept else model.offset
    levels = lines.levels - level + (model.design.center - design.center) @ coefficients
    return lines._replace(slopes=model.design.standardised(coefficients), levels=levels)


def few_of(model: RegressionModel) -> int:
    """Of so many samples one leads near the maximum."""
    n_parameters = model.n_components * (model.design.n_coordinates + 3)
    return max(model.shards.n_rows // max(FEW_SAMPLES, FEW_PER_PARAMETER * n_parameters), 1)


def _in_units(model: RegressionModel, lines: Lines, regressors: Regressors) -> Lines:
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


def refined_regression_errors(model: RegressionModel, refined: RefinedRegression) -> StandardErrors:
    """Standard errors of a refined regression.

    Notes
    -----
    Leaving out one sample moves the estimate by a Newton step, the inverse information times the sample's scores. With
    the outer products of the scores as the information, the squares of all these moves add up to its inverse: the full
    one for all that lies in the span of the slopes, and the k x k one for every direction outside of it. Where that is
    no more work than a step, the span is taken to be the whole space: then x may have any distribution.
    """
    design, lines = refined.design, refined.mixture
    is_small = len(lines.levels) * (len(lines.slopes) + 3) * model.shards.n_rows < MOST_SCORES
    here = _with_noise_seen(look(regressors_of(model, design), lines, whole=is_small, every=1))
    covariance, (k, q) = _covariance(here), (len(lines.levels), here.basis.shape[1])
    axes = design.coefficients(here.basis)
    inside = np.einsum("iq,qp,ip->i", axes, covariance[:q, :q], axes)
    outside = invert_information(here.sums.pulls)[0, 0]
    beside = np.maximum(design.squares - np.sum(axes**2, axis=1), 0)
    slope = lines.weights[0] * (np.eye(k)[0] - lines.weights)  # of the weight by all logarithms
    return StandardErrors(np.sqrt(inside + outside * beside), float(np.sqrt(slope @ covariance[-k:, -k:] @ slope)))


def _with_noise_seen(here: Position) -> Position:
    """The same where noise variances s were kept from falling to those of the residuals, e: then √(se) for both.

    The scores of slopes, residuals over variances, then tell 1/s per sample, as they do where s = e; with s they would
    tell e/s², next to nothing where y has no noise.
    """
    sums, kept = here.sums, here.lines.variances
    seen = sums.energies / np.maximum(sums.sizes, 1e-9)
    between = kept * np.sqrt(np.clip(seen / kept, np.finfo(np.float64).tiny, 1.0))
    pulls = sums.pulls * np.outer(kept / between, kept / between)
    return here._replace(lines=here.lines._replace(variances=between), sums=sums._replace(pulls=pulls))


def _covariance(here: Position) -> Array:
    """Of all parameters in the span, in the order of their scores, (p, p)."""
    k, sums, information = len(here.lines.levels), here.sums, information_of(here)
    # A noise variance that was kept from falling tells nothing of the weights.
    told = np.ones(len(information))
    told[-2 * k : -k] = 0.5 * (sums.energies / here.lines.variances - sums.sizes) > -0.25 * sums.sizes
    return invert_information(information * np.outer(told, told))


def chance_of_refined(model: RegressionModel, refined: RefinedRegression, v: Array, *, choose: str) -> float:
    """The part of imagined samples on which a direction still prefers a refined regression.

    Parameters
    ----------
    model : RegressionModel
    refined : RefinedRegression
    v : array of shape (r,)
        The hint, for the design of the fit.
    choose : {"largest", "share"}
        What puts the components in order.

    Notes
    -----
    Scores move with the slopes, by their covariance in the span, and with the samples that x was standardised by: they
    are averages of ⟨z, μᵢ⟩⟨z, v⟩ over those.
    """
    design, lines = refined.design, refined.mixture
    here = _with_noise_seen(look(regressors_of(model, design), lines, every=1))
    (k, q), n = (len(lines.levels), here.basis.shape[1]), model.shards.n_rows
    axes = for_fit(model, design, lines._replace(slopes=here.basis, levels=np.zeros(q))).slopes
    by_slopes = np.zeros((k, here.n_features * k))
    for i in range(k):
        by_slopes[i, i * here.n_features :][:q] = axes.T @ v
    covariance = by_slopes @ _covariance(here)[: -2 * k, : -2 * k] @ by_slopes.T
    slopes = for_fit(model, design, lines).slopes
    if model.design.whitener is not None:
        seen = model.design.coefficients(np.column_stack([slopes, v]))
        total, squares = model.shards.fold(_score_products, seen, model.design.center)
        covariance = covariance + (squares - np.outer(total, total) / n) / (n - 1) / n
    values, vectors = np.linalg.eigh(covariance)
    draws = np.random.default_rng(0).standard_normal((N_DRAWS, k)) * np.sqrt(np.maximum(values, 0)) @ vectors.T
    scores = slopes.T @ v + draws
    preference = scores if choose == "largest" else scores * np.sqrt(lines.weights)
    return float(np.mean(preference.argmax(axis=1) == 0))


class ScoreSums(NamedTuple):
    """Sums over samples of ⟨z, μᵢ⟩⟨z, v⟩, whose averages are the scores."""

    total: Array  # (k,)
    squares: Array  # of the outer products, (k, k)


def _score_products(shard: RegressionShard, axes: Array, center: Array) -> ScoreSums:
    """From the slopes and the hint for the user's x, (d, k + 1)."""
    seen = np.asarray(project(shard.samples, axes, center), dtype=np.float64)
    products = seen[:, :-1] * seen[:, -1:]
    return ScoreSums(products.sum(axis=0), products.T @ products)
