"""Values in a filter: numbers, and dates that stand for a whole year, month, day, minute or second."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

# Largest power of ten: beyond the range of a float, and large enough to keep exact arithmetic cheap.
MAX_EXPONENT = 400
MAX_DIGITS = 50

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:(?:T|t| +)(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:\.(?P<fraction>[0-9]{1,9}))?)?"
    r"(?P<zone>[zZ]|[+-][0-9]{2}:[0-9]{2})?)?)?)?"
)
_EPOCH = date(1970, 1, 1).toordinal()
_SECOND = 10**9
_MINUTE = 60 * _SECOND
_DAY = 24 * 60 * _MINUTE


@dataclass(frozen=True, slots=True)
class DateValue:
    """A date, as the span of time from `start` to before `stop`: 2024-05 is all of May.

    Parameters
    ----------
    text : str
        As the filter spells it.
    start, stop : int
        Nanoseconds since 1970, in UTC if `is_absolute`, else in the zone of the column.
    is_absolute : bool
        Whether it has a zone.
    """

    text: str
    start: int
    stop: int
    is_absolute: bool = False


Value = bool | str | Decimal | DateValue


def read_number(text: str) -> Decimal | None:
    """Return the number that a text is, if it is one that fits the limits."""
    if len(text) > MAX_DIGITS or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    return number if abs(number.adjusted()) <= MAX_EXPONENT else None


def read_date(text: str) -> DateValue | None:
    """Return the date that a text is, if it is one that exists."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    month, day = int(part["month"] or 1), int(part["day"] or 1)
    try:
        start = (date(int(part["year"]), month, day).toordinal() - _EPOCH) * _DAY
    except ValueError:
        return None
    if part["hour"] is None:
        return DateValue(text, start, start + _measure_days(part) * _DAY)
    time = _read_time(part)
    offset = _read_offset(part["zone"])
    if time is None or offset is None:
        return None
    start += time[0] - offset
    # One spelling, so that equal filters are equal.
    spelling = re.sub(" +", "T", text).upper()
    return DateValue(spelling, start, start + time[1], is_absolute=part["zone"] is not None)


def read_year(number: Decimal) -> DateValue | None:
    """Return the year that a number is, if it has four digits."""
    return read_date(str(int(number))) if number == number.to_integral_value() and 1000 <= number <= 9999 else None


def _measure_days(part: dict[str, str | None]) -> int:
    year = int(part["year"] or 0)
    if part["month"] is None:
        return 366 if monthrange(year, 2)[1] == 29 else 365
    return monthrange(year, int(part["month"]))[1] if part["day"] is None else 1


def _read_time(part: dict[str, str | None]) -> tuple[int, int] | None:
    """Return when on its day a time begins, and how long it lasts."""
    hour, minute, second = (int(part[name] or 0) for name in ("hour", "minute", "second"))
    if hour > 23 or minute > 59 or second > 59:
        return None
    start = hour * 60 * _MINUTE + minute * _MINUTE + second * _SECOND
    if part["second"] is None:
        return start, _MINUTE
    digits = part["fraction"] or ""
    tick = _SECOND // 10 ** len(digits)
    return start + int(digits or 0) * tick, tick


def _read_offset(zone: str | None) -> int | None:
    if zone is None or zone in "zZ":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:])
    if hours > 23 or minutes > 59:
        return None
    return (hours * 60 + minutes) * _MINUTE * (-1 if zone[0] == "-" else 1)
