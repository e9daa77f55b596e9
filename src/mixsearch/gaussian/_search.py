"""Search in mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.doubts import add_doubts, check_information
from mixsearch.core.em import EMOptions, em_options, not_refined
from mixsearch.core.estimator import MixtureCache, Preset, RandomState, SemiSupervised
from mixsearch.core.example_fit import posterior_of_all
from mixsearch.core.extraction import Extraction, ExtractionOptions, candidates_along, extract_with_rehint
from mixsearch.core.hints import check_not_orthogonal, check_one_hint, hint_from_direction, hint_from_examples
from mixsearch.core.noise_edge import SignalCheck
from mixsearch.core.outliers import find_outliers
from mixsearch.core.second_moment import MeasuredSamples
from mixsearch.core.validation import check_n_components, check_n_features, check_n_samples
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import NoMassError, warn_user
from mixsearch.gaussian._component import GaussianComponent
from mixsearch.gaussian._mixture import SphericalMixture, frame_points, signal_features
from mixsearch.gaussian._moments import GaussianFamily, fit_gaussian
from mixsearch.gaussian._rank_selection import gaussian_spectrum
from mixsearch.gaussian._refinement import (
    FittedMixture,
    fit_from_candidate,
    fit_mixture,
    hint_for_component,
    match_candidate,
    refine_gaussian,
)
from mixsearch.gaussian._subset import DEFAULT_OPTIONS, MIN_MEMBERS, SubsetFit, fit_subset, fit_supported


class GaussianSearch(SemiSupervised[GaussianFamily]):
    """Find one Gaussian of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        k, the number of Gaussians; at most the number of features. "auto" counts the directions in which centers differ
        (`spectrum_`) and adds one. The long axes of clusters that are not spherical are counted too. A fit warns if a
        number is too small or too large for the samples, and an answer that this affects has it among its doubts.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: samples relative to zero, which needs linearly independent centers, and the
        noise level from one eigenvector. By default samples are relative to their mean, and the noise level comes from
        the whole noise space, with less variance.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of components of the fit.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    noise_variance_ : float
        The average variance of the components.
    mean_ : array of shape (d,)
        The mean of all samples but outliers.
    outliers_ : array of int
        Rows of X that lie far from all others and were left out of the fit; not with ``preset="paper"``. Up to 1% of
        the samples may lie anywhere. Five or more that are close to each other count as a component.
    component_ : GaussianComponent
        The component of the known members, if `fit` was given labels.

    References
    ----------
    A. Ray, J. Neeman, S. Sanghavi and S. Shakkottai, "The Search Problem in Mixture Models", Journal of Machine
    Learning Research 18, 2018.

    Examples
    --------
    >>> from mixsearch import GaussianSearch
    >>> from mixsearch.datasets import make_gaussian_mixture
    >>> data = make_gaussian_mixture(2000, 30, 4, random_state=0)
    >>> search = GaussianSearch(n_components=4).fit(data.X)
    >>> found = search.search(examples=data.X[data.labels == 2][:3])
    >>> bool(abs(found.center - data.centers[2]).max() < 0.2)
    True
    """

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        preset: Preset = "default",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.preset = preset
        self.random_state = random_state

    def _fit_family(self, X: Any) -> Partitions[SamplePartition]:
        partitions = self._check_partitions(X)
        minimum, is_paper = check_n_components(self.n_components), self._is_paper()
        check_n_features(partitions.n_features, minimum, f"{minimum} Gaussians")
        check_n_samples(partitions, minimum + 1, f"{minimum} Gaussians and their noise")
        self._forget("outliers_")
        samples, measured = (partitions, None) if is_paper else self._leave_out_outliers(partitions)
        k = self._choose_n_components(samples, lambda: gaussian_spectrum(samples, seed=self._draw_seed()))
        family = fit_gaussian(samples, k, paper=is_paper, seed=self._draw_seed(), measured=measured)
        self._family = self._check_family(family)
        self._subsets: MixtureCache[SubsetFit] = MixtureCache()
        self._mixtures: MixtureCache[FittedMixture] = MixtureCache()
        self.mean_ = self._family.sample_mean
        self.noise_variance_ = self._family.noise_variance
        return partitions

    def _check_family(self, family: GaussianFamily) -> GaussianFamily:
        """Warn if the number of components does not suit the samples. "auto" has counted them on held-out samples."""
        if hasattr(self, "spectrum_"):
            check = SignalCheck(self.spectrum_.held_out, self.spectrum_.n_signal, is_sought=True)
            family = replace(family, check=check)
        for doubt in family.doubts:
            warn_user(doubt)
        return family

    def _leave_out_outliers(
        self, partitions: Partitions[SamplePartition]
    ) -> tuple[Partitions[SamplePartition], MeasuredSamples]:
        found = find_outliers(partitions)
        self.outliers_ = found.rows
        if len(found.rows):
            warn_user(found.warning())
        return found.samples, found.measured

    def search(
        self,
        hint: ArrayLike | None = None,
        *,
        examples: SamplesLike | None = None,
        n_components: int | None = None,
        refine: bool = False,
        tol: float = 0.01,
        max_iter: int | None = None,
        **extraction: Unpack[ExtractionOptions],
    ) -> GaussianComponent:
        """Find the component that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            A direction v in which the wanted center lies further out than all others.
        examples : array of shape (q, d), optional
            A few samples of the component; their mean, relative to the mean of all samples, is the hint.
        n_components : int, optional
            Use the first j of the fitted components only.
        refine : bool, default=False
            Refine the estimate by EM. The answer's `moment_estimate` is the one before.
        tol : float, default=0.01
            Stop EM once an iteration gains less than this in the log-likelihood of all samples together, in nats:
            estimates then move far less than their standard errors.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        **extraction
            How the component is extracted: `method`, `choose`, `normaliser`, `rule`, `threshold` and `rehint`, the
            fields of `Extraction`.

        Returns
        -------
        GaussianComponent
        """
        how = Extraction.from_options({"rehint": not self._is_paper(), **extraction}, self.search)
        options = em_options(refine, tol, max_iter)
        family = self._select_family(n_components)
        if check_one_hint({"hint": hint, "examples": examples}) == "examples":
            found = self._extract_examples(self._check_rows(examples, reset=False), family, how)
        else:
            v = hint_from_direction(hint, self.n_features_in_)
            self._check_informative(v, family, scale=0.0)
            found = self._extract(family.frame.project_hint(v), family, how)
            found = replace(found, _hint=v, _hint_in_signal=family.frame.signal_fraction(v))
            found = check_information(found, family.information_p_value(v))
        found = found if options is None else self._refine(found, options, how)
        return add_doubts(found, found._find_doubts())

    def _get_supported(self, family: GaussianFamily) -> SubsetFit:
        """Return the mixture of the subset, without components that neither directions nor the likelihood support."""
        fitted = self._get_subset(family)
        if family.is_supported:
            return fitted
        return self._subsets.get((family.n_components, "supported"), lambda: fit_supported(family, fitted))

    def _get_subset(self, family: GaussianFamily, options: EMOptions = DEFAULT_OPTIONS) -> SubsetFit:
        return self._subsets.get((family.n_components, options), lambda: fit_subset(family, options))

    def _refine(self, found: GaussianComponent, options: EMOptions, how: Extraction) -> GaussianComponent:
        """Refine with the mixture in the signal space, which is fitted once and serves all hints."""
        family = found._family
        fitted = self._mixtures.get(
            (family.n_components, options), lambda: fit_mixture(family, options, self._get_subset(family, options))
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
        self, found: GaussianComponent, options: EMOptions, fitted: FittedMixture
    ) -> tuple[FittedMixture, int]:
        """Return the index of the component found in the fitted mixture; if it is not there, of the best score."""
        family, candidates = found._family, found._candidates
        index = match_candidate(family, candidates, fitted.mixture)
        if index is None:
            fitted = fit_from_candidate(family, candidates, options, fitted) or fitted
            index = match_candidate(family, candidates, fitted.mixture)
        if index is None:
            scores = frame_points(family, fitted.mixture.centers.T, constant=1.0).T @ found._hinted.hint
            weights = fitted.mixture.weights if found._choose == "share" else 1.0
            index = int(np.argmax(scores * np.sqrt(weights)))
        return fitted, index

    def _extract_fitted(
        self, found: GaussianComponent, mixture: SphericalMixture, index: int, how: Extraction
    ) -> GaussianComponent:
        """Return the component of the moments that one of the fitted mixture is, with the same hint.

        A component between others never scores highest under the direction of its members.
        """
        family = found._family
        try:
            again = hint_for_component(family, mixture, index)
            other = self._extract(again, family, how)
            candidates = candidates_along(found._hinted, other._direction, how.choose)
        except NoMassError:  # moments do not see it
            return found
        return replace(found, _candidates=candidates, _rehint=again)

    def _search_examples(self, members: Samples) -> GaussianComponent:
        found = self._extract_examples(members, self._family, Extraction(rehint=not self._is_paper()))
        return add_doubts(found, found._find_doubts())

    def _extract_examples(self, members: Samples, family: GaussianFamily, how: Extraction) -> GaussianComponent:
        v = hint_from_examples(members, self.mean_)
        self._check_informative(v, family, scale=float(np.sqrt(family.frame.values[-1])))
        # Scores are relative to the mean as well: otherwise all of them share a part without information.
        found = self._extract(family.frame.project_hint(v, from_origin=True), family, how)
        return replace(found, _examples=members, _hint_in_signal=family.frame.signal_fraction(v))

    def _check_informative(self, v: Array, family: GaussianFamily, scale: float) -> None:
        """Raise if the hint cannot separate components, unless there is only one."""
        if family.n_components > 1:
            check_not_orthogonal(family.frame, v, scale=scale + float(np.linalg.norm(v)))

    def _extract(self, hint: Array, family: GaussianFamily, how: Extraction) -> GaussianComponent:
        hinted = family.hinted(hint)
        candidates, again = extract_with_rehint(family.hinted, hinted, family.frame, how)
        return GaussianComponent(
            family.frame,
            candidates,
            _hinted=hinted,
            _rehint=again,
            _family=family,
            _subset=self._get_supported(family),
            _choose=how.choose,
            _feature_names=self._get_feature_names(),
        )

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self._family.frame.whiten(X), dtype=X.dtype)


def _choose_by_examples(mixture: SphericalMixture, Z: Array) -> int:
    """Return the index of the component that all examples, given as features, are likeliest of."""
    logs = (mixture.log_densities() @ Z).T
    return int(np.argmax(posterior_of_all(logs, np.log(mixture.weights))))
