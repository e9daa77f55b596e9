"""A spherical Gaussian for each segment: densities and labels of pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from mixsearch._typing import Array
from mixsearch.gaussian import GaussianComponent

# Lower bounds of a component's weight, and of its variance relative to the largest one.
MIN_WEIGHT, MIN_VARIANCE = 1e-6, 1e-6


class SegmentGaussians(NamedTuple):
    """A spherical Gaussian for each segment.

    Attributes
    ----------
    centers : array of shape (k, f)
        The center of each segment.
    variances : array of shape (k,)
        The variance of each segment.
    weights : array of shape (k,)
        The weight of each segment.
    """

    centers: Array
    variances: Array
    weights: Array

    @property
    def pooled(self) -> SegmentGaussians:
        """The Gaussians with one pooled variance and equal weights: the nearest center has the largest density."""
        return self._replace(
            variances=np.full_like(self.variances, self.variances.mean()),
            weights=np.full_like(self.weights, 1 / len(self.weights)),
        )

    def log_densities(self, X: Array) -> Array:
        """Return log αᵢp(x) of each segment at features, (n, f), up to a term that all share: (k, n).

        Notes
        -----
        -|x - μ|² / 2σ² = ⟨x, μ⟩ / σ² - |x|² / 2σ² - |μ|² / 2σ², so that one product with the centers is enough. |x|²
        cancels if all variances are equal.
        """
        if np.ptp(self.variances) > 0:
            return self._log_densities_with_variances(X)
        slopes = self.centers / self.variances[:, None]
        constants = np.log(self.weights) - 0.5 * np.sum(self.centers * slopes, axis=1)
        # Relative to the first segment: features far from zero would lose the digits of single precision.
        slopes, constants = (slopes - slopes[0]).astype(X.dtype), (constants - constants[0]).astype(X.dtype)
        return np.asarray(slopes @ X.T + constants[:, None])

    def _log_densities_with_variances(self, X: Array) -> Array:
        """Return log densities for different variances, with features relative to the mean of the centers."""
        origin = self.centers.mean(axis=0)
        centers, variances, centered = self.centers - origin, self.variances, X - origin.astype(X.dtype)
        constants = np.log(self.weights) - 0.5 * (
            np.sum(centers**2, axis=1) / variances + centers.shape[1] * np.log(variances)
        )
        logs = (centers / variances[:, None]).astype(X.dtype) @ centered.T + constants.astype(X.dtype)[:, None]
        logs -= np.outer(0.5 / variances, np.einsum("ij,ij->i", centered, centered)).astype(X.dtype)
        return np.asarray(logs)


def softmax_in_place(logs: Array) -> Array:
    """Replace logs by exp(logs), normalized to sum 1 over the first axis."""
    logs -= logs.max(axis=0)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=0)
    return logs


def argmax_segments(scores: Array) -> Array:
    """Return the index of the largest score: several times faster than `argmax` for a few segments."""
    best, labels = scores[0].copy(), np.zeros(scores.shape[1:], dtype=np.int16)
    for index, score in enumerate(scores[1:], 1):
        labels[score > best] = index
        np.maximum(best, score, out=best)
    return labels


def collect_gaussians(found: Sequence[GaussianComponent]) -> SegmentGaussians:
    """Return the centers, variances and weights that the search found."""
    variances = np.array([component.noise_variance for component in found])
    min_variance = max(MIN_VARIANCE * float(variances.max()), float(np.finfo(np.float32).tiny))
    return SegmentGaussians(
        np.array([component.center for component in found], dtype=np.float64),
        np.maximum(variances, min_variance),
        np.maximum([component.weight for component in found], MIN_WEIGHT),
    )


def recenter_on_seeds(gaussians: SegmentGaussians, known: Sequence[Array]) -> tuple[SegmentGaussians, list[int]]:
    """Move centers until the known pixels of every segment are nearest to its own center.

    Two seeds can find the same component. If the known pixels of a segment are nearest to the center of another one,
    both centers are replaced by the means of their known pixels.
    """
    means = np.array([pixels.mean(axis=0, dtype=np.float64) for pixels in known])
    centers = gaussians.centers.copy()
    replaced: set[int] = set()
    for _ in means:  # each round replaces at least one more center, or is the last
        nearest = cdist(means, centers).argmin(axis=1)
        misplaced = [i for i, own in enumerate(nearest) if own != i and i not in replaced]
        replaced |= {*misplaced, *(int(nearest[i]) for i in misplaced if nearest[i] < len(means))}
        chosen = sorted(replaced)
        centers[chosen] = means[chosen]
    return gaussians._replace(centers=centers), sorted(replaced)
