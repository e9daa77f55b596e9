"""How exact an estimate from moments is: what EM on part of the samples would change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
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


class LikelyMixture(NamedTuple):
    """Regressions that EM on part of the samples makes of those from moments."""

    mixture: RegressionMixture  # the likeliest one found, for the design of the fit
    errors: Array  # expected length of the error of each one's slopes, (k,): it matters if samples are few
    is_same: bool  # whether each is what EM makes of the one with the same index; if not, the nearest one is


def find_likely(family: RegressionFamily, rivals: RegressionMixture) -> LikelyMixture:
    """Run EM from regressions of moments, on part of the samples.

    Parameters
    ----------
    family : RegressionFamily
    rivals : RegressionMixture
        All regressions from moments, for the design of the fit.

    Returns
    -------
    LikelyMixture
    """
    part = take_part(make_regressors(family, family.design), rivals.n_components, MIN_SAMPLES)
    found = maximize_likelihood(part, initial_mixture(family, rivals, part), OPTIONS).state
    likelier = compare(part, found).likeliest
    return LikelyMixture(likelier, _own_errors(part, likelier), likelier is found)


def exactness(own: RegressionMixture, index: int, likely: LikelyMixture) -> float:
    """Return the trust in an estimate from moments.

    Parameters
    ----------
    own : RegressionMixture
        The estimate first.
    index : int
        Of the rival that the estimate is.
    likely : LikelyMixture
        From all rivals.

    Returns
    -------
    float
        From 1, if EM would hardly change it, to 0, if it is off by more than `MAX_ERROR`, or if samples are too few to
        tell.
    """
    found = likely.mixture
    index = index if likely.is_same else nearest_index(found, own.slopes[:, 0])
    slopes = found.slopes[:, index]
    length = max(float(np.linalg.norm(slopes)), np.finfo(float).tiny)
    # What EM changes is the error of the estimate plus its own.
    own_error = float(likely.errors[index])
    if own_error > MAX_ERROR * length / 2:
        return 0.0
    change = float(np.sqrt(max(np.sum((own.slopes[:, 0] - slopes) ** 2) - own_error**2, 0.0)))
    error = max(change / length / MAX_ERROR, abs(float(own.weights[0] - found.weights[index])) / MAX_WEIGHT_ERROR)
    return float(np.clip(0.5 + (1 - error) / WIDTH, 0, 1))


def _own_errors(part: Regressors, mixture: RegressionMixture) -> Array:
    """Return the expected length of the errors of slopes from EM itself, (k,)."""
    r, n = part.design.n_coordinates, part.partitions.n_rows
    n_free = n - mixture.n_components * (r + 3)
    if n_free < 1:
        return np.full(mixture.n_components, np.inf)
    weights = np.maximum(mixture.weights, np.finfo(float).tiny)
    return np.asarray(np.sqrt(r * mixture.variances / (weights * n_free)))
