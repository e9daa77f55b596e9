"""How many regressions there are."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.held_out import MAX_DIRECTIONS
from mixsearch.core.held_out import second_moment_without as second_moment_without
from mixsearch.core.held_out import show_directions as show_directions
from mixsearch.core.held_out import split_folds as split_folds
from mixsearch.core.rank_selection import Folds, FoldSums, Spectrum, find_spectrum, max_directions
from mixsearch.core.second_moment import blas_threads_for
from mixsearch.data.chunks import add_all
from mixsearch.data.partitions import Partitions, SamplePartition
from mixsearch.regression._moments import StandardizedPartition, standardise


def regression_spectrum(
    partitions: Partitions[SamplePartition], *, design: str, intercept: bool, seed: int
) -> Spectrum:
    """How many regressions there are: as many as directions, and one at least.

    Parameters
    ----------
    partitions : Shards of samples of shape (n, d), with their responses
    design, intercept
        As `fit_regression` takes them.
    seed : int
        Of the eigen-solver's starting block.

    Notes
    -----
    2A = E[y²xx'] - E[y²] I is E[(y² - E[y²])(xx' - I)] for x standard normal, which varies less from sample to sample.
    """
    _, _, power, standard = standardise(partitions, design, intercept=intercept)
    n, d = standard.shape
    parts = Folds(
        second_moment_without(standard, _weights, (power,)),
        lambda directions: standard.reduce(_show_regressions, directions, power, n),
    )
    with blas_threads_for(standard):
        return find_spectrum(
            parts, max_directions(n, d, MAX_DIRECTIONS), lambda k: max(k, 1), n_features=None, seed=seed
        )


def _weights(partition: StandardizedPartition, power: float) -> Array:
    return np.asarray((partition.responses**2 - power) / 2)


def _show_regressions(partition: StandardizedPartition, directions: list[Array], power: float, n: int) -> FoldSums:
    """Σ w ⟨z, v⟩² / n for each direction of the part that a sample is in, and w / n."""
    shown = []
    for part, V in zip(split_folds(partition), directions, strict=True):
        weights = _weights(part, power) / n
        shown.append(show_directions(part.samples, np.zeros(len(V)), weights, weights, V))
    return add_all(shown)
