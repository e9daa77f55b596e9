"""One Gaussian of a mixture."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from mixsearch._typing import Array, Samples, SamplesLike
from mixsearch.core.jackknife import StandardErrors
from mixsearch.core.posterior import clip_weight, log_normal, posterior
from mixsearch.core.sample_component import SampleComponent
from mixsearch.core.validation import check_samples
from mixsearch.data.dask import dask_arrays, is_dask
from mixsearch.display import Card, plain_number
from mixsearch.gaussian._em import RefinedGaussian, responsibilities, signal_features
from mixsearch.gaussian._jackknife import refined_gaussian_errors
from mixsearch.gaussian._moments import GaussianFamily


@dataclass(frozen=True, repr=False, eq=False)
class GaussianComponent(SampleComponent):
    """One Gaussian of a mixture.

    Attributes
    ----------
    noise_variance : float
        Its own variance σ² in every direction.
    hint_in_signal : float
        The fraction of the hint's squared length that lies in the signal space, where centers differ: about k / d
        for a random direction.

    See Also
    --------
    Component : `center`, `weight`, `separation`, `scores`, `alternatives` and the rest.
    """

    _family: GaussianFamily = field(kw_only=True)
    _refined: RefinedGaussian | None = field(default=None, kw_only=True)
    _hint_in_signal: float = field(default=1.0, kw_only=True)
    _hint: Array | None = field(default=None, kw_only=True)  # the direction, (d,), of a search by direction
    _examples: Samples | None = field(default=None, kw_only=True)  # (q, d), of a search by examples

    @cached_property
    def confidence(self) -> float:
        """The probability that this is the component that the hint means: that it comes first on new samples too.

        For examples, times the probability that they belong to this component and to no other.
        """
        return super().confidence * (1.0 if self._examples is None else self._posterior_of_examples(self._examples))

    @property
    def hint_in_signal(self) -> float:
        """The fraction of the hint's squared length that lies in the signal space."""
        return self._hint_in_signal

    def _hint_shifts(self) -> Array | None:
        return None if self._hint is None else self._family.hint_shifts(self._hint)

    def _posterior_of_examples(self, examples: Samples) -> float:
        if self._refined is not None:
            return float(self._refined.mixture.posterior_of_all(signal_features(self._family, examples))[0])
        units = np.sqrt(self._frame.values * (self._frame.spread > 0))
        distances = cdist(self._frame.whiten(examples) * units, self._rival_points.T * units, "sqeuclidean").sum(axis=0)
        weights = np.maximum((self._hinted.mean @ self._rivals) ** 2, np.finfo(np.float64).tiny)
        return float(softmax(np.log(weights) - distances / (2 * self._positive_noise))[self._rival_index])

    def _refined_errors(self, refined: RefinedGaussian) -> StandardErrors:
        return refined_gaussian_errors(self._family, refined)

    @property
    def noise_variance(self) -> float:
        """The variance σ² of this component in every direction.

        Notes
        -----
        m~ = Σ αᵢσᵢ²μᵢ, so ⟨u₁, W'm~⟩ = √α₁σ₁², with u₁ = √α₁W'μ₁. An estimate that noise makes negative, or larger than
        all noise there is, is replaced by the average variance.
        """
        if self._refined is not None:
            return self._refined.noise_variance
        own = float(self._point @ self._family.noise_mean)
        limit = self._family.noise_variance / self.weight
        return own if 0 < own <= limit else self._positive_noise

    @property
    def _positive_noise(self) -> float:
        """The average variance, or a trace of one if the samples have none: densities need a positive variance."""
        return max(self._family.noise_variance, 1e-9 * float(self._frame.values[-1]))

    def membership(self, X: SamplesLike) -> Array:
        """Return the probability that each sample belongs to this component.

        Parameters
        ----------
        X : array, sparse matrix or Dask array of shape (n, d)

        Returns
        -------
        array of shape (n,)
            A lazy Dask array if X is one.

        Notes
        -----
        Compared in the signal space with one Gaussian for the rest of the mixture, whose mean and covariance follow
        from the moments of all samples less those of this component; after refinement, with all other components.
        """
        if is_dask(X):
            rows: Array = dask_arrays().map_rows(self.membership, X, len(self.center))
            return rows
        samples = check_samples(X, len(self.center), self._feature_names)
        if len(self.scores) == 1:
            return np.ones(samples.shape[0])  # there is no rest
        if self._refined is None:
            return self._moment_membership(self._frame.whiten(samples))
        resp = responsibilities(self._refined.mixture, signal_features(self._family, samples))
        return np.asarray(resp[0], dtype=np.float64)

    def _moment_membership(self, Y: Array) -> Array:
        free = self._frame.spread > 0  # the constant coordinate carries no information
        noise, point = np.diag(self._frame.spread[free]), self._point[free]
        weight = clip_weight(self.weight)
        rest_mean = (self._family.mean[free] - weight * point) / (1 - weight)
        total = np.eye(len(point)) + self._positive_noise * noise
        own = np.outer(point, point) + self.noise_variance * noise
        rest = (total - weight * own) / (1 - weight) - np.outer(rest_mean, rest_mean)
        return posterior(
            weight,
            log_normal(Y[:, free] - point, self.noise_variance * noise),
            log_normal(Y[:, free] - rest_mean, rest, floor=0.5 * self._positive_noise * noise),
        )

    def _card(self) -> Card:
        card = super()._card()
        card.facts.insert(1, ("noise variance", plain_number(self.noise_variance)))
        return card
