"""Covariances of the components of a mixture, shrunk for components with few samples."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array

# Covariances of a component are shrunk towards the average one as if it had d + 2 more samples, variances 2 more.
MIN_PRIOR = 2
# Every average variance is at least this fraction of the mean square of the data. A fraction of the variance within
# components would fall with every split, and a direction without variance would reward them.
MIN_VARIANCE = 1e-4


def average_covariance(covariances: Array, sizes: Array, floor: float) -> Array:
    """Return the average covariance within components, with a floor added to every variance, (d, d).

    Parameters
    ----------
    covariances : array of shape (k, d, d)
    sizes : array of shape (k,)
        The number of samples of each component.
    floor : float

    Returns
    -------
    array of shape (d, d)
    """
    average = np.tensordot(sizes, covariances, 1) / sizes.sum()
    return np.asarray(average + np.eye(covariances.shape[1]) * floor)


def shrink_covariances(covariances: Array, sizes: Array, average: Array) -> Array:
    """Shrink covariances towards the average one, as if every component had d + 2 more samples.

    Parameters
    ----------
    covariances : array of shape (k, d, d)
    sizes : array of shape (k,)
        The number of samples of each component.
    average : array of shape (d, d)

    Returns
    -------
    array of shape (k, d, d)
    """
    prior = len(average) + MIN_PRIOR
    return np.asarray((sizes[:, None, None] * covariances + prior * average) / (sizes + prior)[:, None, None])


def precision_factor(covariance: Array) -> Array:
    """Return the upper triangular matrix whose product with its transpose inverts a covariance, (..., d, d)."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)).swapaxes(-1, -2))
