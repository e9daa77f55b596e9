"""Regressions that moments cannot separate: a few examples of one of them are the start of EM.

Moments need linearly independent coefficients, which two lines on one feature cannot have, and an x that is not too far
from normal. Least squares on the examples gives their regression, and the samples that it does not explain give the
others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import f

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions
from mixsearch.data.partitions import SamplePartition
from mixsearch.regression._em import least_squares, maximize_likelihood, split_levels
from mixsearch.regression._evaluation import Regressors
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._moments import RegressionFamily
from mixsearch.regression._refinement import (
    RefinedRegression,
    convert_to_fit,
    make_refined,
    make_regressors,
    start_step,
)

# Random starts; the best one after these iterations is continued to the end.
N_STARTS, START = 20, EMOptions(max_iter=5, tol=1.0)
# Examples with a smaller p-value under a regression belong to another one.
MIN_P_VALUE = 1e-3
# The noise variance of a line through a few samples, as a fraction of the variance of y.
START_NOISE = 0.05
# Few samples have many maxima with a line of hardly any noise through some of them: deviations may differ tenfold.
MIN_VARIANCE = 0.01


class ExampleFit(NamedTuple):
    """A regression found from examples and the likelihood alone."""

    refined: RefinedRegression
    mixture: RegressionMixture  # of all components, for the design of the fit, the one found first


def fit_from_examples(family: RegressionFamily, X: Samples, y: Array, options: EMOptions) -> ExampleFit:
    """Find the regression of a few examples, together with all others.

    Parameters
    ----------
    family : RegressionFamily
    X : array of shape (q, d)
    y : array of shape (q,)
    options : EMOptions

    Returns
    -------
    ExampleFit

    Notes
    -----
    The likelihood of a mixture has many maxima. Each start has the line of the examples, and lines through samples
    drawn from those that it does not explain. The start that leads to the largest likelihood is continued.
    """
    regressors = replace(make_regressors(family), min_variance=MIN_VARIANCE)
    examples = SamplePartition(0, X, y - (family.offset if regressors.has_intercepts else 0.0))
    part = regressors.thin(start_step(family)).collect()
    starts = _draw_starts(part, examples, family.n_components)
    results = (maximize_likelihood(part, start, START) for start in starts)
    best = max(results, key=lambda result: result.objectives[-1])
    result = maximize_likelihood(regressors, best.state, options)
    mixture, design = result.state, regressors.design
    index = int(np.argmax(mixture.posterior_of_all(design.predict(X, mixture.slopes), examples.responses)))
    refined = make_refined(regressors, result, family.offset, index)
    return ExampleFit(refined, convert_to_fit(family, design, refined.mixture))


def is_explained(refined: RefinedRegression, X: Samples, y: Array) -> bool:
    """Return whether a few examples may belong to a regression, by the F-test against their own least squares.

    Examples that are too few for least squares may belong to any.
    """
    Z = refined.design.predict(X, np.eye(refined.design.n_coordinates))
    Z = np.column_stack([Z, np.ones(len(y))])
    n_fitted, n_free = Z.shape[1], len(y) - Z.shape[1]
    if n_free < 1:
        return True
    own = float(np.sum((y - Z @ np.linalg.lstsq(Z, y, rcond=None)[0]) ** 2))
    more = float(np.sum((y - X @ refined.center - refined.intercept) ** 2)) - own
    ratio = (more / n_fitted) / max(own / n_free, np.finfo(float).tiny)
    return bool(f.sf(ratio, n_fitted, n_free) > MIN_P_VALUE)


def _draw_starts(part: Regressors, examples: SamplePartition, n_components: int) -> list[RegressionMixture]:
    rng = np.random.default_rng(0)  # the same answer every time
    samples = part.partitions.collect().partition
    Z, y = _make_features(part, samples), samples.responses
    first = _fit_line(_make_features(part, examples), examples.responses)
    variance = part.response_variance
    return [_start_mixture(part, _draw_lines(Z, y, first, n_components, variance, rng)) for _ in range(N_STARTS)]


def _fit_line(Z: Array, y: Array) -> Array:
    return least_squares(Z.T @ Z, Z.T @ y)


def _draw_lines(
    Z: Array, y: Array, first: Array, n_components: int, variance: float, rng: np.random.Generator
) -> Array:
    """Return the line of the examples, and lines through samples that no line before explains, (r + 1, k) or (r, k)."""
    fits, unexplained = [first], (y - Z @ first) ** 2
    for _ in range(n_components - 1):
        # Squares are bounded: one outlier must not be in every draw.
        odds = np.minimum(unexplained, START_NOISE * variance) + 1e-9 * variance
        rows = rng.choice(len(y), size=min(Z.shape[1] + 2, len(y)), replace=False, p=odds / odds.sum())
        fits.append(_fit_line(Z[rows], y[rows]))
        unexplained = np.minimum(unexplained, (y - Z @ fits[-1]) ** 2)
    return np.column_stack(fits)


def _start_mixture(regressors: Regressors, fits: Array) -> RegressionMixture:
    """Return a mixture of lines with the same noise variance and weight each."""
    k = fits.shape[1]
    slopes, levels = split_levels(fits, has_intercepts=regressors.has_intercepts)
    noise = START_NOISE * regressors.response_variance
    return RegressionMixture(slopes, levels, np.full(k, noise), np.full(k, 1 / k))


def _make_features(regressors: Regressors, partition: SamplePartition) -> Array:
    """Return a few standardized samples, with a column of ones if there are intercepts, (n, r) or (n, r + 1)."""
    Z = regressors.design.predict(partition.samples, np.eye(regressors.design.n_coordinates))
    return np.column_stack([Z, np.ones(len(Z))]) if regressors.has_intercepts else Z
