"""Draw mixtures of linear regressions with known truth. The defaults are the parameters of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.datasets._random import RandomState, make_generator, make_weights


@dataclass(frozen=True, slots=True)
class MixedRegressionData:
    """Samples of a mixture of linear regressions.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples.
    y : array of shape (n,)
        The responses.
    labels : array of shape (n,)
        The component of each sample.
    centers : array of shape (k, d)
        The coefficients of each component.
    intercepts : array of shape (k,)
        The intercept of each component.
    weights : array of shape (k,)
        The weight of each component.
    """

    X: Array
    y: Array
    labels: Array
    centers: Array
    intercepts: Array
    weights: Array

    def oracle(self) -> Array:
        """Estimate the coefficients from the true labels, by least squares with an intercept.

        Returns
        -------
        array of shape (k, d)
        """
        X = np.hstack([self.X, np.ones((len(self.X), 1))])
        members = [self.labels == i for i in range(len(self.centers))]
        return np.array([np.linalg.lstsq(X[own], self.y[own], rcond=None)[0][:-1] for own in members])


def make_mixed_regression(
    n_samples: int = 100_000,
    n_features: int = 50,
    n_components: int = 3,
    *,
    deviation: float = 0.1,
    intercept: float = 0.0,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> MixedRegressionData:
    """Draw from a mixture of linear regressions with standard normal X and coefficients on the unit sphere.

    Parameters
    ----------
    n_samples : int
        The number of samples n.
    n_features : int
        The number of features d.
    n_components : int
        The number of components k.
    deviation : float
        The standard deviation σ of the noise of y.
    intercept : float
        The standard deviation of the components' intercepts.
    weights : array of shape (k,), optional
        Positive and with sum 1. By default drawn between 0.1 and 0.3, then normalized.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    MixedRegressionData

    Examples
    --------
    >>> data = make_mixed_regression(100, 4, 2, random_state=0)
    >>> data.X.shape, data.y.shape, data.centers.shape
    ((100, 4), (100,), (2, 4))
    """
    rng = make_generator(random_state)
    centers = rng.standard_normal((n_components, n_features))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    intercepts = intercept * rng.standard_normal(n_components)
    shares = make_weights(rng, weights, n_components, 0.1, 0.3)
    labels = rng.choice(n_components, size=n_samples, p=shares)
    X = rng.standard_normal((n_samples, n_features))
    y = np.einsum("ij,ij->i", X, centers[labels]) + intercepts[labels] + deviation * rng.standard_normal(n_samples)
    return MixedRegressionData(X, y, labels, centers, intercepts, shares)
