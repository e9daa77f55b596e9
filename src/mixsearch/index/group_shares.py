"""Shares of a topic in groups of documents, with intervals; documents are the sampling unit."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import betaincinv, ndtri

from mixsearch._typing import Array, Sparse

# How many documents with the topic a design effect counts for: that of all groups in one group, and that of other
# topics, or one, in all groups. Chosen on shares that are zero or beta-distributed, and on shares that are mostly small
# mentions; the figures in docs/columns.md are of other distributions.
GROUP_PRIOR, CORPUS_PRIOR = 10.0, 2.0
# Topics whose design effect is known, before others may borrow it.
_MIN_TOPICS = 20
_CAUTIOUS = 0.9  # quantile of their design effects
_TINY = 1e-300
_ROUNDING = 1e-9


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


@dataclass(frozen=True)
class GroupSums:
    """Sums over groups of documents for the intervals of shares, with s the shares and w the weights.

    Parameters
    ----------
    weight : array of shape (G, 1)
        Sum of w.
    squared_weight : array of shape (G, 1)
        Sum of w².
    share : array of shape (G, T)
        Sum of w s.
    first, second : arrays of shape (G, T)
        Sums of w² s and of w² s².
    """

    weight: Array
    squared_weight: Array
    share: Array
    first: Array
    second: Array

    @property
    def mean(self) -> Array:
        """The share of each group, (G, T); NaN for a group without documents."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.share / self.weight)

    @property
    def n_effective(self) -> Array:
        """The effective number of documents: as many of equal weight carry the same information, (G, 1)."""
        return _divide(self.weight**2, self.squared_weight)


def sum_groups(shares: Array | Sparse, codes: Array, n_groups: int, weights: Array | None = None) -> GroupSums:
    """Sum over the documents of each group.

    Parameters
    ----------
    shares : array or sparse array of shape (n, T)
        The share of each topic in each document.
    codes : array of shape (n,), of int
        The group of each document; -1 for none.
    n_groups : int
        The number of groups.
    weights : array of shape (n,), optional
        The weight of each document, such as its length; one by default.

    Returns
    -------
    GroupSums
    """
    rows = np.flatnonzero(codes >= 0)
    s = sp.csr_array(shares)[rows] if isinstance(shares, sp.sparray) else shares[rows]
    w = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)[rows]
    groups, ends = codes[rows], np.arange(len(rows) + 1)

    def total(power: int, of: Array | Sparse) -> Array:
        found = sp.csc_array((w**power, groups, ends), shape=(n_groups, len(rows))) @ of
        return found.toarray() if isinstance(found, sp.sparray) else np.asarray(found)

    ones = np.ones((len(rows), 1))
    return GroupSums(total(1, ones), total(2, ones), total(1, s), total(2, s), total(2, s**2))


def estimate_shares(
    shares: Array,
    codes: Array,
    n_groups: int,
    *,
    weights: Array | None = None,
    level: float = 0.95,
    bias: float = 0.0,
    bias_stderr: float = 0.0,
) -> Estimates:
    """Estimate the mean share of a topic in each group of documents.

    Parameters
    ----------
    shares : array of shape (n,) or (n, T)
        The estimated share of each document, from 0 to 1. Its noise widens the intervals by itself.
    codes : array of shape (n,), of int
        The group of each document; -1 for none.
    n_groups : int
        The number of groups.
    weights : array of shape (n,), optional
        The weight of each document, such as its length; one by default.
    level : float, default=0.95
        How often an interval should hold the share of the population that the documents of the group are drawn from.
    bias, bias_stderr : float, default=0
        By how much the shares of all documents are too large, and its standard error, which does not average out.

    Returns
    -------
    Estimates

    Notes
    -----
    If documents were all or nothing about the topic, var s = p (1 - p) with p = E s. With f p (1 - p) in its place, n
    documents know as much about p as n / f that are all or nothing, and the interval is Wilson's for that number. It
    has a width even if no document of a group has the topic. f, the design effect, is estimated from the documents:
    that of a group is drawn towards that of all groups, the more the fewer of its documents have the topic. With
    weights, n is (Σw)² / Σw², and f is large if heavy documents have more of the topic.
    """
    sums = sum_groups(shares if shares.ndim == 2 else shares[:, None], codes, n_groups, weights)
    found = _make_estimates(sums, find_effective_sizes(sums), ndtri(0.5 + level / 2))
    if bias or bias_stderr:
        found = _correct(found, bias, bias_stderr, ndtri(0.5 + level / 2))
    return found if shares.ndim == 2 else Estimates(*(each[:, 0] for each in found))


def find_effective_sizes(sums: GroupSums) -> Array:
    """Return n / f: how many documents that are all or nothing about a topic know as much, (G, T)."""
    p = np.nan_to_num(sums.mean)
    n = sums.n_effective
    # The variance in a group with one document is not known.
    unbias = np.where(n > 1 + _ROUNDING, n / np.maximum(n - 1, _ROUNDING), 0)
    variance = unbias * (sums.second - 2 * p * sums.first + p**2 * sums.squared_weight)
    binary = (unbias > 0) * sums.squared_weight * p * (1 - p)

    n_known = _count_informative(GroupSums(*(each.sum(axis=0) for each in astuple(sums))))
    common = _divide(variance.sum(axis=0), binary.sum(axis=0))
    is_known = n_known >= GROUP_PRIOR
    prior = np.quantile(common[is_known], _CAUTIOUS) if np.sum(is_known) >= _MIN_TOPICS else 1.0
    common = (n_known * common + CORPUS_PRIOR * prior) / (n_known + CORPUS_PRIOR)
    n_known = np.where(unbias > 0, _count_informative(sums), 0)
    drawn = (n_known * _divide(variance, binary) + GROUP_PRIOR * common) / (n_known + GROUP_PRIOR)
    return np.asarray(n / np.maximum(drawn, _ROUNDING))


def _count_informative(sums: GroupSums) -> Array:
    """Return how many documents have the topic, or how many have others, if these are fewer."""
    others = sums.squared_weight - 2 * sums.first + sums.second
    return np.minimum(_divide(sums.share**2, sums.second), _divide((sums.weight - sums.share) ** 2, others))


def find_interval(sums: GroupSums, sizes: Array, z: float) -> tuple[Array, Array]:
    """Return the ends of the intervals that are z standard deviations wide on each side, (G, T)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        p = sums.mean
        center = (p + z**2 / (2 * sizes)) / (1 + z**2 / sizes)
        half = z / (1 + z**2 / sizes) * np.sqrt(p * (1 - p) / sizes + z**2 / (4 * sizes**2))
        # Rounding must not put an end on the wrong side of the estimate.
        return np.clip(center - half, 0, p), np.clip(center + half, p, 1)


def find_exact_interval(sums: GroupSums, sizes: Array, alpha: float) -> tuple[Array, Array]:
    """Return the ends of intervals that miss the share with a probability of at most about alpha, (G, T).

    Clopper and Pearson's in place of Wilson's, which miss a small share too often if alpha is far below .05.
    """
    count, others = sizes * sums.mean, sizes * (1 - sums.mean)
    with np.errstate(invalid="ignore"):
        low = np.where(count > 0, betaincinv(np.maximum(count, _TINY), others + 1, alpha / 2), 0.0 * count)
        high = np.where(others > 0, betaincinv(count + 1, np.maximum(others, _TINY), 1 - alpha / 2), 1.0 + 0 * count)
        return np.minimum(low, sums.mean), np.maximum(high, sums.mean)


def count_members(
    membership: Array,
    codes: Array,
    n_groups: int,
    *,
    level: float = 0.95,
    factor: tuple[float, float] = (1.0, 1.0),
) -> Estimates:
    """Estimate how many documents of each group are about a topic.

    Parameters
    ----------
    membership : array of shape (n,)
        The probability that each document is about the topic.
    codes : array of shape (n,), of int
        The group of each document; -1 for none.
    n_groups : int
        The number of groups.
    level : float, default=0.95
        How often an interval should hold the number.
    factor : pair of float, default=(1, 1)
        By how much the numbers of all groups together may be wrong, at the same level: a factor of at most one, and one
        of at least one.

    Returns
    -------
    Estimates
        Intervals end at whole numbers of documents, up to rounding, if the factors are one.

    Notes
    -----
    The number is a sum of independent Bernoulli variables. Its quantiles are those of a normal distribution with a
    correction for skewness.
    """
    rows = codes >= 0
    m, groups = membership[rows], codes[rows]
    n = np.bincount(groups, minlength=n_groups)
    mean, variance, third = (
        np.bincount(groups, of, minlength=n_groups) for of in (m, m * (1 - m), m * (1 - m) * (1 - 2 * m))
    )
    deviation = np.sqrt(variance)
    z = ndtri(0.5 + level / 2)
    skew = _divide(third, variance) * (z**2 - 1) / 6
    low = np.clip(np.ceil(mean + skew - z * deviation - 0.5), 0, n)
    high = np.clip(np.floor(mean + skew + z * deviation + 0.5), 0, n)
    low, high = np.minimum(low, mean), np.maximum(high, mean)
    # Errors of single documents and of all together are independent.
    low = mean - np.hypot(mean - low, mean * (1 - factor[0]))
    high = np.minimum(mean + np.hypot(high - mean, mean * (factor[1] - 1)), n)
    stderr = np.hypot(deviation, mean * (factor[1] - factor[0]) / (2 * z))
    values = (mean, stderr, low, high)
    return Estimates(*(np.where(n > 0, each, np.nan) for each in values))


def _make_estimates(sums: GroupSums, sizes: Array, z: float) -> Estimates:
    low, high = find_interval(sums, sizes, z)
    # Half of an interval of one deviation on each side: not zero if no document has the topic, as the plug-in would be.
    one_low, one_high = find_interval(sums, sizes, 1.0)
    return Estimates(sums.mean, (one_high - one_low) / 2, low, high)


def _correct(found: Estimates, bias: float, bias_stderr: float, z: float) -> Estimates:
    value, stderr, low, high = found
    moved = np.clip(value - bias, 0, 1)
    return Estimates(
        moved,
        np.hypot(stderr, bias_stderr),
        np.clip(value - bias - np.hypot(value - low, z * bias_stderr), 0, moved),
        np.clip(value - bias + np.hypot(high - value, z * bias_stderr), moved, 1),
    )


def _divide(numerator: Array, denominator: Array) -> Array:
    """Return a ratio, and zero for zero by zero."""
    return np.divide(
        numerator, denominator, out=np.zeros(np.broadcast(numerator, denominator).shape), where=denominator > 0
    )
