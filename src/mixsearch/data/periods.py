"""The calendar: years, quarters, months, weeks and days, without gaps."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import ArgumentError, Option, SearchError

Period = Literal["year", "quarter", "month", "week", "day"]
PERIODS: tuple[Period, ...] = get_args(Period)

# The smallest number of periods of an automatic choice, if the dates span as many, and the largest.
MIN_PERIODS, MAX_PERIODS = 8, 240
# Beyond that a wrong date, such as the year 9999, is likelier than a wish.
_MAX_LISTED = 50_000
# Single dates far from all others, such as 1970-01-01 for unknown, do not decide how fine the periods are.
_CENTRAL = (0.005, 0.995)


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
    """Return the longest period of which the dates cover at least eight, or the day.

    Parameters
    ----------
    days : array of shape (n,), of int
        Days since 1970, none missing.

    Returns
    -------
    str
    """
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
    """Return the labels of all periods from one number to another, and their first days with the day after the end.

    Parameters
    ----------
    first, last : int
        As `number_periods` numbers them.
    every : str
        The period.

    Returns
    -------
    labels : tuple of str
        Such as 2024, 2024-Q2, 2024-05, 2024-W22 (of the ISO calendar) and 2024-05-31.
    edges : array of shape (n + 1,), of datetime64[D]
    """
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
