"""How many regressions there are."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.held_out import MOST_DIRECTIONS
from mixsearch.core.held_out import folds_of as folds_of
from mixsearch.core.held_out import second_moment_without as second_moment_without
from mixsearch.core.held_out import show_directions as show_directions
from mixsearch.core.rank_selection import Parts, Shown, Spectrum, find_spectrum, most_directions
from mixsearch.core.second_moment import cores_for
from mixsearch.data.chunks import add_all
from mixsearch.data.partitions import SampleShard, Shards
from mixsearch.regression._moments import StandardShard, standardise


def regression_spectrum(shards: Shards[SampleShard], *, design: str, intercept: bool, seed: int) -> Spectrum:
    """How many regressions there are: as many as directions, and one at least.

    Parameters
    ----------
    shards : Shards of samples of shape (n, d), with their responses
    design, intercept
        As `fit_regression` takes them.
    seed : int
        Of the eigen-solver's starting block.

    Notes
    -----
    2A = E[y²xx'] - E[y²] I is E[(y² - E[y²])(xx' - I)] for x standard normal, which varies less from sample to sample.
    """
    _, _, power, standard = standardise(shards, design, intercept=intercept)
    n, d = standard.shape
    parts = Parts(
        second_moment_without(standard, _weights, (power,)),
        lambda directions: standard.fold(_show_regressions, directions, power, n),
    )
    with cores_for(standard):
        return find_spectrum(
            parts, most_directions(n, d, MOST_DIRECTIONS), lambda k: max(k, 1), n_features=None, seed=seed
        )


def _weights(shard: StandardShard, power: float) -> Array:
    return np.asarray((shard.responses**2 - power) / 2)


def _show_regressions(shard: StandardShard, directions: list[Array], power: float, n: int) -> Shown:
    """Σ w ⟨z, v⟩² / n for each direction of the part that a sample is in, and w / n."""
    shown = []
    for part, V in zip(folds_of(shard), directions, strict=True):
        weights = _weights(part, power) / n
        shown.append(show_directions(part.samples, np.zeros(len(V)), weights, weights, V))
    return add_all(shown)
