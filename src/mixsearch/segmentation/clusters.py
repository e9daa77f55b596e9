"""The components of the seeds -> the probability of each segment at a pixel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from mixsearch.estimators import GaussianComponent
from mixsearch.types import Array

# A component's own weight, and its variance beside the largest one, are taken to be this at least.
LEAST_WEIGHT, LEAST_VARIANCE = 1e-6, 1e-6


class Clusters(NamedTuple):
    """A Gaussian for each segment."""

    centers: Array  # (k, f)
    variances: Array  # (k,)
    weights: Array  # (k,)

    @property
    def alike(self) -> Clusters:
        """The same with one variance and one weight for all: the likeliest segment is that of the nearest center."""
        return self._replace(
            variances=np.full_like(self.variances, self.variances.mean()),
            weights=np.full_like(self.weights, 1 / len(self.weights)),
        )

    def log_densities(self, X: Array) -> Array:
        """Each segment's log αᵢp(x), up to what all have in common, (k, n), for features of (n, f).

        Notes
        -----
        -|x - μ|² / 2σ² = ⟨x, μ⟩ / σ² - |x|² / 2σ² - |μ|² / 2σ², so that a product with the centers is all
        it takes; |x|² says nothing where all have one variance.
        """
        if np.ptp(self.variances) > 0:
            return self._from_center(X)
        slopes = self.centers / self.variances[:, None]
        constants = np.log(self.weights) - 0.5 * np.sum(self.centers * slopes, axis=1)
        # What the first segment has, all may leave out: features far from zero would cost single precision its digits.
        slopes, constants = (slopes - slopes[0]).astype(X.dtype), (constants - constants[0]).astype(X.dtype)
        return np.asarray(slopes @ X.T + constants[:, None])

    def _from_center(self, X: Array) -> Array:
        """The same where variances differ, with features seen from the middle of all centers."""
        middle = self.centers.mean(axis=0)
        centers, variances, seen = self.centers - middle, self.variances, X - middle.astype(X.dtype)
        constants = np.log(self.weights) - 0.5 * (
            np.sum(centers**2, axis=1) / variances + centers.shape[1] * np.log(variances)
        )
        logs = (centers / variances[:, None]).astype(X.dtype) @ seen.T + constants.astype(X.dtype)[:, None]
        logs -= np.outer(0.5 / variances, np.einsum("ij,ij->i", seen, seen)).astype(X.dtype)
        return np.asarray(logs)


def as_probabilities(logs: Array) -> Array:
    """exp(logs) as parts of their sum over the first axis, in the place of the logs."""
    logs -= logs.max(axis=0)
    np.exp(logs, out=logs)
    logs /= logs.sum(axis=0)
    return logs


def likeliest(scores: Array) -> Array:
    """The number of the largest of k scores, (...), from (k, ...): several times faster than `argmax` over few."""
    best, labels = scores[0].copy(), np.zeros(scores.shape[1:], dtype=np.int16)
    for number, score in enumerate(scores[1:], 1):
        labels[score > best] = number
        np.maximum(best, score, out=best)
    return labels


def clusters_of(found: Sequence[GaussianComponent]) -> Clusters:
    """What the search found for each segment."""
    variances = np.array([component.variance for component in found])
    least = max(LEAST_VARIANCE * float(variances.max()), float(np.finfo(np.float32).tiny))
    return Clusters(
        np.array([component.center for component in found], dtype=np.float64),
        np.maximum(variances, least),
        np.maximum([component.weight for component in found], LEAST_WEIGHT),
    )


def keep_seeds(clusters: Clusters, known: Sequence[Array]) -> tuple[Clusters, list[int]]:
    """Clusters in which the known pixels of every segment are nearest to its own center.

    Two seeds can mean the same component. Of those whose pixels would fall to another segment, and of the segments
    that they would fall to, the centers are the means of the known pixels themselves.

    Parameters
    ----------
    clusters : Clusters
    known : sequence of arrays of shape (q, f)
        The features of the known pixels of each segment.

    Returns
    -------
    clusters : Clusters
    replaced : list of int
        The segments whose center was replaced.
    """
    means = np.array([pixels.mean(axis=0, dtype=np.float64) for pixels in known])
    centers = clusters.centers.copy()
    replaced: set[int] = set()
    for _ in means:  # each round replaces one more at least, or is the last
        nearest = cdist(means, centers).argmin(axis=1)
        astray = [i for i, own in enumerate(nearest) if own != i and i not in replaced]
        replaced |= {*astray, *(int(nearest[i]) for i in astray if nearest[i] < len(means))}
        chosen = sorted(replaced)
        centers[chosen] = means[chosen]
    return clusters._replace(centers=centers), sorted(replaced)
