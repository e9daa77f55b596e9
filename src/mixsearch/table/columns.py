"""A column as an array of numbers or of codes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import Any, Literal, cast

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.io.types import MISSING_MARKS, NUMBER_PATTERN

Kind = Literal["number", "date", "category", "vector", "empty", "other"]

_MICROSECONDS_PER_DAY = 86_400 * 1_000_000
_NUMBER = re.compile(NUMBER_PATTERN)
# Digits that are not a number, or not surely one: leading zeros, thousands separators, decimal commas.
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


def convert(series: pl.Series) -> Column:
    """Return a column of Polars as numbers or codes."""
    series, kind = series.alias(""), series.dtype  # Polars takes some names for patterns
    if series.null_count() == len(series):
        return Column("empty", np.full(len(series), np.nan))
    if kind.is_numeric():
        return Column("number", series.cast(pl.Float64).to_numpy() if kind.is_decimal() else series.to_numpy(),
                      is_whole=kind.is_integer())  # fmt: skip
    if kind == pl.Date or isinstance(kind, pl.Datetime):
        days = series.cast(pl.Datetime("us")).to_physical().to_numpy() / _MICROSECONDS_PER_DAY
        return Column("date", days, is_whole=not np.any(np.mod(days[np.isfinite(days)], 1)))
    if isinstance(kind, pl.Duration):
        return Column("number", series.cast(pl.Duration("us")).to_physical().to_numpy() / _MICROSECONDS_PER_DAY)
    if kind == pl.Boolean:
        return Column("category", series.cast(pl.Int64).fill_null(-1).to_numpy(), ("False", "True"))
    if kind in (pl.String, pl.Categorical, pl.Enum):
        texts = series.cast(pl.String)
        levels = texts.drop_nulls().unique(maintain_order=True)
        codes = texts.replace_strict(levels, range(len(levels)), default=-1, return_dtype=pl.Int64)
        return Column("category", codes.to_numpy(), tuple(levels.to_list()))
    if isinstance(kind, pl.List | pl.Array) and cast(Any, kind).inner.is_numeric():
        return _convert_vectors(series)
    return Column("other", np.full(len(series), np.nan))


def _convert_vectors(series: pl.Series) -> Column:
    """Return a column of vectors, such as embeddings: lists of numbers, all of the same length."""
    lists = series.cast(pl.List(pl.Float64))
    lengths = lists.list.len().drop_nulls().unique()
    if len(lengths) != 1 or not lengths[0]:
        return Column("other", np.full(len(series), np.nan))
    vectors = np.full((len(series), lengths[0]), np.nan)
    vectors[lists.is_not_null().to_numpy()] = lists.drop_nulls().explode().to_numpy().reshape(-1, lengths[0])
    return Column("vector", vectors)


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


def days_to_date(days: float, is_whole: bool) -> date:
    """Return the date, or the date and time in UTC, of a number of days since 1970."""
    moment: date = (np.datetime64(round(days), "D") if is_whole else np.datetime64(round(days * 86_400), "s")).item()
    return moment
