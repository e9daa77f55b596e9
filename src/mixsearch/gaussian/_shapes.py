"""Gaussians of any shape in all dimensions: their densities, and the M-step of each shape."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.posterior import (
    MIN_PRIOR,
    MIN_VARIANCE,
    precision_factor,
    shrink_covariances,
)
from mixsearch.data.chunks import row_slices

Shape = Literal["spherical", "diagonal", "tied", "low-rank", "full"]
SHAPES: tuple[Shape, ...] = ("spherical", "diagonal", "tied", "low-rank", "full")
# Shapes with features that are independent within a component.
INDEPENDENT = ("spherical", "diagonal")
# Samples per chunk of an E-step.
CHUNK_ROWS = 4096


class ShapedMixture(NamedTuple):
    """Gaussians with covariances of one shape.

    Attributes
    ----------
    weights : array of shape (k,)
        Weights of the components, which sum to 1.
    centers : array of shape (k, d)
        Means of the components.
    factors : array of shape (k, d, d) or (k, d)
        Upper triangular factors; the precision of component i is ``factors[i] @ factors[i].T``. If features are
        independent, only the diagonals.
    shape : str
        Shape of the covariances.
    n_parameters : int
        The number of free parameters.
    """

    weights: Array
    centers: Array
    factors: Array
    shape: Shape
    n_parameters: int

    @property
    def covariances(self) -> Array:
        """The covariance of every component, (k, d, d)."""
        return np.stack([self.covariance(index) for index in range(len(self.weights))])

    def covariance(self, index: int) -> Array:
        """Compute the covariance of one component.

        Parameters
        ----------
        index : int
            The component.

        Returns
        -------
        array of shape (d, d)
        """
        factor = self.factors[index]
        if factor.ndim == 1:
            return np.diag(factor**-2.0)
        inverse = np.linalg.inv(factor)
        return np.asarray(inverse.T @ inverse)

    @property
    def average_covariance(self) -> Array:
        """The covariance within components, (d, d)."""
        if self.factors.ndim == 2:
            return np.diag(self.weights @ self.factors**-2.0)
        return self.covariance(0) if self.shape == "tied" else np.tensordot(self.weights, self.covariances, 1)

    def log_densities(self, X: Array) -> Array:
        """Compute the log density of each component at each sample.

        Parameters
        ----------
        X : array of shape (n, d)
            Samples.

        Returns
        -------
        array of shape (n, k)
        """
        logs = np.empty((len(X), len(self.weights)))
        for rows in row_slices(len(X), CHUNK_ROWS):
            logs[rows] = self._log_densities(X[rows])
        return logs

    def _log_densities(self, X: Array) -> Array:
        squares, d = self._squared_distances(X), X.shape[1]
        diagonals = self.factors if self.factors.ndim == 2 else np.einsum("kdd->kd", self.factors)
        return np.asarray(np.log(diagonals).sum(axis=1) - 0.5 * (squares + d * np.log(2 * np.pi)))

    def squared_distances(self, X: Array) -> Array:
        """Compute the squared Mahalanobis distance of each sample from each component.

        Parameters
        ----------
        X : array of shape (n, d)
            Samples.

        Returns
        -------
        array of shape (n, k)
        """
        return np.concatenate([self._squared_distances(X[rows]) for rows in row_slices(len(X), CHUNK_ROWS)])

    def _squared_distances(self, X: Array) -> Array:
        k, d = self.centers.shape
        if self.factors.ndim == 2:
            precisions = self.factors**2
            squares = (
                X**2 @ precisions.T
                - 2 * X @ (precisions * self.centers).T
                + np.sum(precisions * self.centers**2, axis=1)
            )
            return np.asarray(np.maximum(squares, 0))
        if self.shape == "tied":
            whitened, centers = X @ self.factors[0], self.centers @ self.factors[0]
            squares = np.sum(whitened**2, axis=1)[:, None] - 2 * whitened @ centers.T + np.sum(centers**2, axis=1)
            return np.asarray(np.maximum(squares, 0))
        # One product for all components.
        whitened = X @ self.factors.transpose(1, 0, 2).reshape(d, k * d)
        whitened -= np.einsum("kd,kde->ke", self.centers, self.factors).ravel()
        whitened *= whitened
        return np.asarray(whitened.reshape(len(X), k, d).sum(axis=2))

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Compute responsibilities and log-likelihoods.

        Parameters
        ----------
        X : array of shape (n, d)
            Samples.

        Returns
        -------
        resp : array of shape (n, k)
            The posterior probability of each component, for each sample.
        log_likelihoods : array of shape (n,)
            The log-likelihood of each sample.
        """
        joint = self.log_densities(X) + np.log(self.weights)
        top = joint.max(axis=1)
        resp = np.exp(joint - top[:, None])
        sums = resp.sum(axis=1)
        return resp / sums[:, None], top + np.log(sums)

    def bic(self, log_likelihood: float, n_samples: int) -> float:
        """Compute the Bayesian information criterion, in nats: smaller is better.

        Parameters
        ----------
        log_likelihood : float
            Of all samples.
        n_samples : int
            The number of samples.

        Returns
        -------
        float
        """
        return 0.5 * self.n_parameters * float(np.log(n_samples)) - log_likelihood


class ShapeSums(NamedTuple):
    """Sums over samples, weighted by responsibilities p, that the M-step needs."""

    sizes: Array  # Σ p, (k,)
    totals: Array  # Σ px, (k, d)
    squares: Array  # Σ pxx', (k, d, d); (1, d, d) for a tied covariance; Σ px², (k, d), if features are independent


def sum_shapes(X: Array, resp: Array, shape: Shape) -> ShapeSums:
    """Sum samples, (n, d), with responsibilities, (n, k)."""
    if shape in INDEPENDENT:
        squares = resp.T @ X**2
    elif shape == "tied":
        squares = ((X * resp.sum(axis=1)[:, None]).T @ X)[None]
    else:
        squares = np.stack([(X * each[:, None]).T @ X for each in resp.T])
    return ShapeSums(resp.sum(axis=0), resp.T @ X, squares)


def mixture_from_sums(sums: ShapeSums, shape: Shape, least: float) -> ShapedMixture:
    """Return the mixture of one shape that sums ask for, with shrunk covariances.

    Parameters
    ----------
    sums : ShapeSums
    shape : str
    least : float
        From `min_variance`.

    Returns
    -------
    ShapedMixture
    """
    sizes = sums.sizes + np.finfo(np.float64).tiny
    centers = sums.totals / sizes[:, None]
    estimate = _independent if shape in INDEPENDENT else _correlated
    factors, n_parameters = estimate(sums.squares, sizes, centers, shape, least)
    n_parameters += centers.size + len(sizes) - 1
    return ShapedMixture(sizes / sizes.sum(), centers, factors, shape, n_parameters)


def m_step(X: Array, resp: Array, shape: Shape) -> ShapedMixture:
    """Return the mixture of one shape that responsibilities, (n, k), ask for, with shrunk covariances."""
    return mixture_from_sums(sum_shapes(X, resp, shape), shape, min_variance(X))


def min_variance(X: Array) -> float:
    """Return the least variance of a component of the data; that of unit data if all of them are zero."""
    return MIN_VARIANCE * (float(np.einsum("ij,ij->", X, X)) / X.size or 1.0)


def _independent(squares: Array, sizes: Array, centers: Array, shape: Shape, least: float) -> tuple[Array, int]:
    k, d = centers.shape
    variances = np.maximum(squares / sizes[:, None] - centers**2, 0)
    average = np.maximum(sizes @ variances / sizes.sum(), least)
    shrunk = (sizes[:, None] * variances + MIN_PRIOR * average) / (sizes[:, None] + MIN_PRIOR)
    if shape == "spherical":
        shrunk = np.repeat(shrunk.mean(axis=1, keepdims=True), d, axis=1)
    return shrunk**-0.5, k * (1 if shape == "spherical" else d)


def _correlated(squares: Array, sizes: Array, centers: Array, shape: Shape, least: float) -> tuple[Array, int]:
    k, d = centers.shape
    average = (squares.sum(axis=0) - (centers.T * sizes) @ centers) / sizes.sum() + np.eye(d) * least
    if shape == "tied":
        return np.broadcast_to(precision_factor(average), (k, d, d)), d * (d + 1) // 2
    covariances = squares / sizes[:, None, None] - np.einsum("ki,kj->kij", centers, centers)
    shrunk = shrink_covariances(covariances, sizes, average)
    if shape == "full":
        return precision_factor(shrunk), k * d * (d + 1) // 2
    low, ranks = zip(*(_lower_rank(each, size) for each, size in zip(shrunk, sizes, strict=True)), strict=True)
    return precision_factor(np.stack(low)), sum(_rank_parameters(d, rank) for rank in ranks)


def _rank_parameters(d: int, rank: int) -> int:
    """Return the number of parameters of a covariance with some free axes and one variance for all others."""
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
