"""Which subspace of a mixture a hint means, and whether examples are its members."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, softmax

from mixsearch._typing import Array
from mixsearch.core.example_fit import ExampleFit, posterior_of_all, typical_squares
from mixsearch.core.frame import Frame
from mixsearch.data.chunks import ArraySum
from mixsearch.subspace.em import (
    CoordinatePartition,
    SubspaceMixture,
    compute_coordinates,
    responsibilities,
    span_coordinates,
)
from mixsearch.subspace.family import SubspaceFamily
from mixsearch.subspace.moments import SubspacePartition

N_DRAWS = 1000
# Samples among which members are found that examples are compared with.
MAX_SAMPLES = 2000
# Examples that are members are looked at more closely in at most this share of the searches.
MAX_SUSPECTED = 0.01


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


class Gaussian(NamedTuple):
    """One subspace in the coordinates of the span of all."""

    basis: Array  # U, (p, r), orthonormal columns
    totals: Array  # variances along them, with the noise, (r,)
    noise_variance: float
    n_outside: int  # number of directions outside the span

    def squares(self, Z: Array, energy: Array) -> tuple[Array, Array, Array]:
        """Return the squares of samples in the subspace, in the rest of the span and outside, (n,) each.

        They have r, p - r and m degrees of freedom for members.
        """
        along = Z @ self.basis
        across = np.einsum("ij,ij->i", Z, Z) - np.einsum("ij,ij->i", along, along)
        s2 = self.noise_variance
        return np.sum(along**2 / self.totals, axis=1), np.maximum(across, 0) / s2, self.n_outside * energy / s2

    def looks_typical(self, Z: Array, energy: Array) -> bool:
        """Return whether samples look like members, if coordinates and noise are normal."""
        p, r = self.basis.shape
        freedoms = (r, p - r, self.n_outside)
        p_values = [
            chdtrc(free, squares) for squares, free in zip(self.squares(Z, energy), freedoms, strict=True) if free
        ]
        return bool(np.size(p_values) * np.min(p_values) > MAX_SUSPECTED)


def member_of(mixture: SubspaceMixture, index: int) -> Gaussian:
    """Return one subspace of a mixture."""
    noise = float(mixture.noise_variances[index])
    return Gaussian(mixture.bases[index], mixture.variances[index] + noise, noise, mixture.n_outside)


def fit_examples(family: SubspaceFamily, mixture: SubspaceMixture, index: int, Z: Array, energy: Array) -> ExampleFit:
    """Return the agreement of examples with one subspace of a mixture."""
    logs = mixture.log_densities(Z, energy)
    agreement = posterior_of_all(logs, np.log(mixture.weights))[index]
    p_values = _p_values(family, mixture, Z, energy)
    return ExampleFit(float(agreement), softmax(logs, axis=1)[:, index], p_values[index], p_values.max(axis=0))


def _p_values(family: SubspaceFamily, mixture: SubspaceMixture, Z: Array, energy: Array) -> Array:
    """Return how often a member of each subspace is as far from its center as examples, or from it, (k, q)."""
    step = -(-family.partitions.n_rows // MAX_SAMPLES)
    some = family.partitions.thin(step).map(compute_coordinates, family.frame.values).collect().partition
    resp = responsibilities(mixture, some.coordinates, some.energy)
    return np.array(
        [_p_values_of(member_of(mixture, i), some, own, Z, energy) for i, own in enumerate(resp.T)], dtype=np.float64
    )


def _p_values_of(own: Gaussian, some: CoordinatePartition, resp: Array, Z: Array, energy: Array) -> Array:
    """Return how often a member is as far from the center as examples, or from the subspace, (q,)."""
    of_members, of_examples = own.squares(some.coordinates, some.energy), own.squares(Z, energy)
    inside = typical_squares(of_members[0], resp).p_values(of_examples[0])
    across = typical_squares(of_members[1] + of_members[2], resp).p_values(of_examples[1] + of_examples[2])
    return np.asarray(np.minimum(2 * np.minimum(inside, across), 1.0))
