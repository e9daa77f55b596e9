"""Search among more regressions than moments can separate: from examples, by the likelihood alone."""

from __future__ import annotations

from collections.abc import Sequence

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.em import EMOptions
from mixsearch.core.moments import Hinted
from mixsearch.errors import Option, SearchError
from mixsearch.regression._component import RegressionComponent
from mixsearch.regression._examples import fit_from_examples
from mixsearch.regression._family import RegressionFamily


def search_by_likelihood(
    family: RegressionFamily,
    examples: tuple[Samples, Array] | None,
    options: EMOptions | None,
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
    refined, mixture = fit_from_examples(family, *examples, options)
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
