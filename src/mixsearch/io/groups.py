"""Groups of rows by the values of one column: periods, categories, numbers and ranges of numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, Literal

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError

_KINDS: dict[Any, str] = {pl.Date: "dates", pl.Datetime: "dates", pl.Boolean: "true or false", pl.Null: "nothing"}
_KINDS |= dict.fromkeys((pl.String, pl.Categorical, pl.Enum), "text")

MIN_PERIODS, MAX_PERIODS = 8, 240  # of an automatic choice, if the dates span as many
_MAX_LISTED = 50_000  # beyond, a wrong date such as the year 9999 is likelier than a wish
_CENTRAL = (0.005, 0.995)  # quantiles: a few wrong dates do not decide how long the periods are
# The length of a period and the format of its label as Polars spells them, and the mean length in days.
PERIODS = {
    "year": ("1y", "%Y", 365.2425),
    "quarter": ("1q", "%Y-Q%q", 365.2425 / 4),
    "month": ("1mo", "%Y-%m", 365.2425 / 12),
    "week": ("1w", "%G-W%V", 7.0),
    "day": ("1d", "%Y-%m-%d", 1.0),
}

MAX_GROUPS, N_RANGES = 20, 10
_MAX_WHOLE = 60  # whole numbers in a smaller range are groups of their own, such as years
_MAX_SHARE = 0.5  # if one range has more of the rows, ranges of equal counts show more
_MIN_WIDTH = 1e-9  # of a range, relative to the numbers in it


@dataclass(frozen=True)
class Groups:
    """Rows in groups; those without a value have the code -1."""

    kind: Literal["period", "category", "number", "range"]
    labels: tuple[str, ...]
    codes: Array  # (n,)
    every: str | float | None = None
    edges: Array | None = None  # (n_groups + 1,), of periods and ranges

    @cached_property
    def sizes(self) -> Array:
        """How many rows each group has, (n_groups,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels))


def find_kind(dtype: pl.DataType) -> str:
    """Find the kind of values of a type: numbers, dates, text, true or false, nothing or other."""
    return _KINDS.get(dtype.base_type(), "numbers" if dtype.is_numeric() else "other")


def make_groups(column: pl.Series, every: str | float | None = None, *, max_groups: int = MAX_GROUPS) -> Groups:
    """Group rows by the values of a column."""
    column = column.alias("values")  # Polars may take other names for patterns
    kind = find_kind(column.dtype)
    if kind == "other":
        raise SearchError("Values of type {type} cannot be grouped.", code="cannot_group", type=str(column.dtype))
    if every is not None:
        _check_period(every, kind)
    if kind == "dates":
        return _group_dates(column.dt.date(), every)
    if kind == "numbers":
        return _group_numbers(column.cast(pl.Float64).to_numpy(), every, max_groups)
    return _group_categories(column.cast(pl.String), max_groups)


def _check_period(every: object, kind: str) -> None:
    is_width = not isinstance(every, bool) and isinstance(every, Real) and 0 < float(every) < math.inf
    if not {"dates": every in [*PERIODS], "numbers": is_width}.get(kind, False):
        raise ArgumentError(
            "{argument} must be {needed} for a column of {kind}, got {found!r}.",
            code="bad_period",
            argument=Option("every"),
            needed={"dates": f"one of {', '.join(PERIODS)}", "numbers": "a positive number"}.get(kind, "left out"),
            kind=kind,
            found=every,
        )


def _check_count(n_groups: float, every: str | float) -> None:
    if not n_groups <= _MAX_LISTED:
        raise SearchError(
            "{every} gives {n_groups:,.0f} groups; at most {max_groups:,} are listed. Choose longer periods or wider "
            "ranges, or leave out wrong values.",
            code="too_many_groups",
            every=every,
            n_groups=n_groups,
            max_groups=_MAX_LISTED,
        )


def _group_categories(values: pl.Series, max_groups: int) -> Groups:
    """Group by value, the most frequent first, ties by name."""
    counts = values.drop_nulls().value_counts(name="n").sort(pl.nth(1), pl.nth(0), descending=[True, False])
    names = counts.to_series().to_list()
    # "other" for one value would hide it for nothing.
    n_shown = len(names) if len(names) <= max_groups + 1 else max_groups
    ranks = np.minimum(np.arange(len(names)), n_shown)
    labels = names[:n_shown]
    if n_shown < len(names):
        labels.append("other" if "other" not in labels else "other values")
    codes = values.replace_strict(names, ranks, default=-1, return_dtype=pl.Int64).to_numpy()
    return Groups("category", tuple(labels), codes)


def _group_dates(dates: pl.Series, every: str | float | None) -> Groups:
    """Group by period, without gaps."""
    if dates.null_count() == len(dates):
        return Groups("period", (), np.full(len(dates), -1), every=every)
    period = _choose_period(dates) if every is None else str(every)
    length, label, n_days = PERIODS[period]
    starts = dates.dt.truncate(length)
    numbers = _number_periods(starts, n_days).fill_null(-1).to_numpy()
    _check_count(int(numbers.max()) + 1, period)
    first, stop = pl.first().min(), pl.first().max().dt.offset_by(length)
    edges = starts.to_frame().select(pl.date_range(first, stop, length)).to_series()
    return Groups("period", tuple(edges[:-1].dt.to_string(label)), numbers, every=period, edges=edges.to_numpy())


def _number_periods(starts: pl.Series, n_days: float) -> pl.Series:
    """Number periods from the first one on, by their first days."""
    days = starts.to_physical().cast(pl.Int64)
    # They are less than four days from multiples of the mean length, so that rounding is exact.
    return ((days - days.min()) / n_days).round().cast(pl.Int64)


def _choose_period(dates: pl.Series) -> str:
    """Choose the longest period of which the dates cover at least eight, or the day."""
    days = dates.drop_nulls().to_physical().to_numpy()
    ends = pl.Series(np.quantile(days, (0, *_CENTRAL, 1), method="nearest"), dtype=pl.Int32).cast(pl.Date)
    chosen = "year"
    for period, (length, _, n_days) in PERIODS.items():
        _, low, high, last = _number_periods(ends.dt.truncate(length), n_days)
        if last >= MAX_PERIODS:
            break
        chosen = period
        if high - low + 1 >= MIN_PERIODS:
            break
    return chosen


def _group_numbers(values: Array, every: str | float | None, max_groups: int) -> Groups:
    """Group by number if there are few, else by range; neither missing nor infinite numbers are in a group."""
    is_present, codes = np.isfinite(values), np.full(len(values), -1)
    present = values[is_present]
    if not present.size:
        return Groups("number", (), codes)
    if every is None and (levels := _list_levels(present, max_groups)) is not None:
        codes[is_present] = np.searchsorted(levels, present)
        return Groups("number", tuple(map(format_number, levels.tolist())), codes)
    width = _choose_width(present) if every is None else float(every)
    if width is not None:
        edges = _list_edges(present, width)
        codes[is_present] = np.searchsorted(edges[1:-1], present, side="right")
        if every is not None or np.bincount(codes[is_present]).max() <= _MAX_SHARE * present.size:
            return Groups("range", _label_ranges(edges), codes, every=width, edges=edges)
    inner, codes[is_present] = _split_evenly(present)
    names = [format_number(edge) for edge in inner.tolist()]
    labels = (f"under {names[0]}", *_label_ranges(inner), f"{names[-1]} or more") if names else ("all",)
    return Groups("range", labels, codes, edges=np.array([present.min(), *inner, present.max()]))


def _list_levels(values: Array, max_groups: int) -> Array | None:
    """List the distinct numbers, if they are few enough to be separate groups."""
    low, high = float(values.min()), float(values.max())
    if high - low < _MAX_WHOLE and not np.any(values % 1):
        return np.arange(low, high + 1)
    levels = np.unique(values)
    return levels if len(levels) <= max_groups else None


def _choose_width(values: Array) -> float | None:
    """Choose 1, 2 or 5 times a power of ten for about ten ranges; None if floats are too coarse for multiples of it."""
    low, high = float(values.min()), float(values.max())
    rough = high / N_RANGES - low / N_RANGES
    if rough < max(_MIN_WIDTH * max(abs(low), abs(high)), np.finfo(np.float64).tiny):
        return None
    power = 10.0 ** math.floor(math.log10(rough))
    return power * min((1, 2, 5, 10), key=lambda factor: abs(math.log(factor * power / rough)))


def _list_edges(values: Array, width: float) -> Array:
    """List the multiples of a width around all values."""
    first, last = np.floor(values.min() / width), np.floor(values.max() / width)
    _check_count(last - first + 1, width)
    # Multiples of .1 are not exact: as many digits as the width has, and a few more.
    n_decimals = min(max(0, 6 - math.floor(math.log10(width))), 300)
    return np.array([round(float(number) * width, n_decimals) for number in np.arange(first, last + 2)])


def _split_evenly(values: Array) -> tuple[Array, Array]:
    """Split values into at most ten ranges of about equal counts, between edges of two digits."""
    quantiles = np.quantile(values, np.arange(1, N_RANGES) / N_RANGES, method="nearest")
    edges = np.unique([float(f"{quantile:.2g}") for quantile in quantiles.tolist()])
    numbers, codes = np.unique(np.searchsorted(edges, values, side="right"), return_inverse=True)
    # A range without values joins the one after it, or ends the last.
    return edges[numbers[1:] - 1], codes


def _label_ranges(edges: Array) -> tuple[str, ...]:
    return tuple(f"{format_number(low)} to <{format_number(high)}" for low, high in pairwise(edges.tolist()))


def format_number(number: float) -> str:
    """Return a number as a label that no other number has, whole numbers without a point."""
    return repr(float(number)).removesuffix(".0")
