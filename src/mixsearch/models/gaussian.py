"""Mixtures of Gaussians with spherical covariances σᵢ²I, one variance per component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch.blocks import Product, leave_one_out, spread_over_blocks
from mixsearch.linalg import frame_above, top_eigenpairs
from mixsearch.models.second_moment import cores_for, second_moment, squared_distances, weighted_gram
from mixsearch.types import Array, Frame, Hinted, Replicates, Samples, project


@dataclass(frozen=True, slots=True)
class GaussianModel:
    """All that a search in a Gaussian mixture needs: nothing here grows with the dimension but the frame."""

    frame: Frame
    mean: Array  # W'm, (k,)
    noise: float  # s2, the average variance Σ αᵢσᵢ²
    noise_mean: Array  # W'm~, (k,), with m~ = Σ αᵢσᵢ²μᵢ
    projected: Array  # Y = XW, (n, k)
    energy: Array  # of each sample outside the signal space, per direction, (n,): averages to the noise
    sample_mean: Array  # m, (d,)
    samples: Samples  # X itself, not a copy: likelihood steps and error bars read it

    def hinted(self, hint: Array) -> Hinted:
        """The hinted moment of a hint given in the frame."""
        third = weighted_gram(self.projected, self.projected @ hint)
        return self.corrected(third / len(self.projected), hint)

    def corrected(self, third: Array, hint: Array) -> Hinted:
        """The hinted moment from W'E[⟨x, v⟩xx']W, (k, k): what the noise adds to it is taken off.

        Notes
        -----
        B = E[⟨x, v⟩xx'] - m~v' - vm~' - ⟨m~, v⟩I. With v in the signal space, W'v = W'W c, where W'W is diagonal, and
        ⟨m~, v⟩ = ⟨W'm~, c⟩, so that the samples enter through Y alone.
        """
        spread = self.frame.spread
        crossed = np.outer(self.noise_mean, spread * hint)
        matrix = third - crossed - crossed.T - (self.noise_mean @ hint) * np.diag(spread)
        return Hinted(matrix, self.mean, hint)

    def leave_one_out(self, hint: Array) -> Replicates:
        """The moments of all samples but one block, for each block in turn, under a hint given in the frame."""
        told = self.projected @ hint

        def summarize(rows: slice) -> GaussianSums:
            Y, energy = self.projected[rows].astype(np.float64, copy=False), self.energy[rows]
            third = (Y * told[rows, None]).T @ Y
            return GaussianSums(len(Y), Y.sum(axis=0), Y.T @ Y, third, energy.sum(), energy @ Y)

        replicates = [self._moments_of(sums, hint) for sums in leave_one_out(summarize, len(told))]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _moments_of(self, sums: GaussianSums, hint: Array) -> tuple[Array, Array, Array]:
        """W'AW, W'BW and W'm."""
        n, total, squares, third, energy, leaning = sums
        partly = replace(self, noise_mean=leaning / n)
        second = squares / n - energy / n * np.diag(self.frame.spread)
        return second, partly.corrected(third / n, hint).matrix, total / n

    def hint_moves(self, hint: Array) -> Array:
        """How the coordinates of a hint v in the frame move with the frame of all samples but one block, (B, k).

        Notes
        -----
        A part of v lies outside the signal space, where samples seen from their mean have no correlation with those
        inside. Without a block they have some, E[y ⟨x - m, v⟩]: by that much the block's own frame sees more of v.
        """
        beside = self.frame.reject(hint[:, None])[:, 0]
        told = np.asarray(self.samples @ beside) - self.sample_mean @ beside
        sums = leave_one_out(lambda rows: Product(told[rows] @ self.projected[rows]), len(told))
        n_kept = len(told) * (1 - 1 / len(sums))
        return np.array([each.total for each in sums]) / n_kept

    def outside(self, direction: Array) -> Array:
        """A W u of all samples but one block, (d, B), up to what lies in the signal space, where u is a direction."""
        told = spread_over_blocks(self.projected @ direction)
        sums = np.asarray(self.samples.T @ told) - np.outer(self.sample_mean, told.sum(axis=0))
        return np.asarray((sums.sum(axis=1, keepdims=True) - sums) / (len(told) * (1 - 1 / told.shape[1])))

    def thin(self, step: int) -> GaussianModel:
        """The same fit with every so many-th sample only."""
        return replace(self, projected=self.projected[::step], energy=self.energy[::step])

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


class GaussianSums(NamedTuple):
    """Sums over a block of samples."""

    n: int
    total: Array  # Σ y, (k,)
    squares: Array  # Σ yy', (k, k)
    third: Array  # Σ ⟨y, c⟩yy', (k, k)
    energy: float  # Σ e
    leaning: Array  # Σ e y, (k,)


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
        The samples seen from their mean, with the noise level from the whole noise space; or from zero, with the noise
        level from one eigenvector, as the paper has it.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    mean = np.asarray(X.mean(axis=0, dtype=np.float64))
    find = _seen_from_zero if noise == "paper" else _seen_from_the_mean
    with cores_for(X):
        frame, level, Y = find(X, mean, n_components, seed)
    return GaussianModel(
        frame=frame,
        mean=frame.whiten(mean),
        noise=level.variance,
        noise_mean=np.asarray(Y.T @ level.energy.astype(Y.dtype), dtype=np.float64) / len(Y),
        projected=Y,
        energy=level.energy,
        sample_mean=mean,
        samples=X,
    )


def _seen_from_the_mean(X: Samples, mean: Array, n_components: int, seed: int) -> tuple[Frame, Noise, Array]:
    """The frame of the covariance, which has rank k - 1 plus noise, and the noise of its other directions."""
    d, k = X.shape[1], n_components
    values, vectors, _ = top_eigenpairs(second_moment(X, center=mean), k - 1, seed=seed)
    inside = project(X, vectors, mean)
    outside = squared_distances(X, mean) - np.einsum("ij,ij->i", inside, inside)
    energy = np.maximum(outside, 0) / (d - k + 1)
    noise = Noise(float(energy.mean()), energy)
    frame = frame_above(values, vectors, noise.variance, precision=X.dtype, name="covariance", n_components=k)
    unit = float(frame.values.mean()) if k > 1 else 1.0
    lifted = Frame(np.column_stack([np.zeros(d), vectors]), np.append(unit, frame.values), origin=mean)
    Y = np.column_stack([np.ones(len(inside)), inside / np.sqrt(frame.values)])
    return lifted, noise, Y.astype(X.dtype, copy=False)


def _seen_from_zero(X: Samples, mean: Array, n_components: int, seed: int) -> tuple[Frame, Noise, Array]:
    """The paper's choice: the second moment, less the (k+1)-th eigenvalue of the covariance (the last, where k = d)."""
    d = X.shape[1]
    values, vectors, _ = top_eigenpairs(second_moment(X), n_components, seed=seed)
    noise_values, noise_vectors, _ = top_eigenpairs(second_moment(X, center=mean), min(n_components + 1, d), seed=seed)
    last = noise_vectors[:, -1]
    noise = Noise(float(noise_values[-1]), np.asarray(X @ last - mean @ last) ** 2)
    frame = frame_above(values, vectors, noise.variance, precision=X.dtype)
    return frame, noise, frame.whiten(X).astype(X.dtype, copy=False)
