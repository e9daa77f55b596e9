"""How exact an estimate from moments is: what EM on part of the samples would change."""

from __future__ import annotations

import numpy as np

from mixsearch.core.em import EMOptions
from mixsearch.regression._em import maximize_likelihood
from mixsearch.regression._likelier import compare, nearest_index, take_part
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._moments import RegressionFamily
from mixsearch.regression._refinement import initial_mixture, make_regressors

# Samples that EM runs on: far more exact than moments of all.
MIN_SAMPLES = 3000
# A single Newton step after EM in the span: an error within a few percent is known then.
OPTIONS = EMOptions(max_iter=1, tol=1.0)
# Beyond these errors, of the coefficients relative to their length and of the weight, an estimate is wrong.
MAX_ERROR, MAX_WEIGHT_ERROR = 0.3, 0.15
# The trust falls from 1 to 0 in this interval around the largest error.
WIDTH = 1 / 3


def exactness(family: RegressionFamily, own: RegressionMixture, rivals: RegressionMixture, index: int) -> float:
    """Return the trust in an estimate from moments.

    Parameters
    ----------
    family : RegressionFamily
    own : RegressionMixture
        The estimate first.
    rivals : RegressionMixture
        All components that EM starts from.
    index : int
        The one among them that the estimate is.

    Returns
    -------
    float
        From 1, if EM would hardly change it, to 0, if it is off by more than `MAX_ERROR`.
    """
    part = take_part(make_regressors(family, family.design), rivals.n_components, MIN_SAMPLES)
    found = maximize_likelihood(part, initial_mixture(family, rivals, part), OPTIONS).state
    likelier = compare(part, found).likeliest
    if likelier is not found:
        found, index = likelier, nearest_index(likelier, own.slopes[:, 0])
    slopes = found.slopes[:, index]
    length = max(float(np.linalg.norm(slopes)), np.finfo(float).tiny)
    change = float(np.linalg.norm(own.slopes[:, 0] - slopes))
    error = max(change / length / MAX_ERROR, abs(float(own.weights[0] - found.weights[index])) / MAX_WEIGHT_ERROR)
    return float(np.clip(0.5 + (1 - error) / WIDTH, 0, 1))
