"""Standard errors by refits to samples drawn with replacement, for samples that do not follow the model."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Samples
from mixsearch.core.jackknife import StandardErrors
from mixsearch.data.partitions import partition_in_memory
from mixsearch.errors import SearchError, collect_warnings
from mixsearch.gaussian._family import GaussianFamily
from mixsearch.gaussian._fit import fit_gaussian
from mixsearch.gaussian._mixture import frame_points
from mixsearch.gaussian._refinement import RefinedGaussian, fit_mixture, refine_gaussian
from mixsearch.gaussian._subset import DEFAULT_OPTIONS, fit_subset

# Refits, and the number of samples that each draws at most: errors fall with the square root of it.
N_REFITS, MAX_SAMPLES = 40, 2000


def bootstrap_errors(family: GaussianFamily, refined: RefinedGaussian) -> StandardErrors:
    """Return the standard errors of a refined Gaussian from refits.

    Parameters
    ----------
    family : GaussianFamily
    refined : RefinedGaussian

    Returns
    -------
    StandardErrors

    Notes
    -----
    One Newton step from the maximum of the likelihood shows how the estimate varies near it. If samples do not follow
    the model, the likelihood has several maxima that are about as likely, and other samples may lead to another one:
    only refits show that.
    """
    part = family.partitions.thin(max(family.partitions.n_rows // MAX_SAMPLES, 1)).collect()
    n, rng = part.n_rows, np.random.default_rng(0)  # the same answer every time
    draws = [rng.integers(n, size=n) for _ in range(N_REFITS)]
    found = [each for rows in draws if (each := _refit(part.partition.samples[rows], family, refined))]
    if len(found) < 2:
        return StandardErrors(np.full(len(refined.center), np.inf), np.inf)
    scale = np.sqrt(n / family.partitions.n_rows)
    centers, weights = np.array([each.center for each in found]), np.array([each.weight for each in found])
    return StandardErrors(scale * centers.std(axis=0, ddof=1), float(scale * weights.std(ddof=1)))


def _refit(samples: Samples, family: GaussianFamily, refined: RefinedGaussian) -> RefinedGaussian | None:
    """Return the component of a refit that is nearest to the one found, if they overlap."""
    with collect_warnings():
        try:
            other = fit_gaussian(partition_in_memory(samples), family.n_components, paper=False, seed=0)
        except SearchError:  # a direction is lost among these samples
            return None
    fitted = fit_mixture(other, DEFAULT_OPTIONS, fit_subset(other))
    centers = other.frame.unwhiten(frame_points(other, fitted.mixture.centers.T, constant=1.0))
    apart = np.sum((centers - refined.center[:, None]) ** 2, axis=0)
    index = int(np.argmin(apart))
    is_near = apart[index] < len(refined.center) * max(refined.noise_variance, float(fitted.mixture.variances[index]))
    return refine_gaussian(other, fitted, index) if is_near else None
