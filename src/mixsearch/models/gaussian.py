"""Mixtures of Gaussians with spherical covariances σᵢ²I, one variance per component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch.linalg import frame_above, top_eigenpairs
from mixsearch.models.second_moment import change, cores_for, second_moment, squared_distances, weighted_gram
from mixsearch.types import Array, Frame, Hinted, Matrix, Samples


@dataclass(frozen=True, slots=True)
class GaussianModel:
    """All that a search in a Gaussian mixture needs: nothing here grows with the dimension but the frame."""

    frame: Frame
    mean: Array  # W'm, (k,)
    noise: float  # s2, the average variance Σ αᵢσᵢ²
    noise_mean: Array  # W'm~, (k,), with m~ = Σ αᵢσᵢ²μᵢ
    projected: Array  # Y = XW, (n, k)
    sample_mean: Array  # m, (d,)

    def hinted(self, hint: Array) -> Hinted:
        """The hinted moment of a hint given in the frame."""
        third = weighted_gram(self.projected, self.projected @ hint)
        return self.corrected(third / len(self.projected), hint)

    def corrected(self, third: Array, hint: Array) -> Hinted:
        """The hinted moment from W'E[⟨x, v⟩xx']W, (k, k): what the noise adds to it is taken off.

        Notes
        -----
        B = E[⟨x, v⟩xx'] - m~v' - vm~' - ⟨m~, v⟩I. With v in the signal space, W'v = c / D, W'W = 1 / D and
        ⟨m~, v⟩ = ⟨W'm~, c⟩, so that the samples enter through Y alone.
        """
        spread = np.outer(self.noise_mean, hint / self.frame.values)
        matrix = third - spread - spread.T
        matrix -= np.diag((self.noise_mean @ hint) / self.frame.values)
        return Hinted(matrix, self.mean, hint)

    def take(self, n_components: int) -> GaussianModel:
        """The same fit with fewer components."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            noise_mean=self.noise_mean[:k],
            projected=self.projected[:, :k],
        )


class Noise(NamedTuple):
    """The noise of the mixture: its average variance and the energy of each sample outside the signal."""

    variance: float
    energy: Array  # (n,), averages to the variance


def fit_gaussian(X: Samples, n_components: int, *, noise: str, seed: int) -> GaussianModel:
    """Find the signal space of a Gaussian mixture and project the samples onto it.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    n_components : int
        k, at most d.
    noise : {"average", "paper"}
        The noise level from the whole noise space, or from one eigenvector of it as the paper has it.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0), dtype=np.float64)
    second = second_moment(X)
    with cores_for(X):
        values, vectors, _ = top_eigenpairs(second, n_components, seed=seed)
    raw = np.asarray(X @ vectors.astype(X.dtype, copy=False))
    if noise == "paper":
        level = _noise_of_one_eigenvector(X, mean, second, n_components, seed)
    else:
        level = _noise_of_whole_space(X, mean, values, vectors, raw)
    frame = frame_above(values, vectors, level.variance)
    Y = raw / np.sqrt(frame.values).astype(raw.dtype)
    return GaussianModel(
        frame=frame,
        mean=frame.whiten(mean),
        noise=level.variance,
        noise_mean=np.asarray(Y.T @ level.energy.astype(Y.dtype), dtype=np.float64) / n,
        projected=Y,
        sample_mean=mean,
    )


def _noise_of_whole_space(X: Samples, mean: Array, values: Array, vectors: Array, raw: Array) -> Noise:
    """Average over all d - k + 1 directions in which the components do not differ.

    The covariance has rank k - 1 plus noise, the second moment rank k plus noise: so one more direction of noise, the
    smallest of the covariance, hides inside the signal space. It is the only one where k = d.
    """
    k = len(values)
    inside = vectors.T @ mean
    _, axes = np.linalg.eigh(np.diag(values) - np.outer(inside, inside))
    signal = (raw - inside.astype(raw.dtype)) @ axes[:, 1:].astype(raw.dtype)
    outside = squared_distances(X, mean) - np.einsum("ij,ij->i", signal, signal, dtype=np.float64)
    energy = np.maximum(outside, 0) / (X.shape[1] - k + 1)
    return Noise(float(energy.mean()), energy)


def _noise_of_one_eigenvector(X: Samples, mean: Array, second: Matrix, n_components: int, seed: int) -> Noise:
    """The paper's choice: the (k+1)-th eigenvalue of the covariance, or its last one where k = d."""
    d = X.shape[1]
    covariance = change(second, scale=1.0, metric=np.ones(d), diagonal=np.zeros(d), direction=mean)
    values, vectors, _ = top_eigenpairs(covariance, min(n_components + 1, d), seed=seed)
    last = vectors[:, -1]
    return Noise(float(values[-1]), np.asarray(X @ last - mean @ last) ** 2)
