"""How one column becomes features, and back: numbers, dates and vectors are scaled, categories are indicators."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from statistics import NormalDist
from typing import Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.table._columns import Column, Kind

MISSING = "missing"

_NO_VALUES = "no values"

# Missing values have a feature of their own from this share on.
_MIN_MISSING_SHARE = 0.01
# A row with a missing value is two standard deviations from one without, however rare: not an outlier for that alone.
_INDICATOR_SCALE = 2.0
# A category that nearly all rows share would put the others far away from them.
_MIN_CATEGORY_DEVIATION = 0.2
# Values further from the median, in robust deviations, are clipped, but at most 2 and this share of a column on
# either side: more of them are a group of rows, and its mean must come out in the user's units.
_MAX_DEVIATIONS = 10.0
_MAX_CLIPPED_SHARE = 0.002
# Quartiles give the robust deviation; if they are equal, as in a column with many zeros, quantiles further out.
_TAILS = (0.25, 0.1, 0.05, 0.01)
# Order statistics of more rows come from a sample.
_MAX_SORTED = 100_000
# Squares of larger numbers overflow.
_MAX_MAGNITUDE = 1e150
# A spread this small beside the values is rounding.
_ROUNDING = 1e-14
# An enumeration of fewer rows may be a coincidence.
_MIN_ENUMERATED = 10
_ID_NAME = re.compile(r"(?:.*[^a-zA-Z])?(?i:ids?|idx|index|key|uuid|guid|rowid)|.*[a-z]I[dD]|Unnamed: ?\d+|")


@dataclass(frozen=True, slots=True)
class NumberFeatures:
    """A column of numbers or dates: one standardised feature, and one that marks missing values if there are many."""

    name: str
    kind: Kind
    is_whole: bool
    limits: tuple[float, float]
    median: float  # in place of missing values
    center: float
    scale: float  # units of the column in one of the feature
    missing_share: float | None  # None: not a feature

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return (self.name,) if self.missing_share is None else (self.name, f"{self.name} {MISSING}")

    def prepare(self, column: Column) -> Array:
        """Return the values that `write` takes."""
        return column.values

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, 1 or 2)."""
        numbers = values.astype(np.float64, copy=False)
        present = np.isfinite(numbers)
        clipped = np.clip(np.where(present, numbers, self.median), *self.limits)
        out[:, 0] = (clipped - self.center) / self.scale
        if self.missing_share is not None:
            out[:, 1] = _INDICATOR_SCALE * (~present - self.missing_share)

    def to_units(self, features: Array) -> Any:
        """Return the number or the date of a point."""
        value = self.center + self.scale * float(features[0])
        return _to_date(value, self.is_whole) if self.kind == "date" else value


@dataclass(frozen=True, slots=True)
class CategoryFeatures:
    """A column of categories: an indicator for each, centered, with a total variance of 1."""

    name: str
    levels: tuple[str | None, ...]  # None: missing
    shares: Array  # of the levels
    scale: float
    kind: Kind = "category"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{self.name} {MISSING}" if each is None else f"{self.name}={each}" for each in self.levels)

    def prepare(self, column: Column) -> Array:
        """Return the index of each row's level, and their number for a level that the fit did not have."""
        unknown = len(self.levels)
        index = {level: i for i, level in enumerate(self.levels)}
        # The last entry is for missing values, which have the code -1.
        codes = np.array([index.get(level, unknown) for level in (*column.levels, None)])
        return codes[np.full(len(column.values), -1) if column.kind == "empty" else column.values]

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, number of levels); zeros, the mean, for an unknown level."""
        rows = np.vstack([np.eye(len(self.levels)) - self.shares, np.zeros(len(self.levels))])
        out[:] = (self.scale * rows)[values]

    def to_units(self, features: Array) -> dict[str, float]:
        """Return the share of each category at a point, largest first."""
        shares = np.clip(features / self.scale + self.shares, 0, 1)
        shares = shares / max(shares.sum(), np.finfo(float).tiny)
        order = np.argsort(-shares, kind="stable")
        return {MISSING if self.levels[i] is None else str(self.levels[i]): float(shares[i]) for i in order}


@dataclass(frozen=True, slots=True)
class VectorFeatures:
    """A column of vectors, such as embeddings: centered, on one scale, with an average variance of 1."""

    name: str
    center: Array  # (m,)
    scale: float
    kind: Kind = "vector"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{self.name}[{i}]" for i in range(len(self.center)))

    def prepare(self, column: Column) -> Array:
        """Return the values that `write` takes."""
        return np.full((len(column.values), len(self.center)), np.nan) if column.kind == "empty" else column.values

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, m); zeros, the mean, for a missing vector."""
        out[:] = np.nan_to_num((values - self.center) / self.scale, nan=0.0, posinf=0.0, neginf=0.0)

    def to_units(self, features: Array) -> list[float]:
        """Return the vector of a point."""
        return list(map(float, self.center + self.scale * features))


Features = NumberFeatures | CategoryFeatures | VectorFeatures


def fit_features(name: str, column: Column, max_categories: int, *, keep_ids: bool) -> Features | str:
    """Return the features of a column, or the reason why it has none."""
    if column.kind == "other":
        return "values that are neither numbers, dates, text nor vectors of one length"
    if column.kind == "empty":
        return _NO_VALUES
    if column.kind == "category":
        return _fit_category(name, column, max_categories)
    if column.kind == "vector":
        return _fit_vectors(name, column)
    if not keep_ids and column.kind == "number" and _is_id(name, column):
        return "an id: a different integer in every row"
    return _fit_number(name, column)


def _fit_vectors(name: str, column: Column) -> Features | str:
    vectors = column.values[~column.missing]
    if not len(vectors):
        return _NO_VALUES
    scale = float(np.sqrt(np.mean(vectors.var(axis=0))))
    if scale <= _ROUNDING * float(np.abs(vectors).max()):
        return "constant"
    return VectorFeatures(name, vectors.mean(axis=0), scale)


def _is_id(name: str, column: Column) -> bool:
    values = column.values
    if not column.is_whole or column.missing.any():
        return False
    n, low, high = len(values), values.min(), values.max()
    is_enumeration = n >= _MIN_ENUMERATED and low in (0, 1) and high - low == n - 1
    return bool(is_enumeration or _ID_NAME.fullmatch(name.strip())) and len(np.unique(values)) == n


def _fit_number(name: str, column: Column) -> Features | str:
    numbers = np.array(column.values, dtype=np.float64)  # next to each other in memory, unlike a column of an array
    present = np.isfinite(numbers)
    share = 1 - float(present.mean())
    values = numbers[present] if share else numbers
    if not len(values):
        return _NO_VALUES
    np.clip(values, -_MAX_MAGNITUDE, _MAX_MAGNITUDE, out=values)
    low, high = float(values.min()), float(values.max())
    if high - low <= _ROUNDING * max(abs(low), abs(high)):
        return "constant"
    median, deviation, limits = _find_limits(values, low, high)
    # In robust deviations from the median, so that neither squares nor differences of large numbers lose digits.
    deviations = (np.clip(values, *limits) - median) / deviation
    center, scale = median + deviation * float(deviations.mean()), deviation * float(deviations.std())
    is_feature = share >= _MIN_MISSING_SHARE
    return NumberFeatures(
        name, column.kind, column.is_whole, limits, median, center, scale, share if is_feature else None
    )


def _find_limits(values: Array, low: float, high: float) -> tuple[float, float, tuple[float, float]]:
    """Return the median, the robust standard deviation and the values at which a column is clipped."""
    if len(values) > _MAX_SORTED:
        ordered = np.sort(values[np.random.default_rng(0).integers(len(values), size=_MAX_SORTED)])
    else:
        ordered = np.sort(values)
    last = len(ordered) - 1
    median, deviation = float(np.median(ordered)), (high - low) / 6
    for tail in _TAILS:
        skipped = int(tail * last)
        lower, upper = float(ordered[skipped]), float(ordered[last - skipped])
        if upper - lower > _ROUNDING * max(abs(lower), abs(upper)):
            deviation = (upper - lower) / (2 * NormalDist().inv_cdf(1 - tail))
            break
    clipped = min(max(2, int(_MAX_CLIPPED_SHARE * last)), last // 2)
    reach = _MAX_DEVIATIONS * deviation
    return (
        median,
        deviation,
        (min(median - reach, float(ordered[clipped])), max(median + reach, float(ordered[last - clipped]))),
    )


def _fit_category(name: str, column: Column, max_categories: int) -> Features | str:
    missing = column.missing
    counts = np.bincount(column.values[~missing], minlength=len(column.levels))
    found = [column.levels[i] for i in np.flatnonzero(counts)]
    n_missing, n = int(missing.sum()), len(column.values)
    if not found:
        return _NO_VALUES
    if len(found) + (n_missing > 0) == 1:
        return "constant"
    if len(found) > max(2, min(max_categories, (n - n_missing) / 2)):
        if all(map(_is_number, found)):
            return "numbers stored as text: convert the column to numbers"
        return f"an id or free text: {len(found):,} different texts in {n - n_missing:,} rows"
    counted = dict(zip(column.levels, counts.tolist(), strict=True))
    levels: list[str | None] = [*sorted(found), *([None] if n_missing else [])]
    shares = np.array([n_missing if level is None else counted[level] for level in levels]) / n
    deviation = float(np.sqrt(np.sum(shares * (1 - shares))))
    return CategoryFeatures(name, tuple(levels), shares, 1 / max(deviation, _MIN_CATEGORY_DEVIATION))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _to_date(days: float, is_whole: bool) -> date:
    """Return the date, or the date and time in UTC, of a number of days since 1970."""
    moment: date = (np.datetime64(round(days), "D") if is_whole else np.datetime64(round(days * 86_400), "s")).item()
    return moment
