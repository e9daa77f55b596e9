"""Mixtures of subspaces: x = UᵢUᵢ'y + noise with y standard normal, Uᵢ of shape (d, r), orthonormal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_above
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import cores_for, second_moment, squared_distances, weighted_gram
from mixsearch.data.chunks import Product
from mixsearch.data.partitions import SampleShard, Shard, Shards, leave_one_out


@dataclass(frozen=True)
class SubspaceShard(Shard):
    """Samples of a mixture of subspaces, seen in the span of all."""

    samples: Samples  # x itself, not a copy: likelihood steps and error bars read it, (n, d)
    projected: Array  # Y = XW, (n, k r)
    energy: Array  # of each sample outside the frame, per direction, (n,): averages to the noise


@dataclass(frozen=True, slots=True)
class SubspaceModel:
    """All that a search among subspaces needs. The frame has k r columns."""

    frame: Frame
    noise: float  # s2
    shards: Shards[SubspaceShard]

    def hinted(self, hints: Array) -> Hinted:
        """The hinted moment of one or several points of the wanted subspace, given in the frame, (q, k r)."""
        return self.corrected(self.shards.fold(_fourth, hints).total / self.shards.n_rows, hints)

    def corrected(self, fourth: Array, hints: Array, second: Array | None = None) -> Hinted:
        """The hinted moment from W'E[⟨x, v⟩²xx']W, (k r, k r): what the noise adds to it is taken off.

        Notes
        -----
        For one point v, B = E[⟨x,v⟩²xx'] - s2 (v'Av) I - s2 |v|²A - s4 (|v|²I + 2vv') - 2 s2 (Avv' + vv'A). It is
        linear in vv', so several points enter through the average H of their vv'. In the frame v = Wc, so that with
        C the average of cc' and W'AW = I, but for samples that the frame was not made from: W'HW = C / DD',
        W'AHW = W'AW C / D, v'Av = tr(W'AW C) and |v|² = tr(C / D). The paper's theorem prints vv' once where the
        fourth moment of the noise has 2vv'.
        """
        D, s2 = self.frame.values, self.noise
        A = np.eye(len(D)) if second is None else second
        C = hints.T @ hints / len(hints)
        inverse = np.diag(1 / D)
        crossed = A @ C @ inverse
        norm = np.trace(C @ inverse)
        matrix = fourth - s2 * np.trace(A @ C) * inverse - s2 * norm * A
        matrix -= s2**2 * (norm * inverse + 2 * inverse @ C @ inverse)
        matrix -= 2 * s2 * (crossed + crossed.T)
        return Hinted(matrix, np.zeros(len(D)), hints.T)

    def leave_one_out(self, hints: Array) -> Replicates:
        """The moments of all samples but one block, for each block in turn, under hints in the frame, (q, k r)."""
        replicates = [self._moments_of(sums, hints) for sums in leave_one_out(self.shards, _sums, hints)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _moments_of(self, sums: SubspaceSums, hints: Array) -> tuple[Array, Array, Array]:
        """W'AW, W'BW and W'm."""
        partly = replace(self, noise=sums.energy / sums.n)
        second = sums.squares / sums.n - np.diag(partly.noise / self.frame.values)
        hinted = partly.corrected(sums.fourth / sums.n, hints, second)
        return second, hinted.matrix, hinted.mean

    def take(self, n_columns: int) -> SubspaceModel:
        """The same fit with fewer subspaces."""
        return replace(self, frame=self.frame.take(n_columns), shards=self.shards.map(_first_coordinates, n_columns))


class SubspaceSums(NamedTuple):
    """Sums over a block of samples."""

    n: int
    squares: Array  # Σ yy', (k r, k r)
    fourth: Array  # Σ ⟨y, c⟩²yy', (k r, k r)
    energy: float  # Σ e


def _told(Y: Array, hints: Array) -> Array:
    """⟨y, c⟩² of each sample, on average over the hints, (n,)."""
    return np.asarray(((Y @ hints.T) ** 2).mean(axis=1))


def _fourth(shard: SubspaceShard, hints: Array) -> Product:
    """Σ ⟨y, c⟩²yy'."""
    return Product(weighted_gram(shard.projected, _told(shard.projected, hints)))


def _sums(shard: SubspaceShard, rows: slice, hints: Array) -> SubspaceSums:
    Y = shard.projected[rows].astype(np.float64, copy=False)
    return SubspaceSums(len(Y), Y.T @ Y, (Y * _told(Y, hints)[:, None]).T @ Y, shard.energy[rows].sum())


def _first_coordinates(shard: SubspaceShard, n_columns: int) -> SubspaceShard:
    return replace(shard, projected=shard.projected[:, :n_columns])


def fit_subspace(shards: Shards[SampleShard], n_columns: int, *, noise: str, seed: int) -> SubspaceModel:
    """Find the span of all subspaces together and project the samples onto it.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d)
    n_columns : int
        k r, the dimension of all subspaces together, below d.
    noise : {"average", "paper"}
        The noise level as the average of all d - k r noise eigenvalues, or as the largest of them.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    with cores_for(shards):
        values, vectors, _ = top_eigenpairs(second_moment(shards), n_columns + (noise == "paper"), seed=seed)
    see = _beside_one_direction if noise == "paper" else _beside_all
    inside, energy = shards.advance(see, vectors)
    level = float(energy.total / shards.n_rows)
    frame = frame_above(values[:n_columns], vectors[:, :n_columns], level, precision=shards.layout.dtype)
    return SubspaceModel(frame, level, inside.map(_whitened, frame.values).keep())


def _beside_all(shard: SampleShard, vectors: Array) -> tuple[SubspaceShard, Product]:
    """Coordinates along the eigenvectors, not whitened yet; the energy outside of them, per direction, and its sum."""
    inside = _along(shard, vectors)
    outside = squared_distances(shard.samples, np.zeros(len(vectors))) - np.einsum("ij,ij->i", inside, inside)
    energy = np.maximum(outside, 0) / (len(vectors) - vectors.shape[1])
    return SubspaceShard(shard.first, shard.samples, inside, energy), Product(energy.sum())


def _beside_one_direction(shard: SampleShard, vectors: Array) -> tuple[SubspaceShard, Product]:
    """The same with the energy along the last of the eigenvectors, and coordinates along the others."""
    along = _along(shard, vectors)
    energy = along[:, -1] ** 2
    return SubspaceShard(shard.first, shard.samples, along[:, :-1], energy), Product(energy.sum())


def _along(shard: SampleShard, vectors: Array) -> Array:
    return np.asarray(shard.samples @ vectors, dtype=np.float64)


def _whitened(shard: SubspaceShard, values: Array) -> SubspaceShard:
    return replace(shard, projected=(shard.projected / np.sqrt(values)).astype(shard.samples.dtype, copy=False))
