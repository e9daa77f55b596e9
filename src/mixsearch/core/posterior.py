"""Gaussian covariances, log densities and posterior probabilities."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.special import expit, logit

from mixsearch._typing import Array

# Covariances of a component are shrunk towards the average one as if it had d + 2 more samples, variances 2 more.
MIN_PRIOR = 2
# Every average variance is at least this fraction of the mean square of the data. A fraction of the variance within
# components would fall with every split, and a direction without variance would reward them.
MIN_VARIANCE = 1e-4


def clip_weight(weight: float) -> float:
    """Clip a weight to a probability strictly between 0 and 1."""
    return min(max(weight, 1e-9), 1 - 1e-9)


def posterior(weight: float, log_own: Array, log_rest: Array) -> Array:
    """Return α p(x) / (α p(x) + (1 - α) q(x)), (n,), from log densities."""
    return np.asarray(expit(logit(weight) + log_own - log_rest))


def log_normal(deviations: Array, covariance: Array, floor: Array | None = None) -> Array:
    """Return the log density of a centered Gaussian, (n,), up to a constant that depends on the dimension only.

    A covariance found as a difference of moments may lose its positivity to noise: it is raised to `floor`.
    """
    if floor is not None:
        covariance = _raise_to(covariance, floor)
    factor = scipy.linalg.cholesky(covariance, lower=True)
    standard = scipy.linalg.solve_triangular(factor, deviations.T.astype(np.float64), lower=True)
    return np.asarray(-0.5 * np.einsum("ij,ij->j", standard, standard) - np.log(np.diag(factor)).sum())


def _raise_to(covariance: Array, floor: Array) -> Array:
    """Raise a covariance so that no direction is below that of another, positive definite one."""
    values, vectors = scipy.linalg.eigh(covariance, floor)
    dual = floor @ vectors
    return np.asarray((dual * np.maximum(values, 1.0)) @ dual.T)


def average_covariance(covariances: Array, sizes: Array, floor: float) -> Array:
    """Return the average covariance within components, with a floor added to every variance, (d, d)."""
    average = np.tensordot(sizes, covariances, 1) / sizes.sum()
    return np.asarray(average + np.eye(covariances.shape[1]) * floor)


def shrink_covariances(covariances: Array, sizes: Array, average: Array) -> Array:
    """Shrink covariances towards the average one, as if every component had d + 2 more samples."""
    prior = len(average) + MIN_PRIOR
    return np.asarray((sizes[:, None, None] * covariances + prior * average) / (sizes + prior)[:, None, None])


def precision_factor(covariance: Array) -> Array:
    """Return the upper triangular matrix whose product with its transpose inverts a covariance, (..., d, d)."""
    return np.asarray(np.linalg.inv(np.linalg.cholesky(covariance)).swapaxes(-1, -2))
