"""Draw mixtures of spherical Gaussians with known truth. The defaults are the parameters of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.datasets._random import RandomState, make_generator, make_weights


@dataclass(frozen=True, slots=True)
class GaussianMixtureData:
    """Samples of a mixture of spherical Gaussians.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples.
    labels : array of shape (n,)
        The component of each sample.
    centers : array of shape (k, d)
        The center of each component.
    weights : array of shape (k,)
        The weight of each component.
    deviations : array of shape (k,)
        The standard deviation σᵢ of each component.
    """

    X: Array
    labels: Array
    centers: Array
    weights: Array
    deviations: Array

    def oracle(self) -> Array:
        """Estimate the centers from the true labels: the means of the members.

        Returns
        -------
        array of shape (k, d)
        """
        return np.array([self.X[self.labels == i].mean(axis=0) for i in range(len(self.centers))])


def make_gaussian_mixture(
    n_samples: int = 10_000,
    n_features: int = 500,
    n_components: int = 10,
    *,
    deviation: float | ArrayLike = 0.5,
    norm: float = 10.0,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> GaussianMixtureData:
    """Draw from a mixture of spherical Gaussians with centers uniform on a sphere.

    Parameters
    ----------
    n_samples : int
        The number of samples n.
    n_features : int
        The number of features d.
    n_components : int
        The number of components k.
    deviation : float or array of shape (k,)
        The standard deviation σ, or one per component.
    norm : float
        The norm of every center.
    weights : array of shape (k,), optional
        Positive and with sum 1. By default drawn between 0.05 and 0.2, then normalized.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    GaussianMixtureData

    Examples
    --------
    >>> data = make_gaussian_mixture(100, 20, 3, random_state=0)
    >>> data.X.shape, data.centers.shape
    ((100, 20), (3, 20))
    """
    rng = make_generator(random_state)
    centers = rng.standard_normal((n_components, n_features))
    centers *= norm / np.linalg.norm(centers, axis=1, keepdims=True)
    shares = make_weights(rng, weights, n_components, 0.05, 0.2)
    deviations = np.broadcast_to(np.asarray(deviation, dtype=float), (n_components,)).copy()
    labels = rng.choice(n_components, size=n_samples, p=shares)
    X = centers[labels] + deviations[labels, None] * rng.standard_normal((n_samples, n_features))
    return GaussianMixtureData(X, labels, centers, shares, deviations)
