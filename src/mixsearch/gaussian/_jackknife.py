"""Standard errors of a refined Gaussian."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.jackknife import StandardErrors, jackknife, newton_replicates
from mixsearch.core.second_moment import WeightedSums, centered_sums, weighted_sums
from mixsearch.data.partitions import spread_over_groups
from mixsearch.gaussian._em import (
    RefinedGaussian,
    ResponsibilityPartition,
    Spheres,
    _learned,
    _points,
    _tangled,
    _units,
    _untangle,
    features_of,
    memberships,
)
from mixsearch.gaussian._moments import GaussianModel, GaussianPartition

# Components that share this part of the samples with the one found make its parameters uncertain.
SHARED, MOST_SHARING = 1e-3, 6


def refined_gaussian_errors(model: GaussianModel, refined: RefinedGaussian) -> StandardErrors:
    """Standard errors of a refined Gaussian.

    Notes
    -----
    Leaving out a block moves the estimate inside the signal space by one Newton step, which counts what the uncertain
    memberships cost; outside of it samples are noise that tells nothing of membership, and the center is their weighted
    mean.
    """
    mixture, units = refined.mixture, _units(model)
    partitions = model.partitions.map(_learned, mixture, units).persist()
    sharing = _sharing(partitions.reduce(_tangled).total)
    moves = newton_replicates(model.partitions, _scores, mixture, units, sharing)
    inside = model.frame.unwhiten(_points(model, moves[:, : mixture.centers.shape[1]].T, constant=0.0))
    shares, levels = mixture.weights[sharing], moves[:, -len(sharing) :]
    weights = shares[0] * (levels[:, 0] - levels @ shares)
    # Of least squares, the block's part of Σ ω(x - fit) is what leaving it out takes off, in first order.
    told = partitions.reduce(_told_by_block, _untangle(partitions)[0], partitions.n_groups)
    beside = model.frame.residual(centered_sums(model.sample_mean, WeightedSums(told.rows, told.weights)))
    own = model.frame.residual((refined.center - model.sample_mean)[:, None])
    beside -= own * told.own
    return StandardErrors(jackknife((inside - beside).T), float(jackknife(weights)))


class ToldByBlock(NamedTuple):
    """Sums over the samples of each block."""

    rows: Array  # Σ x w, (d, B), with the weights w of least squares
    weights: Array  # Σ w, (B,)
    own: Array  # Σ p w, (B,)


def _told_by_block(partition: ResponsibilityPartition, untangle: Array, n_groups: int) -> ToldByBlock:
    told = spread_over_groups(partition, partition.members @ untangle, n_groups)
    return ToldByBlock(*weighted_sums(partition.samples, told), partition.members[:, 0] @ told)


def _sharing(tangled: Array) -> Array:
    """The component found and those that share samples with it, which most first, from Σ pp'."""
    shared = tangled[0] / max(float(tangled[0].sum()), np.finfo(float).tiny)
    order = np.argsort(-shared[1:], kind="stable")[:MOST_SHARING] + 1
    return np.concatenate([[0], order[shared[order] > SHARED]])


def _scores(partition: GaussianPartition, mixture: Spheres, units: Array, sharing: Array) -> Array:
    """Derivatives of each sample's log-likelihood, (n, p): by centers, log variances, log weights up to a constant."""
    Z = features_of(partition.projected, units)
    members = memberships(mixture, Z)
    z, q = Z[:-2].T, len(Z) - 2
    centers, variances, weights = [], [], []
    for i in sharing:
        away, own = z - mixture.centers[i], members[i][:, None]
        centers.append(own * away / mixture.variances[i])
        squares = np.einsum("ij,ij->i", away, away)[:, None]
        variances.append(0.5 * own * (squares / mixture.variances[i] - q))
        weights.append(own - mixture.weights[i])
    return np.hstack([*centers, *variances, *weights])
