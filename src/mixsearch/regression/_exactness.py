"""How exact an estimate from moments is: what EM on part of the samples would change."""

from __future__ import annotations

import numpy as np

from mixsearch.core.em import EMOptions
from mixsearch.regression._em import maximize_likelihood
from mixsearch.regression._evaluation import Regressors
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
        From 1, if EM would hardly change it, to 0, if it is off by more than `MAX_ERROR`, or if samples are too few to
        tell.
    """
    part = take_part(make_regressors(family, family.design), rivals.n_components, MIN_SAMPLES)
    found = maximize_likelihood(part, initial_mixture(family, rivals, part), OPTIONS).state
    likelier = compare(part, found).likeliest
    if likelier is not found:
        found, index = likelier, nearest_index(likelier, own.slopes[:, 0])
    slopes = found.slopes[:, index]
    length = max(float(np.linalg.norm(slopes)), np.finfo(float).tiny)
    # What EM changes is the error of the estimate plus its own.
    own_square = _square_error(part, found, index)
    if own_square > (MAX_ERROR * length / 2) ** 2:
        return 0.0
    change = float(np.sqrt(max(np.sum((own.slopes[:, 0] - slopes) ** 2) - own_square, 0.0)))
    error = max(change / length / MAX_ERROR, abs(float(own.weights[0] - found.weights[index])) / MAX_WEIGHT_ERROR)
    return float(np.clip(0.5 + (1 - error) / WIDTH, 0, 1))


def _square_error(part: Regressors, mixture: RegressionMixture, index: int) -> float:
    """Return the expected squared error of slopes from EM itself, which matters if samples are few."""
    r, n = part.design.n_coordinates, part.partitions.n_rows
    n_free = n - mixture.n_components * (r + 3)
    weight = max(float(mixture.weights[index]), np.finfo(float).tiny)
    return r * float(mixture.variances[index]) / (weight * n_free) if n_free > 0 else np.inf
