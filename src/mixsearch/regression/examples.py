"""Examples of a regression in the likelihood: a start of EM, and members that stay members.

Moments need linearly independent coefficients, which two lines on one feature cannot have, and an x that is not too far
from normal. Least squares on the examples gives their regression, and the samples that it does not explain give the
others.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import f

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions
from mixsearch.data.partitions import SamplePartition
from mixsearch.regression.em import (
    MIN_VARIANCE,
    draw_starts,
    fit_line,
    make_features,
    maximize_likelihood,
    rank_starts,
)
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.joint import (
    MAX_FEATURES,
    draw_clusters,
    evaluate_whole,
    hold_examples,
    likeliest_whole,
    mixture_from_resp,
)
from mixsearch.regression.mixture import RegressionMixture, Regressors
from mixsearch.regression.refinement import (
    FittedMixture,
    RefinedRegression,
    make_refined,
    make_regressors,
    start_step,
)

# Examples with a smaller p-value under a regression belong to another one.
MIN_P_VALUE = 1e-3
# Up to this many samples, a few examples matter to the likelihood.
MAX_HELD = 2000
# Starts with the line of the examples, and with a cluster around them, besides the mixture that no hint entered.
N_STARTS = 5
# EM converges slowly where regressions overlap, so that it must not stop as soon as Newton steps.
TOL_FACTOR = 0.1


def can_hold(family: RegressionFamily) -> bool:
    """Return whether examples are few samples among few, which the likelihood needs in their component."""
    n, layout = family.partitions.n_rows, family.partitions.layout
    return n <= MAX_HELD and not layout.is_sparse and 0 < family.design.n_coordinates <= MAX_FEATURES


def fit_with_examples(
    family: RegressionFamily, X: Samples, y: Array, fitted: FittedMixture, options: EMOptions
) -> RefinedRegression:
    """Find the regression of a few examples, which stay members of it, together with all others.

    Notes
    -----
    The likelihood has many maxima, and the largest one without the examples need not be the largest one with them. So
    EM starts from the former, from the line of the examples, and, if x differs between regressions, from a cluster
    around them.
    """
    regressors, free = replace(fitted.regressors, min_variance=MIN_VARIANCE), fitted.result.state
    examples = _shift_examples(family, regressors, X, y)
    samples = hold_examples(regressors, X, examples.responses)
    starts = draw_starts(regressors, free.n_components, _fit_line(regressors, examples), N_STARTS)
    if free.features is not None:
        starts = [mixture_from_resp(samples, evaluate_whole(samples, start).resp) for start in starts]
        middle = np.append(free.features.standardize(X).mean(axis=0), examples.responses.mean())
        starts += draw_clusters(samples, free.n_components, middle, N_STARTS)
    index = _find_component(regressors, free, examples)
    result = likeliest_whole(samples, [free.with_first(index), *starts], options._replace(tol=TOL_FACTOR * options.tol))
    return make_refined(regressors, result, family.offset, 0)


def fit_from_examples(family: RegressionFamily, X: Samples, y: Array, options: EMOptions) -> RefinedRegression:
    """Find the regression of a few examples among many samples, together with all others.

    Notes
    -----
    The likelihood of a mixture has many maxima. Each start has the line of the examples, and lines through samples
    drawn from those that it does not explain. The start that leads to the largest likelihood is continued.
    """
    regressors = replace(make_regressors(family), min_variance=MIN_VARIANCE)
    examples = _shift_examples(family, regressors, X, y)
    part = regressors.thin(start_step(family)).collect()
    best = rank_starts(part, draw_starts(part, family.n_components, _fit_line(part, examples)))[0]
    result = maximize_likelihood(regressors, best.state, options)
    return make_refined(regressors, result, family.offset, _find_component(regressors, result.state, examples))


def choose_from_examples(family: RegressionFamily, X: Samples, y: Array, fitted: FittedMixture) -> RefinedRegression:
    """Return the regression of a fitted mixture that a few examples are of."""
    regressors, result = fitted.regressors, fitted.result
    index = _find_component(regressors, result.state, _shift_examples(family, regressors, X, y))
    return make_refined(regressors, result, family.offset, index)


def _shift_examples(family: RegressionFamily, regressors: Regressors, X: Samples, y: Array) -> SamplePartition:
    return SamplePartition(0, X, y - (family.offset if regressors.has_intercepts else 0.0))


def _fit_line(regressors: Regressors, examples: SamplePartition) -> Array:
    """Return the line of the examples as a column, (r, 1) or (r + 1, 1)."""
    return fit_line(make_features(regressors, examples), examples.responses)[:, None]


def _find_component(regressors: Regressors, mixture: RegressionMixture, examples: SamplePartition) -> int:
    """Return the index of the component that most likely has all examples."""
    predicted = regressors.design.predict(examples.samples, mixture.slopes)
    log_features = mixture.log_features(examples.samples)
    return int(np.argmax(mixture.posterior_of_all(predicted, examples.responses, log_features)))


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
