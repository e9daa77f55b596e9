"""Draw mixtures of subspaces with known truth. The defaults are the parameters of the paper."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mixsearch._typing import Array
from mixsearch.datasets._random import RandomState, make_generator, make_weights


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
        """Estimate the bases from the true labels: top eigenvectors of the members' second moments.

        Returns
        -------
        array of shape (k, d, r)
        """
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
