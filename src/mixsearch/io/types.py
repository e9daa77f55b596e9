"""Types of the columns of a table: text that is numbers, dates or booleans; values that have no type in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from mixsearch.io.values import is_missing, replace_surrogates, to_text
from mixsearch.machine import n_cores

# Values of a column of text that mean that there is none.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
# A number with a leading zero, such as a postcode, or with more digits than a float holds is a name.
NUMBER_PATTERN = r"^[-+]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?$"
_TIME = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[-+]\d{2}:?\d{2})?)?$"
# Values that decide which types are tried on a whole column.
_N_SAMPLE = 200
# The first and the last day that Python can hold, since 1970, and the steps of a day in the units of Polars.
_DAYS = date.min.toordinal() - date(1970, 1, 1).toordinal(), date.max.toordinal() - date(1970, 1, 1).toordinal()
_STEPS_PER_DAY = {"d": 1, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}

_FORMS = {
    "date": (r"^\d{4}-\d{2}-\d{2}$", "%Y-%m-%d"),
    "date with slashes": (r"^\d{4}/\d{1,2}/\d{1,2}$", "%Y/%m/%d"),
    "date with dots": (r"^\d{1,2}\.\d{1,2}\.\d{4}$", "%d.%m.%Y"),
    "month first": (r"^\d{1,2}/\d{1,2}/\d{4}$", "%m/%d/%Y"),
    "day first": (r"^\d{1,2}/\d{1,2}/\d{4}$", "%d/%m/%Y"),
}


def _read_date(text: pl.Expr, name: str) -> pl.Expr:
    dates = text.str.to_date(_FORMS[name][1], strict=False)
    # Without a day after the 12th, both orders of day and month are possible, and neither is known.
    return pl.when(dates.dt.day().max() > 12).then(dates) if name.endswith("first") else dates


def _read_time(text: pl.Expr, zone: str) -> pl.Expr:
    """Read ISO times of any precision, also mixed with dates: all with a zone, or all without."""
    full = text.str.replace("T", " ").str.replace("Z$", "+00:00").str.replace(r"^(.{10})$", "$1 00:00")
    full = full.str.replace(r"^(.{16})($|[-+])", "${1}:00$2").str.replace(r"([-+]\d{2})(\d{2})$", "$1:$2")
    return full.str.to_datetime(f"%Y-%m-%d %H:%M:%S%.f{zone}", time_unit="us", strict=False)


# Ways to read text: the pattern of its values, and the conversion, in which what cannot be read is null.
_READERS: dict[str, tuple[str, Callable[[pl.Expr], pl.Expr]]] = {
    "boolean": ("^(?i:true|false)$", lambda text: text.str.to_lowercase() == "true"),
    "integer": (r"^[-+]?(?:0|[1-9]\d{0,17})$", lambda text: text.cast(pl.Int64, strict=False)),
    "number": (rf"{NUMBER_PATTERN}|^[-+]?inf$", lambda text: text.cast(pl.Float64, strict=False)),
    "decimal comma": (r"^[-+]?\d*,?\d+$", lambda text: text.str.replace(",", ".", literal=True).cast(pl.Float64)),
    **{name: (pattern, partial(_read_date, name=name)) for name, (pattern, _) in _FORMS.items()},
    "time": (_TIME, partial(_read_time, zone="")),
    "time with zone": (_TIME, partial(_read_time, zone="%:z")),
}
DATES = (*_FORMS, "time", "time with zone")
NUMBERS = ("boolean", "integer", "number", *DATES)
NUMBERS_WITH_COMMA = (*NUMBERS, "decimal comma")


def map_columns(frame: pl.DataFrame, convert: Callable[[pl.Series], pl.Series]) -> pl.DataFrame:
    """Convert all columns, in threads. They lose their names meanwhile: Polars takes some for patterns."""
    with ThreadPoolExecutor(n_cores()) as pool:
        converted = pool.map(lambda column: convert(column.alias("")), frame.get_columns())
        return pl.DataFrame([column.alias(name) for name, column in zip(frame.columns, converted, strict=True)])


def find_types(frame: pl.DataFrame, readings: Sequence[str]) -> pl.DataFrame:
    """Return a table whose columns of text are numbers, booleans or dates where all of their values are.

    Where text may be numbers, as in CSV, marks of missing values are removed. All columns are tried together, since
    a table may have thousands of them.
    """
    columns = frame.get_columns()
    texts = pl.DataFrame([column.alias(str(j)) for j, column in enumerate(columns) if column.dtype == pl.String])
    marks = MISSING_MARKS if "integer" in readings else ()
    left = {name: _list_readings(texts[name], readings, marks) for name in texts.columns}
    values = texts.select(_remove(pl.col(name).str.strip_chars(), marks) for name, names in left.items() if names)
    converted: dict[str, pl.Series] = {}
    while tried := {name: names[0] for name, names in left.items() if names and name not in converted}:
        converted |= _convert(values, tried)
        left = {name: names[1:] for name, names in left.items()}
    if marks:
        converted |= texts.select(
            _remove(pl.col(name), marks) for name in texts.columns if name not in converted
        ).to_dict()
    return pl.DataFrame([converted.get(str(j), column).alias(column.name) for j, column in enumerate(columns)])


def _list_readings(column: pl.Series, readings: Sequence[str], marks: Sequence[str]) -> list[str]:
    """List the ways to read that the first values allow."""
    for values in (column.head(_N_SAMPLE), column.drop_nulls().head(_N_SAMPLE)):
        sample = [text.strip() for text in values.to_list() if text is not None and text.strip() not in marks]
        if sample:
            return [name for name in readings if all(re.match(_READERS[name][0], text) for text in sample)]
    return []


def _convert(texts: pl.DataFrame, tried: Mapping[str, str]) -> dict[str, pl.Series]:
    """Convert columns each in one way, and return those of which all values can be read."""
    readers = {name: _READERS[reading] for name, reading in tried.items()}
    is_read = texts.select(
        (pl.col(name).is_null() | (convert(pl.col(name)).is_not_null() & pl.col(name).str.contains(pattern))).all()
        for name, (pattern, convert) in readers.items()
    ).row(0, named=True)
    return texts.select(convert(pl.col(name)) for name, (_, convert) in readers.items() if is_read[name]).to_dict()


def _remove(text: pl.Expr, marks: Sequence[str]) -> pl.Expr:
    """Remove the marks of missing values."""
    return pl.when(~text.is_in(marks)).then(text) if marks else text


def describe_type(kind: pl.DataType) -> str:
    """Return the name of a type that people know; of others, that of Polars."""
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    if kind.is_integer() or kind.is_numeric():
        return "integer" if kind.is_integer() else "number"
    return str(kind.base_type()).lower()


def make_series(name: str, values: Iterable[Any]) -> pl.Series:
    """Return values of Python as a column; those that have no type in common become text, nested ones JSON."""
    listed = [None if is_missing(value) else value for value in values]
    try:
        series = pl.Series(name, listed, strict=False)
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        series = pl.Series(name, dtype=pl.Object)
    is_changed = series.dtype.is_nested() and not any(hasattr(value, "dtype") for value in listed)
    if (series.dtype in (pl.Object, pl.Int128, pl.Binary) and listed) or (is_changed and series.to_list() != listed):
        return pl.Series(name, [None if value is None else to_text(value) for value in listed], dtype=pl.String)
    return series


def make_frame(records: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return records as a table with all of their keys, of which each may have its own."""
    rows: dict[str, list[int]] = {}
    for row, record in enumerate(records):
        for name in record:
            rows.setdefault(name, []).append(row)
    columns = []
    for name, present in rows.items():
        values = make_series(replace_surrogates(name), [records[row][name] for row in present])
        places = pl.Series(np.full(len(records), -1)).scatter(present, range(len(present)))
        columns.append(values if len(present) == len(records) else values.gather(places.set(places < 0, None)))
    return pl.DataFrame(columns)


def flatten(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of plain columns: nested values as JSON, categories as text, dates that Python can hold."""
    return map_columns(frame, _flatten)


def _flatten(column: pl.Series) -> pl.Series:
    if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
        return pl.Series([None if value is None else to_text(value) for value in column.to_list()], dtype=pl.String)
    return column.cast(pl.String) if column.dtype in (pl.Categorical, pl.Enum, pl.Int128) else limit_dates(column)


def limit_dates(column: pl.Series) -> pl.Series:
    """Return a column without dates beyond the year 9999, which Python cannot hold: they are missing."""
    if column.dtype not in (pl.Date, pl.Datetime):
        return column
    steps = _STEPS_PER_DAY[getattr(column.dtype, "time_unit", "d")]
    # By the numbers: Polars ends with a panic for the year of some dates.
    first, last = max(_DAYS[0] * steps, -(2**63)), min((_DAYS[1] + 1) * steps, 2**63) - 1
    is_possible = column.to_physical().is_between(first, last)
    return column.set(~is_possible, None)
