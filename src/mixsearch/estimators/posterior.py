"""The probability of one component against the rest of its mixture."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.special import expit, logit
from sklearn.utils.validation import check_array

from mixsearch.errors import SearchError
from mixsearch.types import Array, Samples

FLOATS = (np.float64, np.float32)


def as_samples(checked: Any) -> Samples:
    """Samples that passed scikit-learn's checks, sparse matrices turned into sparse arrays."""
    return checked if isinstance(checked, np.ndarray) else sp.csr_array(checked)


def check_samples(X: Any, n_features: int) -> Samples:
    """New samples to be scored, (n, d), dense or sparse."""
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOATS))
    if samples.shape[1] != n_features:
        raise SearchError(f"X has {samples.shape[1]} features, but the component has {n_features}.")
    return samples


def within_unit(weight: float) -> float:
    """A weight as a probability that is neither 0 nor 1."""
    return min(max(weight, 1e-9), 1 - 1e-9)


def posterior(weight: float, log_own: Array, log_rest: Array) -> Array:
    """α p(x) / (α p(x) + (1 - α) q(x)), (n,), from log densities."""
    return np.asarray(expit(logit(weight) + log_own - log_rest))


def log_normal(deviations: Array, covariance: Array, least: Array | None = None) -> Array:
    """Log density of a centered Gaussian, (n,), up to the constant that all of one dimension share.

    A covariance found as a difference of moments may lose its positivity to noise: it is raised to `least`.
    """
    if least is not None:
        covariance = _raise_to(covariance, least)
    factor = scipy.linalg.cholesky(covariance, lower=True)
    standard = scipy.linalg.solve_triangular(factor, deviations.T.astype(np.float64), lower=True)
    return np.asarray(-0.5 * np.einsum("ij,ij->j", standard, standard) - np.log(np.diag(factor)).sum())


def _raise_to(covariance: Array, least: Array) -> Array:
    """The covariance with no direction below that of another, positive definite one."""
    values, vectors = scipy.linalg.eigh(covariance, least)
    dual = least @ vectors
    return np.asarray((dual * np.maximum(values, 1.0)) @ dual.T)
