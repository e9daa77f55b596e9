"""Encode a table as features on one scale."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from mixsearch._typing import Array
from mixsearch.core.validation import check_positive_int
from mixsearch.display import pluralize
from mixsearch.errors import SearchError, TextAmongNumbersWarning, warn_user
from mixsearch.table.columns import Column, Kind, judge_text, read_texts
from mixsearch.table.rows import spread_rows
from mixsearch.table.tables import Table, find_columns, open_table


@dataclass(frozen=True)
class Tuning:
    """What is extreme, rare or a number; tested on planted columns."""

    max_deviations: float = 10.0  # from the median; values further away are clipped ...
    max_clipped: float = 0.002  # ... at most this share of a column on either side: more of them are a group of rows
    min_deviation: float = 0.2  # of a category that nearly all rows share, so that other rows are not outliers
    min_numbers: float = 0.95  # share of numbers in a column of text that is read as numbers


TUNING = Tuning()
# Quantiles of more values come from a sample.
MAX_SORTED = 100_000
# A spread this small beside the values is rounding; squares of larger numbers overflow.
ROUNDING, MAX_MAGNITUDE = 1e-14, 1e150
# An enumeration of fewer rows, or fewer numbers among texts, may be a coincidence.
MIN_COUNT = 10
MAX_LISTED = 3
ID_NAME = re.compile(r"(?:.*[^a-zA-Z])?(?i:ids?|idx|index|key|uuid|guid|rowid)|.*[a-z]I[dD]|Unnamed: ?\d+|")
KIND_NAMES = {
    "number": "numbers",
    "date": "dates",
    "category": "categories",
    "vector": "vectors",
    "other": "other values",
}


@dataclass(frozen=True, slots=True)
class Features:
    """A column as features on one scale: a number, the indicators of categories, or a vector."""

    name: str
    kind: Kind
    names: tuple[str, ...]  # of the features
    center: Array  # (m,)
    scale: float  # units of the column in one of the features
    fill: Array  # for missing values, (m,): the median of numbers, or the mean
    limits: tuple[float, float] = (-np.inf, np.inf)
    levels: tuple[str, ...] = ()
    from_text: bool = False  # whether the column is text, nearly all of it numbers

    def read(self, column: Column) -> Column:
        """Return a column as the fit read it, if it is of the same kind."""
        column = read_texts(column) if self.from_text else column
        if column.kind not in (self.kind, "empty"):
            raise SearchError(
                "The column {column!r} had {expected} at the fit, but has {found} now.",
                code="other_kind",
                column=self.name,
                expected=KIND_NAMES[self.kind],
                found=KIND_NAMES[column.kind],
            )
        return column

    def encode(self, column: Column) -> Array:
        """Compute the features, (n, m)."""
        column = self.read(column)
        values = column.values if column.kind == "vector" else column.values[:, None]
        if column.kind == "category":
            places = {level: i for i, level in enumerate(self.levels)}
            # The last one is of missing values, which have the code -1, and of unknown ones.
            place = np.array([*(places.get(level, -1) for level in column.levels), -1])
            values = np.vstack([np.eye(len(self.levels)), np.full(len(self.levels), np.nan)])[place[column.values]]
        if values.shape[1] != len(self.names) and column.kind == "vector":
            raise SearchError(
                "The vectors of {column!r} have {expected} numbers, but {found} were given. Use the model that made "
                "them.",
                code="other_dimension",
                column=self.name,
                expected=len(self.names),
                found=values.shape[1],
            )
        present = np.isfinite(values) & ~column.missing[:, None]
        values = np.where(present, np.clip(values, *self.limits), self.fill)
        return np.asarray((values - self.center) / self.scale)


class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn the columns of a table into features on one scale.

    Numbers and dates are standardised, and the indicators of a column of categories have a total variance of 1. A
    missing value is neutral: it has the median, or the mean of the indicators. Ids, free text and constant columns are
    left out. Text of which at least 95% are numbers is read as numbers; other values count as missing.

    `columns_` are the columns in use, `dropped_columns_` the others, each with the reason.
    """

    def __init__(self, max_categories: int = 20) -> None:
        self.max_categories = max_categories

    def fit(
        self,
        table: Any,
        y: None = None,
        *,
        columns: Iterable[Any] | None = None,
        without: Iterable[Any] = (),
        id: str | None = None,
    ) -> Self:
        """Find the columns to use, their kinds and their scales."""
        check_positive_int("max_categories", self.max_categories)
        opened = open_table(table)
        if opened.n_rows < 2:
            raise SearchError(
                "The table has {n_rows} " + pluralize(opened.n_rows, "row") + " (n_samples = {n_rows}), but at least "
                "{needed} are needed.",
                code="too_few_rows",
                n_rows=opened.n_rows,
                needed=2,
            )
        names = opened.names
        unwanted = {names[j] for j in find_columns(opened, without, "without")}
        dropped = {} if id is None else {names[j]: "it names the rows" for j in find_columns(opened, [id])}
        features: dict[str, Features] = {}
        for j in range(len(names)) if columns is None else find_columns(opened, columns, "columns"):
            if names[j] in dropped or names[j] in unwanted:
                continue
            fitted = fit_features(names[j], opened.get(j), self.max_categories, keep_id=columns is not None)
            if isinstance(fitted, str):
                dropped[names[j]] = fitted
            else:
                features[names[j]] = fitted
        if not features:
            reasons = dropped | dict.fromkeys(sorted(unwanted), "left out on request")
            raise SearchError(
                "The table has no column that can be used: {reasons}. Columns of numbers, dates or a few categories "
                "are needed.",
                code="no_usable_column",
                reasons="; ".join(f"{name!r} ({reason})" for name, reason in reasons.items()) or "it is empty",
            )
        self.dropped_columns_ = dropped
        self._features = features
        self._n_columns, self._is_named = len(names), opened.is_named
        self.columns_ = tuple(features)
        self.feature_names_ = tuple(name for each in features.values() for name in each.names)
        return self

    def transform(self, table: Any) -> Array:
        """Compute the features of the rows of a table with the columns of the fit, (n, n_features)."""
        opened = open_table(table)
        indices = self._find_fitted(opened)
        return np.hstack([each.encode(opened.get(j)) for each, j in zip(self._features.values(), indices, strict=True)])

    def get_column(self, table: Any, name: str) -> Column:
        """Return one column of a table as the fit read it: text of which nearly all is numbers becomes numbers."""
        opened = open_table(table)
        column = opened.get(find_columns(opened, [name])[0])
        return self._features[name].read(column) if name in self._features else column

    def _find_fitted(self, table: Table) -> list[int]:
        """Find the indices of the columns of the fit."""
        missing = [name for name in self.columns_ if name not in table.names]
        is_other_array = not (table.is_named or self._is_named) and len(table.names) != self._n_columns
        if missing or is_other_array:
            raise SearchError(
                "The table must have the columns of the fit. It has {n_columns}, the fit had {n_fitted}; missing: "
                "{missing}.",
                code="other_columns",
                n_columns=len(table.names),
                n_fitted=self._n_columns,
                missing=", ".join(missing) or "none",
            )
        return find_columns(table, self.columns_)


def fit_features(name: str, column: Column, max_categories: int, *, keep_id: bool) -> Features | str:
    """Fit the features of a column, or find the reason why it has none."""
    present = ~column.missing
    values, kind = column.values[present], column.kind
    if kind == "other":
        return "values that are neither numbers, dates, text nor vectors of one length"
    if not len(values):
        return "no values"
    if kind == "category":
        return _fit_categories(name, column, max_categories, keep_id=keep_id)
    if not keep_id and column.is_whole and present.all() and _is_id(name, values):
        return "an id: a different integer in every row"
    values = np.clip(values.astype(np.float64, copy=False), -MAX_MAGNITUDE, MAX_MAGNITUDE)
    unit = float(np.abs(values).max())  # squares of tiny numbers are 0
    if np.ptp(values, axis=0).max() <= ROUNDING * unit:
        return "constant"
    if kind == "vector":
        center, names = values.mean(axis=0), tuple(f"{name}[{i}]" for i in range(values.shape[1]))
        scale = unit * float(np.sqrt(np.mean(((values - center) / unit) ** 2)))
        return Features(name, kind, names, center, scale, center)
    limits, median = _find_limits(values)
    values = np.clip(values, *limits)
    center, unit = np.array([values.mean()]), float(np.abs(values).max())
    return Features(name, kind, (name,), center, unit * float((values / unit).std()), np.array([median]), limits)


def _fit_categories(name: str, column: Column, max_categories: int, *, keep_id: bool) -> Features | str:
    """Fit the indicators of categories; text of which nearly all is numbers is read as numbers."""
    counts = np.bincount(column.values[~column.missing], minlength=len(column.levels))
    levels = {column.levels[i]: int(counts[i]) for i in np.flatnonzero(counts)}
    n_present = sum(levels.values())
    if len(levels) == 1:
        return "constant"
    if len(levels) <= max(2, min(max_categories, n_present / 2)):
        names = tuple(sorted(levels))
        shares = np.array([levels[level] for level in names]) / n_present
        scale = max(float(np.sqrt(np.sum(shares * (1 - shares)))), TUNING.min_deviation)
        features = tuple(f"{name}={level}" for level in names)
        return Features(name, "category", features, shares, scale, shares, levels=names)
    kinds = {level: judge_text(level) for level in levels}
    n = {kind: sum(levels[level] for level in levels if kinds[level] == kind) for kind in set(kinds.values())}
    n_numbers, n_others = n.get("integer", 0) + n.get("number", 0), n.get("other", 0)
    # Digits may be codes, and so may integers that are not among other texts.
    may_be_codes = "digits" in n or not ("other" in n or "number" in n)
    if may_be_codes or n_numbers < max(MIN_COUNT, TUNING.min_numbers * (n_numbers + n_others)):
        if not n_others and "missing" not in n:
            return "numbers stored as text: convert the column to numbers"
        return f"an id or free text: {len(levels):,} different texts in {n_present:,} rows"
    if n_others:
        _warn_of_texts(name, sorted(level for level in levels if kinds[level] == "other"), n_others)
    fitted = fit_features(name, read_texts(column), max_categories, keep_id=keep_id)
    return fitted if isinstance(fitted, str) else replace(fitted, from_text=True)


def _warn_of_texts(name: str, texts: list[str], n_values: int) -> None:
    """Report texts in a column of numbers: they count as missing."""
    listed = ", ".join(map(repr, texts[:MAX_LISTED])) + (", ..." if n_values > MAX_LISTED else "")
    warn_user(
        TextAmongNumbersWarning(
            "Column {column!r} has {n_values:,} values that are not numbers ({listed}): they count as missing."
            if n_values > 1
            else "Column {column!r} has one value that is not a number ({listed}): it counts as missing.",
            column=name,
            n_values=n_values,
            listed=listed,
            values=texts[:MAX_LISTED],
        )
    )


def _is_id(name: str, values: Array) -> bool:
    low, high, n = values.min(), values.max(), len(values)
    if len(np.unique(values)) < n:
        return False
    is_enumeration = n >= MIN_COUNT and low in (0, 1) and high - low == n - 1
    return bool(is_enumeration or ID_NAME.fullmatch(name.strip()))


def _find_limits(values: Array) -> tuple[tuple[float, float], float]:
    """Find the limits that extreme values are clipped to, and the median: the deviation is that of the inner values."""
    ordered = np.sort(values[spread_rows(len(values), MAX_SORTED)])
    last = len(ordered) - 1
    n_clipped = min(max(2, int(TUNING.max_clipped * last)), last // 2)
    inner = ordered[n_clipped : last - n_clipped + 1]
    median, unit = float(np.median(inner)), float(np.abs(inner).max())
    deviation = unit * float((inner / unit).std()) if unit else 0.0
    if deviation <= ROUNDING * unit:
        return (-np.inf, np.inf), median
    reach = TUNING.max_deviations * deviation
    return (min(median - reach, float(inner[0])), max(median + reach, float(inner[-1]))), median
