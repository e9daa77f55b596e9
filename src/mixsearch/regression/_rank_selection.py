"""The number of regressions in a mixture."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rank_selection import (
    MAX_DIRECTIONS,
    Folds,
    FoldSums,
    Spectrum,
    evaluate_directions,
    find_spectrum,
    max_directions,
    second_moment_without,
    split_folds,
)
from mixsearch.core.second_moment import blas_threads_for
from mixsearch.data.chunks import add_all
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.regression._design import Standardized, StandardizedPartition, standardize


def regression_spectrum(
    partitions: Partitions[SamplePartition],
    *,
    design: str,
    intercept: bool,
    seed: int,
    standardized: Standardized | None = None,
) -> Spectrum:
    """Count the regressions: as many as there are directions of coefficients, and at least one.

    Parameters
    ----------
    partitions : Partitions
        Samples of shape (n, d), with responses.
    design, intercept
        As `fit_regression` takes them.
    seed : int
        Seed of the eigensolver's starting block.
    standardized : Standardized, optional
        The same samples, standardized, if they are known.

    Returns
    -------
    Spectrum

    Notes
    -----
    2A = E[y²xx'] - E[y²] I equals E[(y² - E[y²])(xx' - I)] for standard normal x, which has less variance.
    """
    _, _, power, samples = standardized or standardize(partitions, design, intercept=intercept)
    n, d = samples.shape
    folds = Folds(
        second_moment_without(samples, _weights, (power,)),
        lambda directions: samples.reduce(_fold_sums, directions, power, n),
    )
    with blas_threads_for(samples):
        return find_spectrum(
            folds, max_directions(n, d, MAX_DIRECTIONS), lambda k: max(k, 1), n_features=None, seed=seed
        )


def _weights(partition: StandardizedPartition, power: float) -> Array:
    return np.asarray((partition.responses**2 - power) / 2)


def _fold_sums(partition: StandardizedPartition, directions: list[Array], power: float, n: int) -> FoldSums:
    """Sum w⟨z, v⟩² / n for each direction of a sample's own fold, and w / n."""
    sums = []
    for fold, V in zip(split_folds(partition), directions, strict=True):
        weights = _weights(fold, power) / n
        sums.append(evaluate_directions(fold.samples, np.zeros(len(V)), weights, weights, V))
    return add_all(sums)
