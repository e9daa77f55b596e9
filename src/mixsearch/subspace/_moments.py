"""Mixtures of subspaces: x = UᵢUᵢ'y + noise with y standard normal, Uᵢ of shape (d, r), orthonormal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs
from mixsearch.core.moments import Hinted, Replicates
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances, weighted_gram
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partition, Partitions, SamplePartition, leave_one_out


@dataclass(frozen=True)
class SubspacePartition(Partition):
    """Samples of a mixture of subspaces, seen in the span of all."""

    samples: Samples  # x itself, not a copy: likelihood steps and error bars read it, (n, d)
    projected: Array  # Y = XW, (n, k r)
    energy: Array  # of each sample outside the frame, per direction, (n,): averages to the noise


@dataclass(frozen=True, slots=True)
class SubspaceModel:
    """All that a search among subspaces needs. The frame has k r columns."""

    frame: Frame
    noise: float  # s2
    partitions: Partitions[SubspacePartition]

    def hinted(self, hints: Array) -> Hinted:
        """The hinted moment of one or several points of the wanted subspace, given in the frame, (q, k r)."""
        return self.corrected(self.partitions.reduce(_fourth, hints).total / self.partitions.n_rows, hints)

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
        replicates = [self._moments_of(sums, hints) for sums in leave_one_out(self.partitions, _sums, hints)]
        return Replicates(*map(np.array, zip(*replicates, strict=True)))

    def _moments_of(self, sums: SubspaceSums, hints: Array) -> tuple[Array, Array, Array]:
        """W'AW, W'BW and W'm."""
        partly = replace(self, noise=sums.energy / sums.n)
        second = sums.squares / sums.n - np.diag(partly.noise / self.frame.values)
        hinted = partly.corrected(sums.fourth / sums.n, hints, second)
        return second, hinted.matrix, hinted.mean

    def take(self, n_columns: int) -> SubspaceModel:
        """The same fit with fewer subspaces."""
        return replace(
            self, frame=self.frame.take(n_columns), partitions=self.partitions.map(_first_coordinates, n_columns)
        )


class SubspaceSums(NamedTuple):
    """Sums over a block of samples."""

    n: int
    squares: Array  # Σ yy', (k r, k r)
    fourth: Array  # Σ ⟨y, c⟩²yy', (k r, k r)
    energy: float  # Σ e


def _told(Y: Array, hints: Array) -> Array:
    """⟨y, c⟩² of each sample, on average over the hints, (n,)."""
    return np.asarray(((Y @ hints.T) ** 2).mean(axis=1))


def _fourth(partition: SubspacePartition, hints: Array) -> ArraySum:
    """Σ ⟨y, c⟩²yy'."""
    return ArraySum(weighted_gram(partition.projected, _told(partition.projected, hints)))


def _sums(partition: SubspacePartition, rows: slice, hints: Array) -> SubspaceSums:
    Y = partition.projected[rows].astype(np.float64, copy=False)
    return SubspaceSums(len(Y), Y.T @ Y, (Y * _told(Y, hints)[:, None]).T @ Y, partition.energy[rows].sum())


def _first_coordinates(partition: SubspacePartition, n_columns: int) -> SubspacePartition:
    return replace(partition, projected=partition.projected[:, :n_columns])


def fit_subspace(partitions: Partitions[SamplePartition], n_columns: int, *, noise: str, seed: int) -> SubspaceModel:
    """Find the span of all subspaces together and project the samples onto it.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d)
    n_columns : int
        k r, the dimension of all subspaces together, below d.
    noise : {"average", "paper"}
        The noise level as the average of all d - k r noise eigenvalues, or as the largest of them.
    seed : int
        Of the eigen-solver's starting block, where the dimension is large.
    """
    with blas_threads_for(partitions):
        values, vectors, _ = top_eigenpairs(second_moment(partitions), n_columns + (noise == "paper"), seed=seed)
    see = _beside_one_direction if noise == "paper" else _beside_all
    inside, energy = partitions.map_reduce(see, vectors)
    level = float(energy.total / partitions.n_rows)
    frame = frame_from_eigenpairs(values[:n_columns], vectors[:, :n_columns], level, precision=partitions.layout.dtype)
    return SubspaceModel(frame, level, inside.map(_whitened, frame.values).persist())


def _beside_all(partition: SamplePartition, vectors: Array) -> tuple[SubspacePartition, ArraySum]:
    """Coordinates along the eigenvectors, not whitened yet; the energy outside of them, per direction, and its sum."""
    inside = _along(partition, vectors)
    outside = squared_distances(partition.samples, np.zeros(len(vectors))) - np.einsum("ij,ij->i", inside, inside)
    energy = np.maximum(outside, 0) / (len(vectors) - vectors.shape[1])
    return SubspacePartition(partition.first, partition.samples, inside, energy), ArraySum(energy.sum())


def _beside_one_direction(partition: SamplePartition, vectors: Array) -> tuple[SubspacePartition, ArraySum]:
    """The same with the energy along the last of the eigenvectors, and coordinates along the others."""
    along = _along(partition, vectors)
    energy = along[:, -1] ** 2
    return SubspacePartition(partition.first, partition.samples, along[:, :-1], energy), ArraySum(energy.sum())


def _along(partition: SamplePartition, vectors: Array) -> Array:
    return np.asarray(partition.samples @ vectors, dtype=np.float64)


def _whitened(partition: SubspacePartition, values: Array) -> SubspacePartition:
    return replace(
        partition, projected=(partition.projected / np.sqrt(values)).astype(partition.samples.dtype, copy=False)
    )
