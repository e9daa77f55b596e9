"""The probability simplex."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array


def project_to_simplex(point: Array) -> Array:
    """Return the probability vector nearest to a point of R^d, (d,).

    Notes
    -----
    It is max(point - level, 0) with the one level at which this sums to 1. The level computed from a subset of the
    entries that contains all positive ones is never above it. Entries below that level are zero; dropping them until
    none is left gives the level itself.
    """
    positive, n_left = point, 0
    while len(positive) != n_left:
        n_left, level = len(positive), (positive.sum() - 1) / len(positive)
        positive = positive[positive > level]
    return np.asarray(np.maximum(point - level, 0))
