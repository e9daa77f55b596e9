"""Samples that would outweigh all others in the moments of regressions, by their x or by their response."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.outliers import MAX_ROUNDS, Outliers, find_far, isolated_rows
from mixsearch.core.second_moment import squared_distances
from mixsearch.data.partitions import Partition, Partitions, SamplePartition
from mixsearch.regression._design import Standardized, StandardizedPartition, standardize, standardize_by


def find_regression_outliers(
    partitions: Partitions[SamplePartition], design: str, *, intercept: bool
) -> Outliers[Standardized]:
    """Find samples whose x is far from all others, or whose response fits no regression of the others.

    Parameters
    ----------
    partitions : Partitions
        Samples of shape (n, d), with responses.
    design, intercept
        As `fit_regression` takes them.

    Returns
    -------
    Outliers
        `measured` holds all other samples, standardized by their own mean and covariance.

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
