"""Fit a mixture of subspaces: find the span of all and project the samples onto it."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.noise_edge import SignalCheck, check_spectrum, noise_rank
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._moments import SubspacePartition, noise_sums


def fit_subspace(
    partitions: Partitions[SamplePartition],
    n_components: int,
    *,
    dim: int,
    paper: bool,
    seed: int,
    origin: Array | None = None,
) -> SubspaceFamily:
    """Find the span of all subspaces together and project the samples onto it.

    Parameters
    ----------
    partitions : Partitions
        The samples, of shape (n, d).
    n_components : int
        k. All subspaces together must have fewer dimensions than there are features.
    dim : int
        r, the dimension of each subspace.
    paper : bool
        Take the largest noise eigenvalue as the noise level, as in the paper, rather than the average of all.
    seed : int
        Seed of the eigensolver's starting block, used if the dimension is large.
    origin : array of shape (d,), optional
        The point that all subspaces contain; zero by default.

    Returns
    -------
    SubspaceFamily
    """
    center = np.zeros(partitions.n_features) if origin is None else origin
    with blas_threads_for(partitions):
        moment = second_moment(partitions, center=origin)
        frame = _frame_along_last if paper else _frame_all
        framed = frame(partitions, moment, center, n_components * dim, seed)
    family = SubspaceFamily(**framed._asdict(), dim=dim, origin=origin)
    return family if paper else replace(family, noise=family.noise_moments(family.partitions.reduce(noise_sums)))


class Framed(NamedTuple):
    """The samples in their frame, and their noise."""

    frame: Frame
    noise_variance: float
    partitions: Partitions[SubspacePartition]
    n_noise: int
    check: SignalCheck | None = None


def _frame_all(
    partitions: Partitions[SamplePartition], moment: Matrix, center: Array, n_columns: int, seed: int
) -> Framed:
    """Frame the second moment less the average of all noise eigenvalues."""
    n, d, dtype, _ = partitions.layout
    found = top_eigenpairs(moment, min(n_columns + OVERSAMPLING, d), n_converged=n_columns, seed=seed)
    values, vectors = found.values[:n_columns], found.vectors[:, :n_columns]
    rank = noise_rank(moment, partitions, center, n_columns, seed)
    n_noise = max(rank.noisy - n_columns, 1)
    inside, energy = partitions.map_reduce(_project_residual, vectors, center, n_noise)
    level = float(energy.total / n)
    frame = frame_from_eigenpairs(values, vectors, level, precision=dtype)
    check = check_spectrum(inside, found.values, rank, n_columns, level * n_noise + float(values.sum()))
    return Framed(frame, level, inside.map(_whiten, frame.values).persist(), n_noise, check)


def _frame_along_last(
    partitions: Partitions[SamplePartition], moment: Matrix, center: Array, n_columns: int, seed: int
) -> Framed:
    """Frame the second moment less the largest noise eigenvalue, as in the paper."""
    values, vectors, _ = top_eigenpairs(moment, n_columns + 1, seed=seed)
    inside, energy = partitions.map_reduce(_project_along_last, vectors, center)
    level = float(energy.total / partitions.n_rows)
    frame = frame_from_eigenpairs(values[:-1], vectors[:, :-1], level, precision=partitions.layout.dtype)
    return Framed(frame, level, inside.map(_whiten, frame.values).persist(), partitions.n_features - n_columns)


def _project_residual(
    partition: SamplePartition, vectors: Array, center: Array, n_noise: int
) -> tuple[SubspacePartition, ArraySum]:
    """Compute coordinates along the eigenvectors, not whitened yet, and the energy of the residual per direction."""
    inside = project(partition.samples, vectors, center).astype(np.float64, copy=False)
    residual = squared_distances(partition.samples, center) - np.einsum("ij,ij->i", inside, inside)
    energy = np.maximum(residual, 0) / n_noise
    return SubspacePartition(partition.first, partition.samples, inside, energy), ArraySum(energy.sum())


def _project_along_last(
    partition: SamplePartition, vectors: Array, center: Array
) -> tuple[SubspacePartition, ArraySum]:
    """Compute coordinates along all eigenvectors but the last, and the energy along that one."""
    along = project(partition.samples, vectors, center).astype(np.float64, copy=False)
    energy = along[:, -1] ** 2
    return SubspacePartition(partition.first, partition.samples, along[:, :-1], energy), ArraySum(energy.sum())


def _whiten(partition: SubspacePartition, values: Array) -> SubspacePartition:
    whitened = (partition.projected / np.sqrt(values)).astype(partition.samples.dtype, copy=False)
    return replace(partition, projected=whitened)
