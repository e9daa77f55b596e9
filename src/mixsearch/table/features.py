"""The columns of a table as features on one scale, or the reason why a column has none."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from mixsearch._typing import Array
from mixsearch.errors import SearchError, TextAmongNumbersWarning, warn_user
from mixsearch.table.columns import Column, Kind, TextKind, judge_text, read_texts
from mixsearch.table.rows import spread_rows

# A category that nearly all rows share would put the others far away from them.
MIN_CATEGORY_DEVIATION = 0.2
# Values further from the median, in robust deviations, are clipped, but at most 2 and this share of a column on
# either side: more of them are a group of rows.
MAX_DEVIATIONS = 10.0
MAX_CLIPPED_SHARE = 0.002
# Quartiles give the robust deviation; if they are equal, as in a column with many zeros, quantiles further out.
TAILS = (0.25, 0.1, 0.05, 0.01)
# Quantiles of more values come from a sample.
MAX_SORTED = 100_000
# A spread this small beside the values is rounding; squares of larger numbers overflow.
ROUNDING, MAX_MAGNITUDE = 1e-14, 1e150
# An enumeration of fewer rows may be a coincidence.
MIN_ENUMERATED = 10
# A column of text is one of numbers if at least this many texts, and this share of them, are numbers.
MIN_NUMBERS, MIN_NUMBERS_SHARE = 10, 0.95
MAX_LISTED = 3
ID_NAME = re.compile(r"(?:.*[^a-zA-Z])?(?i:ids?|idx|index|key|uuid|guid|rowid)|.*[a-z]I[dD]|Unnamed: ?\d+|")
NO_VALUES, CONSTANT = "no values", "constant"
KIND_NAMES = {
    "number": "numbers",
    "date": "dates",
    "category": "categories",
    "vector": "vectors",
    "other": "other values",
}


@dataclass(frozen=True, slots=True)
class NumberFeatures:
    """A column of numbers or dates as one standardised feature; missing values have the median."""

    name: str
    kind: Kind
    limits: tuple[float, float]
    median: float
    center: float
    scale: float  # units of the column in one of the feature
    from_text: bool = False  # whether the column is text, nearly all of it numbers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return (self.name,)

    def encode(self, column: Column) -> Array:
        """Compute the feature, (n, 1)."""
        values = column.values.astype(np.float64, copy=False)
        values = np.clip(np.where(np.isfinite(values), values, self.median), *self.limits)
        return np.asarray((values - self.center) / self.scale)[:, None]


@dataclass(frozen=True, slots=True)
class CategoryFeatures:
    """A column of categories: an indicator for each, centered, with a total variance of 1; missing values are 0."""

    name: str
    levels: tuple[str, ...]
    shares: Array  # of the levels
    scale: float
    kind: Kind = "category"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(f"{self.name}={level}" for level in self.levels)

    def encode(self, column: Column) -> Array:
        """Compute the features, (n, number of levels); zeros, the mean, for a missing or an unknown level."""
        rows = np.vstack([np.eye(len(self.levels)) - self.shares, np.zeros(len(self.levels))])
        index = {level: i for i, level in enumerate(self.levels)}
        # The last entry is for missing values, which have the code -1.
        codes = np.array([*(index.get(level, -1) for level in column.levels), -1])
        values = np.full(len(column.values), -1) if column.kind == "empty" else column.values
        return np.asarray(self.scale * rows[codes[values]])


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

    def encode(self, column: Column) -> Array:
        """Compute the features, (n, m); zeros, the mean, for a missing vector."""
        if column.kind == "empty":
            return np.zeros((len(column.values), len(self.center)))
        if column.values.shape[1] != len(self.center):
            raise SearchError(
                "The vectors of {column!r} have {expected} numbers, but {found} were given. Use the model that made "
                "them.",
                code="other_dimension",
                column=self.name,
                expected=len(self.center),
                found=column.values.shape[1],
            )
        features = (column.values - self.center) / self.scale
        return np.nan_to_num(features, nan=0.0, posinf=0.0, neginf=0.0)


Features = NumberFeatures | CategoryFeatures | VectorFeatures


def fit_features(name: str, column: Column, max_categories: int, *, keep_id: bool) -> Features | str:
    """Fit the features of a column, or find the reason why it has none."""
    present, n = ~column.missing, len(column.values)
    if column.kind == "other":
        return "values that are neither numbers, dates, text nor vectors of one length"
    if column.kind == "empty" or not present.any():
        return NO_VALUES
    if column.kind == "vector":
        return _fit_vectors(name, column.values[present])
    if column.kind == "category":
        counts = np.bincount(column.values[present], minlength=len(column.levels))
        levels = {column.levels[i]: int(counts[i]) for i in np.flatnonzero(counts)}
        reason = _find_category_reason(levels, int(present.sum()), max_categories)
        if reason is None:
            return _fit_categories(name, levels, n)
        return _fit_texts(name, column, levels, keep_id=keep_id) if _are_numbers(levels) else reason
    values = column.values[present]
    if not keep_id and column.is_whole and len(values) == n and _is_id(name, values):
        return "an id: a different integer in every row"
    return _fit_numbers(name, column.kind, values)


def _fit_texts(name: str, column: Column, levels: dict[str, int], *, keep_id: bool) -> Features | str:
    """Fit a column of text of which nearly all are numbers; the others are reported, and count as missing."""
    others = sorted(level for level in levels if judge_text(level) == "other")
    n_others = sum(levels[level] for level in others)
    if n_others:
        listed = ", ".join(map(repr, others[:MAX_LISTED])) + (", ..." if n_others > MAX_LISTED else "")
        warn_user(
            TextAmongNumbersWarning(
                "Column {column!r} has {n_values:,} values that are not numbers ({listed}): they count as missing."
                if n_others > 1
                else "Column {column!r} has one value that is not a number ({listed}): it counts as missing.",
                column=name,
                n_values=n_others,
                listed=listed,
                values=others[:MAX_LISTED],
            )
        )
    features = fit_features(name, read_texts(column), 0, keep_id=keep_id)
    if isinstance(features, NumberFeatures):
        return NumberFeatures(
            name, "number", features.limits, features.median, features.center, features.scale, from_text=True
        )
    return features


def _are_numbers(levels: dict[str, int]) -> bool:
    """Return whether nearly all texts are numbers. Integers and digits may be codes; integers not among other texts."""
    counts: Counter[TextKind] = Counter()
    for level, n in levels.items():
        counts[judge_text(level)] += n
    n_numbers, n_others = counts["integer"] + counts["number"], counts["other"]
    if counts["digits"] or not (n_others or counts["number"]):
        return False
    return n_numbers >= max(MIN_NUMBERS, MIN_NUMBERS_SHARE * (n_numbers + n_others))


def _find_category_reason(levels: dict[str, int], n_present: int, max_categories: int) -> str | None:
    if len(levels) == 1:
        return CONSTANT
    if len(levels) <= max(2, min(max_categories, n_present / 2)):
        return None
    if all(judge_text(level) in ("integer", "number", "digits") for level in levels):
        return "numbers stored as text: convert the column to numbers"
    return f"an id or free text: {len(levels):,} different texts in {n_present:,} rows"


def _is_id(name: str, values: Array) -> bool:
    low, high, n = values.min(), values.max(), len(values)
    if len(np.unique(values)) < n:
        return False
    is_enumeration = n >= MIN_ENUMERATED and low in (0, 1) and high - low == n - 1
    return bool(is_enumeration or ID_NAME.fullmatch(name.strip()))


def _fit_categories(name: str, levels: dict[str, int], n_rows: int) -> CategoryFeatures:
    names = sorted(levels)
    shares = np.array([levels[level] for level in names]) / sum(levels.values())
    deviation = float(np.sqrt(np.sum(shares * (1 - shares)) * sum(levels.values()) / n_rows))
    return CategoryFeatures(name, tuple(names), shares, 1 / max(deviation, MIN_CATEGORY_DEVIATION))


def _fit_vectors(name: str, values: Array) -> VectorFeatures | str:
    center = values.mean(axis=0)
    deviation = float(np.sqrt(np.mean((values - center) ** 2)))
    return CONSTANT if deviation <= ROUNDING * np.abs(values).max() else VectorFeatures(name, center, deviation)


def _fit_numbers(name: str, kind: Kind, values: Array) -> NumberFeatures | str:
    """Fit a column of numbers or dates from the values that are there."""
    values = np.clip(values.astype(np.float64, copy=False), -MAX_MAGNITUDE, MAX_MAGNITUDE)
    low, high = float(values.min()), float(values.max())
    if high - low <= ROUNDING * max(abs(low), abs(high)):
        return CONSTANT
    ordered = np.sort(values[spread_rows(len(values), MAX_SORTED)])
    last, median, deviation = len(ordered) - 1, float(np.median(ordered)), (high - low) / 6
    for tail in TAILS:
        lower, upper = (float(ordered[at]) for at in (int(tail * last), last - int(tail * last)))
        if upper - lower > ROUNDING * max(abs(lower), abs(upper)):
            deviation = (upper - lower) / (2 * NormalDist().inv_cdf(1 - tail))
            break
    clipped, reach = min(max(2, int(MAX_CLIPPED_SHARE * last)), last // 2), MAX_DEVIATIONS * deviation
    limits = min(median - reach, float(ordered[clipped])), max(median + reach, float(ordered[last - clipped]))
    inside = np.clip(values, *limits)
    unit = max(abs(low), abs(high))  # squares of tiny numbers are 0
    return NumberFeatures(name, kind, limits, median, float(inside.mean()), unit * float((inside / unit).std()))
