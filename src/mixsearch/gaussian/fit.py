"""Fit of Gaussian mixtures with spherical covariances: rank, signal space, noise level and projected samples."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Matrix
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.frame import Frame, frame_from_eigenpairs, project
from mixsearch.core.noise_edge import SignalCheck, check_spectrum, noise_rank
from mixsearch.core.rank_selection import Spectrum, spherical_spectrum
from mixsearch.core.second_moment import (
    MeasuredPartition,
    MeasuredSamples,
    blas_threads_for,
    measure_samples,
    sample_mean_of,
    second_moment,
)
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.gaussian.family import GaussianFamily, GaussianPartition, NoiseSpace


def fit_gaussian(
    partitions: Partitions[SamplePartition],
    n_components: int,
    *,
    paper: bool,
    seed: int,
    measured: MeasuredSamples | None = None,
    is_smallest: bool = False,
) -> GaussianFamily:
    """Find the signal space of a Gaussian mixture and project the samples onto it."""
    mean, distances = measured or measure_samples(partitions)
    with blas_threads_for(partitions):
        covariance = second_moment(partitions, center=mean)
        if paper:
            noise = _noise_eigenpair(covariance, n_components, is_smallest=is_smallest, seed=seed)
            framed = _frame_at_zero(partitions, noise, mean, n_components, seed)
        else:
            framed = _frame_at_mean(distances, covariance, mean, n_components, seed)
    moments = framed.partitions.reduce(_noise_moments)
    return GaussianFamily(
        **framed._asdict(),
        mean=framed.frame.whiten(mean),
        noise_mean=moments.mean / partitions.n_rows,
        noise_square=moments.square / partitions.n_rows,
        sample_mean=mean,
    )


class Framed(NamedTuple):
    """The samples in their frame, and their noise."""

    frame: Frame
    noise_variance: float
    noise: NoiseSpace
    partitions: Partitions[GaussianPartition]
    check: SignalCheck | None = None


class NoiseMoments(NamedTuple):
    """Sums over samples, weighted by their residual energy."""

    mean: Array  # Σ e y, (k,)
    square: Array  # Σ e y², (k,)


def _noise_moments(partition: GaussianPartition) -> NoiseMoments:
    Y, energy = partition.projected, partition.energy.astype(partition.projected.dtype)
    mean = np.asarray(Y.T @ energy, dtype=np.float64)
    return NoiseMoments(mean, np.asarray(np.einsum("ij,ij,i->j", Y, Y, energy), dtype=np.float64))


def _energy(partition: GaussianPartition) -> ArraySum:
    """Sum e."""
    return ArraySum(float(partition.energy.sum()))


def _frame_at_mean(
    partitions: Partitions[MeasuredPartition], covariance: Matrix, mean: Array, n_components: int, seed: int
) -> Framed:
    """Frame the covariance, which has rank k - 1 plus noise, and average the noise of its other directions."""
    (n, d, dtype, _), q = partitions.layout, n_components - 1
    found = top_eigenpairs(covariance, min(q + OVERSAMPLING, d), n_converged=max(q, 1), seed=seed)
    values, vectors = found.values[:q], found.vectors[:, :q]
    rank = noise_rank(covariance, partitions, mean, q, seed)
    noise = NoiseSpace(vectors, mean, n_dims=max(rank.noisy - q, 1))
    inside = partitions.map(_project_centered, noise).persist()
    level = inside.reduce(_energy).total / n
    frame = frame_from_eigenpairs(values, vectors, level, precision=dtype, name="covariance", n_components=n_components)
    unit = float(frame.values.mean()) if q else 1.0
    lifted = Frame(np.column_stack([np.zeros(d), vectors]), np.append(unit, frame.values), origin=mean)
    projected = inside.map(_lift, frame.values).persist()
    check = check_spectrum(projected, found.values, rank, q, level * noise.n_dims + float(values.sum()))
    return Framed(lifted, level, noise, projected, check)


def _project_centered(partition: MeasuredPartition, noise: NoiseSpace) -> GaussianPartition:
    """Compute coordinates along the eigenvectors, not whitened yet, and the energy of the residual."""
    inside = project(partition.samples, noise.signal, noise.origin)
    residual = np.maximum(partition.squares - np.einsum("ij,ij->i", inside, inside), 0)
    return GaussianPartition(partition.first, partition.samples, inside, residual / noise.n_dims, residual)


def _lift(partition: GaussianPartition, values: Array) -> GaussianPartition:
    """Whiten the coordinates and put the constant 1 in front of them."""
    inside = partition.projected
    Y = np.column_stack([np.ones(len(inside)), inside / np.sqrt(values)])
    return replace(partition, projected=Y.astype(partition.samples.dtype, copy=False))


class NoiseEigenpair(NamedTuple):
    """An eigenvalue of the covariance that is taken as the noise level, and its eigenvector."""

    level: float
    direction: Array  # (d,)


def _noise_eigenpair(covariance: Matrix, n_components: int, *, is_smallest: bool, seed: int) -> NoiseEigenpair:
    """Return the (k+1)-th eigenpair of the covariance, the last if k = d, or the smallest one."""
    if is_smallest:
        values, vectors, _ = top_eigenpairs(-covariance, 1, seed=seed)
        return NoiseEigenpair(max(-float(values[0]), 0.0), vectors[:, 0])
    values, vectors, _ = top_eigenpairs(covariance, min(n_components + 1, covariance.shape[0]), seed=seed)
    return NoiseEigenpair(float(values[-1]), vectors[:, -1])


def _frame_at_zero(
    partitions: Partitions[SamplePartition], pair: NoiseEigenpair, mean: Array, n_components: int, seed: int
) -> Framed:
    """Frame the second moment minus the noise level of one eigenvector of the covariance, as in the paper."""
    values, vectors, _ = top_eigenpairs(second_moment(partitions), n_components, seed=seed)
    frame = frame_from_eigenpairs(values, vectors, pair.level, precision=partitions.layout.dtype)
    noise = NoiseSpace(frame.basis, np.zeros(partitions.n_features), partitions.n_features - n_components)
    return Framed(frame, pair.level, noise, partitions.map(_whiten, frame, noise, pair.direction, mean).persist())


def _whiten(
    partition: SamplePartition, frame: Frame, noise: NoiseSpace, noise_direction: Array, mean: Array
) -> GaussianPartition:
    X = partition.samples
    energy = np.asarray(X @ noise_direction - mean @ noise_direction) ** 2
    Y = frame.whiten(X).astype(X.dtype, copy=False)
    return GaussianPartition(partition.first, X, Y, energy, noise.squares(X))


def gaussian_spectrum(partitions: Partitions[SamplePartition], *, seed: int) -> Spectrum:
    """Count the Gaussians: one more than the directions in which their centers differ."""
    return spherical_spectrum(partitions, sample_mean_of(partitions), lambda n_signal: n_signal + 1, seed)
