"""Mixtures of Gaussians with spherical covariances σᵢ²I, one variance per component."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_above, project
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import (
    Weighted,
    cores_for,
    mean_of,
    second_moment,
    seen_from,
    squared_distances,
    sum_weighted,
    weighted_gram,
)
from mixsearch.core.tensor import in_every_place, sum_products
from mixsearch.data.chunks import Product
from mixsearch.data.partitions import SampleShard, Shard, Shards, leave_one_out, spread_over_blocks


@dataclass(frozen=True)
class GaussianShard(Shard):
    """Samples of a Gaussian mixture, seen in its signal space."""

    samples: Samples  # x itself, not a copy: likelihood steps and error bars read it, (n, d)
    projected: Array  # Y = XW, (n, k)
    energy: Array  # of each sample outside the signal space, per direction, (n,): averages to the noise


@dataclass(frozen=True, slots=True)
class GaussianModel:
    """All that a search in a Gaussian mixture needs: nothing here grows with the dimension but the frame."""

    frame: Frame
    mean: Array  # W'm, (k,)
    noise: float  # s2, the average variance Σ αᵢσᵢ²
    noise_mean: Array  # W'm~, (k,), with m~ = Σ αᵢσᵢ²μᵢ
    sample_mean: Array  # m, (d,)
    shards: Shards[GaussianShard]

    def hinted(self, hint: Array) -> Hinted:
        """The hinted moment of a hint given in the frame."""
        return self.corrected(self.shards.fold(_third, hint).total / self.shards.n_rows, hint)

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

    def tensor(self, basis: Array) -> Array:
        """R of the columns of an orthonormal basis, (k, q), as hints in the frame, seen in that basis, (q, q, q)."""
        third, identity = self.shards.fold(_tensor, basis).total, (basis.T * self.frame.spread) @ basis
        noise = in_every_place(np.multiply.outer(identity, self.noise_mean @ basis))
        return np.asarray(third / self.shards.n_rows - noise)

    def leave_one_out(self, hint: Array) -> Replicates:
        """The moments of all samples but one block, for each block in turn, under a hint given in the frame."""
        replicates = [self._moments_of(sums, hint) for sums in leave_one_out(self.shards, _sums, hint)]
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
        sums = leave_one_out(self.shards, _told_beside, beside, float(self.sample_mean @ beside))
        return np.array([each.total for each in sums]) / self._n_kept

    def outside(self, direction: Array) -> Array:
        """A W u of all samples but one block, (d, B), up to what lies in the signal space, where u is a direction."""
        sums = seen_from(self.sample_mean, self.shards.fold(_spread_direction, direction, self.shards.n_blocks))
        return np.asarray((sums.sum(axis=1, keepdims=True) - sums) / self._n_kept)

    @property
    def _n_kept(self) -> float:
        """Samples outside a block of the jackknife."""
        return self.shards.n_rows * (1 - 1 / self.shards.n_blocks)

    def thin(self, step: int) -> GaussianModel:
        """The same fit with every so many-th sample only."""
        return replace(self, shards=self.shards.thin(step))

    def take(self, n_components: int) -> GaussianModel:
        """The same fit with fewer components."""
        k = n_components
        return replace(
            self,
            frame=self.frame.take(k),
            mean=self.mean[:k],
            noise_mean=self.noise_mean[:k],
            shards=self.shards.map(_first_coordinates, k),
        )


class GaussianSums(NamedTuple):
    """Sums over a block of samples."""

    n: int
    total: Array  # Σ y, (k,)
    squares: Array  # Σ yy', (k, k)
    third: Array  # Σ ⟨y, c⟩yy', (k, k)
    energy: float  # Σ e
    leaning: Array  # Σ e y, (k,)


def _third(shard: GaussianShard, hint: Array) -> Product:
    """Σ ⟨y, c⟩yy'."""
    return Product(weighted_gram(shard.projected, shard.projected @ hint))


def _tensor(shard: GaussianShard, basis: Array) -> Product:
    """Σ y⊗y⊗y in the coordinates of a basis, (q, q, q)."""
    Y = shard.projected @ basis
    return Product(sum_products(Y, Y, np.ones(len(Y))))


def _sums(shard: GaussianShard, rows: slice, hint: Array) -> GaussianSums:
    Y, energy = shard.projected[rows].astype(np.float64, copy=False), shard.energy[rows]
    third = (Y * (Y @ hint)[:, None]).T @ Y
    return GaussianSums(len(Y), Y.sum(axis=0), Y.T @ Y, third, energy.sum(), energy @ Y)


def _told_beside(shard: GaussianShard, rows: slice, beside: Array, offset: float) -> Product:
    told = np.asarray(shard.samples[rows] @ beside) - offset
    return Product(told @ shard.projected[rows])


def _spread_direction(shard: GaussianShard, direction: Array, n_blocks: int) -> Weighted:
    return sum_weighted(shard.samples, spread_over_blocks(shard, shard.projected @ direction, n_blocks))


def _first_coordinates(shard: GaussianShard, k: int) -> GaussianShard:
    return replace(shard, projected=shard.projected[:, :k])


def fit_gaussian(shards: Shards[SampleShard], n_components: int, *, noise: str, seed: int) -> GaussianModel:
    """Find the signal space of a Gaussian mixture and project the samples onto it.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d)
    n_components : int
        k, at most d.
    noise : {"average", "paper"}
        The samples seen from their mean, with the noise level from the whole noise space; or from zero, with the noise
        level from one eigenvector, as the paper has it.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    mean = mean_of(shards)
    find = _seen_from_zero if noise == "paper" else _seen_from_the_mean
    with cores_for(shards):
        frame, level, projected = find(shards, mean, n_components, seed)
    return GaussianModel(
        frame=frame,
        mean=frame.whiten(mean),
        noise=level,
        noise_mean=np.asarray(projected.fold(_leaning).total / shards.n_rows),
        sample_mean=mean,
        shards=projected,
    )


def _leaning(shard: GaussianShard) -> Product:
    """Σ e y."""
    Y = shard.projected
    return Product(np.asarray(Y.T @ shard.energy.astype(Y.dtype), dtype=np.float64))


def _energy(shard: GaussianShard) -> Product:
    """Σ e."""
    return Product(float(shard.energy.sum()))


def _seen_from_the_mean(
    shards: Shards[SampleShard], mean: Array, n_components: int, seed: int
) -> tuple[Frame, float, Shards[GaussianShard]]:
    """The frame of the covariance, which has rank k - 1 plus noise, and the noise of its other directions."""
    (n, d, dtype, _), k = shards.layout, n_components
    values, vectors, _ = top_eigenpairs(second_moment(shards, center=mean), k - 1, seed=seed)
    inside = shards.map(_inside, vectors, mean, d - k + 1).keep()
    level = inside.fold(_energy).total / n
    frame = frame_above(values, vectors, level, precision=dtype, name="covariance", n_components=k)
    unit = float(frame.values.mean()) if k > 1 else 1.0
    lifted = Frame(np.column_stack([np.zeros(d), vectors]), np.append(unit, frame.values), origin=mean)
    return lifted, level, inside.map(_lifted, frame.values).keep()


def _inside(shard: SampleShard, vectors: Array, mean: Array, n_outside: int) -> GaussianShard:
    """Coordinates along the eigenvectors, not whitened yet, and the energy outside of them."""
    inside = project(shard.samples, vectors, mean)
    outside = squared_distances(shard.samples, mean) - np.einsum("ij,ij->i", inside, inside)
    return GaussianShard(shard.first, shard.samples, inside, np.maximum(outside, 0) / n_outside)


def _lifted(shard: GaussianShard, values: Array) -> GaussianShard:
    inside = shard.projected
    Y = np.column_stack([np.ones(len(inside)), inside / np.sqrt(values)])
    return replace(shard, projected=Y.astype(shard.samples.dtype, copy=False))


def _seen_from_zero(
    shards: Shards[SampleShard], mean: Array, n_components: int, seed: int
) -> tuple[Frame, float, Shards[GaussianShard]]:
    """The paper's choice: the second moment, less the (k+1)-th eigenvalue of the covariance (the last, where k = d)."""
    d = shards.n_features
    values, vectors, _ = top_eigenpairs(second_moment(shards), n_components, seed=seed)
    covariance = second_moment(shards, center=mean)
    noise_values, noise_vectors, _ = top_eigenpairs(covariance, min(n_components + 1, d), seed=seed)
    level = float(noise_values[-1])
    frame = frame_above(values, vectors, level, precision=shards.layout.dtype)
    return frame, level, shards.map(_whitened, frame, noise_vectors[:, -1], mean).keep()


def _whitened(shard: SampleShard, frame: Frame, last: Array, mean: Array) -> GaussianShard:
    X = shard.samples
    energy = np.asarray(X @ last - mean @ last) ** 2
    return GaussianShard(shard.first, X, frame.whiten(X).astype(X.dtype, copy=False), energy)
