"""The design of a regression: standardized x, features of rows, outliers, and coefficients mapped back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import project
from mixsearch.core.outliers import MAX_ROUNDS, Outliers, find_far, isolated_rows
from mixsearch.core.posterior import MIN_VARIANCE, average_covariance, precision_factor, shrink_covariances
from mixsearch.core.second_moment import sample_mean_of, squared_distances
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.errors import Option, SearchError

# Eigenvalues of the correlations below this fraction of the largest one are zero up to rounding.
MIN_CORRELATION = 1e-12
# A column whose variance is below this fraction of its squared mean is constant up to rounding.
MIN_RELATIVE_VARIANCE = 1e-10
# A combination of columns that exceeds this fraction of their lengths is a constant, not rounding.
MIN_CONSTANT = 1e-6


@dataclass(frozen=True, slots=True)
class Design:
    """The map from the user's x to a standardized one, z = (x - center) M, of r independent coordinates.

    Notes
    -----
    With U and Λ the eigenpairs of the columns' correlations and s their deviations, M = diag(1/s) U Λ^(-1/2). If
    columns depend on each other, Λ has only the r positive eigenvalues: then M β are the smallest coefficients, in
    units of the columns' deviations, of all that give the same predictions.
    """

    center: Array  # (d,)
    # Dense, or sparse if each column is scaled by itself; None for the identity.
    whitener: Any  # M, (d, r)
    unwhitener: Any = None  # (r, d), from z to x - center

    @property
    def n_coordinates(self) -> int:
        """The dimension r of standardized x."""
        return len(self.center) if self.whitener is None else int(self.whitener.shape[1])

    @property
    def squares(self) -> Array:
        """The diagonal of MM', (d,): the variance of coefficients that have variance 1 in every coordinate."""
        if self.whitener is None:
            return np.ones(len(self.center))
        return np.asarray((self.whitener * self.whitener).sum(axis=1)).ravel()

    def standardize(self, X: Samples) -> Samples:
        """Return rows with mean zero and identity covariance, (n, r)."""
        if self.whitener is None and not np.any(self.center):
            return X
        if self.whitener is None:
            return np.asarray(X - self.center.astype(X.dtype))
        return project(X, self.whitener, self.center)

    def to_coefficients(self, slopes: Array) -> Array:
        """Return coefficients for the user's x, (d,) or (d, q), from slopes for standardized x, (r,) or (r, q)."""
        return slopes if self.whitener is None else np.asarray(self.whitener @ slopes)

    def to_slopes(self, coefficients: Array) -> Array:
        """Return slopes for standardized x, (r,) or (r, q), from coefficients for the user's x, (d,) or (d, q)."""
        return coefficients if self.unwhitener is None else np.asarray(self.unwhitener @ coefficients)

    def predict(self, X: Samples, slopes: Array) -> Array:
        """Return ⟨z, slope⟩ for each row and slope, (n, q), without a standardized copy of the samples."""
        return np.asarray(project(X, self.to_coefficients(slopes), self.center), dtype=np.float64)

    def standardize_sums(self, sums: Array) -> Array:
        """Return Σ z w', (r, q), from Σ (x - center) w', (d, q)."""
        return sums if self.whitener is None else np.asarray(self.whitener.T @ sums)


def sum_centered(X: Samples, center: Array, weights: Array) -> Array:
    """Sum (x - center) w for each column of weights, (d, q), without a centered copy of the samples."""
    if sp.issparse(X):
        return np.asarray(X.T @ weights) - np.outer(center, weights.sum(axis=0))
    middle = center.astype(X.dtype)
    sums = sum_chunks(
        lambda rows: ArraySum(np.asarray((X[rows] - middle).T @ weights[rows], dtype=np.float64)),
        row_slices(X.shape[0]),
    )
    return np.asarray(sums.total)


def fit_design(partitions: Partitions[SamplePartition], design: str) -> Design:
    """Estimate the mean and the covariance of x, or take x as standard normal already."""
    n, d, dtype, _ = partitions.layout
    if design == "standard":
        return Design(np.zeros(d), None)
    rough_mean = sample_mean_of(partitions)
    total, squares = partitions.reduce(_spread_around, rough_mean)
    # The mean of many samples is rounded. Without this correction a constant column would seem to vary.
    center, covariance = rough_mean + total / n, squares / n - np.outer(total / n, total / n)
    # Columns may have any units, so their correlations decide whether they depend on each other.
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
    constant = deviations <= np.finfo(dtype).eps * np.abs(center)
    inverse = np.where(constant, 0.0, 1 / np.where(constant, 1.0, deviations))
    values, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    positive = values > MIN_CORRELATION * max(float(values[-1]), 1.0)
    root, axes = np.sqrt(values[positive]), vectors[:, positive]
    return Design(center, inverse[:, None] * axes / root, root[:, None] * axes.T * deviations)


class Spread(NamedTuple):
    """Sums over samples around a point."""

    total: Array  # Σ (x - point), (d,)
    squares: Array  # Σ (x - point)(x - point)', (d, d), or its diagonal


def _spread_around(partition: SamplePartition, point: Array) -> Spread:
    X = partition.samples

    def sum_rows(rows: slice) -> Spread:
        centered = X[rows] - point  # in double precision
        return Spread(centered.sum(axis=0), centered.T @ centered)

    return sum_chunks(sum_rows, row_slices(X.shape[0]))


def scale_design(partitions: Partitions[Any], *, centered: bool) -> Design:
    """Scale each column, dense or sparse, by its deviation from its mean or from zero."""
    n, d, _, _ = partitions.layout
    total, squares = partitions.reduce(_spread_of_columns)
    center = total / n if centered else np.zeros(d)
    variances = squares / n - center**2
    varying = np.flatnonzero(variances > MIN_RELATIVE_VARIANCE * center**2)
    shape = d, len(varying)
    units = sp.csr_array((np.sqrt(variances[varying]), (varying, np.arange(len(varying)))), shape=shape)
    return Design(center, units.power(-1), units.T)


def _spread_of_columns(partition: Any) -> Spread:
    """Sum each column and its squares around zero."""
    X = partition.samples
    if not isinstance(X, np.ndarray):
        total, squares = (np.asarray(each.sum(axis=0, dtype=np.float64)).ravel() for each in (X, X.multiply(X)))
        return Spread(total, squares)

    def sum_rows(rows: slice) -> Spread:
        chunk = X[rows].astype(np.float64, copy=False)
        return Spread(chunk.sum(axis=0), np.einsum("ij,ij->j", chunk, chunk))

    return sum_chunks(sum_rows, row_slices(X.shape[0]))


def check_no_constant(design: Design) -> None:
    """Raise if some columns add up to a constant: regressions through zero would have an intercept after all."""
    if design.whitener is None or design.unwhitener is None:
        return
    residual = design.center - (design.center @ design.whitener) @ design.unwhitener
    units = np.sqrt(design.center**2 + np.sum(np.square(design.unwhitener), axis=0))
    if np.any(np.abs(residual) > MIN_CONSTANT * units):
        raise SearchError(
            "{argument}=False, but some columns of X add up to a constant, like a column of ones or all levels of a "
            "category: that is an intercept. Set {argument}=True, or drop one of those columns.",
            code="constant_columns",
            argument=Option("fit_intercept"),
        )


@dataclass(frozen=True)
class StandardizedPartition(Partition):
    """Standardized samples."""

    samples: Samples  # z, (n, r)
    responses: Array  # t, (n,)
    original: Samples  # x, (n, d)


class Standardized(NamedTuple):
    """Standardized samples, with the map from the user's."""

    design: Design
    offset: float  # subtracted from y
    power: float  # E[t²]
    partitions: Partitions[StandardizedPartition]


def standardize(partitions: Partitions[SamplePartition], design: str, *, intercept: bool) -> Standardized:
    """Standardize samples and center their responses, as `fit_regression` needs them."""
    n, fitted = partitions.n_rows, fit_design(partitions, design)
    if not intercept:
        check_no_constant(fitted)
    # Regressions through zero no longer pass through it once X is centered: y must be centered as well.
    offset = partitions.reduce(_response_sum).total / n if intercept or design == "covariance" else 0.0
    standardized, power = standardize_by(partitions, fitted, offset)
    return Standardized(fitted, offset, power / n, standardized)


def standardize_by(
    partitions: Partitions[SamplePartition], design: Design, offset: float
) -> tuple[Partitions[StandardizedPartition], float]:
    """Standardize samples by a design, and return them with Σ t²."""
    standardized, power = partitions.map_reduce(_standardize, replace(design, unwhitener=None), offset)
    is_sparse = partitions.layout.is_sparse and design.whitener is None
    layout = partitions.layout._replace(n_features=design.n_coordinates, is_sparse=is_sparse)
    return replace(standardized, layout=layout), float(power.total)


def _response_sum(partition: SamplePartition) -> ArraySum:
    """Sum y."""
    return ArraySum(float(np.sum(partition.responses, dtype=np.float64)))


def _standardize(partition: SamplePartition, design: Design, offset: float) -> tuple[StandardizedPartition, ArraySum]:
    """Return standardized samples, and Σ t²."""
    X, responses = partition.samples, np.asarray(partition.responses, dtype=np.float64) - offset
    standardized = StandardizedPartition(partition.first, design.standardize(X), responses, X)
    return standardized, ArraySum(float(responses @ responses))


class FeatureGaussians(NamedTuple):
    """One Gaussian of standardized x for every component.

    The precision of component i is the product of ``factors[i]`` with its transpose.
    """

    design: Design  # that x was standardized by
    centers: Array  # (k, r)
    factors: Array  # (k, r, r)

    def take(self, order: Array) -> FeatureGaussians:
        """Return the Gaussians of some components."""
        return FeatureGaussians(self.design, self.centers[order], self.factors[order])

    def standardize(self, X: Samples) -> Array:
        """Return standardized x, (n, r)."""
        return self.design.predict(X, np.eye(self.design.n_coordinates))

    def whiten(self, Z: Array) -> Array:
        """Return x in the units of each component's Gaussian, (k, n, r)."""
        return np.stack([(Z - center) @ factor for center, factor in zip(self.centers, self.factors, strict=True)])

    def log_densities(self, Z: Array) -> Array:
        """Return the log density of each component at each standardized x, (n, k)."""
        squares = np.sum(self.whiten(Z) ** 2, axis=2).T
        log_scales = np.log(np.einsum("kii->ki", self.factors)).sum(axis=1)
        return np.asarray(log_scales - 0.5 * (squares + Z.shape[1] * np.log(2 * np.pi)))

    def scores(self, Z: Array, resp: Array) -> Array:
        """Return derivatives of each sample's log-likelihood by all means and covariances, (n, k (r + r (r + 1) / 2)).

        Up to a linear map, which does not matter to the errors of other parameters.
        """
        rows, columns = np.triu_indices(Z.shape[1])
        own = [
            np.hstack([u, u[:, rows] * u[:, columns] - (rows == columns)]) * p[:, None]
            for u, p in zip(self.whiten(Z), resp.T, strict=True)
        ]
        return np.hstack(own)


def n_feature_parameters(n_components: int, n_features: int) -> int:
    """Return the number of parameters of Gaussians."""
    return n_components * (n_features + n_features * (n_features + 1) // 2)


def estimate_features(design: Design, squares: Array) -> FeatureGaussians:
    """Return the Gaussians of standardized x, with shrunk covariances."""
    sizes = squares[:, -1, -1] + np.finfo(np.float64).tiny
    centers = squares[:, :-1, -1] / sizes[:, None]
    second = squares[:, :-1, :-1] / sizes[:, None, None]
    covariances = second - np.einsum("ki,kj->kij", centers, centers)
    mean_square = float(np.einsum("k,kii->", sizes, second)) / (sizes.sum() * max(centers.shape[1], 1))
    average = average_covariance(covariances, sizes, MIN_VARIANCE * (mean_square or 1.0))
    shrunk = shrink_covariances(covariances, sizes, average)
    return FeatureGaussians(design, centers, precision_factor(shrunk))


def find_regression_outliers(
    partitions: Partitions[SamplePartition], design: str, *, intercept: bool
) -> Outliers[Standardized]:
    """Find samples whose x is far from all others, or whose response fits no regression of the others.

    Notes
    -----
    As in `find_outliers`, up to 1% of the samples may be anything, and five that are close to each other are not left
    out because of their x.
    """
    samples, found = partitions, standardize(partitions, design, intercept=intercept)
    left_out, rows = np.zeros(0, dtype=np.int64), _find_rows(found.partitions)
    for _ in range(MAX_ROUNDS):
        if np.array_equal(rows, left_out):
            break
        left_out, samples = rows, partitions.drop_rows(rows).persist()
        found = standardize(samples, design, intercept=intercept)
        rows = _find_rows(standardize_by(partitions, found.design, found.offset)[0])
    return Outliers(left_out, partitions.n_rows, samples, found)


@dataclass(frozen=True)
class LengthPartition(Partition):
    """Squares that a single sample must not dominate."""

    lengths: Array  # |z|², (n,)
    responses: Array  # t² relative to 1 + |z|²/r, (n,): a regression may give a large response where x is large


def _measure(partition: StandardizedPartition) -> LengthPartition:
    lengths, r = squared_distances(partition.samples, np.zeros(partition.samples.shape[1])), partition.samples.shape[1]
    return LengthPartition(partition.first, lengths, partition.responses**2 / (1 + lengths / max(r, 1)))


def _get_lengths(partition: LengthPartition) -> Array:
    return partition.lengths


def _get_responses(partition: LengthPartition) -> Array:
    return partition.responses


def _find_rows(partitions: Partitions[StandardizedPartition]) -> Array:
    measured = partitions.map(_measure).persist()
    x, response = find_far(measured, _get_lengths), find_far(measured, _get_responses)
    return np.union1d(isolated_rows(partitions, x, np.zeros(partitions.n_features)), response.rows)
