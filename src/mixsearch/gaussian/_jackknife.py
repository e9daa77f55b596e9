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
    SphericalMixture,
    assign_responsibilities,
    frame_points,
    invert_resp_gram,
    make_features,
    resp_gram,
    responsibilities,
    signal_units,
)
from mixsearch.gaussian._moments import GaussianFamily, GaussianPartition

# Components that share at least this fraction of their samples with the one found make its parameters uncertain.
MIN_OVERLAP, MAX_OVERLAPPING = 1e-3, 6


def refined_gaussian_errors(family: GaussianFamily, refined: RefinedGaussian) -> StandardErrors:
    """Return the standard errors of a refined Gaussian.

    Notes
    -----
    Leaving out a group moves the estimate inside the signal space by one Newton step, which accounts for uncertain
    responsibilities. Outside of it samples are noise without information about them, and the center is a weighted mean.
    """
    mixture, units = refined.mixture, signal_units(family)
    partitions = family.partitions.map(assign_responsibilities, mixture, units).persist()
    overlapping = _overlapping_components(partitions.reduce(resp_gram).total)
    moves = newton_replicates(family.partitions, _scores, mixture, units, overlapping)
    inside = family.frame.unwhiten(frame_points(family, moves[:, : mixture.centers.shape[1]].T, constant=0.0))
    shares, levels = mixture.weights[overlapping], moves[:, -len(overlapping) :]
    weights = shares[0] * (levels[:, 0] - levels @ shares)
    # Leaving out a group takes its part of Σ w(x - fit) off the least squares solution, to first order.
    sums = partitions.reduce(_sums_by_group, invert_resp_gram(partitions)[0], partitions.n_groups)
    residual = family.frame.residual(centered_sums(family.sample_mean, WeightedSums(sums.rows, sums.weights)))
    own = family.frame.residual((refined.center - family.sample_mean)[:, None])
    residual -= own * sums.own
    return StandardErrors(jackknife((inside - residual).T), float(jackknife(weights)))


class GroupSums(NamedTuple):
    """Sums over the samples of each group."""

    rows: Array  # Σ x w, (d, B), with the weights w of least squares
    weights: Array  # Σ w, (B,)
    own: Array  # Σ p w, (B,)


def _sums_by_group(partition: ResponsibilityPartition, inverse_row: Array, n_groups: int) -> GroupSums:
    weights = spread_over_groups(partition, partition.resp @ inverse_row, n_groups)
    return GroupSums(*weighted_sums(partition.samples, weights), own=partition.resp[:, 0] @ weights)


def _overlapping_components(gram: Array) -> Array:
    """Return the index of the component found, and of those that share its samples, by overlap, from Σ pp'."""
    shared = gram[0] / max(float(gram[0].sum()), np.finfo(float).tiny)
    order = np.argsort(-shared[1:], kind="stable")[:MAX_OVERLAPPING] + 1
    return np.concatenate([[0], order[shared[order] > MIN_OVERLAP]])


def _scores(partition: GaussianPartition, mixture: SphericalMixture, units: Array, components: Array) -> Array:
    """Return derivatives of each sample's log-likelihood, (n, p): by centers, log variances, log weights."""
    Z = make_features(partition.projected, units)
    resp = responsibilities(mixture, Z)
    z, q = Z[:-2].T, len(Z) - 2
    centers, variances, weights = [], [], []
    for i in components:
        away, own = z - mixture.centers[i], resp[i][:, None]
        centers.append(own * away / mixture.variances[i])
        squares = np.einsum("ij,ij->i", away, away)[:, None]
        variances.append(0.5 * own * (squares / mixture.variances[i] - q))
        weights.append(own - mixture.weights[i])
    return np.hstack([*centers, *variances, *weights])
