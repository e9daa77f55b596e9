"""A filter as a tree of conditions on numbers, dates and texts: immutable, with one spelling."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Literal

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow

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

Order = Literal["=", "!=", "<", "<=", ">", ">="]
TextMatch = Literal["contains", "starts with", "ends with"]
ORDERS: tuple[Order, ...] = ("=", "!=", "<", "<=", ">", ">=")

BARE_NAME = r"[^\W\d]\w*(?:[.\-]\w+)*"
# Words that no bare name can be. Others have a meaning only behind a name.
RESERVED = frozenset({"and", "or", "not"})


@dataclass(frozen=True, slots=True)
class DateValue:
    """A date, as the span of time from `start` to before `stop`: 2024-05 is all of May."""

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


@dataclass(frozen=True, slots=True)
class Comparison:
    """A column against one value."""

    column: str
    operator: Order | TextMatch
    value: Value

    def __str__(self) -> str:
        return f"{spell_name(self.column)} {self.operator} {spell_value(self.value)}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A column against a list of values."""

    column: str
    values: tuple[Value, ...]

    def __str__(self) -> str:
        return f"{spell_name(self.column)} in ({', '.join(map(spell_value, self.values))})"


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether a column has no value."""

    column: str

    def __str__(self) -> str:
        return f"{spell_name(self.column)} is missing"


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite of a condition."""

    condition: Condition

    def __str__(self) -> str:
        inner = str(self.condition)
        return f"not ({inner})" if isinstance(self.condition, Both | Either) else f"not {inner}"


@dataclass(frozen=True, slots=True)
class Both:
    """A conjunction of conditions."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(f"({each})" if isinstance(each, Either) else str(each) for each in self.conditions)


@dataclass(frozen=True, slots=True)
class Either:
    """A disjunction of conditions."""

    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.conditions))


Condition = Comparison | OneOf | Missing | Not | Both | Either


def negate(condition: Condition) -> Condition:
    """Return the opposite of a condition."""
    return condition.condition if isinstance(condition, Not) else Not(condition)


def join(conditions: Sequence[Condition], kind: type[Both] | type[Either]) -> Condition:
    """Join conditions by "and" or "or". Those that are already joined this way become parts of the whole."""
    parts: list[Condition] = []
    for each in conditions:
        parts += each.conditions if isinstance(each, kind) else (each,)
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """A condition on the columns of a table.

    `str` gives it in one spelling, which `parse_filter` reads as an equal filter.
    """

    condition: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of columns that it needs, in the order of their first mention."""
        return tuple(dict.fromkeys(_list_columns(self.condition)))

    def __str__(self) -> str:
        return str(self.condition)

    # By the spelling: to Python, true and 1 are equal.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filter) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def mask(self, table: Any) -> Array:
        """Return which rows of a table match."""
        import_pyarrow("Filters")
        from mixsearch.data.filters.evaluation import evaluate

        return evaluate(self.condition, table)


def spell_name(name: str) -> str:
    """Return the name of a column as a filter spells it, in backticks if need be."""
    if re.fullmatch(BARE_NAME, name) and name.lower() not in RESERVED:
        return name
    return "`" + name.replace("`", "``") + "`"


def spell_value(value: Value) -> str:
    """Return a value as a filter spells it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, DateValue):
        return value.text
    return '"' + value.replace('"', '""') + '"'


def _list_columns(condition: Condition) -> Iterator[str]:
    if isinstance(condition, Not):
        yield from _list_columns(condition.condition)
    elif isinstance(condition, Both | Either):
        for each in condition.conditions:
            yield from _list_columns(each)
    else:
        yield condition.column
