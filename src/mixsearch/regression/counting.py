"""The number of regressions, from moments or, where moments cannot count them, from the likelihood."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.em import EMResult
from mixsearch.core.rank_selection import (
    MAX_DIRECTIONS,
    Folds,
    FoldSums,
    Spectrum,
    evaluate_directions,
    find_spectrum,
    max_directions,
    second_moment_without,
    split_folds,
)
from mixsearch.core.second_moment import blas_threads_for
from mixsearch.data.chunks import add_all
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.regression.design import Standardized, StandardizedPartition, standardize
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.joint import (
    Joint,
    can_be_joint,
    fit_joint,
    likelihood_of_responses,
    min_gain,
    prefers_joint,
    take_whole,
)
from mixsearch.regression.likelier import MAX_COMPONENTS, choose_n_components, fit_random, penalty, take_part
from mixsearch.regression.mixture import RegressionMixture, Regressors
from mixsearch.regression.refinement import make_regressors

# Samples that regressions are counted on by their likelihood.
MAX_COUNTED = 2000


def count_by_likelihood(family: RegressionFamily, spectrum: Spectrum, *, joint: Joint, is_paper: bool) -> int:
    """Return the number of regressions, by their likelihood where moments cannot count them."""
    has_power = family.partitions.n_rows > MAX_COUNTED
    can_count = has_power and spectrum.n_signal > 1 and not spectrum.is_full and family.is_normal
    if can_count or is_paper:
        return family.n_components
    part = take_part(make_regressors(family), MAX_COMPONENTS, MAX_COUNTED)
    fit = cache(partial(fit_random, part))
    n_components = choose_n_components(part, fit)
    return _count_joint(part, n_components, fit) if joint and can_be_joint(part, 2) else n_components


def _count_joint(part: Regressors, n_plain: int, fit: Callable[[int], EMResult[RegressionMixture]]) -> int:
    """Return the number of regressions if x differs between them, or that of those between which it does not.

    One more must gain as much in the likelihood of y given x as BIC asks of its line, and the joint model as much as
    its distributions of x must.
    """
    samples, best = take_whole(part), n_plain
    value = fit(n_plain).objectives[-1] - n_plain * penalty(part)
    for k in range(2, MAX_COMPONENTS + 1):  # plain lines may be more than there are, to fit an x that differs
        plain = fit(k).state
        joint = fit_joint(samples, plain).state
        gained = likelihood_of_responses(samples, joint) - k * penalty(part) - min_gain(samples, k)
        if prefers_joint(samples, joint, plain) and gained > value:
            best, value = k, gained
        elif k > n_plain:
            break
    return best


def regression_spectrum(
    partitions: Partitions[SamplePartition],
    *,
    design: str,
    intercept: bool,
    seed: int,
    standardized: Standardized | None = None,
) -> Spectrum:
    """Count the regressions: as many as there are directions of coefficients, and at least one.

    Notes
    -----
    2A = E[y²xx'] - E[y²] I equals E[(y² - E[y²])(xx' - I)] for standard normal x, which has less variance.
    """
    _, _, power, samples = standardized or standardize(partitions, design, intercept=intercept)
    n, d = samples.shape
    folds = Folds(
        second_moment_without(samples, _weights, (power,)),
        lambda directions: samples.reduce(_fold_sums, directions, power, n),
    )
    with blas_threads_for(samples):
        return find_spectrum(
            folds, max_directions(n, d, MAX_DIRECTIONS), lambda k: max(k, 1), n_features=None, seed=seed
        )


def _weights(partition: StandardizedPartition, power: float) -> Array:
    return np.asarray((partition.responses**2 - power) / 2)


def _fold_sums(partition: StandardizedPartition, directions: list[Array], power: float, n: int) -> FoldSums:
    """Sum w⟨z, v⟩² / n for each direction of a sample's own fold, and w / n."""
    sums = []
    for fold, V in zip(split_folds(partition), directions, strict=True):
        weights = _weights(fold, power) / n
        sums.append(evaluate_directions(fold.samples, np.zeros(len(V)), weights, weights, V))
    return add_all(sums)
