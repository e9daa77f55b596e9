"""k-means and EM: one subspace per cluster, clusters started at seeds, and all regressions of a mixture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_X_y

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.moments import second_moment
from mixsearch.core.rows import chunk_in_memory
from mixsearch.core.validation import FLOAT_DTYPES, as_samples, hint_from_direction


@dataclass(frozen=True, slots=True)
class Subspaces:
    """One subspace per cluster."""

    bases: Array  # (k, d, r): orthonormal bases, in columns
    labels: Array  # (n,): cluster of each sample

    def find_component(self, hint: ArrayLike) -> Array:
        """Find the subspace with the longest projection of a hint."""
        v = hint_from_direction(hint, self.bases.shape[1])
        return np.asarray(self.bases[np.argmax(np.linalg.norm(v @ self.bases, axis=1))])


class Clusters(NamedTuple):
    """Clusters of samples."""

    centers: Array  # (k, d): center of each cluster
    labels: Array  # (n,): cluster of each sample


def kmeans_subspaces(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    n_components: int,
    dim: int,
    *,
    n_init: int = 1,
    max_iter: int = 300,
    random_state: int | np.random.RandomState | None = 0,
) -> Subspaces:
    """Fit one subspace to each cluster of k-means: the paper's baseline for mixtures of subspaces."""
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    means = KMeans(n_components, n_init=n_init, max_iter=max_iter, random_state=random_state).fit(samples)
    labels = np.asarray(means.labels_)
    return Subspaces(np.stack([_find_basis(samples[labels == index], dim) for index in range(n_components)]), labels)


def _find_basis(members: Samples, dim: int) -> Array:
    """Return the top singular vectors of samples, (d, r)."""
    if members.shape[0] < dim:
        raise ValueError(f"A cluster has {members.shape[0]} samples, but {dim} dimensions need at least {dim}.")
    return top_eigenpairs(second_moment(chunk_in_memory(members)), dim).vectors


def seeded_kmeans(X: ArrayLike, y: ArrayLike, *, max_iter: int = 300) -> Clusters:
    """Cluster samples from a few labeled ones, the others being -1: seeded k-means of Basu et al. (2002)."""
    samples, seeds = check_array(X, dtype=FLOAT_DTYPES), np.asarray(y)
    starts = np.stack([samples[seeds == index].mean(axis=0) for index in range(seeds.max() + 1)])
    found = KMeans(len(starts), init=starts, n_init=1, max_iter=max_iter).fit(samples)
    return Clusters(np.asarray(found.cluster_centers_), np.asarray(found.labels_))


# Relative to the variance of y: a component that fits some samples exactly would have an infinite likelihood.
MIN_VARIANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Regressions:
    """All regressions of a mixture, each with its own intercept and noise variance."""

    weights: Array  # (k,): share of samples of each regression
    centers: Array  # (k, d): coefficients
    intercepts: Array  # (k,): intercept of each regression
    variances: Array  # (k,): noise variances
    log_likelihood: float = -np.inf  # of all samples, up to a constant, before the last iteration

    def find_component(self, hint: ArrayLike) -> Array:
        """Find the regression with the largest inner product of coefficients and hint."""
        return np.asarray(self.centers[np.argmax(self.centers @ hint_from_direction(hint, self.centers.shape[1]))])


def em_regressions(
    X: ArrayLike,
    y: ArrayLike,
    n_components: int,
    *,
    n_init: int = 5,
    max_iter: int = 1000,
    tol: float = 0.01,
    random_state: int | np.random.RandomState | None = 0,
) -> Regressions:
    """Fit all regressions of a mixture by EM from random starts, and return the fit with the largest likelihood."""
    samples, targets = check_X_y(X, y, dtype=np.float64)
    n = len(samples)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))
    starts = (np.eye(n_components)[rng.integers(n_components, size=n)] for _ in range(n_init))
    ends = [run_em(samples, targets, _m_step(samples, targets, start), max_iter, tol) for start in starts]
    return max(ends, key=lambda end: end.log_likelihood)


def run_em(X: Array, y: Array, start: Regressions, max_iter: int, tol: float) -> Regressions:
    """Run EM from a start until an iteration gains less than the tolerance."""
    current = start
    for _ in range(max_iter):
        resp, log_likelihood = _e_step(X, y, current)
        updated = _m_step(X, y, resp, log_likelihood)
        if log_likelihood - current.log_likelihood < tol:
            return updated
        current = updated
    return current


def _e_step(X: Array, y: Array, current: Regressions) -> tuple[Array, float]:
    """Return responsibilities, (n, k), and the log-likelihood up to a constant."""
    squares = (y[:, None] - X @ current.centers.T - current.intercepts) ** 2
    joint = np.log(current.weights) - squares / current.variances / 2 - np.log(current.variances) / 2
    total = logsumexp(joint, axis=1, keepdims=True)
    return np.exp(joint - total), float(total.sum())


def _m_step(X: Array, y: Array, resp: Array, log_likelihood: float = -np.inf) -> Regressions:
    """Fit each component by weighted least squares."""
    fits = [_fit_least_squares(X, y, weights) for weights in resp.T]
    centers, intercepts, variances = (np.array(parameters) for parameters in zip(*fits, strict=True))
    variances = np.maximum(variances, MIN_VARIANCE * y.var())
    return Regressions(resp.mean(axis=0), centers, intercepts, variances, log_likelihood)


def _fit_least_squares(X: Array, y: Array, weights: Array) -> tuple[Array, float, float]:
    """Return coefficients, (d,), intercept and residual variance."""
    shares = weights / weights.sum()
    mean_x, mean_y = shares @ X, float(shares @ y)
    weighted = X * shares[:, None]
    covariance = weighted.T @ X - np.outer(mean_x, mean_x)
    center = np.linalg.lstsq(covariance, weighted.T @ y - mean_x * mean_y, rcond=None)[0]
    intercept = mean_y - float(mean_x @ center)
    return center, intercept, float(shares @ (y - X @ center - intercept) ** 2)
