"""Types of the columns of a table: text that is numbers, dates or booleans; values that have no type in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import polars as pl

from mixsearch.data.threads import n_cores
from mixsearch.io.values import is_missing, to_text

# Values of a column of text that mean that there is none.
MISSING_MARKS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "None", "?")
# A number with a leading zero, such as a postcode, or with more digits than a float holds is a name.
NUMBER_PATTERN = r"^[-+]?(?:(?:0|[1-9]\d{0,14})(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?$"
_INTEGER = r"^[-+]?(?:0|[1-9]\d{0,17})$"
_DECIMAL_COMMA = r"^[-+]?\d*,?\d+$"
_TIME = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[-+]\d{2}:?\d{2})?)?$"
# Values that decide which types are tried on a whole column.
_N_SAMPLE = 200
# Mean bytes of a text that may be a mark of a missing value.
_MAX_SHORT = 50
_YEARS = 1, 9999

_DATES = {
    "date": (r"^\d{4}-\d{2}-\d{2}$", "%Y-%m-%d"),
    "date with slashes": (r"^\d{4}/\d{1,2}/\d{1,2}$", "%Y/%m/%d"),
    "date with dots": (r"^\d{1,2}\.\d{1,2}\.\d{4}$", "%d.%m.%Y"),
    "month first": (r"^\d{1,2}/\d{1,2}/\d{4}$", "%m/%d/%Y"),
    "day first": (r"^\d{1,2}/\d{1,2}/\d{4}$", "%d/%m/%Y"),
}


def _read_time(text: pl.Expr, zone: str) -> pl.Expr:
    """Read ISO times of any precision, also mixed with dates: all with a zone, or all without."""
    full = text.str.replace("T", " ").str.replace("Z$", "+00:00").str.replace(r"^(.{10})$", "$1 00:00")
    full = full.str.replace(r"^(.{16})($|[-+])", "${1}:00$2").str.replace(r"([-+]\d{2})(\d{2})$", "$1:$2")
    return full.str.to_datetime(f"%Y-%m-%d %H:%M:%S%.f{zone}", time_unit="us", strict=False)


# Ways to read text: the pattern of its values, and the conversion, in which what cannot be read is null.
_READERS: dict[str, tuple[str, Callable[[pl.Expr], pl.Expr]]] = {
    "boolean": ("^(?i:true|false)$", lambda text: text.str.to_lowercase() == "true"),
    "integer": (_INTEGER, lambda text: text.cast(pl.Int64, strict=False)),
    "number": (rf"{NUMBER_PATTERN}|^[-+]?inf$", lambda text: text.cast(pl.Float64, strict=False)),
    "decimal comma": (_DECIMAL_COMMA, lambda text: text.str.replace(",", ".", literal=True).cast(pl.Float64)),
    **{
        name: (pattern, lambda text, form=form: text.str.to_date(form, strict=False))  # type: ignore[misc]
        for name, (pattern, form) in _DATES.items()
    },
    "time": (_TIME, lambda text: _read_time(text, "")),
    "time with zone": (_TIME, lambda text: _read_time(text, "%:z")),
}
DATES = (*_DATES, "time", "time with zone")
NUMBERS = ("boolean", "integer", "number", *DATES)
NUMBERS_WITH_COMMA = (*NUMBERS, "decimal comma")


def find_types(frame: pl.DataFrame, readings: Sequence[str]) -> pl.DataFrame:
    """Return a table whose columns of text are numbers, booleans or dates where all of their values are.

    Where text may be numbers, as in CSV, marks of missing values are removed.
    """
    texts = [column for column in frame.get_columns() if column.dtype == pl.String]
    with ThreadPoolExecutor(n_cores()) as pool:
        return frame.with_columns(pool.map(lambda column: _find_type(column, readings), texts))


def _find_type(column: pl.Series, readings: Sequence[str]) -> pl.Series:
    has_marks = "integer" in readings
    sample = column.drop_nulls().head(_N_SAMPLE).str.strip_chars()
    sample = _remove_marks(sample).drop_nulls() if has_marks else sample
    tried = [name for name in readings if len(sample) and sample.str.contains(_READERS[name][0]).all()]
    found = (converted for name in tried if (converted := _convert(column, name, has_marks)) is not None)
    first, second = next(found, None), next(found, None) if {"month first", "day first"} <= set(tried) else None
    # If both orders of day and month are possible, neither is known.
    if first is None or second is not None:
        return _remove_marks(column) if has_marks else column
    return first


def _convert(column: pl.Series, reading: str, has_marks: bool) -> pl.Series | None:
    """Return a column of text read in some way; None if a value cannot be."""
    pattern, convert = _READERS[reading]
    for text in (column, (_remove_marks(column) if has_marks else column).str.strip_chars()):
        converted = text.to_frame().select(convert(pl.first())).to_series()
        if converted.null_count() > text.null_count():
            continue
        if reading == "integer":  # the conversion has checked all but leading zeros, which postcodes have
            is_valid = (text.filter(text.str.starts_with("0")).str.len_bytes() == 1).all()
        else:
            is_valid = text.drop_nulls().str.contains(pattern).all()
        if is_valid:
            return converted.alias(column.name)
    return None


def _remove_marks(column: pl.Series) -> pl.Series:
    """Return a column of text without marks of missing values; long texts are not looked at."""
    mean_length = cast(float | None, column.head(_N_SAMPLE).str.len_bytes().mean()) or 0.0
    return column if mean_length > _MAX_SHORT else column.set(column.is_in(MISSING_MARKS), None)


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
    is_array = any(hasattr(value, "dtype") for value in listed)
    try:
        series = pl.Series(name, listed, strict=False)
    except (pl.exceptions.PolarsError, OverflowError, TypeError, ValueError):
        series = pl.Series(name, dtype=pl.Object)
    is_changed = series.dtype.is_nested() and not is_array and series.to_list() != listed
    if (series.dtype in (pl.Object, pl.Int128, pl.Binary) and listed) or is_changed:
        return pl.Series(name, [None if value is None else to_text(value) for value in listed], dtype=pl.String)
    return series


def flatten(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of plain columns: nested values as JSON, categories as text, dates that Python can hold."""
    for column in frame.get_columns():
        if column.dtype.is_nested() or column.dtype in (pl.Object, pl.Binary):
            texts = [None if value is None else to_text(value) for value in column.to_list()]
            frame = frame.with_columns(pl.Series(column.name, texts, dtype=pl.String))
        elif column.dtype in (pl.Categorical, pl.Enum, pl.Int128):
            frame = frame.with_columns(column.cast(pl.String))
    return limit_dates(frame)


def limit_dates(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table without dates beyond the year 9999, which Python cannot hold: they are missing."""
    dates = [name for name, kind in frame.schema.items() if kind == pl.Date or isinstance(kind, pl.Datetime)]
    return frame.with_columns(pl.when(pl.col(name).dt.year().is_between(*_YEARS)).then(pl.col(name)) for name in dates)
