"""A column as an array of numbers or of codes, from pandas, Polars, NumPy, Arrow or Python."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow, is_missing
from mixsearch.data.files.types import MISSING_MARKS, NUMBER_PATTERN

Kind = Literal["number", "date", "category", "vector", "empty", "other"]

_MICROSECONDS_PER_DAY = 86_400 * 1_000_000
_NUMBER = re.compile(NUMBER_PATTERN)
# Digits that are no number, or not surely one: leading zeros, thousands separators, decimal commas.
_DIGITS = re.compile(r"[-+]?\d[\d\s.,'_]*")

TextKind = Literal["integer", "number", "digits", "missing", "other"]


@dataclass(frozen=True, slots=True)
class Column:
    """The values of a column."""

    kind: Kind
    values: Array
    levels: tuple[str, ...] = ()
    is_whole: bool = False

    @property
    def missing(self) -> Array:
        """Which values are missing, (n,)."""
        if self.kind == "vector":
            return np.asarray(~np.isfinite(self.values).all(axis=1))
        return self.values < 0 if self.kind == "category" else ~np.isfinite(self.values)


def convert_series(series: Any) -> Column:
    """Return a column of pandas, Polars, NumPy or Python."""
    dtype = getattr(series, "dtype", None)
    if str(dtype) == "category":
        return Column("category", series.cat.codes.to_numpy().astype(np.intp), _to_levels(series.cat.categories))
    if hasattr(series, "isna") and not isinstance(dtype, np.dtype) and getattr(dtype, "kind", "O") != "M":
        # The extension types of pandas have a missing value of their own.
        series = series.to_numpy(dtype=object, na_value=None)
    elif hasattr(series, "to_numpy"):
        series = series.to_numpy()
    elif not isinstance(series, np.ndarray):
        values, series = list(series), np.empty(len(series), dtype=object)
        series[:] = values
    return convert_array(series)


def convert_array(values: Array) -> Column:
    """Return a column of NumPy."""
    kind = values.dtype.kind
    if kind in "iuf":
        return Column("number", values, is_whole=kind != "f")
    if kind == "b":
        return Column("category", values.astype(np.intp), ("False", "True"))
    if kind == "M":
        return _convert_dates(values)
    if kind == "m":
        return Column("number", values / np.timedelta64(1, "D"))
    if kind in "OUST":
        return _convert_objects(values.tolist())
    return Column("other", np.full(len(values), np.nan))


def _convert_dates(values: Array) -> Column:
    # Microseconds as integers: a float of nanoseconds would lose the time of day.
    micros = values.astype("datetime64[us]").astype(np.int64)
    days = np.where(np.isnat(values), np.nan, micros / _MICROSECONDS_PER_DAY)
    return Column("date", days, is_whole=not np.any(np.mod(days[np.isfinite(days)], 1)))


def _convert_objects(values: list[Any]) -> Column:
    """Return a column of Python objects; None, NaN, NaT and NA are missing."""
    present = [None if is_missing(value) else value for value in values]
    types = {type(value) for value in present} - {type(None)}
    if not types:
        return Column("empty", np.full(len(values), np.nan))
    if all(issubclass(each, Real | Decimal) and not issubclass(each, bool | np.bool_) for each in types):
        numbers = np.array([np.nan if value is None else float(value) for value in present])
        return Column("number", numbers, is_whole=all(issubclass(each, int | np.integer) for each in types))
    if all(issubclass(each, timedelta) for each in types):
        return convert_array(np.array(present, dtype="timedelta64[us]"))
    if all(issubclass(each, date) for each in types):
        return _convert_dates(np.array([_to_datetime64(value) for value in present], dtype="datetime64[us]"))
    if any(issubclass(each, list | tuple | dict | set | np.ndarray | bytes) for each in types):
        return _convert_vectors(present)
    # One level for each text: True and "True" are the same.
    index: dict[str, int] = {}
    codes = [-1 if value is None else index.setdefault(str(value), len(index)) for value in present]
    return Column("category", np.array(codes, dtype=np.intp), tuple(index))


def judge_text(text: str) -> TextKind:
    """Classify a text: a number as in CSV, digits such as a postcode, a mark of a missing value, or other."""
    text = text.strip()
    if _NUMBER.match(text):
        return "integer" if text.lstrip("+-").isdecimal() else "number"
    if _DIGITS.fullmatch(text):
        return "digits"
    return "missing" if text in MISSING_MARKS else "other"


def read_texts(column: Column) -> Column:
    """Return a column of texts as numbers; other texts are missing."""
    if column.kind != "category":
        return column
    kinds = list(map(judge_text, column.levels))
    numbers = [
        float(level) if kind in ("integer", "number") else np.nan
        for level, kind in zip(column.levels, kinds, strict=True)
    ]
    # The last entry is for missing values, which have the code -1.
    return Column("number", np.array([*numbers, np.nan])[column.values], is_whole="number" not in kinds)


def _convert_vectors(values: list[Any]) -> Column:
    """Return a column of vectors, such as embeddings: lists or arrays of numbers, all of the same length."""
    length = next((len(value) for value in values if isinstance(value, list | tuple | np.ndarray)), 0)
    try:
        vectors = np.array([np.full(length, np.nan) if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        vectors = np.empty(0)
    if vectors.ndim != 2 or not length:
        return Column("other", np.full(len(values), np.nan))
    return Column("vector", vectors)


def _to_levels(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))


def _to_datetime64(value: Any) -> np.datetime64:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return np.datetime64(round(value.timestamp() * 1e6), "us")
    return np.datetime64(value, "us") if value is not None else np.datetime64("NaT", "us")


def convert_arrow(column: Any) -> Column:
    """Return a column of an Arrow table: a ChunkedArray."""
    arrow = import_pyarrow("Arrow tables")
    types, kind = arrow.types, column.type
    if types.is_dictionary(kind):
        return convert_arrow(column.cast(kind.value_type))
    if types.is_null(kind) or column.null_count == len(column):
        return Column("empty", np.full(len(column), np.nan))
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        numbers = column.cast(arrow.float64(), safe=False).to_numpy()
        return Column("number", numbers, is_whole=types.is_integer(kind))
    if types.is_date(kind) or types.is_timestamp(kind):
        micros = column.cast(arrow.timestamp("us", getattr(kind, "tz", None)), safe=False)
        return _convert_dates(micros.cast(arrow.timestamp("us")).to_numpy())
    if types.is_duration(kind):
        micros = column.cast(arrow.duration("us"), safe=False).to_numpy()
        return Column("number", micros / np.timedelta64(1, "D"))
    if types.is_boolean(kind):
        codes = column.cast(arrow.int64()).fill_null(-1).to_numpy()
        return Column("category", codes, ("False", "True"))
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        encoded = column.cast(arrow.large_string()).combine_chunks().dictionary_encode()
        codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
        return Column("category", codes.astype(np.intp), _to_levels(encoded.dictionary.to_pylist()))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return _convert_vectors(column.to_numpy(zero_copy_only=False).tolist())
    return Column("other", np.full(len(column), np.nan))
