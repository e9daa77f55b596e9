"""Moments of mixtures of linear regressions: y = ⟨x, μᵢ⟩ + bᵢ + noise, with x standard normal once standardized."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import f as f_distribution

from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.regression._design import Standardized, standardize
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._normality import check_normality
from mixsearch.regression._partition import project_onto
from mixsearch.regression._signal_space import fit_frame, whole_space


def fit_regression(
    partitions: Partitions[SamplePartition],
    n_components: int,
    *,
    design: str,
    intercept: bool,
    paper: bool,
    seed: int,
    standardized: Standardized | None = None,
    has_frame: bool = True,
) -> RegressionFamily:
    """Find the signal space of a mixture of regressions and project the samples onto it.

    Parameters
    ----------
    partitions : Partitions
        Samples of shape (n, d), with responses.
    n_components : int
        k. Moments separate at most as many as x has independent coordinates.
    design : {"covariance", "standard"}
        Standardize X by its own mean and covariance, or take it as standard normal already.
    intercept : bool
        Subtract the mean from y, and estimate an intercept for each component.
    paper : bool
        Take the smallest eigenvalue of E[y²xx'] as t2, and plain third powers, as in the paper; otherwise the average
        of the d - k smallest, and Hermite polynomials.
    seed : int
        Seed of the eigensolver's starting block, used if the dimension is large.
    standardized : Standardized, optional
        The same samples, standardized, if they are known.
    has_frame : bool, default=True
        False for regressions that only their likelihood is to separate.

    Returns
    -------
    RegressionFamily

    Notes
    -----
    E[y²xx'] = 2A + t2 I with t2 = Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²), which is E[y²]. Intercepts enter the moments only through t2
    and M, because odd moments of x are 0; E[y²x] = 2 Σ αᵢbᵢμᵢ gives them.
    """
    fitted, offset, power, samples = standardized or standardize(partitions, design, intercept=intercept)
    frame, level = (
        fit_frame(samples, power, n_components, paper=paper, seed=seed)
        if has_frame
        else whole_space(samples.n_features)
    )
    projected, sums = samples.map_reduce(project_onto, frame)
    mean, cross_moment, energies = sums.total / partitions.n_rows
    intercepts = cross_moment / 2
    if intercept and mean.any():
        # y is centered, so the intercepts average to zero: Σ αᵢbᵢ = ⟨W'm, W'Σ αᵢbᵢμᵢ⟩ = 0. So must their estimate.
        intercepts = intercepts - mean * (mean @ intercepts) / (mean @ mean)
    return RegressionFamily(
        frame=frame,
        design=fitted,
        offset=offset,
        mean=mean,
        cross_moment=cross_moment,
        intercepts=intercepts,
        energies=energies / 3,
        linear=0.0 if paper else 3 * power,
        noise_level=level,
        partitions=replace(projected, layout=partitions.layout),
        fit_intercept=intercept,
        n_components=n_components,
        n_fitted=frame.n_components,
        power=power,
        # Least squares, for a single regression, takes any x.
        normality=None if paper or n_components == 1 else check_normality(projected, frame),
        has_frame=has_frame,
    )


def explained_p_value(family: RegressionFamily) -> float:
    """Return how often a single regression would explain as much of a y that does not depend on x: the F-test.

    Parameters
    ----------
    family : RegressionFamily
        Of one component.

    Returns
    -------
    float
    """
    n, r = family.partitions.n_rows, family.design.n_coordinates
    n_free = n - r - 1
    if n_free < 1 or not family.power > 0:
        return 1.0
    explained = min(float(family.frame.values[0]) / family.power, 1.0)
    return float(f_distribution.sf(explained / r / max((1 - explained) / n_free, np.finfo(float).tiny), r, n_free))
