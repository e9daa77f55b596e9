"""The number of regressions, where moments cannot count them but the likelihood can."""

from __future__ import annotations

from mixsearch.core.rank_selection import Spectrum
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._likelier import MAX_COMPONENTS, choose_n_components, take_part
from mixsearch.regression._refinement import make_regressors

# Samples that regressions are counted on by their likelihood.
MAX_COUNTED = 2000


def count_by_likelihood(family: RegressionFamily, spectrum: Spectrum, *, is_paper: bool) -> int:
    """Return the number of regressions, by their likelihood where moments cannot count them.

    Parameters
    ----------
    family : RegressionFamily
        With as many components as moments count.
    spectrum : Spectrum
        What moments counted.
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
    return choose_n_components(take_part(make_regressors(family), MAX_COMPONENTS, MAX_COUNTED))
