"""One Gaussian of a mixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.sample_component import SampleComponent
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_number
from mixsearch.gaussian._em import RefinedGaussian, features, memberships
from mixsearch.gaussian._jackknife import refined_gaussian_errors
from mixsearch.gaussian._moments import GaussianModel


@dataclass(frozen=True, repr=False, eq=False)
class GaussianComponent(SampleComponent):
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

    def _hint_shifts(self) -> Array | None:
        return None if self.hint is None else self.model.hint_shifts(self.hint)

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
        weight = clip_weight(self.weight)
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
