"""Which subspace of a mixture a hint means, and with what probability."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.core.frame import Frame
from mixsearch.data.chunks import ArraySum
from mixsearch.subspace._em import SubspaceMixture, responsibilities, span_coordinates
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

N_DRAWS = 1000


def posterior_of_examples(mixture: SubspaceMixture, Z: Array, energy: Array) -> Array:
    """Return the probability of each subspace that all of some samples are its own, (k,)."""
    logs = mixture.log_densities(Z, energy).sum(axis=0) - (len(Z) - 1) * np.log(mixture.weights)
    return np.asarray(softmax(logs))


def squared_projections(mixture: SubspaceMixture, points: Array) -> Array:
    """Return |Uᵢ'v|², (k,), averaged over points of the span, (q, p)."""
    return np.asarray(np.sum((points @ mixture.bases) ** 2, axis=(1, 2)) / len(points))


def simulate_projections(family: SubspaceFamily, mixture: SubspaceMixture, points: Array) -> Array:
    """Return the squared projections of points onto each subspace on simulated samples, (N_DRAWS, k).

    Parameters
    ----------
    family : SubspaceFamily
    mixture : SubspaceMixture
    points : array of shape (q, p)
        Points of the span.

    Returns
    -------
    array of shape (N_DRAWS, k)

    Notes
    -----
    Leaving out a group of samples moves Uᵢ'v by diag(lᵢ)⁻¹Uᵢ'CᵢP⊥v to first order, where Cᵢ is the second moment of
    the members left out. |Uᵢ'v|² on new samples is simulated as its estimate plus normal noise with the covariance that
    the jackknife gives.
    """
    shifts = _projection_shifts(family, mixture, points)
    n_groups = len(shifts)
    replicates = np.sum((points @ mixture.bases - shifts) ** 2, axis=(2, 3)) / len(points)
    rng = np.random.default_rng(0)  # the same answer every time
    draws = rng.standard_normal((N_DRAWS, n_groups)) * np.sqrt((n_groups - 1) / n_groups)
    simulated = squared_projections(mixture, points) + draws @ (replicates - replicates.mean(axis=0))
    return np.asarray(np.maximum(simulated, 0))


def _projection_shifts(family: SubspaceFamily, mixture: SubspaceMixture, points: Array) -> Array:
    """Return what each group of samples adds to Uᵢ'v, (B, k, q, r)."""
    partitions = family.partitions
    residuals = points - np.einsum("kpr,kqr->kqp", mixture.bases, points @ mixture.bases)
    n_groups = partitions.n_groups
    sums = partitions.reduce(_cross_moments_by_group, mixture, family.frame.values, residuals, n_groups).total
    # A subspace without members, or with less variance than the noise, must not shift without bound.
    sizes = np.maximum(mixture.weights * partitions.n_rows, 1)[:, None, None]
    variances = np.maximum(mixture.variances, mixture.noise_variances[:, None])[:, None, :]
    return np.asarray(sums / (sizes * variances * (1 - 1 / n_groups)))


def _cross_moments_by_group(
    partition: SubspacePartition, mixture: SubspaceMixture, values: Array, residuals: Array, n_groups: int
) -> ArraySum:
    """Sum pᵢ ⟨z, P⊥v⟩ Uᵢ'z over the samples of each group, (B, k, q, r), given P⊥v for each subspace, (k, q, p)."""
    Z = span_coordinates(partition.projected, values)
    resp = responsibilities(mixture, Z, partition.energy)

    def sum_rows(rows: slice) -> Array:
        """Sum over one group: U'(Σ p zz')P⊥v."""
        grams = [(Z[rows] * own[:, None]).T @ Z[rows] for own in resp[rows].T]
        return np.array(
            [away @ gram @ basis for away, gram, basis in zip(residuals, grams, mixture.bases, strict=True)]
        )

    return ArraySum(np.array([sum_rows(partition.rows_at(n_groups, group)) for group in range(n_groups)]))


def match_subspace(frame: Frame, mixture: SubspaceMixture, directions: Array) -> int:
    """Return the index of the subspace of a mixture that directions in the frame, (k r, q), are nearest to."""
    span, _ = np.linalg.qr(np.sqrt(frame.values)[:, None] * directions)
    cosines = np.einsum("kpi,pj->kij", mixture.bases, span)
    return int(np.sum(cosines**2, axis=(1, 2)).argmax())
