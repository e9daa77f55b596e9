"""The design of a regression: how the user's x becomes a standardised one, and coefficients go back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Samples
from mixsearch.core.frame import project
from mixsearch.core.second_moment import sample_mean_of
from mixsearch.data.chunks import ArraySum, row_slices, sum_chunks
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.errors import SearchError

# Directions in which the correlations of the columns fall below this part of the largest are those that do not exist.
LEAST_CORRELATION = 1e-12


@dataclass(frozen=True, slots=True)
class Design:
    """How the user's x becomes a standardised one, z = (x - center) M, of r independent coordinates.

    Notes
    -----
    With U and Λ the eigenpairs of the columns' correlations and s their deviations, M = diag(1/s) U Λ^(-1/2). Where
    columns depend on each other, Λ holds the eigenvalues above zero only, r of them: M β then are the coefficients that
    are smallest, in units of the columns' deviations, of all that predict the same.
    """

    center: Array  # (d,)
    # Dense, or sparse where every column is scaled by itself; None stands for the identity.
    whitener: Any  # M, (d, r)
    unwhitener: Any = None  # (r, d), from z to x - center

    @property
    def n_coordinates(self) -> int:
        """r, the dimension of standardised x."""
        return len(self.center) if self.whitener is None else int(self.whitener.shape[1])

    @property
    def squares(self) -> Array:
        """The diagonal of MM', (d,): the variance of coefficients that have variance 1 in every coordinate."""
        if self.whitener is None:
            return np.ones(len(self.center))
        return np.asarray((self.whitener * self.whitener).sum(axis=1)).ravel()

    def standardise(self, X: Samples) -> Samples:
        """Rows with mean zero and identity covariance, (n, r)."""
        if self.whitener is None and not np.any(self.center):
            return X
        if self.whitener is None:
            return np.asarray(X - self.center.astype(X.dtype))
        return project(X, self.whitener, self.center)

    def coefficients(self, standardised: Array) -> Array:
        """Coefficients for the user's x from those for the standardised one, (r,) or (r, q) -> (d,) or (d, q)."""
        return standardised if self.whitener is None else np.asarray(self.whitener @ standardised)

    def standardised(self, coefficients: Array) -> Array:
        """The other way round, (r,)."""
        return coefficients if self.unwhitener is None else np.asarray(self.unwhitener @ coefficients)

    def predict(self, X: Samples, slopes: Array) -> Array:
        """⟨z, slope⟩ for each row and slope, (n, q), without a standardised copy of the samples."""
        return np.asarray(project(X, self.coefficients(slopes), self.center), dtype=np.float64)

    def sum_rows(self, X: Samples, weights: Array) -> Array:
        """Σ z w for each column of weights, (r, q), without a standardised copy of the samples."""
        return self.standardised_sums(sum_centered(X, self.center, weights))

    def standardised_sums(self, sums: Array) -> Array:
        """Σ z w', (r, q), from Σ (x - center) w', (d, q)."""
        return sums if self.whitener is None else np.asarray(self.whitener.T @ sums)


def sum_centered(X: Samples, center: Array, weights: Array) -> Array:
    """Σ (x - center) w for each column of weights, (d, q), without a centered copy of the samples."""
    if sp.issparse(X):
        return np.asarray(X.T @ weights) - np.outer(center, weights.sum(axis=0))
    middle = center.astype(X.dtype)
    parts = sum_chunks(
        lambda rows: ArraySum(np.asarray((X[rows] - middle).T @ weights[rows], dtype=np.float64)),
        row_slices(X.shape[0]),
    )
    return np.asarray(parts.total)


def fit_design(partitions: Partitions[SamplePartition], design: str) -> Design:
    """Read the mean and the covariance off the samples, or take x as standard normal already."""
    n, d, dtype, _ = partitions.layout
    if design == "standard":
        return Design(np.zeros(d), None)
    near = sample_mean_of(partitions)
    total, squares = partitions.reduce(_spread_around, near)
    # A mean of many samples is rounded: what is left of it comes off, or a constant column would seem to vary.
    center, covariance = near + total / n, squares / n - np.outer(total / n, total / n)
    # Columns may come in any units: their correlations say whether they depend on each other.
    deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
    constant = deviations <= np.finfo(dtype).eps * np.abs(center)
    inverse = np.where(constant, 0.0, 1 / np.where(constant, 1.0, deviations))
    values, vectors = np.linalg.eigh(covariance * np.outer(inverse, inverse))
    seen = values > LEAST_CORRELATION * max(float(values[-1]), 1.0)
    root, axes = np.sqrt(values[seen]), vectors[:, seen]
    return Design(center, inverse[:, None] * axes / root, root[:, None] * axes.T * deviations)


class Spread(NamedTuple):
    """Sums over samples around a point."""

    total: Array  # Σ (x - point), (d,)
    squares: Array  # Σ (x - point)(x - point)', (d, d), or its diagonal


def _spread_around(partition: SamplePartition, point: Array) -> Spread:
    X = partition.samples

    def work(rows: slice) -> Spread:
        part = X[rows] - point  # in double precision
        return Spread(part.sum(axis=0), part.T @ part)

    return sum_chunks(work, row_slices(X.shape[0]))


def scale_design(partitions: Partitions[Any], *, centered: bool) -> Design:
    """Columns in units of their deviation, each by itself, seen from their mean or from zero; dense or sparse."""
    n, d, _, _ = partitions.layout
    total, squares = partitions.reduce(_spread_of_columns)
    center = total / n if centered else np.zeros(d)
    variances = squares / n - center**2
    seen = np.flatnonzero(variances > 1e-10 * center**2)
    units = sp.csr_array((np.sqrt(variances[seen]), (seen, np.arange(len(seen)))), shape=(d, len(seen)))
    return Design(center, units.power(-1), units.T)


def _spread_of_columns(partition: Any) -> Spread:
    """Around zero, each column by itself."""
    X = partition.samples
    if not isinstance(X, np.ndarray):
        total, squares = (np.asarray(each.sum(axis=0, dtype=np.float64)).ravel() for each in (X, X.multiply(X)))
        return Spread(total, squares)

    def work(rows: slice) -> Spread:
        part = X[rows].astype(np.float64, copy=False)
        return Spread(part.sum(axis=0), np.einsum("ij,ij->j", part, part))

    return sum_chunks(work, row_slices(X.shape[0]))


def refuse_constant(design: Design) -> None:
    """Lines through zero on columns that add up to a constant have an intercept after all."""
    if design.whitener is None or design.unwhitener is None:
        return
    beside = design.center - (design.center @ design.whitener) @ design.unwhitener
    units = np.sqrt(design.center**2 + np.sum(np.square(design.unwhitener), axis=0))
    if np.any(np.abs(beside) > 1e-6 * units):
        raise SearchError(
            "fit_intercept=False, but some columns of X add up to a constant, as a column of ones or all levels of a "
            "category do: that is an intercept. Pass fit_intercept=True, or drop one of those columns."
        )
