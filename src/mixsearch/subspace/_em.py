"""Refinement of a subspace: EM in the span of all subspaces, then one step in all dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import OVERSAMPLING, top_eigenpairs
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.core.noise_edge import SignalCheck, check_signal
from mixsearch.core.second_moment import blas_threads_for, second_moment, squared_distances
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partition
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

# Densities need a positive noise variance: at least this fraction of the largest variance.
MIN_NOISE = 1e-9
# And at least this fraction of the average over all subspaces, or a few equal samples make the likelihood unbounded.
MIN_NOISE_RATIO = 0.01


class SubspaceMixture(NamedTuple):
    """All subspaces in the coordinates of their span: z ~ N(0, Uᵢ diag(lᵢ) Uᵢ' + sᵢ I) with weight αᵢ.

    Outside the span there is noise alone, with the variance sᵢ in each of m directions, of which the energy is known.
    """

    bases: Array  # Uᵢ, (k, p, r), orthonormal columns
    variances: Array  # lᵢ, (k, r), of the coordinates without the noise
    weights: Array  # αᵢ, (k,)
    noise_variances: Array  # sᵢ, (k,)
    n_outside: int  # m

    def with_first(self, index: int) -> SubspaceMixture:
        """Return the mixture with one subspace moved to the front."""
        order = np.argsort(np.arange(len(self.weights)) != index, kind="stable")
        bases, variances, weights, noise_variances, n_outside = self
        return SubspaceMixture(bases[order], variances[order], weights[order], noise_variances[order], n_outside)

    def log_densities(self, Z: Array, energy: Array) -> Array:
        """Return log αᵢpᵢ of samples, (n, k), up to a constant.

        Parameters
        ----------
        Z : array of shape (n, p)
            Coordinates in the span.
        energy : array of shape (n,)
            Mean squared coordinate outside the span.

        Returns
        -------
        array of shape (n, k)

        Notes
        -----
        z'Σ⁻¹z = |z|² / s - Σⱼ ⟨z, uⱼ⟩² lⱼ / (s (lⱼ + s)).
        """
        bases, variances, weights, noise, m = self
        k, p, r = bases.shape
        totals = variances + noise[:, None]
        gains = np.sqrt(variances / (noise[:, None] * totals))
        stacked = (bases * gains[:, None, :]).transpose(1, 0, 2).reshape(p, k * r)
        inside = ((Z @ stacked) ** 2).reshape(len(Z), k, r).sum(axis=2)
        squares = np.einsum("ij,ij->i", Z, Z) + m * energy
        constants = np.log(weights) - 0.5 * (np.log(totals).sum(axis=1) + (p - r + m) * np.log(noise))
        return np.asarray(constants + 0.5 * (inside - squares[:, None] / noise))


@dataclass(frozen=True, slots=True)
class RefinedSubspace:
    """A subspace after EM, with the mixture that it is part of."""

    basis: Array  # (d, r), orthonormal columns
    variances: Array  # (r,), of the coordinates without the noise, falling
    noise_variance: float
    weight: float
    objectives: tuple[float, ...]  # the log-likelihood at the start and after each accepted iteration
    mixture: SubspaceMixture  # the subspace itself first
    check: SignalCheck  # which directions stand out among its members: its own only, if the mixture suits


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
    EM runs in the span of all subspaces. The span itself has the error of its eigenvectors, so the last iteration is
    done in all d dimensions. Outside the span the energy of a sample is all that matters for its membership, so the
    responsibilities are those of the same mixture in d dimensions, and the top eigenvectors of the weighted second
    moment increase its likelihood.
    """
    mixture, dim = fitted.state.with_first(index), family.dim
    partitions, sums = family.partitions.map_reduce(_assign_first, mixture, family.frame.values, family.center)
    if sums.size < dim:
        return None
    n_values, n_dims = min(dim + OVERSAMPLING, partitions.n_features), family.frame.n_components + family.n_noise
    with blas_threads_for(partitions):
        moment = second_moment(partitions, _row_weights, sums.size, center=family.origin)
        found = top_eigenpairs(moment, n_values, n_converged=dim)
    values, trace = found.values[:dim], float(sums.energy / sums.size)
    noise = max(trace - float(values.sum()), 0.0) / (n_dims - dim)
    return RefinedSubspace(
        basis=found.vectors[:, :dim],
        variances=np.maximum(values - noise, 0),
        noise_variance=noise,
        weight=float(mixture.weights[0]),
        objectives=fitted.objectives,
        mixture=mixture,
        check=check_signal(found.values, trace, np.ones(1), max(int(sums.size), 1), n_dims),
    )


@dataclass(frozen=True)
class OwnPartition(Partition):
    """Samples with their responsibilities for one subspace."""

    samples: Samples  # (n, d)
    resp: Array  # p, (n,)


class OwnSums(NamedTuple):
    """Sums over samples for one subspace."""

    size: float  # Σ p
    energy: float  # Σ p |x - center|²


def _assign_first(
    partition: SubspacePartition, mixture: SubspaceMixture, values: Array, center: Array
) -> tuple[OwnPartition, OwnSums]:
    """Compute the responsibilities of the first subspace."""
    resp = responsibilities(mixture, span_coordinates(partition.projected, values), partition.energy)[:, 0]
    squares = squared_distances(partition.samples, center)
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
    noise = np.full(len(weights), max(family.noise_variance, min_noise(family)))
    return SubspaceMixture(bases, lengths**2 / weights[:, None], weights, noise, family.n_outside)


def min_noise(family: SubspaceFamily) -> float:
    """Return the least noise variance that densities use."""
    return MIN_NOISE * float(family.frame.values[0])


@dataclass(frozen=True)
class CoordinatePartition(Partition):
    """Samples in the span of all subspaces, in the units of the features, and their energy outside."""

    coordinates: Array  # z, (n, p)
    energy: Array  # (n,)


def _run_em(family: SubspaceFamily, start: SubspaceMixture, options: EMOptions) -> EMResult[SubspaceMixture]:
    partitions = family.partitions.map(compute_coordinates, family.frame.values)
    floor = min_noise(family)

    def step(mixture: SubspaceMixture) -> tuple[SubspaceMixture, float]:
        sums = partitions.reduce(_resp_sums, mixture)
        return _m_step(sums, family.dim, mixture.n_outside, floor), sums.objective

    return run_em(start, step, options)


def compute_coordinates(partition: SubspacePartition, values: Array) -> CoordinatePartition:
    """Return samples of a partition in the units of the features."""
    return CoordinatePartition(partition.first, span_coordinates(partition.projected, values), partition.energy)


class RespSums(NamedTuple):
    """What the M-step needs."""

    sizes: Array  # Σ pᵢ, (k,)
    grams: Array  # Σ pᵢzz', (k, p, p)
    energies: Array  # Σ pᵢe, (k,)
    objective: float


def _resp_sums(partition: CoordinatePartition, mixture: SubspaceMixture) -> RespSums:
    def sum_rows(rows: slice) -> RespSums:
        Z, energy = partition.coordinates[rows], partition.energy[rows]
        resp, totals = _e_step(mixture, Z, energy)
        grams = [(Z * own[:, None]).T @ Z for own in resp.T]
        return RespSums(resp.sum(axis=0), np.array(grams), energy @ resp, float(totals.sum()))

    return sum_chunks(sum_rows, row_slices(len(partition.coordinates)))


def responsibilities(mixture: SubspaceMixture, Z: Array, energy: Array) -> Array:
    """Return the posterior probability of every subspace for each sample, (n, k)."""
    return _e_step(mixture, Z, energy)[0]


def _e_step(mixture: SubspaceMixture, Z: Array, energy: Array) -> tuple[Array, Array]:
    """Return responsibilities, (n, k), and the log-likelihood of each sample, (n,), up to a constant."""
    logs = mixture.log_densities(Z, energy)
    top = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - top)
    total = odds.sum(axis=1, keepdims=True)
    return np.asarray(odds / total), np.asarray(top + np.log(total))[:, 0]


def _m_step(sums: RespSums, dim: int, n_outside: int, floor: float) -> SubspaceMixture:
    """Return the top eigenvectors of the weighted second moments, with the remaining energy as noise."""
    p = sums.grams.shape[1]
    sizes = np.maximum(sums.sizes, np.finfo(np.float64).tiny)
    pairs = [
        scipy.linalg.eigh(gram / size, subset_by_index=(p - dim, p - 1))
        for gram, size in zip(sums.grams, sizes, strict=True)
    ]
    values = np.array([pair[0][::-1] for pair in pairs])
    bases = np.array([pair[1][:, ::-1] for pair in pairs])
    totals = (np.trace(sums.grams, axis1=1, axis2=2) + n_outside * sums.energies) / sizes
    noise = np.maximum(totals - values.sum(axis=1), 0) / (p - dim + n_outside)
    weights = sizes / sizes.sum()
    noise = np.maximum(noise, max(MIN_NOISE_RATIO * float(weights @ noise), floor))
    return SubspaceMixture(bases, np.maximum(values - noise[:, None], 0), weights, noise, n_outside)
