"""The distribution of x in every component: a Gaussian each, with its own mean and a shrunk covariance."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.posterior import MIN_VARIANCE, average_covariance, precision_factor, shrink_covariances
from mixsearch.regression._design import Design


class FeatureGaussians(NamedTuple):
    """One Gaussian of standardized x for every component.

    The precision of component i is the product of ``factors[i]`` with its transpose.
    """

    design: Design  # that x was standardized by
    centers: Array  # (k, r)
    factors: Array  # (k, r, r)

    def take(self, order: Array) -> FeatureGaussians:
        """Return the Gaussians of some components."""
        return FeatureGaussians(self.design, self.centers[order], self.factors[order])

    def standardize(self, X: Samples) -> Array:
        """Return standardized x, (n, r)."""
        return self.design.predict(X, np.eye(self.design.n_coordinates))

    def whiten(self, Z: Array) -> Array:
        """Return x in the units of each component's Gaussian, (k, n, r)."""
        return np.stack([(Z - center) @ factor for center, factor in zip(self.centers, self.factors, strict=True)])

    def log_densities(self, Z: Array) -> Array:
        """Return the log density of each component at each standardized x, (n, k)."""
        squares = np.sum(self.whiten(Z) ** 2, axis=2).T
        log_scales = np.log(np.einsum("kii->ki", self.factors)).sum(axis=1)
        return np.asarray(log_scales - 0.5 * (squares + Z.shape[1] * np.log(2 * np.pi)))

    def scores(self, Z: Array, resp: Array) -> Array:
        """Return derivatives of each sample's log-likelihood by all means and covariances, (n, k (r + r (r + 1) / 2)).

        Up to a linear map, which does not matter to the errors of other parameters.
        """
        rows, columns = np.triu_indices(Z.shape[1])
        own = [
            np.hstack([u, u[:, rows] * u[:, columns] - (rows == columns)]) * p[:, None]
            for u, p in zip(self.whiten(Z), resp.T, strict=True)
        ]
        return np.hstack(own)


def n_feature_parameters(n_components: int, n_features: int) -> int:
    """Return the number of parameters of Gaussians."""
    return n_components * (n_features + n_features * (n_features + 1) // 2)


def estimate_features(design: Design, squares: Array) -> FeatureGaussians:
    """Return the Gaussians of standardized x, with shrunk covariances.

    Parameters
    ----------
    design : Design
    squares : array of shape (k, r + 1, r + 1)
        Σ p ss' for each component, with s = (z, 1).

    Returns
    -------
    FeatureGaussians
    """
    sizes = squares[:, -1, -1] + np.finfo(np.float64).tiny
    centers = squares[:, :-1, -1] / sizes[:, None]
    second = squares[:, :-1, :-1] / sizes[:, None, None]
    covariances = second - np.einsum("ki,kj->kij", centers, centers)
    mean_square = float(np.einsum("k,kii->", sizes, second)) / (sizes.sum() * max(centers.shape[1], 1))
    average = average_covariance(covariances, sizes, MIN_VARIANCE * (mean_square or 1.0))
    shrunk = shrink_covariances(covariances, sizes, average)
    return FeatureGaussians(design, centers, precision_factor(shrunk))
