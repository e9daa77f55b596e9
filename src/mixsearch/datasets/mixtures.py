"""Draw mixtures of Gaussians, subspaces and regressions with known truth, and hints of a chosen strength for them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.datasets.random import RandomState, make_generator, make_weights
from mixsearch.errors import ArgumentError, Option


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
        """Estimate the centers from the true labels: the means of the members."""
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


@dataclass(frozen=True, slots=True)
class SubspacesData:
    """Samples of a mixture of subspaces.

    Attributes
    ----------
    X : array of shape (n, d)
        The samples.
    labels : array of shape (n,)
        The component of each sample.
    bases : array of shape (k, d, r)
        Orthonormal bases of the subspaces, in columns.
    weights : array of shape (k,)
        The weight of each component.
    """

    X: Array
    labels: Array
    bases: Array
    weights: Array

    def oracle(self) -> Array:
        """Estimate the bases from the true labels: top eigenvectors of the members' second moments."""
        members = [self.X[self.labels == i] for i in range(len(self.bases))]
        return np.array([np.linalg.eigh(X.T @ X)[1][:, -self.bases.shape[2] :] for X in members])


def make_subspaces(
    n_samples: int = 10_000,
    n_features: int = 500,
    n_components: int = 5,
    *,
    dim: int = 10,
    deviation: float = 0.1,
    weights: ArrayLike | None = None,
    random_state: RandomState = None,
) -> SubspacesData:
    """Draw from a mixture of random subspaces with standard normal coordinates and white noise.

    Parameters
    ----------
    n_samples : int
        The number of samples n.
    n_features : int
        The number of features d.
    n_components : int
        The number of components k.
    dim : int
        The dimension of every subspace.
    deviation : float
        The standard deviation σ of the noise in every direction.
    weights : array of shape (k,), optional
        Positive and with sum 1. By default drawn between 0.1 and 0.3, then normalized.
    random_state : int, RandomState instance or None
        The seed.

    Returns
    -------
    SubspacesData

    Examples
    --------
    >>> data = make_subspaces(100, 20, 3, dim=2, random_state=0)
    >>> data.X.shape, data.bases.shape
    ((100, 20), (3, 20, 2))
    """
    rng = make_generator(random_state)
    bases = np.linalg.qr(rng.standard_normal((n_components, n_features, dim)))[0]
    shares = make_weights(rng, weights, n_components, 0.1, 0.3)
    labels = rng.choice(n_components, size=n_samples, p=shares)
    coordinates = rng.standard_normal((n_samples, dim))
    X = deviation * rng.standard_normal((n_samples, n_features))
    for component, basis in enumerate(bases):
        members = labels == component
        X[members] += coordinates[members] @ basis.T
    return SubspacesData(X, labels, bases, shares)


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
        """Estimate the coefficients from the true labels, by least squares with an intercept."""
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


def make_hint(parameters: ArrayLike, target: int = 0, *, gamma: float = 0.7, random_state: RandomState = 0) -> Array:
    """Make a hint of a chosen strength: √γ v₁ + √((1-γ)/(k-1)) Σ vᵢ, as in section 4.1 of the paper.

    Parameters
    ----------
    parameters : array of shape (k, d) or (k, d, r)
        Centers, or bases of subspaces.
    target : int
        The index of the component that the hint is for.
    gamma : float
        The strength, in (0, 1]: the fraction of the squared hint that is orthogonal to all other components.
    random_state : int, RandomState instance or None
        The seed of a random rotation of the vᵢ.

    Returns
    -------
    array of shape (d,)
        v₁ is the direction of the target orthogonal to the span of the others, and the vᵢ are an orthonormal basis of
        that span.

    Examples
    --------
    >>> import numpy as np
    >>> make_hint(np.eye(3), target=1, gamma=1.0).round(6) + 0.0
    array([0., 1., 0.])
    """
    if not 0 < gamma <= 1:
        raise ArgumentError(
            "{argument} must be above 0 and at most 1, got {value!r}.", argument=Option("gamma"), value=gamma
        )
    given = np.asarray(parameters)
    shaped = given[:, :, None] if given.ndim == 2 else given
    own = shaped[target]
    if len(shaped) == 1:
        return np.asarray(own[:, 0] / np.linalg.norm(own[:, 0]))
    span, _ = np.linalg.qr(np.concatenate(np.delete(shaped, target, axis=0), axis=1))
    rng = make_generator(random_state)
    rotation, _ = np.linalg.qr(rng.standard_normal((span.shape[1], span.shape[1])))
    direction = own @ rng.standard_normal(own.shape[1]) if given.ndim == 3 else own[:, 0]
    residual = direction - span @ (span.T @ direction)
    mixed = span @ rotation.sum(axis=1) / np.sqrt(span.shape[1])
    return np.asarray(np.sqrt(gamma) * residual / np.linalg.norm(residual) + np.sqrt(1 - gamma) * mixed)
