"""Comparisons of a column with values as people type them: text, true or false, numbers and dates."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
import polars as pl

from mixsearch.errors import SearchError
from mixsearch.io.column_names import make_unknown_error

Kind = Literal["numbers", "dates", "text", "true or false", "nothing", "other"]

BARE_NAME = r"(?!(?:and|or|not)(?![\w.\-]))[^\W\d]\w*(?:[.\-]\w+)*"
_NUMBER = re.compile(r"(?=.{1,50}\Z)[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(
    r"((?!0000)[0-9]{4}(?:-[0-9]{2}){0,2})(?:[Tt ] *([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?)"
    r"([Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?"
)
_KINDS: dict[Any, Kind] = {pl.Date: "dates", pl.Datetime: "dates", pl.Boolean: "true or false", pl.Null: "nothing"}
_KINDS |= {pl.String: "text", pl.Categorical: "text", pl.Enum: "text"}
_PATTERNS = {"contains": "(?i){}", "starts with": "(?i)^{}", "ends with": "(?i){}$"}
_EXAMPLES = {"numbers": "{} >= 3", "dates": "{} >= 2024-05-31", "text": '{} = "text"', "true or false": "{} = true"}
_DAY = 86_400_000_000  # microseconds, as are the units
_UNITS = {"ns": Fraction(1, 1000), "us": Fraction(1), "ms": Fraction(1000)}
_MAX_STEPS = 2**127 - 1  # the largest number of Int128


class Period(NamedTuple):
    """Time from `start` to before `stop`, in microseconds since 1970: 2024-05 is all of May."""

    start: int
    stop: int
    has_zone: bool


_TYPES: dict[str, Any] = {"numbers": Decimal, "dates": Period, "text": str, "true or false": bool}
_FOUND: dict[Any, str] = {Decimal: "a number", Period: "a date", str: "text", bool: "true or false"}


def find_kind(dtype: pl.DataType) -> Kind:
    """Find the kind of values of a type."""
    return _KINDS.get(dtype.base_type(), "numbers" if dtype.is_numeric() else "other")


def read_value(source: str) -> Any:
    """Read text in quotes, true or false, a number or a date; None if the source is neither."""
    if source[0] in "\"'":
        return source[1:-1].replace(source[0] * 2, source[0])
    if source.lower() in {"true", "false"}:
        return source.lower() == "true"
    return Decimal(source) if _NUMBER.fullmatch(source) else _read_period(source)


def _read_period(text: str) -> Period | None:
    """Read a year, month, day, minute, second or fraction of a second; None if it does not exist."""
    day, time, zone = found.groups() if (found := _DATE.fullmatch(text)) else ("", None, None)
    try:
        start = np.datetime64(f"{day}T{time}" if time else day or "none")
    except ValueError:
        return None
    offset = round(datetime.strptime(f"1970 {zone.upper()}", "%Y %z").timestamp()) * 10**6 if zone else 0
    first, stop = (int(edge.astype("datetime64[us]").astype(np.int64)) + offset for edge in (start, start + 1))
    return Period(first, stop, zone is not None)


def compare(name: str, operator: str, values: Sequence[Any], frame: pl.DataFrame) -> pl.Expr:
    """Compare a column with values; the result is null where the column is missing."""
    if operator == "between":
        return compare(name, ">=", values[:1], frame) & compare(name, "<=", values[1:], frame)
    if name not in frame.columns:
        raise make_unknown_error(name, frame.columns)
    dtype, column = frame.schema[name], pl.nth(frame.get_column_index(name))
    kind = find_kind(dtype)
    column = column.cast(pl.String) if kind == "text" else column.fill_nan(None) if dtype.is_float() else column
    if operator == "missing":
        return column.is_null()
    if kind == "nothing":
        return column.cast(pl.Boolean)
    if kind == "dates":
        values = [_read_period(str(value)) or value for value in values]
    if problem := _find_problem(kind, operator, values):
        raise SearchError(
            "Column {column!r} holds {kind}: {problem}. Example: {example}.",
            code="filter_type",
            column=name,
            kind=f"values of type {dtype}" if kind == "other" else kind,
            problem=problem,
            example=_EXAMPLES.get(kind, "{} is missing").format(name if re.fullmatch(BARE_NAME, name) else f"`{name}`"),
        )
    if operator in _PATTERNS:
        return column.str.contains(_PATTERNS[operator].format(pl.escape_regex(values[0])))
    literal: Any = pl.String if kind == "text" else dtype
    bounds = [_find_bounds(value, dtype) for value in values]
    if kind == "dates" or dtype.is_integer() or dtype.is_decimal():
        is_wide = dtype.is_decimal() or str(dtype) in {"UInt64", "Int128", "UInt128"}
        literal = pl.Int128 if is_wide or max(map(abs, chain(*bounds))) >= 2**63 else pl.Int64
        column = column.to_physical().cast(literal)
    if operator in {"<", "<=", ">", ">="}:
        low, high = (pl.lit(bound, literal) for bound in bounds[0])
        return {"<": column < low, "<=": column <= high, ">": column > high, ">=": column >= low}[operator]
    ranges = [(pl.lit(first, literal), pl.lit(last, literal)) for first, last in bounds if first < last]
    matches = [column.is_between(first, last) for first, last in ranges]
    single = [first for first, last in bounds if first == last]
    if len(single) == 1:
        matches.append(column == pl.lit(single[0], literal))
    elif single or not ranges:
        matches.append(column.is_in(pl.Series([single], dtype=pl.List(literal))))
    return ~pl.any_horizontal(matches) if operator == "!=" else pl.any_horizontal(matches)


def _find_problem(kind: str, operator: str, values: Sequence[Any]) -> str:
    """Say why a column cannot be compared with values; empty if it can."""
    if kind == "other":
        return "it can only be missing or not"
    if operator in _PATTERNS and kind != "text":
        return f"{operator} needs text"
    if kind == "true or false" and operator not in {"=", "!=", "in"}:
        return f"{operator} needs an order"
    wrong = [_FOUND[type(value)] for value in values if not isinstance(value, _TYPES[kind])]
    return f"it cannot be compared with {wrong[0]}" if wrong else ""


def _find_bounds(value: Any, dtype: pl.DataType) -> tuple[Any, Any]:
    """Find the least and the largest value of a column, as Polars stores it, that a value stands for.

    They are in reverse order if there are none, such as for 2.5 in a column of whole numbers.
    """
    if isinstance(value, Period):
        edges, zone = value[:2], getattr(dtype, "time_zone", None)
        unit = _UNITS.get(getattr(dtype, "time_unit", ""), Fraction(_DAY))
        start, stop = (math.ceil((edge if value.has_zone else _to_utc(edge, zone)) / unit) for edge in edges)
        return start, stop - 1
    if not isinstance(value, Decimal):
        return value, value
    if dtype.is_float():
        return float(value), float(value)
    steps = Fraction(value) * 10 ** getattr(dtype, "scale", 0)
    return max(min(math.ceil(steps), _MAX_STEPS), -_MAX_STEPS), max(min(math.floor(steps), _MAX_STEPS), -_MAX_STEPS)


def _to_utc(local: int, zone: str | None) -> int:
    """Convert a local time: if the clocks show it twice, the first; if they skip it, with the offset before."""
    if zone is None:
        return local
    times = pl.Series([local, local - _DAY], dtype=pl.Int64).cast(pl.Datetime("us"))
    instants = times.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null").to_physical()
    return int(instants[1] + _DAY if instants[0] is None else instants[0])
