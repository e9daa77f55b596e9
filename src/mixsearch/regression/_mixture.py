"""The parameters of all regressions of a mixture."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.component import Candidates
from mixsearch.core.example_fit import posterior_of_all
from mixsearch.regression._features import FeatureGaussians

if TYPE_CHECKING:
    from mixsearch.regression._family import RegressionFamily

# A noise variance from moments is at least this fraction of the variance that the regression explains.
MIN_NOISE = 1e-3


class RegressionMixture(NamedTuple):
    """All regressions of a mixture, t = ⟨z, slope⟩ + level + noise, for a standardized z."""

    slopes: Array  # (r, k)
    levels: Array  # (k,)
    variances: Array  # of the noise, (k,)
    weights: Array  # (k,)
    features: FeatureGaussians | None = None  # of x in every component, if it differs between them

    @property
    def n_components(self) -> int:
        """The number of regressions."""
        return len(self.levels)

    def with_first(self, index: int) -> RegressionMixture:
        """Return the mixture with one component moved to the front."""
        order = np.argsort(np.arange(self.n_components) != index, kind="stable")
        features = None if self.features is None else self.features.take(order)
        return RegressionMixture(
            self.slopes[:, order], self.levels[order], self.variances[order], self.weights[order], features
        )

    def log_features(self, X: Samples) -> Array:
        """Return the log density of x in each component, (n, k), or (1, 1) zero if x does not differ between them.

        Parameters
        ----------
        X : array of shape (n, d)

        Returns
        -------
        array of shape (n, k) or (1, 1)
        """
        if self.features is None:
            return np.zeros((1, 1))
        return self.features.log_densities(self.features.standardize(X))

    def log_densities(self, predicted: Array, responses: Array, log_features: Array | float = 0.0) -> Array:
        """Return log αᵢpᵢ of each sample and component up to a constant, (n, k).

        Parameters
        ----------
        predicted : array of shape (n, k)
            ⟨z, slope⟩ for each sample and component.
        responses : array of shape (n,)
        log_features : array of shape (n, k), default=0
            From `log_features`.

        Returns
        -------
        array of shape (n, k)
        """
        squares = (responses[:, None] - predicted - self.levels) ** 2
        of_responses = -0.5 * (squares / self.variances + np.log(self.variances))
        return np.asarray(self.log_weights + of_responses + log_features)

    @property
    def log_weights(self) -> Array:
        """The logarithms of the weights, (k,), finite also for components without any."""
        return np.log(np.maximum(self.weights, np.finfo(np.float64).tiny))

    def posterior_of_all(self, predicted: Array, responses: Array, log_features: Array | float = 0.0) -> Array:
        """Return the probability of each component that all of some samples are its own, (k,).

        Parameters
        ----------
        predicted, responses, log_features
            As in `log_densities`.

        Returns
        -------
        array of shape (k,)
        """
        return posterior_of_all(self.log_densities(predicted, responses, log_features), self.log_weights)


def mixture_from_moments(family: RegressionFamily, candidates: Candidates) -> RegressionMixture:
    """Return the parameters of all candidates, for standardized x.

    Parameters
    ----------
    family : RegressionFamily
    candidates : Candidates
        Extracted from the moments of this fit.

    Returns
    -------
    RegressionMixture

    Notes
    -----
    ⟨u₁, W'Σ αᵢbᵢμᵢ⟩ = √α₁b₁ gives the level. Without intercepts, it is the value at the mean of x of a regression
    through zero. ⟨u₁, W'Σ αᵢ(σᵢ² + |μᵢ|² + bᵢ²)μᵢ⟩ gives the noise variance.
    """
    slopes = family.frame.unwhiten(candidates.points)
    levels = candidates.points.T @ family.intercepts
    if not family.fit_intercept:
        levels = family.design.center @ family.design.to_coefficients(slopes) - family.offset
    explained = np.sum(slopes**2, axis=0)
    noise = candidates.points.T @ family.energies - explained - levels**2
    return RegressionMixture(slopes, levels, np.maximum(noise, MIN_NOISE * explained), candidates.weights)
