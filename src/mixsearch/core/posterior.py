"""Gaussian covariances, log densities and posterior probabilities."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.special import expit, logit

from mixsearch._typing import Array


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
