"""Which subspace of a mixture a hint means, and how sure that is."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from mixsearch._typing import Array
from mixsearch.data.chunks import ArraySum
from mixsearch.subspace._em import Subspaces, coordinates, log_densities, memberships
from mixsearch.subspace._moments import SubspaceFamily, SubspacePartition

N_DRAWS = 1000


def chances_of_samples(mixture: Subspaces, Z: Array) -> Array:
    """The probability of every subspace for samples in the span, (q, p), that all belong to the same one, (k,)."""
    logs = log_densities(mixture, Z).sum(axis=0) - (len(Z) - 1) * np.log(mixture.weights)
    return np.asarray(softmax(logs))


def held_by(mixture: Subspaces, point: Array) -> Array:
    """|Uᵢ'v|², (k,): how much of a point in the span, (p,), each subspace holds."""
    return np.asarray(np.sum((point @ mixture.bases) ** 2, axis=1))


def chances_of_point(model: SubspaceFamily, mixture: Subspaces, point: Array) -> Array:
    """The part of imagined samples on which each subspace holds most of a point, (k,).

    Notes
    -----
    Leaving out a block of samples moves Uᵢ'v by diag(lᵢ)⁻¹Uᵢ'CᵢP⊥v to first order, where Cᵢ is the second moment of
    the members left out. |Uᵢ'v|² on other samples are imagined as those of these, plus normal noise with the covariance
    that the jackknife gives.
    """
    moves = _moves(model, mixture, point)
    n_groups = len(moves)
    held = np.sum((point @ mixture.bases - moves) ** 2, axis=2)
    rng = np.random.default_rng(0)  # the same answer every time
    draws = rng.standard_normal((N_DRAWS, n_groups)) * np.sqrt((n_groups - 1) / n_groups)
    imagined = held_by(mixture, point) + draws @ (held - held.mean(axis=0))
    return np.asarray(np.bincount(imagined.argmax(axis=1), minlength=len(mixture.weights)) / N_DRAWS)


def _moves(model: SubspaceFamily, mixture: Subspaces, point: Array) -> Array:
    """What each block of samples adds to Uᵢ'v, (B, k, r)."""
    partitions = model.partitions
    inside = point @ mixture.bases
    beside = point - np.einsum("kpr,kr->kp", mixture.bases, inside)
    sums = partitions.reduce(_leaning, mixture, model.frame.values, beside, partitions.n_groups).total
    # A subspace that is lost in the noise, or has no members, moves no further than one that is not.
    size = np.maximum(mixture.weights * partitions.n_rows, 1)[:, None] * np.maximum(mixture.variances, mixture.noise)
    return np.asarray(sums / (size * (1 - 1 / partitions.n_groups)))


def _leaning(partition: SubspacePartition, mixture: Subspaces, values: Array, beside: Array, n_groups: int) -> ArraySum:
    """Σ pᵢ ⟨z, vᵢ⟩ Uᵢ'z over the samples of each block, (B, k, r), where vᵢ is what Uᵢ leaves of the point."""
    Z = coordinates(partition.projected, values)
    leaning = memberships(mixture, Z) * (Z @ beside.T)
    blocks = [partition.rows_at(n_groups, block) for block in range(n_groups)]
    return ArraySum(np.array([np.einsum("kp,kpr->kr", leaning[rows].T @ Z[rows], mixture.bases) for rows in blocks]))
