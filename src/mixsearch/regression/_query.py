"""One search in a fitted mixture: the regression that a direction or examples mean, extracted and refined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.doubts import add_doubts, check_information, check_lead
from mixsearch.core.em import EMOptions
from mixsearch.core.extraction import Extraction, extract_with_rehint
from mixsearch.core.hints import check_not_orthogonal
from mixsearch.errors import SearchWarning
from mixsearch.regression._component import RegressionComponent
from mixsearch.regression._doubts import doubt_moments, doubt_number
from mixsearch.regression._examples import can_hold, fit_from_examples, fit_with_examples, is_explained
from mixsearch.regression._family import RegressionFamily
from mixsearch.regression._hint import hint_from_pair
from mixsearch.regression._likelier import nearest_index
from mixsearch.regression._likelihood_search import search_by_likelihood
from mixsearch.regression._refinement import FittedMixture, nearest_candidate, refine_regression
from mixsearch.regression._rivals import Rivals

# A larger lead is not noise: scores from fourth and sixth moments vary more than those of other families.
MAX_SEPARATION = 2.0
# From this p-value down, moments are sure that a direction says something.
SURE_P_VALUE = 1e-6
# Examples that are of another component with at least this probability are a hint for that one.
MIN_POSTERIOR = 0.5


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
        """Find the regression that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), or pair of arrays
            A direction, or X and y of examples.

        Returns
        -------
        RegressionComponent
        """
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
