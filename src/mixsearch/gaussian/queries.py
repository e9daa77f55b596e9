"""One search in a fitted mixture, of spherical Gaussians (moments, then EM) or of Gaussians of any shape."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
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
from mixsearch.core.outliers import Outliers, find_outliers
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.display import pluralize
from mixsearch.errors import (
    ArgumentError,
    HintError,
    NoMassError,
    Option,
    SearchError,
    UnlikelyMixtureWarning,
    warn_user,
)
from mixsearch.gaussian.component import ShapedComponent, SphericalComponent, discriminant
from mixsearch.gaussian.family import GaussianFamily
from mixsearch.gaussian.mixture import SphericalMixture, frame_points, signal_features
from mixsearch.gaussian.refinement import (
    FittedMixture,
    fit_from_candidate,
    fit_mixture,
    match_candidate,
    refine_gaussian,
)
from mixsearch.gaussian.shaped_fit import Covariance, ShapedFit, choose_shape, hold_examples, refine_shapes
from mixsearch.gaussian.shapes import ShapedMixture
from mixsearch.gaussian.subset import DEFAULT_OPTIONS, MIN_MEMBERS, SubsetFit, fit_subset, fit_supported
from mixsearch.gaussian.units import measure_units, scale_samples

# Every component has d x d numbers, and samples are made dense.
MAX_FEATURES = 2000
# Examples are held in their component if the mixture has more than this many of them elsewhere, in expectation.
MIN_CONTRADICTED = 0.5
# A probability of being in another component is at least this.
TINY = 1e-300


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
            # Whitened centers are orthogonal to each other, so each is its own best hint.
            again = frame_points(family, mixture.centers[index][:, None], constant=1.0)[:, 0]
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


@dataclass(frozen=True)
class ShapedSearch:
    """Samples with the mixture that was chosen on part of them. EM of all of them runs once, in the first search."""

    partitions: Partitions[SamplePartition]
    start: ShapedFit
    _fits: MixtureCache[ShapedFit] = field(default_factory=MixtureCache)

    def search_direction(self, v: Array, how: Extraction, options: EMOptions | None) -> ShapedComponent:
        """Return the component of a direction, (d,); refined, if there are options of EM."""
        fit, choose = self._refine(options), how.choose
        if fit.n_components > 1:
            check_not_orthogonal(fit.frame, v, scale=float(np.linalg.norm(v * fit.units.scale)))
        scores = fit.centers @ v
        order = np.argsort(-prefer(scores, fit.mixture.weights, choose), kind="stable")
        return replace(self._component(fit, v, scores, order, choose), _hint=v)

    def search_examples(
        self, examples: Samples, not_examples: Samples, how: Extraction, options: EMOptions | None
    ) -> ShapedComponent:
        """Return the component of examples, (q, d), and of no other ones; refined, if there are options of EM."""
        fit = self._refine(options)
        members, others = (fit.units.standardize(each) for each in (examples, not_examples))
        _check_apart(members, others)
        order = np.argsort(-_log_likelihoods(fit.mixture, members, others), kind="stable")
        v, index = discriminant(fit, members), int(order[0])
        found = self._component(fit, v, (fit.centers - fit.mean) @ v, order, how.choose)
        found = replace(found, _examples=members)
        if options is None or _n_contradicted(fit.mixture, index, members, others) <= MIN_CONTRADICTED:
            return found
        return replace(found, _held=hold_examples(fit, index, members, others, options))

    def _refine(self, options: EMOptions | None) -> ShapedFit:
        if options is None:
            return self.start
        return self._fits.get(options, lambda: refine_shapes(self.start, self.partitions, options))

    def _component(self, fit: ShapedFit, v: Array, scores: Array, order: Array, choose: str) -> ShapedComponent:
        scores, weights = scores[order], fit.mixture.weights[order]
        points = fit.frame.whiten(fit.centers[order]).T
        return ShapedComponent(
            fit.frame,
            Candidates(points, weights, scores, prefer(scores, weights, choose)),
            _fit=fit,
            _start=self.start,
            _order=order,
            _choose=choose,
            _hint_in_signal=fit.frame.signal_fraction(v),
        )


def _log_likelihoods(mixture: ShapedMixture, members: Array, others: Array) -> Array:
    """Return how likely it is of each component that all examples are its own and no other row is, (k,)."""
    outside = np.maximum(1 - mixture.posterior(others)[0], TINY)
    return np.asarray(
        mixture.log_densities(members).sum(axis=0) + np.log(mixture.weights) + np.log(outside).sum(axis=0)
    )


def _n_contradicted(mixture: ShapedMixture, index: int, members: Array, others: Array) -> float:
    """Return how many examples the mixture has on the wrong side, in expectation."""
    inside, outside = (mixture.posterior(each)[0][:, index] for each in (members, others))
    return float((1 - inside).sum() + outside.sum())


def _check_apart(members: Array, others: Array) -> None:
    """Raise an error if a row is both a member and no member."""
    both = [row for row, each in enumerate(members) if len(others) and np.any(np.all(others == each, axis=1))]
    if both:
        raise HintError(
            "Rows cannot be given both as members and as non-members: {rows}.",
            code="contradicting_rows",
            rows=", ".join(map(str, both)),
        )


def fit_shapes(
    partitions: Partitions[SamplePartition], covariance: Covariance, n_components: int | None, *, is_scaled: bool | None
) -> tuple[ShapedSearch, Array]:
    """Fit Gaussians of any shape to samples without outliers."""
    _check_n_features(partitions.n_features)
    found = _find_outliers(partitions, is_scaled=is_scaled is not False)
    if len(found.rows):
        warn_user(found.warning())
    samples = partitions.drop_rows(found.rows)
    start = choose_shape(samples, covariance, n_components, is_scaled=is_scaled)
    if n_components is not None and start.n_components < n_components:
        warn_user(_fewer_components(start.n_components, n_components))
    return ShapedSearch(samples, start), found.rows


def _find_outliers(partitions: Partitions[SamplePartition], *, is_scaled: bool) -> Outliers[Any]:
    if not is_scaled:
        return find_outliers(partitions)
    return find_outliers(partitions.map(scale_samples, measure_units(partitions, is_scaled=True).scale).persist())


def _check_n_features(n_features: int) -> None:
    if n_features > MAX_FEATURES:
        raise SearchError(
            "Components of any shape, or scaled features, need at most {possible:,} features, but X has "
            "n_features={n_features:,}. Reduce them first, for example by PCA, or fit spherical components without a "
            "scale.",
            code="too_many_features",
            possible=MAX_FEATURES,
            n_features=n_features,
        )


def _fewer_components(n_found: int, n_components: int) -> UnlikelyMixtureWarning:
    return UnlikelyMixtureWarning(
        "Only {n_found} of {n_components} components "
        + pluralize(n_found, "was found: it cannot", "were found: none of them can")
        + " be split further. The fit has {n_found}.",
        code="fewer_components",
        n_found=n_found,
        n_components=n_components,
    )


def reject_spherical_options(**options: Any) -> None:
    """Raise an error for an option that only spherical components have."""
    for name, value in options.items():
        if value is not None:
            raise spherical_only(name)


def spherical_only(name: str) -> ArgumentError:
    """Return the error that an option is one of spherical components only."""
    return ArgumentError(
        "{argument} is for spherical components without a scale ({covariance}='spherical').",
        code="spherical_only",
        argument=Option(name),
        covariance=Option("covariance"),
    )


def shaped_only(name: str) -> ArgumentError:
    """Return the error that an option is one of components of any shape."""
    return ArgumentError(
        "{argument} needs components of any shape: fit with {covariance}='auto'.",
        code="shaped_only",
        argument=Option(name),
        covariance=Option("covariance"),
    )


def needs_examples() -> HintError:
    """Return the error that there are samples outside of the component, but none inside."""
    return HintError(
        "{argument} needs {needed} as well.",
        code="needs_examples",
        argument=Option("not_examples"),
        needed=Option("examples"),
    )
