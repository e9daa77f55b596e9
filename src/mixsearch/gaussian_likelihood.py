"""The likelihood of Gaussians, as the mixture engine takes it: spherical in the signal space, or of other shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunk, SampleChunk
from mixsearch.mixture.em import draw_centers

Covariance = Literal["spherical", "diagonal", "tied", "full"]


@dataclass(frozen=True)
class FeatureChunk(Chunk):
    """Samples as features in which log densities are linear: 1, coordinates z of the signal space, squared length."""

    features: Array  # (n, q + 2)


class SphericalParameters(NamedTuple):
    """A mixture of spherical Gaussians in the signal space."""

    weights: Array  # (k,)
    centers: Array  # (k, q)
    variances: Array  # (k,)


@dataclass(frozen=True)
class SphericalModel:
    """The likelihood of spherical Gaussians whose centers lie in the signal space.

    Outside of it samples are noise; its energy shows how large the variance of a sample is.
    """

    n_dims: int  # directions in which samples vary, in the signal space and outside
    min_variance: float
    shape: ClassVar[Covariance] = "spherical"

    def log_density(self, chunk: FeatureChunk, params: SphericalParameters) -> Array:
        """Compute log αᵢ + log N(x; μᵢ, σᵢ²I), (n, k)."""
        weights, centers, variances = params
        constants = np.log(weights) - 0.5 * (np.sum(centers**2, axis=1) / variances + self.n_dims * np.log(variances))
        coefficients = np.column_stack([constants, centers / variances[:, None], -0.5 / variances])
        return np.asarray(coefficients @ chunk.features.T).T

    def statistics(self, chunk: FeatureChunk, resp: Array) -> Array:
        """Sum the features, weighted by responsibilities, (k, q + 2)."""
        return np.asarray(resp.T @ chunk.features)

    def m_step(self, statistics: Array, weights: Array) -> SphericalParameters:
        """Compute means and average variances."""
        sizes = np.maximum(statistics[:, 0], np.finfo(np.float64).tiny)
        centers = statistics[:, 1:-1] / sizes[:, None]
        variances = (statistics[:, -1] / sizes - np.sum(centers**2, axis=1)) / self.n_dims
        weights = np.maximum(weights, np.finfo(np.float64).tiny)
        return SphericalParameters(weights, centers, np.maximum(variances, self.min_variance))

    def random_start(
        self, chunk: FeatureChunk, params: SphericalParameters, rng: np.random.Generator
    ) -> SphericalParameters:
        """Draw centers among the samples by k-means++."""
        Z = chunk.features[:, 1:-1]
        centers, distances = draw_centers(Z, len(params.weights), rng)
        noise = chunk.features[:, -1] - np.sum(Z**2, axis=1)
        variance = max(float(np.mean(distances + noise)) / self.n_dims, float(params.variances.min()))
        k = len(centers)
        return SphericalParameters(np.full(k, 1 / k), centers, np.full(k, variance))

    def squares(self, chunk: FeatureChunk, params: SphericalParameters) -> Array:
        """Compute |x - μᵢ|² / σᵢ², (n, k)."""
        Z, centers = chunk.features[:, 1:-1], params.centers
        squares = chunk.features[:, -1:] - 2 * Z @ centers.T + np.sum(centers**2, axis=1)
        return np.asarray(np.maximum(squares, 0) / params.variances)

    def scores(self, chunk: FeatureChunk, params: SphericalParameters, component: int) -> Array:
        """Compute the scores by the center, in units of σ, and by log σ², (n, q + 1)."""
        away = (chunk.features[:, 1:-1] - params.centers[component]) / np.sqrt(params.variances[component])
        one = SphericalParameters(*(part[[component]] for part in params))
        return np.column_stack([away, 0.5 * (self.squares(chunk, one)[:, 0] - self.n_dims)])

    def information(self, statistics: Array, params: SphericalParameters, component: int) -> Array:
        """Compute the information about the center and log σ² of known members, (q + 1, q + 1)."""
        q = params.centers.shape[1]
        return np.diag(statistics[component, 0] * np.append(np.ones(q), self.n_dims / 2))


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

    def log_density(self, chunk: SampleChunk, params: ShapedParameters) -> Array:
        """Compute log αᵢ + log N(x; μᵢ, Σᵢ), (n, k)."""
        log_factors = np.log(np.einsum("kdd->kd", params.factors)).sum(axis=1)
        constants = np.log(params.weights) + log_factors - 0.5 * self.n_dims * np.log(2 * np.pi)
        return np.asarray(constants - 0.5 * self.squares(chunk, params))

    def squares(self, chunk: SampleChunk, params: ShapedParameters) -> Array:
        """Compute squared Mahalanobis distances, (n, k)."""
        return np.stack(
            [np.sum(self._standardize(chunk, params, i) ** 2, axis=1) for i in range(len(params.weights))], 1
        )

    def _standardize(self, chunk: SampleChunk, params: ShapedParameters, component: int) -> Array:
        return np.asarray((chunk.samples - params.centers[component]) @ params.factors[component])

    def statistics(self, chunk: SampleChunk, resp: Array) -> Array:
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

    def random_start(self, chunk: SampleChunk, params: ShapedParameters, rng: np.random.Generator) -> ShapedParameters:
        """Draw centers among the samples by k-means++, and assign each sample to the nearest."""
        scale = np.sqrt(chunk.samples.var(axis=0) + self.min_variance)
        centers, _ = draw_centers(chunk.samples / scale, len(params.weights), rng)
        distances = [np.sum((chunk.samples / scale - center) ** 2, axis=1) for center in centers]
        resp = np.eye(len(centers))[np.argmin(distances, axis=0)]
        return self.m_step(self.statistics(chunk, resp), resp.mean(axis=0))

    def scores(self, chunk: SampleChunk, params: ShapedParameters, component: int) -> Array:
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
