"""One search in a fitted mixture: hint, component from moments or likelihood, refinement, doubts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_X_y

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.doubts import add_doubts, check_information, check_lead, lower_trust, trust
from mixsearch.core.em import EMOptions
from mixsearch.core.extraction import Extraction, extract_with_rehint
from mixsearch.core.frame import Frame
from mixsearch.core.hints import check_not_orthogonal
from mixsearch.core.moments import Hinted
from mixsearch.core.validation import FLOAT_DTYPES, as_samples, check_samples
from mixsearch.errors import HintError, Option, SearchError, SearchWarning, UnlikelyMixtureWarning
from mixsearch.regression.component import RegressionComponent
from mixsearch.regression.examples import (
    can_hold,
    choose_from_examples,
    fit_from_examples,
    fit_with_examples,
    is_explained,
)
from mixsearch.regression.family import RegressionFamily
from mixsearch.regression.likelier import Comparison, nearest_index
from mixsearch.regression.recognition import Rivals
from mixsearch.regression.refinement import (
    FittedMixture,
    RefinedRegression,
    convert_to_fit,
    nearest_candidate,
    refine_regression,
)

# The weights of a mixture sum to 1. A sum from moments outside this range is not due to noise.
MIN_TOTAL_WEIGHT, MAX_TOTAL_WEIGHT = 0.5, 2.0
# A larger lead is not noise: scores from fourth and sixth moments vary more than those of other families.
MAX_SEPARATION = 2.0
# From this p-value down, moments are sure that a direction says something.
SURE_P_VALUE = 1e-6
# Examples that are of another component with at least this probability are a hint for that one.
MIN_POSTERIOR = 0.5


def check_pair(examples: Any, n_features: int, feature_names: Sequence[str] | None = None) -> tuple[Samples, Array]:
    """Check the examples of a search."""
    if not isinstance(examples, tuple | list) or len(examples) != 2:
        raise HintError(
            "{argument} must be a pair (X, y): samples of the regression and their responses.",
            code="examples_not_pair",
            argument=Option("examples"),
        )
    X, y = check_X_y(*examples, accept_sparse="csr", dtype=FLOAT_DTYPES)
    if X.shape[1] != n_features:
        raise HintError(
            "The examples have {found} features, but this fit needs {n_features}.",
            code="other_features",
            found=X.shape[1],
            n_features=n_features,
        )
    check_samples(examples[0], n_features, feature_names)
    return as_samples(X), np.asarray(y, dtype=np.float64)


def hint_from_pair(family: RegressionFamily, X: Samples, y: Array) -> Array:
    """Return the coefficients that a few members of a regression show, in the frame."""
    standardized, centered = family.design.standardize(X), y - family.offset
    hint = hint_from_responses(family.frame, standardized, centered, intercept=family.fit_intercept)
    if not hint.any():
        raise HintError(
            "The examples do not determine any coefficients: all of them are the same, or every response is zero. Give "
            "examples that differ in X and in y.",
            code="examples_uninformative",
        )
    return hint


def hint_from_responses(frame: Frame, X: Samples, y: Array, *, intercept: bool) -> Array:
    """Estimate the coefficients of a regression from a few of its members, in the frame.

    Notes
    -----
    The paper's hint is the mean of y x, in the frame y Y with Y = D W'x, which is noisy because x is. Least squares on
    Y, which has only k columns, gives the coefficients themselves; with a ridge, a single sample still gives the
    paper's direction.
    """
    Y, k = frame.whiten(X) * frame.values, frame.n_components
    if intercept and len(y) > k + 1:  # fewer samples do not determine an intercept besides the coefficients
        y = y - y[0]  # makes responses of identical samples exactly zero, without rounding
        Y, y = Y - Y.mean(axis=0), y - y.mean()
    if not y.any():
        return np.zeros(k)
    ridge = 0.1 * max(float(np.mean(y**2)), np.finfo(float).tiny)
    return np.asarray(np.linalg.solve(Y.T @ Y + ridge * np.eye(k), Y.T @ y))


def search_by_likelihood(
    family: RegressionFamily,
    examples: tuple[Samples, Array] | None,
    options: EMOptions | None,
    fit: Callable[[RegressionFamily, EMOptions], FittedMixture],
    feature_names: Sequence[str] | None,
) -> RegressionComponent:
    """Find the regression of examples among more regressions than moments can separate."""
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


@dataclass(frozen=True)
class Query:
    """The options of one search."""

    family: RegressionFamily
    how: Extraction
    options: EMOptions | None  # None without refinement
    fit_mixture: Callable[[RegressionFamily, EMOptions], FittedMixture]  # without any hint
    rivals: Rivals | None  # the rivals of every hint, if they are few
    feature_names: Sequence[str] | None
    is_paper: bool

    def search(self, hint: Array | tuple[Samples, Array]) -> RegressionComponent:
        """Find the regression that a hint means."""
        if not self.family.has_moments:
            examples = hint if isinstance(hint, tuple) else None
            found = search_by_likelihood(self.family, examples, self.options, self.fit_mixture, self.feature_names)
        elif isinstance(hint, tuple):
            found = self._search_examples(hint)
        else:
            found = self._search_direction(hint)
        found = found if self.options is not None else doubt_moments(found)
        return add_doubts(found, self._hint_doubts(found))

    def _hint_doubts(self, found: RegressionComponent) -> list[SearchWarning]:
        """Return the doubts about the hint. Refined examples rest on the likelihood, not on the lead of the scores."""
        doubts: list[SearchWarning] = [] if found._example_fit is None else [*found._example_fit.doubts()]
        if doubts or (found._examples is not None and found._refined is not None):
            return doubts
        return [*check_lead(found, max_separation=MAX_SEPARATION)]

    def _search_direction(self, direction: Array) -> RegressionComponent:
        family, options = self.family, self.options
        v = family.design.to_slopes(direction)
        check_not_orthogonal(family.frame, v, scale=float(np.linalg.norm(v)))
        found = replace(self._extract(family.frame.project_hint(v)), _direction_hint=v)
        p_value = family.information_p_value(v)
        found = found if options is None else self._refine(found, options)
        scores = None if options is None else found._scores
        if p_value > SURE_P_VALUE and scores is not None:  # refined regressions know better
            p_value = scores.information_p_value()
        return check_information(found, p_value)

    def _search_examples(self, examples: tuple[Samples, Array]) -> RegressionComponent:
        found = replace(self._extract(hint_from_pair(self.family, *examples)), _examples=examples)
        return self._choose_by_examples(found) if self.options is None else self._refine(found, self.options)

    def _choose_by_examples(self, found: RegressionComponent) -> RegressionComponent:
        """Return the regression that examples are of, which need not be the one that their direction prefers."""
        if self.is_paper or len(found.scores) == 1:
            return found
        posterior = found._preference_of(found._all_rivals.settled.mixture)[: found._rivals.shape[1]]
        best = int(np.argmax(posterior))
        if best == found._rival_index or posterior[best] < MIN_POSTERIOR:
            return found
        return replace(self._extract(found._rivals[:, best]), _examples=found._examples)

    def _refine(self, found: RegressionComponent, options: EMOptions) -> RegressionComponent:
        """Refine with the whole mixture."""
        family, fitted = self.family, self.fit_mixture(self.family, options)
        refined, index = refine_regression(family, found._candidates, options, fitted, found._preference_of)
        if found._examples is not None and family.n_components > 1 and can_hold(family):
            refined = fit_with_examples(family, *found._examples, fitted, options)
            index = nearest_candidate(family, found._candidates, refined)
        elif found._examples is not None and not refined.is_joint and not is_explained(refined, *found._examples):
            again = fit_from_examples(family, *found._examples, options)
            refined = max(refined, again, key=lambda each: each.objectives[-1])
        found = replace(found, _refined=refined, _rank=index)
        kept = fitted.comparison.keeps(nearest_index(fitted.result.state, refined.mixture.slopes[:, 0]))
        return found if kept else doubt_number(found, fitted.comparison)

    def _extract(self, hint: Array) -> RegressionComponent:
        family = self.family
        hinted = family.hinted(hint)
        candidates, again = extract_with_rehint(family.contract_again, hinted, family.frame, self.how)
        return RegressionComponent(
            family.frame,
            candidates,
            _family=family,
            _hinted=hinted,
            _rehint=again,
            _choose=self.how.choose,
            _shared=self.rivals,
            _feature_names=self.feature_names,
        )
