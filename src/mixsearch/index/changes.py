"""Changes between two groups of documents, with simultaneous intervals for all topics or words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array, Sparse
from mixsearch.index.group_shares import find_effective_sizes, find_exact_interval, find_interval, sum_groups


class Changes(NamedTuple):
    """The difference between two groups, for each topic or word; the intervals hold for all of them at once.

    Attributes
    ----------
    before, after : arrays of shape (T,)
        The shares in the two groups.
    difference, stderr : arrays of shape (T,)
        `after` minus `before`, and the standard error.
    low, high : arrays of shape (T,)
        The ends of the intervals of the differences.
    """

    before: Array
    after: Array
    difference: Array
    stderr: Array
    low: Array
    high: Array

    def list_rises(self) -> Array:
        """Return the indices of what rose for sure, by how much it rose at least."""
        risen = np.flatnonzero(self.low > 0)
        return risen[np.argsort(-self.low[risen], kind="stable")]

    def list_falls(self) -> Array:
        """Return the indices of what fell for sure, by how much it fell at least."""
        fallen = np.flatnonzero(self.high < 0)
        return fallen[np.argsort(self.high[fallen], kind="stable")]


def compare_shares(
    shares: Array | Sparse, before: Array, after: Array, *, weights: Array | None = None, level: float = 0.95
) -> Changes:
    """Compare the shares of many topics in two groups of documents.

    Parameters
    ----------
    shares : array or sparse array of shape (n, T)
        The share of each topic in each document.
    before, after : arrays of shape (n,), of bool
        The documents of the two groups, none of which is in both.
    weights : array of shape (n,), optional
        The weight of each document, such as its length; one by default.
    level : float, default=0.95
        How often all intervals together should hold all differences.

    Returns
    -------
    Changes
        NaN if a group has no documents.

    Notes
    -----
    Newcombe's interval of a difference, from the intervals of the two shares that `estimate_shares` gives, at the level
    that Šidák's inequality asks of each of T intervals.
    """
    codes = np.where(after, 1, np.where(before, 0, -1))
    sums = sum_groups(shares, codes, 2, weights)
    sizes = find_effective_sizes(sums)
    # 1 - level^(1 / T), without cancellation.
    alpha = float(-np.expm1(np.log(level) / max(shares.shape[1], 1)))
    old, new = sums.mean
    difference = new - old
    (low, high), (one_low, one_high) = find_exact_interval(sums, sizes, alpha), find_interval(sums, sizes, 1.0)
    return Changes(
        before=old,
        after=new,
        difference=difference,
        stderr=np.hypot(*(one_high - one_low)) / 2,
        low=difference - np.hypot(new - low[1], high[0] - old),
        high=difference + np.hypot(high[1] - new, old - low[0]),
    )


def compare_words(counts: Sparse, before: Array, after: Array, *, level: float = 0.95) -> Changes:
    """Compare how frequent many words are in two groups of documents.

    Parameters
    ----------
    counts : sparse array of shape (n, d)
        How often each document has each word.
    before, after : arrays of shape (n,), of bool
        The documents of the two groups, none of which is in both.
    level : float, default=0.95
        How often all intervals together should hold all differences.

    Returns
    -------
    Changes
        Of frequencies: occurrences over all words of a group. Documents are the sampling unit, so a word that is often
        in a few documents has a wide interval.
    """
    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    relative = sp.diags_array(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ counts
    return compare_shares(sp.csr_array(relative), before, after, weights=lengths, level=level)
