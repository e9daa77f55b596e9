"""Search in mixtures of spherical Gaussians."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.em import EMOptions, em_options, warn_not_refined
from mixsearch.core.estimator import SemiSupervised
from mixsearch.core.extraction import Extraction, ExtractionOptions, extract
from mixsearch.core.hints import check_not_orthogonal, check_one_hint, hint_from_direction, hint_from_examples
from mixsearch.core.separation import warn_if_weak
from mixsearch.core.validation import check_choice, check_n_components, check_n_features, check_n_samples
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.gaussian._component import GaussianComponent
from mixsearch.gaussian._em import Learned, Spheres, direction_of, features, learn_spheres, place_of, refine_gaussian
from mixsearch.gaussian._moments import GaussianModel, fit_gaussian
from mixsearch.gaussian._rank_selection import gaussian_spectrum


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

    def _fit_model(self, X: Any) -> Partitions[SamplePartition]:
        samples = self._partitions(X)
        least = check_n_components(self.n_components)
        check_choice("noise", self.noise, ("average", "paper"))
        limit = samples.shape[1]
        check_n_features(samples.shape[1], least, limit, "Gaussians", "one direction must be left to the noise")
        check_n_samples(samples, least + 1, f"{least} components and their noise")
        k = self._number(samples, lambda: gaussian_spectrum(samples, seed=self._seed()))
        self.model_ = fit_gaussian(samples, k, noise=self.noise, seed=self._seed())
        self._learned: dict[tuple[int, EMOptions], Learned] = {}
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
        how, steps = Extraction.of(extraction), em_options(refine, tol)
        model = self._model(n_components)
        if check_one_hint({"hint": hint, "examples": examples}) == "examples":
            found = self._search_examples(self._checked(examples, reset=False), model, how)
        else:
            v = hint_from_direction(hint, self.n_features_in_)
            self._require_seen(v, model, scale=0.0)
            found = replace(self._extract(model.frame.project_hint(v), model, how), hint=v)
        return found if steps is None else self._refine(found, steps, how)

    def _refine(self, found: GaussianComponent, steps: EMOptions, how: Extraction) -> GaussianComponent:
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
            check_not_orthogonal(model.frame, v, scale=scale + float(np.linalg.norm(v)))

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
