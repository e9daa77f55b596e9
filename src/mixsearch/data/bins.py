"""Ranges of numbers with round ends, of equal width or of about equal counts."""

from __future__ import annotations

import math
import sys
from itertools import pairwise
from numbers import Real
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError

N_BINS = 10
_MAX_BINS = 10_000
# Least width of a range, relative to the numbers in it.
_MIN_PRECISION = 1e-9
# Digits of the ends of ranges of equal counts.
_DIGITS = 2


class Bins(NamedTuple):
    """The range of each value, the labels of the ranges, and where they begin and end."""

    codes: Array  # (n,)
    labels: tuple[str, ...]
    edges: Array  # (n_bins + 1,)

    @property
    def largest_share(self) -> float:
        """The share of values that are in the largest range."""
        return float(np.bincount(self.codes).max() / len(self.codes))


def check_width(every: object) -> float:
    """Return the width of ranges as a float, or raise an error."""
    if isinstance(every, bool) or not isinstance(every, Real) or not 0 < float(every) < math.inf:
        raise ArgumentError(
            "{argument} must be a positive number for numbers, the width of the ranges, got {found!r}.",
            code="bad_period",
            argument=Option("every"),
            found=every,
        )
    return float(every)


def choose_width(values: Array) -> float | None:
    """Return a round width, 1, 2 or 5 times a power of ten, of about ten ranges that hold all values.

    None if floats are too coarse for multiples of it.
    """
    low, high = float(values.min()), float(values.max())
    rough = high / N_BINS - low / N_BINS
    if rough < max(abs(low), abs(high), sys.float_info.min / _MIN_PRECISION) * _MIN_PRECISION:
        return None
    power = 10.0 ** math.floor(math.log10(rough))
    return power * min((1, 2, 5, 10), key=lambda factor: abs(math.log(factor * power / rough)))


def bin_by_width(values: Array, width: float) -> Bins:
    """Put values into ranges of equal width, which begin at multiples of it.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers.
    width : float
        The width.

    Returns
    -------
    Bins
        Without gaps: some ranges may have no values.
    """
    numbers = np.floor(values / width)
    first, last = numbers.min(), numbers.max()
    if not last - first < _MAX_BINS:
        raise SearchError(
            "The numbers from {low:g} to {high:g} need more than {max_bins:,} ranges of width {width:g}. "
            "Choose wider ones.",
            code="too_many_ranges",
            low=float(values.min()),
            high=float(values.max()),
            max_bins=_MAX_BINS,
            width=width,
        )
    # Multiples of .1 are not exact: as many digits as the width has, and a few more.
    n_decimals = min(max(0, 6 - math.floor(math.log10(width))), 300)
    edges = np.array([round(float(number) * width, n_decimals) for number in np.arange(first, last + 2)])
    codes = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
    names = [format_number(edge) for edge in edges.tolist()]
    labels = tuple(f"{low} to <{high}" for low, high in pairwise(names))
    return Bins(codes, labels, edges)


def bin_by_quantiles(values: Array) -> Bins:
    """Put values into at most ten ranges of about equal counts, whose ends have two digits.

    Parameters
    ----------
    values : array of shape (n,)
        Finite numbers.

    Returns
    -------
    Bins
        Every range has values. The outer ones begin and end where the values do.
    """
    quantiles = np.quantile(values, np.arange(1, N_BINS) / N_BINS, method="nearest")
    inner = np.unique([float(f"{each:.{_DIGITS}g}") for each in quantiles.tolist()])
    found, codes = np.unique(np.searchsorted(inner, values, side="right"), return_inverse=True)
    # A range without values joins the one after it, or ends the last.
    inner = inner[found[1:] - 1]
    if not inner.size:
        return Bins(codes, ("all",), np.array([values.min(), values.max()]))
    names = [format_number(edge) for edge in inner.tolist()]
    between = (f"{low} to <{high}" for low, high in pairwise(names))
    labels = (f"under {names[0]}", *between, f"{names[-1]} or more")
    return Bins(codes, labels, np.concatenate([[values.min()], inner, [values.max()]]))


def format_number(number: float) -> str:
    """Return a number as a label that no other number has, whole numbers without a point."""
    return repr(float(number)).removesuffix(".0")
