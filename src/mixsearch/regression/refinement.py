"""Refinement of a regression by EM and Newton steps for the whole mixture."""

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
from mixsearch.regression.design import Design, scale_design
from mixsearch.regression.em import MIN_VARIANCE, maximize_likelihood
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.joint import Joint, choose_model
from mixsearch.regression.likelier import MAX_STARTED, Comparison, compare, fit_random, take_part
from mixsearch.regression.mixture import (
    START_PER_PARAMETER,
    START_SAMPLES,
    RegressionMixture,
    Regressors,
    e_step,
    mixture_from_moments,
)
from mixsearch.regression.partition import RegressionPartition

# A component starts with at least this fraction of an even weight, and of the variance of y, so that none vanishes.
MIN_SHARE, MIN_NOISE = 0.2, 0.02


@dataclass(frozen=True, slots=True)
class RefinedRegression(Refined):
    """A regression after EM, with the mixture that it is part of."""

    intercept: float
    noise_variance: float
    mixture: RegressionMixture  # the component itself first
    design: Design  # of the mixture's slopes
    offset: float  # of the mixture's levels

    @property
    def is_joint(self) -> bool:
        """Whether x differs between components."""
        return self.mixture.features is not None

    def responsibilities(self, X: Samples, y: Array) -> Array:
        """Return the posterior probability of every component for each sample, (n, k)."""
        predicted = self.design.predict(X, self.mixture.slopes)
        return e_step(self.mixture, predicted, y - self.offset, self.mixture.log_features(X)).resp


class FittedMixture(NamedTuple):
    """The whole mixture. It depends on no hint, so one serves every search."""

    regressors: Regressors  # the samples that it was fitted to
    result: EMResult[RegressionMixture]
    comparison: Comparison  # with likelier ones, on part of the samples


def fit_mixture(family: RegressionFamily, options: EMOptions, joint: Joint) -> FittedMixture:
    """Fit the whole mixture, from all contractions of its third moment, by EM and Newton steps.

    Notes
    -----
    EM may end in a local maximum. If the samples are not distributed as the mixture says, or if the start may have been
    bad, because x is not normal or samples are few, random starts are tried as well, and the likeliest mixture is kept.
    Where moments cannot separate the regressions, there are only random starts.
    """
    regressors = make_regressors(family)
    part = take_part(regressors, family.n_components)
    if family.has_moments:
        result, comparison = _fit_from_moments(family, regressors, part, options)
    else:
        start = fit_random(part, family.n_components).state
        result = maximize_likelihood(replace(regressors, min_variance=MIN_VARIANCE), start, options)
        comparison = Comparison(start, 1.0, None, 0.0, part.partitions.n_rows)
    # The mixture of Gaussians that differ is not normal.
    if not (joint == "auto" and family.is_normal and family.partitions.n_rows > MAX_STARTED):
        some = take_part(regressors, family.n_components, MAX_STARTED)
        result = choose_model(regressors, some, result, joint, options)
    if result.state.features is not None:  # likelier ones were looked for among those without
        comparison = comparison._replace(larger=None)
    return FittedMixture(regressors, result, comparison._replace(mixture=result.state))


def _fit_from_moments(
    family: RegressionFamily, regressors: Regressors, part: Regressors, options: EMOptions
) -> tuple[EMResult[RegressionMixture], Comparison]:
    candidates = all_components(_thinned_tensor(family), family.mean)
    result = _maximize_from(family, regressors, candidates, options)
    is_trusted = family.is_normal and family.partitions.n_rows > MAX_STARTED
    comparison = compare(part, result.state, is_trusted=is_trusted)
    if comparison.mixture is not result.state:
        again = maximize_likelihood(regressors, comparison.mixture, options)
        result = max(result, again, key=lambda each: each.objectives[-1])
    return result, comparison


def _thinned_tensor(family: RegressionFamily) -> Array:
    """Return the third moment of part of the samples, (k, k, k)."""
    return family.thin(start_step(family)).tensor(np.eye(family.frame.n_components))


def refine_regression(
    family: RegressionFamily,
    candidates: Candidates,
    options: EMOptions,
    fitted: FittedMixture,
    preference_of: Callable[[RegressionMixture], Array],
) -> tuple[RefinedRegression, int]:
    """Refine the regression that the hint means.

    Notes
    -----
    Refined regressions are much more precise than those of moments, so they also identify better which of them the hint
    means. If the mixture lacks the component that moments find, EM starts from there as well, and the larger likelihood
    decides.
    """
    regressors, result, _ = fitted
    rough, design = mixture_from_moments(family, candidates), regressors.design
    if result.state.features is None and _lacks_first(family, rough, design, result.state):
        again = _maximize_from(family, regressors, separate_rest(_thinned_tensor(family), candidates), options)
        result = max(result, again, key=lambda each: each.objectives[-1])
    mixture = convert_to_fit(family, design, result.state)
    index = int(np.argmax(np.where(_has_support(mixture, family), preference_of(mixture), -np.inf)))
    return make_refined(regressors, result, family.offset, index), _nearest_index(mixture, index, rough)


def nearest_candidate(family: RegressionFamily, candidates: Candidates, refined: RefinedRegression) -> int:
    """Return the index of the candidate from moments nearest to a refined regression."""
    mixture = convert_to_fit(family, refined.design, refined.mixture)
    return _nearest_index(mixture, 0, mixture_from_moments(family, candidates))


def _nearest_index(mixture: RegressionMixture, index: int, rough: RegressionMixture) -> int:
    return int(np.argmin(_squared_distances(mixture, index, rough)))


def _lacks_first(
    family: RegressionFamily, rough: RegressionMixture, design: Design, mixture: RegressionMixture
) -> bool:
    """Return whether a fitted mixture has lost a component, or the first of the rough ones."""
    if not np.all(_has_support(mixture, family)):
        return True
    return _match_component(rough, 0, convert_to_fit(family, design, mixture)) is None


def _has_support(mixture: RegressionMixture, family: RegressionFamily) -> Array:
    """Return which regressions have more samples than any line could pass through, (k,)."""
    n = family.partitions.n_rows
    return mixture.weights * n > min(family.design.n_coordinates, n / 4)


def _maximize_from(
    family: RegressionFamily, regressors: Regressors, candidates: Candidates, options: EMOptions
) -> EMResult[RegressionMixture]:
    start = initial_mixture(family, mixture_from_moments(family, candidates), regressors)
    return maximize_likelihood(regressors, start, options, step=start_step(family))


def _match_component(rough: RegressionMixture, index: int, mixture: RegressionMixture) -> int | None:
    """Return the index of the regression nearest to a rough one, if it is less than halfway to any other."""
    distances = _squared_distances(rough, index, mixture)
    nearest = int(np.argmin(distances))
    apart = np.delete(_squared_distances(mixture, nearest, mixture), nearest)
    return nearest if 4 * distances[nearest] < apart.min(initial=np.inf) else None


def _squared_distances(one: RegressionMixture, index: int, mixture: RegressionMixture) -> Array:
    """Return E[(difference of predictions)²] between one regression and others, (k,)."""
    between_slopes = np.sum((mixture.slopes - one.slopes[:, [index]]) ** 2, axis=0)
    return np.asarray(between_slopes + (mixture.levels - one.levels[index]) ** 2)


def make_regressors(family: RegressionFamily, design: Design | None = None) -> Regressors:
    """Return the samples of a fit, in coordinates of about the same variance, or in those of a given design."""
    shift = 0.0 if family.fit_intercept else family.offset
    partitions = family.partitions.map(_shift_responses, shift)
    return Regressors(design or _make_design(family), partitions, has_intercepts=family.fit_intercept)


def _make_design(family: RegressionFamily) -> Design:
    design = family.design
    if design.whitener is None:
        design = scale_design(family.partitions, centered=family.fit_intercept)
    return design if family.fit_intercept else replace(design, center=np.zeros_like(design.center))


def _shift_responses(partition: RegressionPartition, shift: float) -> SamplePartition:
    responses = partition.responses + shift if shift else partition.responses
    return SamplePartition(partition.first, partition.samples, responses)


def make_refined(
    regressors: Regressors, result: EMResult[RegressionMixture], offset: float, index: int
) -> RefinedRegression:
    """Return one component of a mixture, in the user's units."""
    mixture, design = result.state.with_first(index), regressors.design
    center = design.to_coefficients(mixture.slopes[:, 0])
    offset = offset if regressors.has_intercepts else 0.0
    intercept = offset + float(mixture.levels[0] - design.center @ center)
    return RefinedRegression(
        center=center,
        weight=float(mixture.weights[0]),
        objectives=result.objectives,
        intercept=intercept if regressors.has_intercepts else 0.0,
        noise_variance=float(mixture.variances[0]),
        mixture=mixture,
        design=design,
        offset=offset,
    )


def convert_to_fit(family: RegressionFamily, design: Design, mixture: RegressionMixture) -> RegressionMixture:
    """Convert a mixture from the design of EM to the design of the fit."""
    coefficients = design.to_coefficients(mixture.slopes)
    offset = 0.0 if family.fit_intercept else family.offset
    levels = mixture.levels - offset + (family.design.center - design.center) @ coefficients
    return mixture._replace(slopes=family.design.to_slopes(coefficients), levels=levels)


def start_step(family: RegressionFamily) -> int:
    """Return the step between the samples that EM starts with."""
    n_parameters = family.n_components * (family.design.n_coordinates + 3)
    return max(family.partitions.n_rows // max(START_SAMPLES, START_PER_PARAMETER * n_parameters), 1)


def initial_mixture(family: RegressionFamily, rough: RegressionMixture, regressors: Regressors) -> RegressionMixture:
    """Convert regressions from moments to the design of EM, with no weight and no noise too small."""
    coefficients = family.design.to_coefficients(rough.slopes)
    shift = regressors.design.center - family.design.center
    levels = rough.levels + shift @ coefficients if regressors.has_intercepts else np.zeros_like(rough.levels)
    weights = np.maximum(rough.weights, MIN_SHARE / rough.n_components)
    total = regressors.response_variance
    variances = np.clip(rough.variances, MIN_NOISE * total, total)
    slopes = regressors.design.to_slopes(coefficients)
    # No component can explain more than all of y.
    excess = np.sqrt(np.sum(slopes**2, axis=0) * weights / total)
    return RegressionMixture(slopes / np.maximum(excess, 1.0), levels, variances, weights / weights.sum())
