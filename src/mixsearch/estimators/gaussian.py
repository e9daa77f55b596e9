"""Search in mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from mixsearch.display import Card, plain_number
from mixsearch.estimators.base import SemiSupervised, require_choice, require_number, require_room, require_samples
from mixsearch.estimators.found import FoundComponent
from mixsearch.estimators.posterior import log_normal, posterior, within_unit
from mixsearch.estimators.samples import check_samples
from mixsearch.extraction import Extraction, ExtractionOptions, extract, warn_if_weak
from mixsearch.hints import hint_from_direction, hint_from_examples, require_one, require_seen
from mixsearch.models import GaussianModel, fit_gaussian
from mixsearch.models.parts import gaussian_spectrum
from mixsearch.refine import RefinedGaussian, Steps, learn_spheres, refine_gaussian, refined_gaussian_errors, steps_of
from mixsearch.refine.gaussian import Learned, Spheres, direction_of, features, memberships, place_of
from mixsearch.refine.steps import warn_not_refined
from mixsearch.scale import dask_arrays, is_dask
from mixsearch.shards import SampleShard, Shards
from mixsearch.types import Array, Samples, StandardErrors


@dataclass(frozen=True, repr=False, eq=False)
class GaussianComponent(FoundComponent):
    """One Gaussian of a mixture.

    Attributes
    ----------
    variance : float
        Its own variance σ² in every direction.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.
    """

    model: GaussianModel = field(kw_only=True)
    refined: RefinedGaussian | None = field(default=None, kw_only=True)
    hint: Array | None = field(default=None, kw_only=True)  # a direction, (d,), if that is the hint
    examples: Array | None = field(default=None, kw_only=True)  # members in the frame, (q, k), if they are the hint

    @cached_property
    def confidence(self) -> float:
        """The chance that this is the component that the hint means: that no other would come first on more samples.

        Where the hint is made of examples, times the probability that those are of this component and of no other.
        """
        return super().confidence * (1.0 if self.examples is None else self._chance_of_examples(self.examples))

    def _hint_moves(self) -> Array | None:
        return None if self.hint is None else self.model.hint_moves(self.hint)

    def _chance_of_examples(self, examples: Array) -> float:
        if self.refined is not None:
            return float(self.refined.mixture.chances(features(self.model, examples))[0])
        units = np.sqrt(self.frame.values * (self.frame.spread > 0))
        distances = cdist(examples * units, self._rival_points.T * units, "sqeuclidean").sum(axis=0)
        weights = np.maximum((self.hinted.mean @ self._rivals) ** 2, np.finfo(np.float64).tiny)
        return float(softmax(np.log(weights) - distances / (2 * self._least_noise))[self._place])

    def _refined_errors(self, refined: RefinedGaussian) -> StandardErrors:
        return refined_gaussian_errors(self.model, refined)

    @property
    def variance(self) -> float:
        """σ² of this component.

        Notes
        -----
        m~ = Σ αᵢσᵢ²μᵢ, so ⟨u₁, W'm~⟩ = √α₁σ₁², with u₁ = √α₁W'μ₁. An estimate that noise has made negative, or larger
        than all noise there is, gives way to the average variance.
        """
        if self.refined is not None:
            return self.refined.variance
        own = float(self.point @ self.model.noise_mean)
        most = self.model.noise / self.weight
        return own if 0 < own <= most else self._least_noise

    @property
    def _least_noise(self) -> float:
        """The average variance, or a trace of one where the samples have none: densities need some."""
        return max(self.model.noise, 1e-9 * float(self.frame.values[-1]))

    def membership(self, X: Any) -> Any:
        """The probability that each sample belongs to this component, (n,).

        Notes
        -----
        Compared in the signal space with one Gaussian for the rest of the mixture, whose mean and covariance follow
        from the moments of all samples less this component's; after likelihood steps, with all other components.
        """
        if is_dask(X):
            return dask_arrays().map_rows(self.membership, X, len(self.center))
        return self._membership(self.frame.whiten(check_samples(X, len(self.center), self.feature_names)))

    def _membership(self, Y: Array) -> Array:
        if len(self.scores) == 1:
            return np.ones(len(Y))  # there is no rest
        if self.refined is not None:
            return np.asarray(memberships(self.refined.mixture, features(self.model, Y))[0], dtype=np.float64)
        free = self.frame.spread > 0  # the constant coordinate tells nothing
        noise, point = np.diag(self.frame.spread[free]), self.point[free]
        weight = within_unit(self.weight)
        rest_mean = (self.model.mean[free] - weight * point) / (1 - weight)
        total = np.eye(len(point)) + self._least_noise * noise
        own = np.outer(point, point) + self.variance * noise
        rest = (total - weight * own) / (1 - weight) - np.outer(rest_mean, rest_mean)
        return posterior(
            weight,
            log_normal(Y[:, free] - point, self.variance * noise),
            log_normal(Y[:, free] - rest_mean, rest, least=0.5 * self._least_noise * noise),
        )

    def _card(self) -> Card:
        card = super()._card()
        card.facts.insert(1, ("variance", plain_number(self.variance)))
        return card


class GaussianSearch(SemiSupervised):
    """Find one Gaussian of a mixture from a direction or a few of its samples.

    Parameters
    ----------
    n_components : int or "auto", default=2
        k, the number of Gaussians; at most the number of features. "auto" counts the directions in which centers differ
        (`spectrum_`) and takes one more. The long axes of clusters that are not round are counted too.
    noise : {"average", "paper"}, default="average"
        Samples seen from their mean, and the noise level from the whole noise space; or samples seen from zero and the
        noise level from one eigenvector, as in the paper, which needs linearly independent centers.
    random_state : int, RandomState instance or None, default=0
        Of the eigen-solver's starting block, where there are many features. The same value gives the same answer.

    Attributes
    ----------
    n_components_ : int
        How many components the fit holds.
    spectrum_ : Spectrum
        What ``n_components="auto"`` counted.
    noise_variance_ : float
        The average variance of the components.
    mean_ : array of shape (d,)
        The mean of all samples.
    component_ : GaussianComponent
        The component of the known members, where `fit` was given labels.
    model_ : GaussianModel
        The frame and the projected samples.

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

    def __init__(self, n_components: int | str = 2, *, noise: str = "average", random_state: Any = 0) -> None:
        self.n_components = n_components
        self.noise = noise
        self.random_state = random_state

    def _fit_model(self, X: Any) -> Shards[SampleShard]:
        samples = self._shards(X)
        least = require_number(self.n_components)
        require_choice("noise", self.noise, ("average", "paper"))
        limit = samples.shape[1]
        require_room(samples.shape[1], least, limit, "Gaussians", "one direction must be left to the noise")
        require_samples(samples, least + 1, f"{least} components and their noise")
        k = self._number(samples, lambda: gaussian_spectrum(samples, seed=self._seed()))
        self.model_ = fit_gaussian(samples, k, noise=self.noise, seed=self._seed())
        self._learned: dict[tuple[int, Steps], Learned] = {}
        self.mean_ = self.model_.sample_mean
        self.noise_variance_ = self.model_.noise
        return samples

    def search(
        self,
        hint: Any = None,
        *,
        examples: Any = None,
        n_components: int | None = None,
        refine: bool | int = False,
        tol: float = 0.01,
        **extraction: Unpack[ExtractionOptions],
    ) -> GaussianComponent:
        """Find the component that a hint means.

        Parameters
        ----------
        hint : array of shape (d,), optional
            A direction v in which the wanted center lies further out than all others.
        examples : array of shape (q, d), optional
            A few samples of the component; their mean, seen from the mean of all samples, is the hint.
        n_components : int, optional
            Use the first j of the fitted components only.
        refine : bool or int, default=False
            Sharpen the component by likelihood steps, so many at most where a number is given. The answer's
            `moment_estimate` is the component without.
        tol : float, default=0.01
            Stop where a step raises the log-likelihood of all samples together by less than this, in nats: estimates
            then move far less than their standard errors.
        **extraction
            How the component is extracted: ``method="cancellation"`` and so on, the fields of `Extraction`.
        """
        how, steps = Extraction.of(extraction), steps_of(refine, tol)
        model = self._model(n_components)
        if require_one({"hint": hint, "examples": examples}) == "examples":
            found = self._search_examples(self._checked(examples, reset=False), model, how)
        else:
            v = hint_from_direction(hint, self.n_features_in_)
            self._require_seen(v, model, scale=0.0)
            found = replace(self._extract(model.frame.project_hint(v), model, how), hint=v)
        return found if steps is None else self._refine(found, steps, how)

    def _refine(self, found: GaussianComponent, steps: Steps, how: Extraction) -> GaussianComponent:
        """With the mixture in the signal space, which is learned once and serves all hints."""
        key = found.frame.n_components, steps
        if key not in self._learned:
            self._learned[key] = learn_spheres(found.model, steps)
        learned = self._learned[key]
        if found.examples is not None:
            found = self._meant_by_examples(found, found.examples, learned.mixture, how)
        refined = refine_gaussian(found.model, found.candidates, steps, learned)
        if refined is None:
            warn_not_refined()
        return replace(found, refined=refined)

    def _meant_by_examples(
        self, found: GaussianComponent, examples: Array, mixture: Spheres, how: Extraction
    ) -> GaussianComponent:
        """The component that the examples are likeliest of, should it be another than the one of the largest score.

        A component between others never scores highest under the direction of its members.
        """
        model = found.model
        place = int(np.argmax(mixture.chances(features(model, examples))))
        if place == place_of(model, found.candidates, mixture):
            return found
        return replace(self._extract(direction_of(model, mixture, place), model, how), examples=examples)

    def _search_examples(
        self, members: Samples, model: GaussianModel | None = None, how: Extraction | None = None
    ) -> GaussianComponent:
        model = model or self.model_
        v = hint_from_examples(members, self.mean_)
        self._require_seen(v, model, scale=float(np.sqrt(model.frame.values[-1])))
        # The scores, too, are seen from the mean: elsewhere they would share a part that says nothing.
        found = self._extract(model.frame.project_hint(v, from_origin=True), model, how or Extraction())
        return replace(found, examples=model.frame.whiten(members))

    def _require_seen(self, v: Array, model: GaussianModel, scale: float) -> None:
        """Where there is more than one component to tell apart."""
        if model.frame.n_components > 1:
            require_seen(model.frame, v, scale=scale + float(np.linalg.norm(v)))

    def _extract(self, hint: Array, model: GaussianModel, how: Extraction) -> GaussianComponent:
        hinted = model.hinted(hint)
        found = GaussianComponent(
            model.frame,
            extract(hinted, model.frame, how),
            hinted=hinted,
            model=model,
            choose=how.choose,
            feature_names=self._names(),
        )
        warn_if_weak(found.separation)
        return found

    def _whiten(self, X: Samples) -> Array:
        return np.asarray(self.model_.frame.whiten(X), dtype=X.dtype)
