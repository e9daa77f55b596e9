"""How many Gaussians, regressions or subspaces there are: their samples in parts, from which a spectrum is found."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from mixsearch.blocks import row_slices, sum_blocks
from mixsearch.models.design import fit_design
from mixsearch.models.second_moment import cores_for, second_moment_of_rows, squared_distances
from mixsearch.models.spectrum import N_PARTS, Part, Shown, Spectrum, find_spectrum, most_directions, sums_of
from mixsearch.shards import shards_of
from mixsearch.types import Array, Samples, project

# Directions to look at: more than one hint singles a component out of.
MOST_DIRECTIONS = 100


def gaussian_spectrum(X: Samples, *, seed: int) -> Spectrum:
    """How many Gaussians there are: one more than the directions in which their centers differ.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    seed : int
        Of the eigen-solver's starting block.
    """
    mean = np.asarray(X.mean(axis=0, dtype=np.float64))
    return _spectrum_of_spheres(X, mean, lambda n_signal: n_signal + 1, seed)


def subspace_spectrum(X: Samples, *, dim: int, seed: int) -> Spectrum:
    """How many subspaces of a dimension there are, to the nearest whole number and one at least.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    dim : int
        r, the dimension of each.
    seed : int
        Of the eigen-solver's starting block.
    """
    d = X.shape[1]
    return _spectrum_of_spheres(X, np.zeros(d), lambda n: max(min(round(n / dim), (d - 1) // dim), 1), seed)


def _spectrum_of_spheres(X: Samples, center: Array, components_of: Callable[[int], int], seed: int) -> Spectrum:
    """Of samples whose noise is the same in every direction."""
    n, d = X.shape
    parts = []
    for rows in _every_third(n):
        samples, shares = X[rows], np.full(len(range(n)[rows]), 1 / n)
        show = partial(_show, samples, center, shares, squared_distances(samples, center) / n)
        parts.append(Part(len(shares) / n, second_moment_of_rows(samples, shares, center=center), show))
    with cores_for(shards_of(X)):
        return find_spectrum(parts, most_directions(n, d - 1, MOST_DIRECTIONS), components_of, n_features=d, seed=seed)


def regression_spectrum(X: Samples, y: Array, *, design: str, intercept: bool, seed: int) -> Spectrum:
    """How many regressions there are: as many as directions, and one at least.

    Parameters
    ----------
    X : array or sparse array of shape (n, d)
    y : array of shape (n,)
    design, intercept
        As `fit_regression` takes them.
    seed : int
        Of the eigen-solver's starting block.

    Notes
    -----
    2A = E[y²xx'] - E[y²] I is E[(y² - E[y²])(xx' - I)] for x standard normal, which varies less from sample to sample.
    """
    plan = fit_design(shards_of(X), design)
    Z: Any = plan.standardise(X)
    n, d = Z.shape
    response = y - y.mean() if intercept or design == "covariance" else y
    squares = response**2 / (2 * n)
    level = float(squares.mean())
    parts = []
    for rows in _every_third(n):
        samples, weights = Z[rows], squares[rows]
        second = second_moment_of_rows(samples, weights) - second_moment_of_rows(samples, np.full(len(weights), level))
        show = partial(_show, samples, np.zeros(d), weights - level, weights - level)
        parts.append(Part(len(weights) / n, second, show))
    with cores_for(shards_of(Z)):
        return find_spectrum(
            parts, most_directions(n, d, MOST_DIRECTIONS), lambda k: max(k, 1), n_features=None, seed=seed
        )


def _every_third(n: int) -> list[slice]:
    return [slice(first, n, N_PARTS) for first in range(N_PARTS)]


def _show(X: Samples, center: Array, weights: Array, noise: Array, V: Array) -> Shown:
    """Σ over samples of w ⟨x - center, v⟩² for each direction, and of the noise."""

    def work(rows: slice) -> Shown:
        inside = project(X[rows], V, center).astype(np.float64)
        return sums_of(inside**2 * weights[rows, None], noise[rows])

    return sum_blocks(work, row_slices(X.shape[0]))
