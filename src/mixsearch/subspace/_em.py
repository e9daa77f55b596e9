"""Refinement of a subspace: EM in the span of all subspaces, then one step in all dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

# Densities need a positive noise variance: at least this fraction of the largest variance.
MIN_NOISE = 1e-9


class SubspaceMixture(NamedTuple):
    """All subspaces in the coordinates of their span: z ~ N(0, Uᵢ diag(lᵢ) Uᵢ' + s2 I) with weight αᵢ."""

    bases: Array  # Uᵢ, (k, p, r), orthonormal columns
    variances: Array  # lᵢ, (k, r), of the coordinates without the noise
    weights: Array  # αᵢ, (k,)
    noise_variance: float  # s2

    def with_first(self, index: int) -> SubspaceMixture:
        """Return the mixture with one subspace moved to the front."""
        order = np.argsort(np.arange(len(self.weights)) != index, kind="stable")
        return SubspaceMixture(self.bases[order], self.variances[order], self.weights[order], self.noise_variance)

    def log_densities(self, Z: Array) -> Array:
        """Return log αᵢpᵢ(z) + |z|² / 2s2 of samples (n, p) -> (n, k), up to a constant.

        Notes
        -----
        z'Σ⁻¹z = |z|² / s2 - Σⱼ ⟨z, uⱼ⟩² lⱼ / (s2 (lⱼ + s2)), so the subspaces differ by their own coordinates alone.
        """
        bases, variances, weights, s2 = self
        k, p, r = bases.shape
        gains = np.sqrt(variances / (s2 * (variances + s2)))
        stacked = (bases * gains[:, None, :]).transpose(1, 0, 2).reshape(p, k * r)
        squares = ((Z @ stacked) ** 2).reshape(len(Z), k, r).sum(axis=2)
        constants = np.log(weights) - 0.5 * (np.log(variances + s2).sum(axis=1) + (p - r) * np.log(s2))
        return np.asarray(constants + 0.5 * squares)


@dataclass(frozen=True, slots=True)
class RefinedSubspace:
    """A subspace after EM, with the mixture that it is part of."""

    basis: Array  # (d, r), orthonormal columns
    variances: Array  # (r,), of the coordinates without the noise, falling
    noise_variance: float
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood at the start and after each accepted iteration
    mixture: SubspaceMixture  # the subspace itself first


def fit_mixture(family: SubspaceFamily, directions: Sequence[Array], options: EMOptions) -> EMResult[SubspaceMixture]:
    """Fit all subspaces by EM.

    Parameters
    ----------
    family : SubspaceFamily
    directions : sequence of arrays of shape (k r, r)
        All subspaces in the frame, as moments find them.
    options : EMOptions

    Returns
    -------
    EMResult
    """
    return _run_em(family, _initial_mixture(family, directions), options)


def refine_subspace(family: SubspaceFamily, fitted: EMResult[SubspaceMixture], index: int) -> RefinedSubspace | None:
    """Refine one subspace in all dimensions; return None if EM left it too few samples.

    Parameters
    ----------
    family : SubspaceFamily
    fitted : EMResult
        From `fit_mixture`.
    index : int
        Index of the subspace in the mixture.

    Returns
    -------
    RefinedSubspace or None

    Notes
    -----
    EM runs in the span of all subspaces, where one noise level for all keeps the likelihood bounded. The span itself
    has the error of its eigenvectors, so the last iteration is done in all d dimensions. Noise outside the span carries
    no information about membership, so the responsibilities are those of the same mixture in d dimensions, and the top
    eigenvectors of the weighted second moment increase its likelihood.
    """
    mixture, dim = fitted.state.with_first(index), family.dim
    partitions, sums = family.partitions.map_reduce(_assign_first, mixture, family.frame.values)
    if sums.size < dim:
        return None
    with blas_threads_for(partitions):
        values, basis, _ = top_eigenpairs(second_moment(partitions, _row_weights, sums.size), dim)
    noise = max(float(sums.energy / sums.size - values.sum()), 0.0) / (partitions.n_features - dim)
    return RefinedSubspace(
        basis=basis,
        variances=np.maximum(values - noise, 0),
        noise_variance=noise,
        weight=float(mixture.weights[0]),
        objectives=fitted.objectives,
        mixture=mixture,
    )


@dataclass(frozen=True)
class OwnPartition(Partition):
    """Samples with their responsibilities for one subspace."""

    samples: Samples  # (n, d)
    resp: Array  # p, (n,)


class OwnSums(NamedTuple):
    """Sums over samples for one subspace."""

    size: float  # Σ p
    energy: float  # Σ p |x|²


def _assign_first(
    partition: SubspacePartition, mixture: SubspaceMixture, values: Array
) -> tuple[OwnPartition, OwnSums]:
    """Compute the responsibilities of the first subspace."""
    resp = responsibilities(mixture, span_coordinates(partition.projected, values))[:, 0]
    squares = squared_distances(partition.samples, np.zeros(partition.samples.shape[1]))
    sums = OwnSums(float(resp.sum()), float(resp @ squares))
    return OwnPartition(partition.first, partition.samples, resp), sums


def _row_weights(partition: OwnPartition, size: float) -> Array:
    return np.asarray(partition.resp / size)


def span_coordinates(Y: Array, values: Array) -> Array:
    """Return whitened samples in the units of the features, (n, p), in which noise has the same level everywhere.

    Parameters
    ----------
    Y : array of shape (n, p)
    values : array of shape (p,)
        Eigenvalues of the frame.

    Returns
    -------
    array of shape (n, p)
    """
    return np.asarray(Y * np.sqrt(values), dtype=np.float64)


def _initial_mixture(family: SubspaceFamily, directions: Sequence[Array]) -> SubspaceMixture:
    """Start from the subspaces that moments find.

    Notes
    -----
    D^(1/2)G = √α V'U diag(l)^(1/2) up to a rotation, and the weights are the parts of the trace of A.
    """
    values = family.frame.values
    bases, lengths, _ = np.linalg.svd(np.sqrt(values)[:, None] * np.array(directions), full_matrices=False)
    weights = np.sum(lengths**2, axis=1) / values.sum()
    noise = max(family.noise_variance, _min_noise(family))
    return SubspaceMixture(bases, lengths**2 / weights[:, None], weights, noise)


def _min_noise(family: SubspaceFamily) -> float:
    return MIN_NOISE * float(family.frame.values[0])


@dataclass(frozen=True)
class CoordinatePartition(Partition):
    """Samples in the span of all subspaces, in the units of the features."""

    coordinates: Array  # z, (n, p)


def _run_em(family: SubspaceFamily, start: SubspaceMixture, options: EMOptions) -> EMResult[SubspaceMixture]:
    partitions, energy = family.partitions.map_reduce(_compute_coordinates, family.frame.values)
    floor = _min_noise(family)

    def step(mixture: SubspaceMixture) -> tuple[SubspaceMixture, float]:
        sums = partitions.reduce(_resp_sums, mixture)
        objective = float(sums.objective - energy.total / (2 * mixture.noise_variance))
        return _m_step(sums, family.dim, partitions.n_rows, energy.total, floor), objective

    return run_em(start, step, options)


def _compute_coordinates(partition: SubspacePartition, values: Array) -> tuple[CoordinatePartition, ArraySum]:
    """Return the coordinates, and the sum of |z|²."""
    Z = span_coordinates(partition.projected, values)
    return CoordinatePartition(partition.first, Z), ArraySum(float(np.sum(Z**2)))


class RespSums(NamedTuple):
    """What the M-step needs."""

    sizes: Array  # Σ pᵢ, (k,)
    grams: Array  # Σ pᵢzz', (k, p, p)
    objective: float


def _resp_sums(partition: CoordinatePartition, mixture: SubspaceMixture) -> RespSums:
    def sum_rows(rows: slice) -> RespSums:
        Z = partition.coordinates[rows]
        resp, totals = _e_step(mixture, Z)
        grams = [(Z * own[:, None]).T @ Z for own in resp.T]
        return RespSums(resp.sum(axis=0), np.array(grams), float(totals.sum()))

    return sum_chunks(sum_rows, row_slices(len(partition.coordinates)))


def responsibilities(mixture: SubspaceMixture, Z: Array) -> Array:
    """Return the posterior probability of every subspace for each sample, (n, k)."""
    return _e_step(mixture, Z)[0]


def _e_step(mixture: SubspaceMixture, Z: Array) -> tuple[Array, Array]:
    """Return responsibilities, (n, k), and the log-likelihood of each sample, (n,), shifted as in `log_densities`."""
    logs = mixture.log_densities(Z)
    top = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - top)
    total = odds.sum(axis=1, keepdims=True)
    return np.asarray(odds / total), np.asarray(top + np.log(total))[:, 0]


def _m_step(sums: RespSums, dim: int, n_rows: int, energy: float, floor: float) -> SubspaceMixture:
    """Return the top eigenvectors of the weighted second moments, with the remaining energy as noise."""
    p = sums.grams.shape[1]
    sizes = np.maximum(sums.sizes, np.finfo(np.float64).tiny)
    pairs = [
        scipy.linalg.eigh(gram / size, subset_by_index=(p - dim, p - 1))
        for gram, size in zip(sums.grams, sizes, strict=True)
    ]
    values = np.array([pair[0][::-1] for pair in pairs])
    remaining = energy - float(np.sum(sizes[:, None] * values))
    # A single subspace is the whole span, which leaves no direction for the noise.
    noise = max(remaining / (n_rows * max(p - dim, 1)), floor)
    bases = np.array([pair[1][:, ::-1] for pair in pairs])
    return SubspaceMixture(bases, np.maximum(values - noise, 0), sizes / n_rows, noise)
