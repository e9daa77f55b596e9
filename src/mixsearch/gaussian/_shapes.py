"""Gaussians of any shape in all dimensions: their densities, and the M-step of each shape."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import logsumexp

from mixsearch._typing import Array
from mixsearch.core.covariances import (
    MIN_PRIOR,
    MIN_VARIANCE,
    average_covariance,
    precision_factor,
    shrink_covariances,
)
from mixsearch.data.chunks import row_slices

Shape = Literal["spherical", "diagonal", "tied", "low-rank", "full"]
SHAPES: tuple[Shape, ...] = ("spherical", "diagonal", "tied", "low-rank", "full")
# Samples per chunk of an E-step.
CHUNK_ROWS = 4096


class ShapedMixture(NamedTuple):
    """Gaussians with covariances of one shape.

    The precision of component i is the product of ``factors[i]``, upper triangular, with its transpose; if features are
    independent, ``factors[i]`` is the diagonal only.
    """

    weights: Array  # (k,)
    centers: Array  # (k, d)
    factors: Array  # (k, d, d), or (k, d)
    shape: Shape
    n_parameters: int

    @property
    def covariances(self) -> Array:
        """The covariance of every component, (k, d, d)."""
        if self.factors.ndim == 2:
            return np.stack([np.diag(row**-2.0) for row in self.factors])
        inverses = np.linalg.inv(self.factors)
        return np.asarray(np.einsum("kji,kjl->kil", inverses, inverses))

    def log_densities(self, X: Array) -> Array:
        """Return the log density of each component at each sample, (n, k)."""
        logs = np.empty((len(X), len(self.weights)))
        for rows in row_slices(len(X), CHUNK_ROWS):
            logs[rows] = self._log_densities(X[rows])
        return logs

    def _log_densities(self, X: Array) -> Array:
        k, d = self.centers.shape
        if self.factors.ndim == 2:
            precisions = self.factors**2
            squares = (
                X**2 @ precisions.T
                - 2 * X @ (precisions * self.centers).T
                + np.sum(precisions * self.centers**2, axis=1)
            )
            log_scales = np.log(self.factors).sum(axis=1)
        else:
            # One product for all components.
            whitened = X @ self.factors.transpose(1, 0, 2).reshape(d, k * d)
            whitened -= np.einsum("kd,kde->ke", self.centers, self.factors).ravel()
            whitened *= whitened
            squares = whitened.reshape(len(X), k, d).sum(axis=2)
            log_scales = np.log(np.einsum("kdd->kd", self.factors)).sum(axis=1)
        return np.asarray(log_scales - 0.5 * (squares + d * np.log(2 * np.pi)))

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Return responsibilities, (n, k), and the log-likelihood of each sample, (n,)."""
        joint = self.log_densities(X) + np.log(self.weights)
        totals = logsumexp(joint, axis=1)
        return np.exp(joint - totals[:, None]), totals

    def bic(self, log_likelihood: float, n_samples: int) -> float:
        """Return the Bayesian information criterion, in nats: smaller is better."""
        return 0.5 * self.n_parameters * float(np.log(n_samples)) - log_likelihood


def m_step(X: Array, resp: Array, shape: Shape) -> ShapedMixture:
    """Return the mixture of one shape that responsibilities, (n, k), ask for, with shrunk covariances."""
    sizes = resp.sum(axis=0) + np.finfo(np.float64).tiny
    centers = resp.T @ X / sizes[:, None]
    estimate = _independent if shape in ("spherical", "diagonal") else _correlated
    factors, n_parameters = estimate(X, resp, sizes, centers, shape)
    n_parameters += centers.size + len(sizes) - 1
    return ShapedMixture(sizes / sizes.sum(), centers, factors, shape, n_parameters)


def min_variance(X: Array) -> float:
    """Return the least variance of a component of the data; that of unit data if all of them are zero."""
    return MIN_VARIANCE * (float(np.einsum("ij,ij->", X, X)) / X.size or 1.0)


def _independent(X: Array, resp: Array, sizes: Array, centers: Array, shape: Shape) -> tuple[Array, int]:
    variances = np.maximum(resp.T @ X**2 / sizes[:, None] - centers**2, 0)
    average = sizes @ variances / sizes.sum()
    average = np.maximum(average, min_variance(X))
    shrunk = (sizes[:, None] * variances + MIN_PRIOR * average) / (sizes[:, None] + MIN_PRIOR)
    if shape == "spherical":
        shrunk = np.repeat(shrunk.mean(axis=1, keepdims=True), X.shape[1], axis=1)
    return shrunk**-0.5, len(sizes) * (1 if shape == "spherical" else X.shape[1])


def _correlated(X: Array, resp: Array, sizes: Array, centers: Array, shape: Shape) -> tuple[Array, int]:
    k, d = centers.shape
    scatter = np.stack([(X * resp[:, i, None]).T @ X for i in range(k)]) / sizes[:, None, None]
    covariances = scatter - np.einsum("ki,kj->kij", centers, centers)
    average = average_covariance(covariances, sizes, min_variance(X))
    if shape == "tied":
        return np.broadcast_to(precision_factor(average), (k, d, d)), d * (d + 1) // 2
    shrunk = shrink_covariances(covariances, sizes, average)
    if shape == "full":
        return precision_factor(shrunk), k * d * (d + 1) // 2
    low, ranks = zip(*(_lower_rank(each, size) for each, size in zip(shrunk, sizes, strict=True)), strict=True)
    return precision_factor(np.stack(low)), sum(_rank_parameters(d, rank) for rank in ranks)


def _rank_parameters(d: int, rank: int) -> int:
    """Return the number of parameters of a covariance with so many own axes and one variance for all others."""
    return d * rank - rank * (rank - 1) // 2 + 1


def _lower_rank(covariance: Array, size: float) -> tuple[Array, int]:
    """Return a covariance with its long axes only, the others averaged, and how many the likelihood supports."""
    values, axes = np.linalg.eigh(covariance)
    values, axes = values[::-1], axes[:, ::-1]
    d = len(values)
    ranks = np.arange(d)
    rest = np.cumsum(values[::-1])[::-1] / (d - ranks)
    logs = np.concatenate([[0], np.cumsum(np.log(values))[:-1]]) + (d - ranks) * np.log(rest)
    parameters = d * ranks - ranks * (ranks - 1) // 2 + 1
    rank = int(np.argmin(size * logs + parameters * np.log(max(size, 2.0))))
    kept = np.where(ranks < rank, values, rest[rank])
    return (axes * kept) @ axes.T, rank


def run_shaped_em(
    X: Array, resp: Array, shape: Shape, *, max_iter: int, tol: float
) -> tuple[ShapedMixture, Array, float]:
    """Run EM from responsibilities until an iteration gains less than `tol` nats per sample.

    Parameters
    ----------
    X : array of shape (n, d)
    resp : array of shape (n, k)
    shape : str
    max_iter : int
    tol : float

    Returns
    -------
    mixture : ShapedMixture
    resp : array of shape (n, k)
    log_likelihood : float
    """
    last = -np.inf
    for _ in range(max_iter):
        mixture = m_step(X, resp, shape)
        resp, totals = mixture.posterior(X)
        log_likelihood = float(totals.sum())
        if log_likelihood - last < tol * len(X):
            break
        last = log_likelihood
    return mixture, resp, log_likelihood
