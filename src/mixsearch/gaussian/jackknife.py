"""Standard errors of a refined Gaussian, by jackknife and by bootstrap."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array, Samples
from mixsearch.core.jackknife import Derivatives, StandardErrors, jackknife, newton_replicates
from mixsearch.core.second_moment import WeightedSums, centered_sums, weighted_sums
from mixsearch.data.chunks import ArraySum
from mixsearch.data.partitions import partition_in_memory, spread_over_groups
from mixsearch.errors import SearchError, collect_warnings
from mixsearch.gaussian.family import GaussianFamily, GaussianPartition
from mixsearch.gaussian.fit import fit_gaussian
from mixsearch.gaussian.mixture import (
    SphericalMixture,
    frame_points,
    partition_features,
    responsibilities,
    signal_units,
)
from mixsearch.gaussian.refinement import (
    RefinedGaussian,
    ResponsibilityPartition,
    assign_responsibilities,
    fit_mixture,
    refine_gaussian,
    residual_weights,
)
from mixsearch.gaussian.subset import DEFAULT_OPTIONS, fit_subset

# Components that share at least this fraction of their samples with the one found make its parameters uncertain.
MIN_OVERLAP, MAX_OVERLAPPING = 1e-3, 6
# Refits, and the number of samples that each draws at most: errors fall with the square root of it.
N_REFITS, MAX_SAMPLES = 40, 2000


def refined_gaussian_errors(family: GaussianFamily, refined: RefinedGaussian) -> StandardErrors:
    """Return the standard errors of a refined Gaussian.

    Notes
    -----
    Leaving out a group moves the estimate inside the signal space by one Newton step, which accounts for uncertain
    responsibilities. Outside of it samples are noise without information about them, and the center is a weighted mean.
    """
    mixture, units = refined.mixture, signal_units(family)
    partitions = family.partitions.map(assign_responsibilities, mixture, units).persist()
    overlapping = _overlapping_components(partitions.reduce(_shared_samples).total)
    moves = newton_replicates(family.partitions, compute_derivatives, mixture, units, overlapping)
    q = mixture.centers.shape[1]
    inside = family.frame.unwhiten(frame_points(family, moves[:, :q].T, constant=0.0))
    shares, levels = mixture.weights[overlapping], moves[:, q + 1 :: q + 2]
    weights = shares[0] * (levels[:, 0] - levels @ shares)
    # Leaving out a group takes its part of Σ w(x - fit) off the least squares solution, to first order.
    sums = partitions.reduce(_sums_by_group, residual_weights(partitions, mixture.variances)[0], partitions.n_groups)
    residual = family.frame.residual(centered_sums(family.noise.origin, WeightedSums(sums.rows, sums.weights)))
    own = family.frame.residual((refined.center - family.noise.origin)[:, None])
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


def _shared_samples(partition: ResponsibilityPartition) -> ArraySum:
    """Sum pp₁, (k,): how much of the component found each one shares."""
    return ArraySum(partition.resp[:, 0] @ partition.resp)


def _overlapping_components(shared: Array) -> Array:
    """Return the index of the component found, and of those that share its samples, by overlap."""
    shared = shared / max(float(shared.sum()), np.finfo(float).tiny)
    order = np.argsort(-shared[1:], kind="stable")[:MAX_OVERLAPPING] + 1
    return np.concatenate([[0], order[shared[order] > MIN_OVERLAP]])


def compute_derivatives(
    partition: GaussianPartition, mixture: SphericalMixture, units: Array, components: Array
) -> Derivatives:
    """Return derivatives of the log-likelihood by the center, log variance and log weight of each component in turn.

    Notes
    -----
    Louis' formula: the information of samples whose components are known, less that of the components given the
    samples, which is the covariance of the scores that each component would give.
    """
    Z = partition_features(partition, units)
    resp = responsibilities(mixture, Z)
    resp = (resp / resp.sum(axis=0))[components]
    known = np.stack([_known_scores(mixture, i, Z) for i in components])
    mean = resp[:, :, None] * known
    scores = np.hstack(list(mean))
    information = scores.T @ scores + _known_information(mixture, components, mean)
    for i, (own, all_own) in enumerate(zip(mean, known, strict=True)):
        block = slice(i * own.shape[1], (i + 1) * own.shape[1])
        information[block, block] -= own.T @ all_own
    scores[:, own.shape[1] - 1 :: own.shape[1]] -= mixture.weights[components]
    return Derivatives(scores, information)


def _known_scores(mixture: SphericalMixture, index: int, Z: Array) -> Array:
    """Return the scores of samples known to be of one component, (n, q + 2), up to a constant for the weight."""
    center, variance = mixture.centers[index], mixture.variances[index]
    away = (Z[:-2].T - center) / variance
    squares = (Z[-2] - (2 * center) @ Z[:-2] + center @ center) / variance
    return np.column_stack([away, 0.5 * (squares - mixture.n_dims), np.ones(len(away))])


def _known_information(mixture: SphericalMixture, components: Array, mean: Array) -> Array:
    """Return the information of samples whose components are known, from their scores times responsibilities."""
    width, q, weights = mean.shape[2], mean.shape[2] - 2, mixture.weights[components]
    information = np.zeros((len(components) * width, len(components) * width))
    for i, sums in enumerate(mean.sum(axis=1)):
        size, first = sums[-1], i * width
        block = information[first : first + q + 1, first : first + q + 1]
        np.fill_diagonal(block, size / mixture.variances[components[i]])
        block[q, :q] = block[:q, q] = sums[:q]
        block[q, q] = sums[q] + 0.5 * mixture.n_dims * size
    of_weights = mean.shape[1] * (np.diag(weights) - np.outer(weights, weights))
    information[width - 1 :: width, width - 1 :: width] = of_weights
    return information


def bootstrap_errors(family: GaussianFamily, refined: RefinedGaussian) -> StandardErrors:
    """Return the standard errors of a refined Gaussian from refits.

    Notes
    -----
    One Newton step from the maximum of the likelihood shows how the estimate varies near it. If samples do not follow
    the model, the likelihood has several maxima that are about as likely, and other samples may lead to another one:
    only refits show that.
    """
    part = family.partitions.thin(max(family.partitions.n_rows // MAX_SAMPLES, 1)).collect()
    n, rng = part.n_rows, np.random.default_rng(0)  # the same answer every time
    draws = [rng.integers(n, size=n) for _ in range(N_REFITS)]
    found = [each for rows in draws if (each := _refit(part.partition.samples[rows], family, refined))]
    if len(found) < 2:
        return StandardErrors(np.full(len(refined.center), np.inf), np.inf)
    scale = np.sqrt(n / family.partitions.n_rows)
    centers, weights = np.array([each.center for each in found]), np.array([each.weight for each in found])
    return StandardErrors(scale * centers.std(axis=0, ddof=1), float(scale * weights.std(ddof=1)))


def _refit(samples: Samples, family: GaussianFamily, refined: RefinedGaussian) -> RefinedGaussian | None:
    """Return the component of a refit that is nearest to the one found, if they overlap."""
    with collect_warnings():
        try:
            other = fit_gaussian(partition_in_memory(samples), family.n_components, paper=False, seed=0)
        except SearchError:  # a direction is lost among these samples
            return None
    fitted = fit_mixture(other, DEFAULT_OPTIONS, fit_subset(other))
    centers = other.frame.unwhiten(frame_points(other, fitted.mixture.centers.T, constant=1.0))
    apart = np.sum((centers - refined.center[:, None]) ** 2, axis=0)
    index = int(np.argmin(apart))
    is_near = apart[index] < len(refined.center) * max(refined.noise_variance, float(fitted.mixture.variances[index]))
    return refine_gaussian(other, fitted, index) if is_near else None
