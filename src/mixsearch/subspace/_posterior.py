"""Which subspace of a mixture a hint means, and with what probability."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.example_fit import posterior_of_all
from mixsearch.core.frame import Frame
from mixsearch.data.chunks import ArraySum
from mixsearch.subspace._em import SubspaceMixture, responsibilities, span_coordinates
from mixsearch.subspace._family import SubspaceFamily
from mixsearch.subspace._moments import SubspacePartition

N_DRAWS = 1000


def posterior_of_examples(mixture: SubspaceMixture, Z: Array, energy: Array) -> Array:
    """Return the probability of each subspace that all of some samples are its own, (k,)."""
    return posterior_of_all(mixture.log_densities(Z, energy), np.log(mixture.weights))


def squared_projections(mixture: SubspaceMixture, points: Array) -> Array:
    """Return |Uᵢ'v|², (k,), averaged over points of the span, (q, p)."""
    return np.asarray(np.sum((points @ mixture.bases) ** 2, axis=(1, 2)) / len(points))


def simulate_projections(
    family: SubspaceFamily, mixture: SubspaceMixture, points: Array, outside: Array | None = None
) -> Array:
    """Return the squared projections of points onto each subspace on simulated samples, (N_DRAWS, k).

    Parameters
    ----------
    family : SubspaceFamily
    mixture : SubspaceMixture
    points : array of shape (q, p)
        Points of the span.
    outside : array of shape (d,), optional
        The part of the only point that lies outside of the span.

    Returns
    -------
    array of shape (N_DRAWS, k)

    Notes
    -----
    Leaving out a group of samples moves Uᵢ'v by diag(lᵢ)⁻¹Uᵢ'CᵢP⊥v to first order, where Cᵢ is the second moment of
    the members left out, and v a point of all d dimensions. |Uᵢ'v|² on new samples is simulated as its estimate plus
    normal noise with the covariance that the jackknife gives.
    """
    shifts = _projection_shifts(family, mixture, points, outside)
    n_groups = len(shifts)
    replicates = np.sum((points @ mixture.bases - shifts) ** 2, axis=(2, 3)) / len(points)
    rng = np.random.default_rng(0)  # the same answer every time
    draws = rng.standard_normal((N_DRAWS, n_groups)) * np.sqrt((n_groups - 1) / n_groups)
    simulated = squared_projections(mixture, points) + draws @ (replicates - replicates.mean(axis=0))
    return np.asarray(np.maximum(simulated, 0))


def _projection_shifts(family: SubspaceFamily, mixture: SubspaceMixture, points: Array, outside: Array | None) -> Array:
    """Return what each group of samples adds to Uᵢ'v, (B, k, q, r)."""
    partitions = family.partitions
    residuals = points - np.einsum("kpr,kqr->kqp", mixture.bases, points @ mixture.bases)
    n_groups = partitions.n_groups
    beyond = None if outside is None else (outside, float(outside @ family.center))
    sums = partitions.reduce(_cross_moments_by_group, mixture, family.frame.values, residuals, beyond, n_groups).total
    # A subspace without members, or with less variance than the noise, must not shift without bound.
    sizes = np.maximum(mixture.weights * partitions.n_rows, 1)[:, None, None]
    variances = np.maximum(mixture.variances, mixture.noise_variances[:, None])[:, None, :]
    return np.asarray(sums / (sizes * variances * (1 - 1 / n_groups)))


def _cross_moments_by_group(
    partition: SubspacePartition,
    mixture: SubspaceMixture,
    values: Array,
    residuals: Array,
    beyond: tuple[Array, float] | None,
    n_groups: int,
) -> ArraySum:
    """Sum pᵢ ⟨x, P⊥v⟩ Uᵢ'z over the samples of each group, (B, k, q, r).

    P⊥v is given for each subspace in the span, (k, q, p), and outside of it with its product with the origin.
    """
    Z = span_coordinates(partition.projected, values)
    resp = responsibilities(mixture, Z, partition.energy)
    scores = np.zeros(len(Z)) if beyond is None else np.asarray(partition.samples @ beyond[0]) - beyond[1]

    def sum_rows(rows: slice) -> Array:
        """Sum over one group: U'(Σ p zz')P⊥v, and U'Σ p z⟨x, v⟩ outside the span."""
        weighted = [Z[rows] * own[:, None] for own in resp[rows].T]
        return np.array(
            [
                (away @ own.T @ Z[rows] + scores[rows] @ own) @ basis
                for away, own, basis in zip(residuals, weighted, mixture.bases, strict=True)
            ]
        )

    return ArraySum(np.array([sum_rows(partition.rows_at(n_groups, group)) for group in range(n_groups)]))


def match_subspace(frame: Frame, mixture: SubspaceMixture, directions: Array) -> int:
    """Return the index of the subspace of a mixture that directions in the frame, (k r, q), are nearest to."""
    span, _ = np.linalg.qr(np.sqrt(frame.values)[:, None] * directions)
    cosines = np.einsum("kpi,pj->kij", mixture.bases, span)
    return int(np.sum(cosines**2, axis=(1, 2)).argmax())
