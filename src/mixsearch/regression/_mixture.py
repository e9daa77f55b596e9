"""The parameters of all regressions of a mixture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.example_fit import posterior_of_all


class RegressionMixture(NamedTuple):
    """All regressions of a mixture, t = ⟨z, slope⟩ + level + noise, for a standardized z."""

    slopes: Array  # (r, k)
    levels: Array  # (k,)
    variances: Array  # of the noise, (k,)
    weights: Array  # (k,)

    @property
    def n_components(self) -> int:
        """The number of regressions."""
        return len(self.levels)

    def with_first(self, index: int) -> RegressionMixture:
        """Return the mixture with one component moved to the front."""
        order = np.argsort(np.arange(self.n_components) != index, kind="stable")
        return RegressionMixture(self.slopes[:, order], self.levels[order], self.variances[order], self.weights[order])

    def log_densities(self, predicted: Array, responses: Array) -> Array:
        """Return log αᵢpᵢ of each sample and component up to a constant, (n, k).

        Parameters
        ----------
        predicted : array of shape (n, k)
            ⟨z, slope⟩ for each sample and component.
        responses : array of shape (n,)

        Returns
        -------
        array of shape (n, k)
        """
        squares = (responses[:, None] - predicted - self.levels) ** 2
        return np.asarray(self.log_weights - 0.5 * (squares / self.variances + np.log(self.variances)))

    @property
    def log_weights(self) -> Array:
        """The logarithms of the weights, (k,), finite also for components without any."""
        return np.log(np.maximum(self.weights, np.finfo(np.float64).tiny))

    def posterior_of_all(self, predicted: Array, responses: Array) -> Array:
        """Return the probability of each component that all of some samples are its own, (k,).

        Parameters
        ----------
        predicted, responses
            As in `log_densities`.

        Returns
        -------
        array of shape (k,)
        """
        return posterior_of_all(self.log_densities(predicted, responses), self.log_weights)
