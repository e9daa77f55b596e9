"""Search in mixtures of Gaussians."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.doubts import add_doubts
from mixsearch.core.em import em_options
from mixsearch.core.estimator import RandomState, SemiSupervised
from mixsearch.core.extraction import Extraction, ExtractionOptions
from mixsearch.core.family import Preset
from mixsearch.core.hints import check_one_hint, hint_from_direction
from mixsearch.core.noise_edge import SignalCheck
from mixsearch.core.outliers import find_outliers
from mixsearch.core.second_moment import MeasuredSamples
from mixsearch.core.validation import AUTO, check_choice, check_n_components, check_n_features, check_n_samples
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import ArgumentError, SearchWarning, collect_warnings, warn_user
from mixsearch.gaussian.component import GaussianComponent, ShapedComponent, SphericalComponent
from mixsearch.gaussian.family import GaussianFamily
from mixsearch.gaussian.fit import fit_gaussian, gaussian_spectrum
from mixsearch.gaussian.queries import (
    ShapedSearch,
    SphericalSearch,
    fit_shapes,
    needs_examples,
    reject_spherical_options,
    shaped_only,
    spherical_only,
)
from mixsearch.gaussian.shaped_fit import Covariance
from mixsearch.gaussian.shapes import SHAPES
from mixsearch.gaussian.units import UNITS_DIFFER, find_unit_ratio, units_differ

# The doubts of a fit that features in different units raise.
_OF_UNITS = ("spectrum_full", "too_few_components")


class GaussianSearch(SemiSupervised[GaussianFamily]):
    """Find one Gaussian of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        k, the number of Gaussians; at most the number of features if they are spherical. "auto" counts the directions
        in which centers differ (`spectrum_`) and adds one. Long axes of clusters that are not spherical count too. The
        fit warns if the number is too small or too large for the samples, and affected answers have a doubt. With
        another `covariance`, "auto" chooses the number, up to 15, by the Bayesian information criterion.
    covariance : {"spherical", "auto", "diagonal", "tied", "low-rank", "full"}, default="spherical"
        The shape of components. "spherical" is the model of the paper. "tied" is one covariance for all components,
        "low-rank" a few long axes of each component and one variance for all other directions. "auto" chooses the shape
        by the Bayesian information criterion. Covariances are slightly shrunk towards their average.
    scale : bool or "auto", default="auto"
        Whether to divide features by their standard deviations, if their units differ. Samples, hints and answers stay
        in the units of X. "auto" scales unless ``covariance="spherical"``; ``covariance="auto"`` also tries spherical
        components in the original units.
    preset : {"default", "paper"}, default="default"
        "paper" makes the paper's choices: samples are not centered, which needs linearly independent centers, and the
        noise level comes from one eigenvector. By default samples are centered, and the noise level is an average over
        the whole noise space.
    noise_eigenvalue : {"next", "smallest"}, default="next"
        With ``preset="paper"``, the eigenvalue of the covariance that is the noise level: the (k+1)-th, as the paper
        defines it, or the smallest, as in its appendix and in the authors' programs. In theory they are equal; on
        samples the first is above the true level and the second below it.
    random_state : int, RandomState instance or None, default=0
        Seed of the eigensolver's starting block, used if there are many features.

    Attributes
    ----------
    n_components_ : int
        The number of components of the fit.
    covariance_ : str
        The shape of the components.
    scale_ : array of shape (d,)
        The unit of each feature; equal for all features if they are not scaled.
    spectrum_ : Spectrum
        The eigenvalues behind ``n_components="auto"``, if components are spherical.
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

    _shaped: ShapedSearch | None

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        covariance: Covariance = "spherical",
        scale: bool | Literal["auto"] = "auto",
        preset: Preset = "default",
        noise_eigenvalue: Literal["next", "smallest"] = "next",
        random_state: RandomState = 0,
    ) -> None:
        self.n_components = n_components
        self.covariance = covariance
        self.scale = scale
        self.preset = preset
        self.noise_eigenvalue = noise_eigenvalue
        self.random_state = random_state

    def _fit_family(self, X: Any) -> Partitions[SamplePartition]:
        check_choice("covariance", self.covariance, (AUTO, *SHAPES))
        check_choice("scale", self.scale, (True, False, AUTO))
        is_smallest = self._is_noise_smallest()
        partitions = self._check_partitions(X)
        minimum, is_paper = check_n_components(self.n_components), self._is_paper()
        if self.covariance != "spherical" or self.scale not in (False, AUTO):
            return self._fit_shapes(partitions, minimum)
        check_n_features(partitions.n_features, minimum, f"{minimum} Gaussians")
        check_n_samples(partitions, minimum + 1, f"{minimum} Gaussians and their noise")
        self._forget("outliers_")
        samples, measured = (partitions, None) if is_paper else self._leave_out_outliers(partitions)
        with collect_warnings() as doubts:
            k = self._choose_n_components(samples, lambda: gaussian_spectrum(samples, seed=self._draw_seed()))
            family = fit_gaussian(
                samples, k, paper=is_paper, seed=self._draw_seed(), measured=measured, is_smallest=is_smallest
            )
            family = self._check_family(family)
        self._family = self._check_units(family, samples, doubts)
        self._spherical, self._shaped = SphericalSearch(self._family), None
        self.mean_ = self._family.sample_mean
        self.noise_variance_ = self._family.noise_variance
        self.covariance_, self.scale_ = "spherical", np.ones(partitions.n_features)
        return partitions

    def _is_noise_smallest(self) -> bool:
        check_choice("noise_eigenvalue", self.noise_eigenvalue, ("next", "smallest"))
        is_smallest = self.noise_eigenvalue == "smallest"
        if is_smallest and not self._is_paper():
            raise ArgumentError(
                "noise_eigenvalue='smallest' needs preset='paper': otherwise the noise level is the mean over the "
                "whole noise space.",
                code="options_conflict",
            )
        return is_smallest

    def _fit_shapes(self, partitions: Partitions[SamplePartition], minimum: int) -> Partitions[SamplePartition]:
        if self._is_paper():
            raise spherical_only("preset='paper'")
        check_n_samples(partitions, minimum + 1, f"{minimum} Gaussians and their shape")
        k = None if self.n_components == AUTO else minimum
        is_scaled = None if self.scale == AUTO else bool(self.scale)
        self._shaped, self.outliers_ = fit_shapes(partitions, self.covariance, k, is_scaled=is_scaled)
        self._forget("spectrum_", "_family", "_spherical")
        start = self._shaped.start
        self.mean_, self.noise_variance_ = start.mean, start.noise_variance
        self.covariance_, self.scale_ = start.mixture.shape, start.units.scale
        return partitions

    @property
    def n_components_(self) -> int:
        """The number of components of the fit."""
        return super().n_components_ if self._shaped is None else self._shaped.start.n_components

    @property
    def _n_features_out(self) -> int:
        return super()._n_features_out if self._shaped is None else self._shaped.start.frame.n_components

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "covariance_")

    def _check_family(self, family: GaussianFamily) -> GaussianFamily:
        """Warn if the number of components does not suit the samples. "auto" has counted them on held-out samples."""
        if hasattr(self, "spectrum_"):
            check = SignalCheck(self.spectrum_.held_out, self.spectrum_.n_signal, is_sought=True)
            family = replace(family, check=check)
        for doubt in family.doubts:
            warn_user(doubt)
        return family

    def _check_units(
        self, family: GaussianFamily, samples: Partitions[SamplePartition], doubts: list[SearchWarning]
    ) -> GaussianFamily:
        """Issue the doubts of a fit. If the units of the features differ, this is the one reason that counts."""
        if not family.is_paper and any(doubt.code in _OF_UNITS for doubt in doubts):
            family = replace(family, unit_ratio=find_unit_ratio(samples))
            doubts = doubts if family.unit_ratio is None else [units_differ(family.unit_ratio)]
        for doubt in doubts:
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
        not_examples: SamplesLike | None = None,
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
            A direction v in which the center lies further out than all others.
        examples : array of shape (q, d), optional
            A few samples of the component; their mean, relative to the mean of all samples, is the hint. If components
            are not spherical, the one under which the examples are likeliest is found.
        not_examples : array of shape (q, d), optional
            Samples of other components. Needs `examples`, and a `covariance` other than "spherical".
        n_components : int, optional
            Use the first j of the fitted components only, if they are spherical.
        refine : bool, default=False
            Refine the estimate by EM. The answer's `moment_estimate` is the one before; for components that are not
            spherical, it comes from about 3,000 of the samples. Examples that the mixture contradicts are held in their
            component.
        tol : float, default=0.01
            Stop EM when an iteration raises the total log-likelihood by less than this, in nats. Estimates then change
            by far less than their standard errors.
        max_iter : int, optional
            Maximum number of EM iterations, 100 by default.
        **extraction
            Options of the extraction: `method`, `choose`, `normaliser`, `rule`, `threshold`, `projected` and `rehint`,
            the fields of `Extraction`.

        Returns
        -------
        GaussianComponent
        """
        how = Extraction.from_options({"rehint": not self._is_paper(), **extraction}, self.search)
        options = em_options(refine, tol, max_iter)
        check_is_fitted(self)
        if self._shaped is not None:
            reject_spherical_options(n_components=n_components, **{**extraction, "choose": None})
        elif not_examples is not None:
            raise shaped_only("not_examples")
        fitted = self._shaped or replace(self._spherical, family=self._select_family(n_components))
        if check_one_hint({"hint": hint, "examples": examples}) == "examples":
            members = self._check_rows(examples, reset=False)
            others = members[:0] if not_examples is None else self._check_rows(not_examples, reset=False)
            return self._complete(fitted.search_examples(members, others, how, options))
        if not_examples is not None:
            raise needs_examples()
        return self._complete(fitted.search_direction(hint_from_direction(hint, self.n_features_in_), how, options))

    def _search_examples(self, members: Samples) -> GaussianComponent:
        how = Extraction(rehint=not self._is_paper())
        return self._complete((self._shaped or self._spherical).search_examples(members, members[:0], how, None))

    def _complete(self, found: SphericalComponent | ShapedComponent) -> GaussianComponent:
        """Return an answer with the names of the features, and with its doubts."""
        found = replace(found, _feature_names=self._get_feature_names())
        doubts = found._find_doubts()
        known = [doubt for doubt in doubts if doubt.code == UNITS_DIFFER]  # the fit has said it
        found = add_doubts(found, [doubt for doubt in doubts if doubt not in known])
        return replace(found, _doubts=(*found.doubts, *known))

    def _whiten(self, X: Samples) -> Array:
        frame = self._family.frame if self._shaped is None else self._shaped.start.frame
        return np.asarray(frame.whiten(X), dtype=X.dtype)
