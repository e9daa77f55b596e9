"""Doubts about a regression that concern the fit rather than the hint."""

from __future__ import annotations

from mixsearch.core.doubts import add_doubts, lower_trust, trust
from mixsearch.errors import Option, UnlikelyMixtureWarning
from mixsearch.regression._component import RegressionComponent
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._likelier import Comparison

# The weights of a mixture sum to 1. A sum from moments outside this range is not due to noise.
MIN_TOTAL_WEIGHT, MAX_TOTAL_WEIGHT = 0.5, 2.0


def doubt_moments(found: RegressionComponent) -> RegressionComponent:
    """Return an estimate from moments with the doubts that they apply."""
    normality = found._family.normality
    if normality is not None and not normality.is_normal:
        return lower_trust(add_doubts(found, [normality.doubt()]), trust(normality.p_value))
    return add_doubts(found, _check_weights(found._family))


def _check_weights(family: RegressionFamily) -> list[UnlikelyMixtureWarning]:
    total = float(family.mean @ family.mean)
    if MIN_TOTAL_WEIGHT < total < MAX_TOTAL_WEIGHT:
        return []
    return [
        UnlikelyMixtureWarning(
            "The weights of all regressions sum to {total:.2g} instead of 1: the coefficients may be linearly "
            "dependent (as μ and -μ are), or the lines too far apart at the mean of X. Try fewer components, or "
            "more samples, or {argument}=True; do not trust the weights.",
            code="weights_not_one",
            total=total,
            argument=Option("refine"),
        )
    ]


def doubt_number(found: RegressionComponent, comparison: Comparison) -> RegressionComponent:
    """Return an answer with the doubt that there are more regressions, among which it would be another one."""
    k = found._family.n_components
    doubt = UnlikelyMixtureWarning(
        "With {larger} regressions instead of {n_components}, the likelihood of {n_samples:,} samples is larger by "
        "{gain:.0f} nats and the component found would change: it may be a mix of several. Fit more of them "
        "({argument}).",
        code="too_few_components",
        n_components=k,
        larger=k + 1,
        n_samples=comparison.n_samples,
        gain=comparison.gain,
        argument=Option("n_components"),
    )
    return lower_trust(add_doubts(found, [doubt]), trust(comparison.p_value))
