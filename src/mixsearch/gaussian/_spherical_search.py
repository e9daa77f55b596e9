"""Search in a mixture of spherical Gaussians: moments, and EM in the signal space."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.doubts import add_doubts, check_information
from mixsearch.core.em import EMOptions, not_refined
from mixsearch.core.estimator import MixtureCache
from mixsearch.core.example_fit import posterior_of_all
from mixsearch.core.extraction import (
    Extraction,
    cancel_without_projection,
    candidates_along,
    extract_with_rehint,
    prefer,
)
from mixsearch.core.hints import check_not_orthogonal, hint_from_examples
from mixsearch.errors import NoMassError
from mixsearch.gaussian._family import GaussianFamily
from mixsearch.gaussian._mixture import SphericalMixture, frame_points, signal_features
from mixsearch.gaussian._refinement import (
    FittedMixture,
    fit_from_candidate,
    fit_mixture,
    hint_for_component,
    match_candidate,
    refine_gaussian,
)
from mixsearch.gaussian._spherical_component import SphericalComponent
from mixsearch.gaussian._subset import DEFAULT_OPTIONS, MIN_MEMBERS, SubsetFit, fit_subset, fit_supported


@dataclass(frozen=True)
class SphericalSearch:
    """A fit with the mixtures that its searches share, since no hint enters them."""

    family: GaussianFamily
    _subsets: MixtureCache[SubsetFit] = field(default_factory=MixtureCache)
    _mixtures: MixtureCache[FittedMixture] = field(default_factory=MixtureCache)

    def search_direction(self, v: Array, how: Extraction, options: EMOptions | None) -> SphericalComponent:
        """Return the component of a direction, (d,); refined, if there are options of EM."""
        frame = self.family.frame
        self._check_informative(v, scale=0.0)
        found = self._extract(frame.project_hint(v), how, v)
        found = replace(found, _hint=v, _hint_in_signal=frame.signal_fraction(v))
        found = check_information(found, self.family.information_p_value(v))
        return found if options is None else self._refine(found, options, how)

    def search_examples(
        self, members: Samples, _others: Samples, how: Extraction, options: EMOptions | None
    ) -> SphericalComponent:
        """Return the component of examples, (q, d); refined, if there are options of EM."""
        frame, v = self.family.frame, hint_from_examples(members, self.family.sample_mean)
        self._check_informative(v, scale=float(np.sqrt(frame.values[-1])))
        # Scores are relative to the mean as well: otherwise all of them share a part without information.
        found = self._extract(frame.project_hint(v, from_origin=True), how, v)
        found = replace(found, _examples=members, _hint_in_signal=frame.signal_fraction(v))
        return found if options is None else self._refine(found, options, how)

    def _get_supported(self) -> SubsetFit:
        """Return the mixture of the subset, without components that neither directions nor the likelihood support."""
        family, fitted = self.family, self._get_subset()
        if family.is_supported:
            return fitted
        return self._subsets.get((family.n_components, "supported"), lambda: fit_supported(family, fitted))

    def _get_subset(self, options: EMOptions = DEFAULT_OPTIONS) -> SubsetFit:
        family = self.family
        return self._subsets.get((family.n_components, options), lambda: fit_subset(family, options))

    def _refine(self, found: SphericalComponent, options: EMOptions, how: Extraction) -> SphericalComponent:
        """Refine with the mixture in the signal space, which is fitted once and serves all hints."""
        family = self.family
        fitted = self._mixtures.get(
            (family.n_components, options), lambda: fit_mixture(family, options, self._get_subset(options))
        )
        if found._examples is None:
            fitted, index = self._choose_by_direction(found, options, fitted)
        else:
            index = _choose_by_examples(fitted.mixture, signal_features(family, found._examples))
        if not fitted.mixture.weights[index] * family.partitions.n_rows > MIN_MEMBERS:
            return add_doubts(found, [not_refined()])
        if found._examples is not None and index != match_candidate(family, found._candidates, fitted.mixture):
            found = self._extract_fitted(found, fitted.mixture, index, how)
        return replace(found, _refined=refine_gaussian(family, fitted, index))

    def _choose_by_direction(
        self, found: SphericalComponent, options: EMOptions, fitted: FittedMixture
    ) -> tuple[FittedMixture, int]:
        """Return the index of the component found in the fitted mixture; if it is not there, of the best score."""
        family, candidates = self.family, found._candidates
        index = match_candidate(family, candidates, fitted.mixture)
        if index is None:
            fitted = fit_from_candidate(family, candidates, options, fitted) or fitted
            index = match_candidate(family, candidates, fitted.mixture)
        if index is None:
            scores = frame_points(family, fitted.mixture.centers.T, constant=1.0).T @ found._hinted.hint
            index = int(np.argmax(prefer(scores, fitted.mixture.weights, found._choose)))
        return fitted, index

    def _extract_fitted(
        self, found: SphericalComponent, mixture: SphericalMixture, index: int, how: Extraction
    ) -> SphericalComponent:
        """Return the component of the moments that one of the fitted mixture is, with the same hint.

        A component between others never scores highest under the direction of its members.
        """
        family = self.family
        try:
            again = hint_for_component(family, mixture, index)
            other = self._extract(again, replace(how, projected=True))
            candidates = candidates_along(found._hinted, other._direction, how.choose)
        except NoMassError:  # moments do not see it
            return found
        return replace(found, _candidates=candidates, _rehint=again, _outside=None)

    def _check_informative(self, v: Array, scale: float) -> None:
        """Raise if the hint cannot separate components, unless there is only one."""
        if self.family.n_components > 1:
            check_not_orthogonal(self.family.frame, v, scale=scale + float(np.linalg.norm(v)))

    def _extract(self, hint: Array, how: Extraction, v: Array | None = None) -> SphericalComponent:
        """Extract the component of a hint in the frame, (k,); outside the signal space it is the direction v, (d,)."""
        family = self.family
        hinted = family.hinted(hint)
        outside = again = None
        if v is not None and family.is_paper and not how.projected:
            candidates, outside = cancel_without_projection(family.whole_moments(v), family.frame, how)
        else:
            candidates, again = extract_with_rehint(family.hinted, hinted, family.frame, how)
        return SphericalComponent(
            family.frame,
            candidates,
            _hinted=hinted,
            _rehint=again,
            _outside=outside,
            _family=family,
            _subset=self._get_supported(),
            _choose=how.choose,
        )


def _choose_by_examples(mixture: SphericalMixture, Z: Array) -> int:
    """Return the index of the component that all examples, given as features, are likeliest of."""
    logs = (mixture.log_densities() @ Z).T
    return int(np.argmax(posterior_of_all(logs, np.log(mixture.weights))))
