"""The number of regressions, where moments cannot count them but the likelihood can."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from mixsearch.core.em import EMResult
from mixsearch.core.rank_selection import Spectrum
from mixsearch.regression._evaluation import Regressors
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._joint import Joint, can_be_joint, fit_joint, min_gain, prefers_joint
from mixsearch.regression._likelier import MAX_COMPONENTS, choose_n_components, fit_random, penalty, take_part
from mixsearch.regression._mixture import RegressionMixture
from mixsearch.regression._refinement import make_regressors
from mixsearch.regression._whole_em import likelihood_of_responses, take_whole

# Samples that regressions are counted on by their likelihood.
MAX_COUNTED = 2000


def count_by_likelihood(family: RegressionFamily, spectrum: Spectrum, *, joint: Joint, is_paper: bool) -> int:
    """Return the number of regressions, by their likelihood where moments cannot count them.

    Parameters
    ----------
    family : RegressionFamily
        With as many components as moments count.
    spectrum : Spectrum
        What moments counted.
    joint : bool or "auto"
        Whether every component has its own distribution of x.
    is_paper : bool
        Trust the moments, as the paper does.

    Returns
    -------
    int
    """
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
