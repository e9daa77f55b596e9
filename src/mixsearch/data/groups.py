"""Groups of rows by the values of one column: periods, categories, numbers and ranges of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.bins import bin_by_quantiles, bin_by_width, check_width, choose_width, format_number
from mixsearch.data.periods import check_period, choose_period, list_periods, number_periods
from mixsearch.errors import ArgumentError, Option, SearchError

MAX_GROUPS = 20
# Whole numbers in a range of this size are groups of their own, such as years.
_MAX_WHOLE = 60
# If more of the rows are in one range, ranges of equal counts show more than ranges of equal width.
_MAX_SHARE = 0.5

_STEPS_PER_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


@dataclass(frozen=True)
class Groups:
    """Rows in groups.

    Parameters
    ----------
    kind : {"period", "category", "number", "range"}
        What the groups are. All but categories are in their order, categories by size.
    labels : tuple of str
        One for each group.
    codes : array of shape (n,), of int
        The group of each row; -1 if the value is missing.
    every : str or float, optional
        The period, or the width of the ranges.
    edges : array of shape (n_groups + 1,), optional
        Where periods (datetime64[D]) and ranges begin and end; the end does not belong to them.
    n_merged : int, default=0
        How many values are in the last group, if that is "other".
    """

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
    """Return the groups of rows by the values of a column.

    Parameters
    ----------
    column : pyarrow.Array or ChunkedArray of length n
        Dates, text, true and false, or numbers.
    every : {"year", "quarter", "month", "week", "day"} or float, optional
        For dates, the period; for numbers, the width of the ranges. By default from the values.
    max_groups : int, default=20
        How many categories are groups of their own; the others are together in one more, "other". At most as many
        different numbers are groups of their own.

    Returns
    -------
    Groups
        Periods and ranges are without gaps: some may have no rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> groups = make_groups(pa.array(["2024-01-15", "2024-03-31", None]).cast(pa.date32()), every="month")
    >>> groups.labels, groups.sizes.tolist(), groups.n_missing
    (('2024-01', '2024-02', '2024-03'), [1, 0, 1], 1)
    """
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
