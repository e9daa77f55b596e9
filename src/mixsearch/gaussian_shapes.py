"""The likelihood of Gaussians with diagonal, tied or full covariances, for refined components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.partitions import SamplePartition
from mixsearch.mixture.em import draw_centers

Covariance = Literal["spherical", "diagonal", "tied", "full"]


class ShapedParameters(NamedTuple):
    """A mixture of Gaussians with covariances of one shape."""

    weights: Array  # (k,)
    centers: Array  # (k, d)
    factors: Array  # F, (k, d, d): FF' inverts the covariance


@dataclass(frozen=True)
class ShapedModel:
    """The likelihood of Gaussians with diagonal, tied or full covariances."""

    shape: Covariance
    n_dims: int  # d
    min_variance: float  # added to every variance: a direction without variance would reward every split

    def log_density(self, chunk: SamplePartition, params: ShapedParameters) -> Array:
        """Compute log αᵢ + log N(x; μᵢ, Σᵢ), (n, k)."""
        log_factors = np.log(np.einsum("kdd->kd", params.factors)).sum(axis=1)
        constants = np.log(params.weights) + log_factors - 0.5 * self.n_dims * np.log(2 * np.pi)
        return np.asarray(constants - 0.5 * self.squares(chunk, params))

    def squares(self, chunk: SamplePartition, params: ShapedParameters) -> Array:
        """Compute squared Mahalanobis distances, (n, k)."""
        return np.stack(
            [np.sum(self._standardize(chunk, params, i) ** 2, axis=1) for i in range(len(params.weights))], 1
        )

    def _standardize(self, chunk: SamplePartition, params: ShapedParameters, component: int) -> Array:
        return np.asarray((chunk.samples - params.centers[component]) @ params.factors[component])

    def statistics(self, chunk: SamplePartition, resp: Array) -> Array:
        """Sum 1, x and the entries of xx', weighted by responsibilities, (k, 1 + d + d²)."""
        X = chunk.samples
        squares = [((X * column[:, None]).T @ X).ravel() for column in resp.T]
        return np.column_stack([resp.sum(axis=0), resp.T @ X, np.stack(squares)])

    def m_step(self, statistics: Array, weights: Array) -> ShapedParameters:
        """Compute means and covariances, which are shrunk towards their average by d + 2 samples."""
        d, k = self.n_dims, len(statistics)
        sizes = np.maximum(statistics[:, 0], np.finfo(np.float64).tiny)
        centers = statistics[:, 1 : d + 1] / sizes[:, None]
        covariances = statistics[:, d + 1 :].reshape(k, d, d) / sizes[:, None, None]
        covariances -= np.einsum("ki,kj->kij", centers, centers)
        average = np.tensordot(sizes, covariances, 1) / sizes.sum() + self.min_variance * np.eye(d)
        prior = d + 2
        covariances = (sizes[:, None, None] * covariances + prior * average) / (sizes + prior)[:, None, None]
        if self.shape == "tied":
            covariances = np.repeat(average[None], k, axis=0)
        elif self.shape == "diagonal":
            covariances = covariances * np.eye(d)
        factors = np.linalg.inv(np.linalg.cholesky(covariances)).swapaxes(1, 2)
        return ShapedParameters(np.maximum(weights, np.finfo(np.float64).tiny), centers, factors)

    def random_start(
        self, chunk: SamplePartition, params: ShapedParameters, rng: np.random.Generator
    ) -> ShapedParameters:
        """Draw centers among the samples by k-means++, and assign each sample to the nearest."""
        scale = np.sqrt(chunk.samples.var(axis=0) + self.min_variance)
        centers, _ = draw_centers(chunk.samples / scale, len(params.weights), rng)
        distances = [np.sum((chunk.samples / scale - center) ** 2, axis=1) for center in centers]
        resp = np.eye(len(centers))[np.argmin(distances, axis=0)]
        return self.m_step(self.statistics(chunk, resp), resp.mean(axis=0))

    def scores(self, chunk: SamplePartition, params: ShapedParameters, component: int) -> Array:
        """Compute the scores by the center and the covariance, in coordinates in which that is the identity, (n, p)."""
        Z = self._standardize(chunk, params, component)
        if self.shape == "tied":  # whose covariance is known far better than any center
            return Z
        squares = 0.5 * (Z**2 - 1)
        if self.shape == "diagonal":
            return np.column_stack([Z, squares])
        rows, columns = np.triu_indices(self.n_dims, 1)
        return np.column_stack([Z, squares, Z[:, rows] * Z[:, columns]])

    def information(self, statistics: Array, params: ShapedParameters, component: int) -> Array:
        """Compute the information of known members, (p, p)."""
        d = self.n_dims
        per_sample = {"tied": [1.0] * d, "diagonal": [1.0] * d + [0.5] * d}
        full = [1.0] * d + [0.5] * d + [1.0] * (d * (d - 1) // 2)
        return np.diag(statistics[component, 0] * np.array(per_sample.get(self.shape, full)))
