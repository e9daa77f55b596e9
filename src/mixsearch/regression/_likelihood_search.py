"""Search among more regressions than moments can separate: from examples, by the likelihood alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions
from mixsearch.core.moments import Hinted
from mixsearch.errors import Option, SearchError
from mixsearch.regression._component import RegressionComponent
from mixsearch.regression._examples import can_hold, choose_from_examples, fit_from_examples, fit_with_examples
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._refinement import FittedMixture, RefinedRegression, convert_to_fit


def search_by_likelihood(
    family: RegressionFamily,
    examples: tuple[Samples, Array] | None,
    options: EMOptions | None,
    fit: Callable[[RegressionFamily, EMOptions], FittedMixture],
    feature_names: Sequence[str] | None,
) -> RegressionComponent:
    """Find the regression of examples among more regressions than moments can separate.

    Parameters
    ----------
    family : RegressionFamily
    examples : pair of arrays, optional
        X and y. Without them there is no answer but an error.
    options : EMOptions, optional
        None if no refinement was asked for, which is an error as well.
    fit : callable
        Returns the mixture without any hint.
    feature_names : sequence of str, optional

    Returns
    -------
    RegressionComponent
    """
    if examples is None or options is None:
        raise SearchError(
            "Moments cannot separate the {n_components} regressions of this fit on {n_features} independent "
            "features: only their likelihood can. Search with {examples}=(X, y) of the regression and "
            "{refine}=True, or fit fewer components.",
            code="needs_examples",
            n_features=family.frame.n_components,
            n_components=family.n_components,
            examples=Option("examples"),
            refine=Option("refine"),
        )
    refined = _find(family, *examples, fit(family, options), options)
    mixture = convert_to_fit(family, refined.design, refined.mixture)
    slopes, weights = mixture.slopes, mixture.weights
    scores = slopes.T @ slopes[:, 0]
    return RegressionComponent(
        family.frame,
        Candidates(slopes, weights, scores, preference=scores),
        _family=family,
        _hinted=Hinted((slopes * weights * scores) @ slopes.T, slopes @ weights, slopes[:, 0]),
        _choose="largest",
        _examples=examples,
        _refined=refined,
        _likelihood_mixture=mixture,
        _feature_names=feature_names,
    )


def _find(
    family: RegressionFamily, X: Samples, y: Array, fitted: FittedMixture, options: EMOptions
) -> RefinedRegression:
    """Return the regression of the examples, from the likeliest start."""
    if can_hold(family):
        return fit_with_examples(family, X, y, fitted, options)
    chosen = choose_from_examples(family, X, y, fitted)
    if chosen.is_joint:
        return chosen
    return max(chosen, fit_from_examples(family, X, y, options), key=lambda each: each.objectives[-1])
