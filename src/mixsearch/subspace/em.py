"""EM of all subspaces, in their span."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.linalg

from mixsearch._typing import Array
from mixsearch.core.em import EMOptions, EMResult, run_em
from mixsearch.data.chunks import row_slices, sum_chunks
from mixsearch.data.partitions import Partition
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.moments import SubspacePartition

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
    dims: Array | None = None  # rᵢ, (k,), with no variance in later columns; None if all have dimension r

    def dim_of(self, index: int) -> int:
        """Return the dimension of one subspace."""
        return self.bases.shape[2] if self.dims is None else int(self.dims[index])

    def with_first(self, index: int) -> SubspaceMixture:
        """Return the mixture with one subspace moved to the front."""
        order = np.argsort(np.arange(len(self.weights)) != index, kind="stable")
        bases, variances, weights, noise_variances, n_outside, dims = self
        own = None if dims is None else dims[order]
        return SubspaceMixture(bases[order], variances[order], weights[order], noise_variances[order], n_outside, own)

    def log_densities(self, Z: Array, energy: Array) -> Array:
        """Return log αᵢpᵢ of samples, (n, k), up to a constant.

        Notes
        -----
        z'Σ⁻¹z = |z|² / s - Σⱼ ⟨z, uⱼ⟩² lⱼ / (s (lⱼ + s)).
        """
        bases, variances, weights, noise, m, _ = self
        k, p, r = bases.shape
        totals = variances + noise[:, None]
        gains = np.sqrt(variances / (noise[:, None] * totals))
        stacked = (bases * gains[:, None, :]).transpose(1, 0, 2).reshape(p, k * r)
        inside = ((Z @ stacked) ** 2).reshape(len(Z), k, r).sum(axis=2)
        squares = np.einsum("ij,ij->i", Z, Z) + m * energy
        constants = np.log(weights) - 0.5 * (np.log(totals).sum(axis=1) + (p - r + m) * np.log(noise))
        return np.asarray(constants + 0.5 * (inside - squares[:, None] / noise))


def fit_mixture(family: SubspaceFamily, directions: Sequence[Array], options: EMOptions) -> EMResult[SubspaceMixture]:
    """Fit all subspaces by EM."""
    return run_em_from(family, initial_mixture(family, directions), options)


def span_coordinates(Y: Array, values: Array) -> Array:
    """Return whitened samples in the units of the features, (n, p), in which noise has the same level everywhere."""
    return np.asarray(Y * np.sqrt(values), dtype=np.float64)


def initial_mixture(family: SubspaceFamily, directions: Sequence[Array]) -> SubspaceMixture:
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


def run_em_from(family: SubspaceFamily, start: SubspaceMixture, options: EMOptions) -> EMResult[SubspaceMixture]:
    """Fit all subspaces by EM from a mixture."""
    partitions = family.partitions.map(compute_coordinates, family.frame.values)
    floor = min_noise(family)

    def step(mixture: SubspaceMixture) -> tuple[SubspaceMixture, float]:
        sums = partitions.reduce(_resp_sums, mixture)
        return _m_step(sums, family.dim, mixture.n_outside, floor, start.dims), sums.objective

    return run_em(start, step, options)


def mixture_of_labels(family: SubspaceFamily, rows: CoordinatePartition, labels: Array) -> SubspaceMixture:
    """Return the mixture whose components have given samples, by labels from 0 to k - 1, (n,)."""
    resp = np.eye(family.n_components)[labels]
    sums = _weighted_sums(rows.coordinates, rows.energy, resp, 0.0)
    return _m_step(sums, family.dim, family.n_outside, min_noise(family))


def with_own_dims(family: SubspaceFamily, mixture: SubspaceMixture) -> SubspaceMixture:
    """Choose the dimension of each subspace by BIC, up to that of the fit.

    Notes
    -----
    n samples with variances vⱼ along r directions and s in the other D - r have the log-likelihood
    -n/2 (Σ log vⱼ + (D - r) log s), up to a constant, and each direction has about D parameters.
    """
    partitions, floor = family.partitions.map(compute_coordinates, family.frame.values), min_noise(family)
    sums = partitions.reduce(_resp_sums, mixture)
    full = _m_step(sums, family.dim, mixture.n_outside, floor)
    n_dims, n = family.frame.n_components + mixture.n_outside, partitions.n_rows
    dims = np.array(
        [
            _choose_own_dim(*each, n_dims, np.log(n))
            for each in zip(full.variances, full.noise_variances, sums.sizes, strict=True)
        ]
    )
    return _m_step(sums, family.dim, mixture.n_outside, floor, dims)


def _choose_own_dim(variances: Array, noise: float, size: float, n_dims: int, log_n: float) -> int:
    r = len(variances)
    values, rest = variances + noise, noise * (n_dims - r)
    criteria = []
    for dim in range(1, r + 1):
        level = (rest + values[dim:].sum()) / (n_dims - dim)
        n_parameters = dim * (n_dims - dim) + dim * (dim + 1) / 2
        log_volume = np.log(values[:dim]).sum() + (n_dims - dim) * np.log(level)
        criteria.append(size * log_volume + n_parameters * log_n)
    return int(np.argmin(criteria)) + 1


def compute_coordinates(partition: SubspacePartition, values: Array) -> CoordinatePartition:
    """Return samples of a partition in the units of the features."""
    return CoordinatePartition(partition.first, span_coordinates(partition.projected, values), partition.energy)


class RespSums(NamedTuple):
    """Sums for the M-step."""

    sizes: Array  # Σ pᵢ, (k,)
    grams: Array  # Σ pᵢzz', (k, p, p)
    energies: Array  # Σ pᵢe, (k,)
    objective: float


def _resp_sums(partition: CoordinatePartition, mixture: SubspaceMixture) -> RespSums:
    def sum_rows(rows: slice) -> RespSums:
        Z, energy = partition.coordinates[rows], partition.energy[rows]
        resp, totals = _e_step(mixture, Z, energy)
        return _weighted_sums(Z, energy, resp, float(totals.sum()))

    return sum_chunks(sum_rows, row_slices(len(partition.coordinates)))


def _weighted_sums(Z: Array, energy: Array, resp: Array, objective: float) -> RespSums:
    grams = [(Z * own[:, None]).T @ Z for own in resp.T]
    return RespSums(resp.sum(axis=0), np.array(grams), energy @ resp, objective)


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


def _m_step(sums: RespSums, dim: int, n_outside: int, floor: float, dims: Array | None = None) -> SubspaceMixture:
    """Return the top eigenvectors of the weighted second moments, with the remaining energy as noise.

    With `dims`, (k,), each subspace has its own number of these.
    """
    p = sums.grams.shape[1]
    sizes = np.maximum(sums.sizes, np.finfo(np.float64).tiny)
    pairs = [
        scipy.linalg.eigh(gram / size, subset_by_index=(p - dim, p - 1))
        for gram, size in zip(sums.grams, sizes, strict=True)
    ]
    values = np.array([pair[0][::-1] for pair in pairs])
    bases = np.array([pair[1][:, ::-1] for pair in pairs])
    totals = (np.trace(sums.grams, axis1=1, axis2=2) + n_outside * sums.energies) / sizes
    used = np.full(len(sizes), dim) if dims is None else dims
    values = np.where(np.arange(dim) < used[:, None], values, 0)
    noise = np.maximum(totals - values.sum(axis=1), 0) / (p - used + n_outside)
    weights = sizes / sizes.sum()
    noise = np.maximum(noise, max(MIN_NOISE_RATIO * float(weights @ noise), floor))
    return SubspaceMixture(bases, np.maximum(values - noise[:, None], 0), weights, noise, n_outside, dims)
