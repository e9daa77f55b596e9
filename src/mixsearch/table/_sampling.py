"""Rows drawn by their position in the table alone, so that partitions do not matter."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array


def draw_uniform(first: int, n: int) -> Array:
    """Return a pseudo-random number from 0 to 1 for each of n positions from the first on, by SplitMix64."""
    mixed = np.arange(first + 1, first + n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((mixed ^ (mixed >> np.uint64(31))) / 2.0**64)


def spread_rows(n_rows: int, max_rows: int) -> Array:
    """Return the positions of at most a number of rows: a random one of each run of rows of the same length.

    Every tenth row would be of one kind where a kind comes back every five rows, as hours of a day do.

    Parameters
    ----------
    n_rows : int
        The number of rows of the table.
    max_rows : int
        How many to return at most.

    Returns
    -------
    array of int
        In order; the same for the same numbers.
    """
    step = -(-n_rows // max_rows)
    starts = np.arange(0, n_rows, step)
    lengths = np.minimum(step, n_rows - starts)
    return np.asarray(starts + (draw_uniform(0, len(starts)) * lengths).astype(np.intp))
