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
from mixsearch.regression._em import maximize_likelihood
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._refinement import (
    RefinedRegression,
    convert_to_fit,
    make_refined,
    make_regressors,
    start_step,
)
from mixsearch.regression._starts import MIN_VARIANCE, draw_starts, fit_line, likeliest, make_features

# Examples with a smaller p-value under a regression belong to another one.
MIN_P_VALUE = 1e-3


class FitFromExamples(NamedTuple):
    """A regression found from examples and the likelihood alone."""

    refined: RefinedRegression
    mixture: RegressionMixture  # of all components, for the design of the fit, the one found first


def fit_from_examples(family: RegressionFamily, X: Samples, y: Array, options: EMOptions) -> FitFromExamples:
    """Find the regression of a few examples, together with all others.

    Parameters
    ----------
    family : RegressionFamily
    X : array of shape (q, d)
    y : array of shape (q,)
    options : EMOptions

    Returns
    -------
    FitFromExamples

    Notes
    -----
    The likelihood of a mixture has many maxima. Each start has the line of the examples, and lines through samples
    drawn from those that it does not explain. The start that leads to the largest likelihood is continued.
    """
    regressors = replace(make_regressors(family), min_variance=MIN_VARIANCE)
    examples = SamplePartition(0, X, y - (family.offset if regressors.has_intercepts else 0.0))
    part = regressors.thin(start_step(family)).collect()
    line = fit_line(make_features(part, examples), examples.responses)
    best = likeliest(part, draw_starts(part, family.n_components, line[:, None]))
    result = maximize_likelihood(regressors, best.state, options)
    mixture, design = result.state, regressors.design
    index = int(np.argmax(mixture.posterior_of_all(design.predict(X, mixture.slopes), examples.responses)))
    refined = make_refined(regressors, result, family.offset, index)
    return FitFromExamples(refined, convert_to_fit(family, design, refined.mixture))


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
