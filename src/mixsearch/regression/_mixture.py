"""The parameters of all regressions of a mixture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array


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

    def posterior_of_all(self, predicted: Array, responses: Array) -> Array:
        """Return the probability of each component that all of some samples are its own, (k,).

        Parameters
        ----------
        predicted : array of shape (n, k)
            ⟨z, slope⟩ for each sample and component.
        responses : array of shape (n,)

        Returns
        -------
        array of shape (k,)
        """
        squares = np.sum((responses[:, None] - predicted - self.levels) ** 2, axis=0)
        weights = np.maximum(self.weights, np.finfo(np.float64).tiny)
        logs = np.log(weights) - 0.5 * (squares / self.variances + len(responses) * np.log(self.variances))
        return np.asarray(softmax(logs))
