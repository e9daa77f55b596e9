"""Shares of topics in groups of documents, with intervals; documents are the sampling unit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri

from mixsearch._typing import Array

# How many documents with the topic a design effect counts for: that of all groups in one group, and that of other
# topics, or one, in all groups. Chosen on shares that are zero or beta-distributed, and on shares that are mostly small
# mentions; the figures in docs/columns.md are of other distributions.
GROUP_PRIOR, CORPUS_PRIOR = 10.0, 2.0
# Topics whose design effect is known, before others may borrow it.
_MIN_TOPICS = 20
_CAUTIOUS = 0.9  # quantile of their design effects
_ROUNDING = 1e-9
_NORMAL_95 = ndtri(0.975)


class Estimates(NamedTuple):
    """Shares or numbers, one for each group, with standard errors and intervals; NaN for a group without documents.

    Attributes
    ----------
    value, stderr, low, high : arrays of shape (n_groups,) or (n_groups, n_topics)
        The estimate, its standard error, and the ends of the interval.
    """

    value: Array
    stderr: Array
    low: Array
    high: Array


class GroupSums(NamedTuple):
    """The number of documents of each group, (G, 1), and the sums of their shares and squared shares, (G, T)."""

    n: Array
    share: Array
    square: Array


def estimate_shares(shares: Array, codes: Array, n_groups: int) -> Estimates:
    """Estimate the mean share of topics in each group of documents, with 95% intervals.

    Notes
    -----
    If documents were all or nothing about the topic, var s = p (1 - p) with p = E s. With f p (1 - p) in its place, n
    documents know as much about p as n / f that are all or nothing, and the interval is Wilson's for that number. It
    has a width even if no document of a group has the topic. f, the design effect, is estimated from the documents:
    that of a group is drawn towards that of all groups, the more the fewer of its documents have the topic.
    """
    sums = _sum_groups(shares if shares.ndim == 2 else shares[:, None], codes, n_groups)
    with np.errstate(invalid="ignore"):
        p = sums.share / sums.n
    sizes = _find_effective_sizes(sums, np.nan_to_num(p))
    low, high = _find_interval(p, sizes, _NORMAL_95)
    # Half of an interval of one deviation on each side: not zero if no document has the topic, as the plug-in would be.
    one_low, one_high = _find_interval(p, sizes, 1.0)
    found = Estimates(p, (one_high - one_low) / 2, low, high)
    return found if shares.ndim == 2 else Estimates(*(each[:, 0] for each in found))


def _sum_groups(shares: Array, codes: Array, n_groups: int) -> GroupSums:
    rows = np.flatnonzero(codes >= 0)
    n, s = len(rows), shares[rows]
    total = sp.csc_array((np.ones(n), codes[rows], np.arange(n + 1)), shape=(n_groups, n))
    return GroupSums(*(np.asarray(total @ each) for each in (np.ones((n, 1)), s, s**2)))


def _find_effective_sizes(sums: GroupSums, p: Array) -> Array:
    """Return n / f: how many documents that are all or nothing about a topic know as much, (G, T)."""
    n = sums.n
    # The variance in a group with one document is not known.
    unbias = np.where(n > 1 + _ROUNDING, n / np.maximum(n - 1, _ROUNDING), 0)
    variance = unbias * (sums.square - 2 * p * sums.share + p**2 * n)
    binary = (unbias > 0) * n * p * (1 - p)

    n_known = _count_informative(GroupSums(*(each.sum(axis=0) for each in sums)))
    common = _divide(variance.sum(axis=0), binary.sum(axis=0))
    is_known = n_known >= GROUP_PRIOR
    prior = np.quantile(common[is_known], _CAUTIOUS) if np.sum(is_known) >= _MIN_TOPICS else 1.0
    common = (n_known * common + CORPUS_PRIOR * prior) / (n_known + CORPUS_PRIOR)
    n_known = np.where(unbias > 0, _count_informative(sums), 0)
    drawn = (n_known * _divide(variance, binary) + GROUP_PRIOR * common) / (n_known + GROUP_PRIOR)
    return np.asarray(n / np.maximum(drawn, _ROUNDING))


def _count_informative(sums: GroupSums) -> Array:
    """Return how many documents have the topic, or how many have others, if these are fewer."""
    others = sums.n - 2 * sums.share + sums.square
    return np.minimum(_divide(sums.share**2, sums.square), _divide((sums.n - sums.share) ** 2, others))


def _find_interval(p: Array, sizes: Array, z: float) -> tuple[Array, Array]:
    """Return the ends of Wilson's intervals that are z standard deviations wide on each side, (G, T)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        center = (p + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
        half = z / (1 + z**2 / sizes) * np.sqrt(p * (1 - p) / sizes + z**2 / (4 * sizes**2))
        # Rounding must not put an end on the wrong side of the estimate.
        return np.clip(center - half, 0, p), np.clip(center + half, p, 1)


def _divide(numerator: Array, denominator: Array) -> Array:
    """Return a ratio, and zero for zero by zero."""
    return np.divide(
        numerator, denominator, out=np.zeros(np.broadcast(numerator, denominator).shape), where=denominator > 0
    )
