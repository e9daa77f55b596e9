"""Compare an estimate from moments with the regressions that EM finds on part of the samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions
from mixsearch.regression._design import Design
from mixsearch.regression._em import maximize_likelihood
from mixsearch.regression._evaluation import Regressors
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._likelier import compare, merge_copies, nearest_index, take_part
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._refinement import convert_to_fit, initial_mixture, make_regressors

# Samples that EM runs on: far more exact than moments of all.
MIN_SAMPLES = 3000
# A single Newton step after EM in the span: an error within a few percent is known then.
OPTIONS = EMOptions(max_iter=1, tol=1.0)
# The trust falls from 1 to 0 in this interval around half of the way to another regression.
WIDTH = 1 / 3


class LikelyMixture(NamedTuple):
    """Regressions that EM on part of the samples finds from those of moments."""

    mixture: RegressionMixture  # for the design of the fit
    errors: Array  # expected length of the error of each one's slopes, (k,): it matters if samples are few
    likeliest: RegressionMixture  # the same for the design of EM
    design: Design  # of EM
    n_samples: int  # that EM ran on


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
    part = take_part(make_regressors(family), rivals.n_components, MIN_SAMPLES)
    # EM makes copies of lines that there are too many of. They are no rivals of each other.
    found = merge_copies(part, maximize_likelihood(part, initial_mixture(family, rivals, part), OPTIONS))
    likeliest = compare(part, found.state).likeliest
    mixture = convert_to_fit(family, part.design, likeliest)
    return LikelyMixture(mixture, _own_errors(part, mixture), likeliest, part.design, part.partitions.n_rows)


def _own_errors(part: Regressors, mixture: RegressionMixture) -> Array:
    """Return the expected length of the errors of slopes from EM itself, (k,)."""
    r, n = part.design.n_coordinates, part.partitions.n_rows
    n_free = n - mixture.n_components * (r + 3)
    if n_free < 1:
        return np.full(mixture.n_components, np.inf)
    weights = np.maximum(mixture.weights, np.finfo(float).tiny)
    return np.asarray(np.sqrt(r * mixture.variances / (weights * n_free)))


class Recognition(NamedTuple):
    """The regression that an estimate from moments is."""

    component: int  # its index among the likely ones
    trust: float  # that it is this one rather than a mixture of several


def recognise(slopes: Array, likely: LikelyMixture) -> Recognition:
    """Find the regression that an estimate from moments is: the nearest one, if it is less than halfway to any other.

    Parameters
    ----------
    slopes : array of shape (r,)
        The estimate, for the design of the fit.
    likely : LikelyMixture

    Returns
    -------
    Recognition
        With a trust of 0 if samples are too few to say.
    """
    index = nearest_index(likely.mixture, slopes)
    own = likely.mixture.slopes[:, [index]]
    others = np.delete(likely.mixture.slopes, index, axis=1)
    halfway = 0.5 * float(np.linalg.norm(others - own, axis=0).min(initial=np.inf))
    error = float(likely.errors[index])
    if error > halfway / 2:
        return Recognition(index, 0.0)
    # What EM changes is the error of the estimate plus its own.
    change = float(np.sqrt(max(np.sum((slopes - own[:, 0]) ** 2) - error**2, 0.0)))
    return Recognition(index, float(np.clip(0.5 + (1 - change / max(halfway, np.finfo(float).tiny)) / WIDTH, 0, 1)))
