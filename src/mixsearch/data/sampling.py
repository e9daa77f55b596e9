"""Samples of terms of a sum, so that few of them represent all."""

from __future__ import annotations

import numpy as np

from mixsearch._typing import Array

# Each step lowers the bound from above, and changes it little from here on.
_N_STEPS = 4


def sample_terms(sizes: Array, n: int) -> tuple[Array, Array]:
    """Choose about n terms of a sum: the largest ones, and others at even steps.

    Parameters
    ----------
    sizes : array of shape (m,)
        About how large each term is, not negative.
    n : int
        How many to choose, at most. If so few are not zero, all of them are chosen.

    Returns
    -------
    chosen, weights : arrays of shape (about n,)
        The indices of the terms, and what to multiply each with so that the sum over them estimates that over all.

    Notes
    -----
    A term is chosen with probability p = min(size / b, 1) and has the weight 1 / p; b follows from Σ p = n. Of the
    terms with p < 1, those are chosen at which the sum of p so far passes an integer and a half (systematic sampling):
    equal sums have equal samples.
    """
    nonzero = np.flatnonzero(sizes != 0)
    if len(nonzero) <= n:
        return nonzero, np.ones(len(nonzero))
    bound = float(sizes.sum()) / n
    is_large = sizes >= bound
    for _ in range(_N_STEPS):
        bound = float(sizes[~is_large].sum()) / max(n - int(np.count_nonzero(is_large)), 1)
        is_large = sizes >= bound
    passed = np.floor(np.cumsum(np.where(is_large, 0.0, sizes / bound)) + 0.5)
    chosen = np.flatnonzero(is_large | (np.diff(passed, prepend=0.0) > 0))
    return chosen, np.maximum(bound / sizes[chosen], 1.0)
