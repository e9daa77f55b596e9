"""Groups of rows by the values of one column: periods, categories, numbers and ranges of numbers."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.errors import ArgumentError, Option, SearchError

Period = Literal["year", "quarter", "month", "week", "day"]
PERIODS: tuple[Period, ...] = get_args(Period)

# The smallest number of periods of an automatic choice, if the dates span as many, and the largest.
MIN_PERIODS, MAX_PERIODS = 8, 240
# Beyond that a wrong date, such as the year 9999, is likelier than a wish.
_MAX_LISTED = 50_000
# Single dates far from all others, such as 1970-01-01 for unknown, do not decide how fine the periods are.
_CENTRAL = (0.005, 0.995)

N_BINS = 10
_MAX_BINS = 10_000
# Least width of a range, relative to the numbers in it.
_MIN_PRECISION = 1e-9
# Digits of the ends of ranges of equal counts.
_DIGITS = 2

MAX_GROUPS = 20
# Whole numbers in a range of this size are groups of their own, such as years.
_MAX_WHOLE = 60
# If more of the rows are in one range, ranges of equal counts show more than ranges of equal width.
_MAX_SHARE = 0.5

_STEPS_PER_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


@dataclass(frozen=True)
class Groups:
    """Rows in groups."""

    kind: Literal["period", "category", "number", "range"]
    labels: tuple[str, ...]
    codes: Array
    every: str | float | None = None
    edges: Array | None = None
    n_merged: int = 0

    @cached_property
    def sizes(self) -> Array:
        """How many rows each group has, (n_groups,)."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.labels))

    @property
    def n_missing(self) -> int:
        """How many rows have no value."""
        return len(self.codes) - int(self.sizes.sum())


def make_groups(column: Any, every: str | float | None = None, *, max_groups: int = MAX_GROUPS) -> Groups:
    """Return the groups of rows by the values of a column."""
    arrow = import_pyarrow("Groups")
    types = arrow.types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if types.is_date(kind) or types.is_timestamp(kind):
        return _group_dates(*_to_days(column, arrow), every)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        values = column.cast(arrow.float64(), safe=False).to_numpy(zero_copy_only=False)
        return _group_numbers(values, every, max_groups)
    if every is not None:
        raise ArgumentError(
            "{argument} is for dates and numbers, but the column holds values of type {type}.",
            code="bad_period",
            argument=Option("every"),
            type=str(kind),
        )
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
    if is_text or types.is_boolean(kind) or types.is_null(kind):
        return _group_categories(column.cast(arrow.large_string()), max_groups)
    raise SearchError("Values of type {type} cannot be grouped.", code="cannot_group", type=str(kind))


def _to_days(column: Any, arrow: Any) -> tuple[Array, Array]:
    """Return dates as days since 1970, in the zone of the column, and which of them are there."""
    from pyarrow import compute

    is_present = column.is_valid().to_numpy(zero_copy_only=False).astype(bool)
    kind = column.type
    if arrow.types.is_date32(kind):
        steps, per_day = column.cast(arrow.int32()), 1
    else:
        local = column if getattr(kind, "tz", None) is None else compute.local_timestamp(column)
        steps, per_day = local.cast(arrow.int64()), _STEPS_PER_DAY[getattr(kind, "unit", "ms")]
    return steps.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64) // per_day, is_present


def _group_dates(days: Array, is_present: Array, every: str | float | None) -> Groups:
    period = None if every is None else check_period(every)
    codes = np.full(len(days), -1)
    if not is_present.any():
        return Groups("period", (), codes, every=period)
    if period is None:
        period = choose_period(days[is_present])
    numbers = number_periods(days[is_present], period)
    first = int(numbers.min())
    labels, edges = list_periods(first, int(numbers.max()), period)
    codes[is_present] = numbers - first
    return Groups("period", labels, codes, every=period, edges=edges)


def _group_categories(column: Any, max_groups: int) -> Groups:
    encoded = column.dictionary_encode()
    encoded = encoded.combine_chunks() if hasattr(encoded, "combine_chunks") else encoded
    values = encoded.dictionary.to_pylist()
    raw = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    counts = np.bincount(raw[raw >= 0], minlength=len(values))
    order = sorted(range(len(values)), key=lambda level: (-counts[level], values[level]))
    # "other" for one value would hide it for nothing.
    n_shown = len(values) if len(values) <= max_groups + 1 else max_groups
    rank = np.empty(len(values) + 1, dtype=np.int64)
    rank[order] = np.minimum(np.arange(len(values)), n_shown)
    rank[-1] = -1  # of the code -1
    labels = [values[level] for level in order[:n_shown]]
    n_merged = len(values) - n_shown
    if n_merged:
        labels.append("other" if "other" not in labels else "other values")
    return Groups("category", tuple(labels), rank[raw], n_merged=n_merged)


def _group_numbers(values: Array, every: str | float | None, max_groups: int) -> Groups:
    width = None if every is None else check_width(every)
    is_present = np.isfinite(values)
    codes = np.full(len(values), -1)
    present = values[is_present]
    if not present.size:
        return Groups("number", (), codes)
    if width is None:
        levels = _find_levels(present, max_groups)
        if levels is not None:
            codes[is_present] = np.searchsorted(levels, present)
            return Groups("number", tuple(map(format_number, levels.tolist())), codes)
        width = choose_width(present)
    bins = None if width is None else bin_by_width(present, width)
    if bins is None or (every is None and bins.largest_share > _MAX_SHARE):
        width, bins = None, bin_by_quantiles(present)
    codes[is_present] = bins.codes
    return Groups("range", bins.labels, codes, every=width, edges=bins.edges)


def _find_levels(values: Array, max_groups: int) -> Array | None:
    """Return the distinct numbers, if they are few enough to be separate groups."""
    low, high = float(values.min()), float(values.max())
    if high - low < _MAX_WHOLE and not np.any(values % 1):
        return np.arange(low, high + 1)
    levels = np.unique(values)
    return levels if len(levels) <= max_groups else None


def check_period(every: object) -> Period:
    """Return the name of a period, or raise the error that lists those there are."""
    for period in PERIODS:
        if every == period:
            return period
    raise ArgumentError(
        "{argument} must be one of {periods} for dates, got {found!r}.",
        code="bad_period",
        argument=Option("every"),
        periods=", ".join(PERIODS),
        found=every,
    )


def choose_period(days: Array) -> Period:
    """Return the longest period of which the dates cover at least eight, or the day."""
    central = np.quantile(days, _CENTRAL, method="nearest").astype(np.int64)
    ends = np.array([days.min(), days.max()])
    chosen: Period = "year"
    for period in PERIODS:
        if np.ptp(number_periods(ends, period)) >= MAX_PERIODS:
            break
        chosen = period
        if np.ptp(number_periods(central, period)) + 1 >= MIN_PERIODS:
            break
    return chosen


def number_periods(days: Array, every: Period) -> Array:
    """Return which period each day belongs to, as numbers in the order of time; a week begins on Monday."""
    if every == "day":
        return days
    if every == "week":
        return (days + 3) // 7  # 1970 began on a Thursday
    dates = days.astype("datetime64[D]")
    if every == "year":
        return dates.astype("datetime64[Y]").astype(np.int64)
    months = dates.astype("datetime64[M]").astype(np.int64)
    return months if every == "month" else months // 3


def list_periods(first: int, last: int, every: Period) -> tuple[tuple[str, ...], Array]:
    """Return the labels of all periods from one number to another, and their first days with the day after the end."""
    if last - first >= _MAX_LISTED:
        raise SearchError(
            "There are {n_periods:,} periods ({every}) from {first} to {last}; at most {max_periods:,} are listed. "
            "Choose a longer period, or leave out wrong dates.",
            code="too_many_periods",
            first=_label(_start_periods(np.array([first]), every), every)[0],
            last=_label(_start_periods(np.array([last]), every), every)[0],
            n_periods=last - first + 1,
            every=every,
            max_periods=_MAX_LISTED,
        )
    edges = _start_periods(np.arange(first, last + 2), every)
    return _label(edges[:-1], every), edges


def _start_periods(numbers: Array, every: Period) -> Array:
    """Return the first day of periods."""
    match every:
        case "day":
            starts = numbers.astype("datetime64[D]")
        case "week":
            starts = (7 * numbers - 3).astype("datetime64[D]")
        case "year":
            starts = numbers.astype("datetime64[Y]")
        case _:
            starts = (numbers if every == "month" else 3 * numbers).astype("datetime64[M]")
    return starts.astype("datetime64[D]")


def _label(starts: Array, every: Period) -> tuple[str, ...]:
    years = np.datetime_as_string(starts, unit="Y")
    match every:
        case "year":
            return tuple(years.tolist())
        case "quarter":
            months = starts.astype("datetime64[M]").astype(np.int64) % 12
            return tuple(f"{year}-Q{month // 3 + 1}" for year, month in zip(years, months.tolist(), strict=True))
        case "week":
            # The year of its Thursday, and how many Thursdays that year had before.
            thursdays = starts + 3
            in_year = (thursdays - thursdays.astype("datetime64[Y]").astype("datetime64[D]")).astype(np.int64)
            years = np.datetime_as_string(thursdays, unit="Y")
            return tuple(f"{year}-W{day // 7 + 1:02d}" for year, day in zip(years, in_year.tolist(), strict=True))
        case _:
            return tuple(np.datetime_as_string(starts, unit="M" if every == "month" else "D").tolist())


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
    """Put values into ranges of equal width, which begin at multiples of it."""
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
    """Put values into at most ten ranges of about equal counts, whose ends have two digits."""
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
