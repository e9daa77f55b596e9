"""The columns of a table to use, each as features: chosen, scaled, encoded and decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks
from mixsearch.display import pluralize
from mixsearch.errors import Option, SearchError, TextAmongNumbersWarning, warn_user
from mixsearch.table.columns import Column, Kind, judge_text
from mixsearch.table.source import TableSource
from mixsearch.table.summaries import (
    MAX_LEVELS,
    MAX_SORTED,
    ColumnsChunk,
    ColumnSummary,
    Scale,
    TextKinds,
    read_columns_of_texts,
    sample_values,
    sum_deviations,
    summarize,
)
from mixsearch.table.tables import Table, find_columns

MISSING = "missing"

# A row with a missing value is two standard deviations from one without, however rare: not an outlier for that alone.
_INDICATOR_SCALE = 2.0
# The standard deviation of the noise that hides from a mixture of Gaussians that indicators have two values only, as a
# part of the distance between them. Otherwise each category would be a component.
_JITTER = 0.5
_NO_VALUES = "no values"
_CONSTANT = "constant"
# Missing values have a feature of their own from this share on.
_MIN_MISSING_SHARE = 0.01
# A category that nearly all rows share would put the others far away from them.
_MIN_CATEGORY_DEVIATION = 0.2
# Values further from the median, in robust deviations, are clipped, but at most 2 and this share of a column on
# either side: more of them are a group of rows, and its mean must come out in the user's units.
_MAX_DEVIATIONS = 10.0
_MAX_CLIPPED_SHARE = 0.002
# Quartiles give the robust deviation; if they are equal, as in a column with many zeros, quantiles further out.
_TAILS = (0.25, 0.1, 0.05, 0.01)
# A spread this small beside the values is rounding.
_ROUNDING = 1e-14
# An enumeration of fewer rows may be a coincidence.
_MIN_ENUMERATED = 10
_ID_NAME = re.compile(r"(?:.*[^a-zA-Z])?(?i:ids?|idx|index|key|uuid|guid|rowid)|.*[a-z]I[dD]|Unnamed: ?\d+|")
_NAMES_ROWS = "it names the rows"
_NOT_WANTED = "left out on request"
KIND_NAMES = {
    "number": "numbers",
    "date": "dates",
    "category": "categories",
    "vector": "vectors",
    "other": "other values",
}


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
    from_text: bool = False  # whether the column is text, nearly all of it numbers

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return (self.name,) if self.missing_share is None else (self.name, f"{self.name} {MISSING}")

    @property
    def jitter(self) -> list[float]:
        """The standard deviation of the noise of each feature for a mixture: none for numbers."""
        return [0.0] if self.missing_share is None else [0.0, _JITTER * _INDICATOR_SCALE]

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

    @property
    def jitter(self) -> list[float]:
        """The standard deviation of the noise of each feature for a mixture."""
        return [_JITTER * self.scale] * len(self.levels)

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

    @property
    def jitter(self) -> list[float]:
        """The standard deviation of the noise of each feature for a mixture: none for vectors."""
        return [0.0] * len(self.center)

    def prepare(self, column: Column) -> Array:
        """Return the values that `write` takes."""
        if column.kind == "empty":
            return np.full((len(column.values), len(self.center)), np.nan)
        length = column.values.shape[1]
        if length != len(self.center):
            raise SearchError(
                "The vectors of {column!r} have {expected} numbers, but {found} were given. Use the model that made "
                "them.",
                code="other_dimension",
                column=self.name,
                expected=len(self.center),
                found=length,
            )
        return column.values

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows, (n, m); zeros, the mean, for a missing vector."""
        out[:] = np.nan_to_num((values - self.center) / self.scale, nan=0.0, posinf=0.0, neginf=0.0)

    def to_units(self, features: Array) -> list[float]:
        """Return the vector of a point."""
        return list(map(float, self.center + self.scale * features))


Features = NumberFeatures | CategoryFeatures | VectorFeatures


def _to_date(days: float, is_whole: bool) -> date:
    """Return the date, or the date and time in UTC, of a number of days since 1970."""
    moment: date = (np.datetime64(round(days), "D") if is_whole else np.datetime64(round(days * 86_400), "s")).item()
    return moment


class FittedColumns(NamedTuple):
    """The features of each column, or the reason why it has none; and the columns, with texts read as numbers."""

    features: dict[str, Features | str]
    rows: Chunks[ColumnsChunk]


def fit_features(
    names: Sequence[str], rows: Chunks[ColumnsChunk], max_categories: int, *, keep_ids: bool
) -> FittedColumns:
    """Return the features of each column, or the reason why it has none.

    Notes
    -----
    Three passes over the rows: kinds and extremes, a sample for quantiles, means and variances; a further one if
    columns of text are numbers. The answer does not depend on the chunks.
    """
    summaries: tuple[ColumnSummary, ...] = rows.sum(summarize).summaries.columns
    texts = [j for j, summary in enumerate(summaries) if _are_numbers(summary, max_categories)]
    if texts:
        for j in texts:
            _note_others(names[j], summaries[j].values.kinds)
        rows = rows.map(read_columns_of_texts, texts).persist()
        summaries = rows.sum(summarize).summaries.columns
    fitted: dict[str, Features | str] = {}
    numbers: list[int] = []
    for j, (name, summary) in enumerate(zip(names, summaries, strict=True)):
        reason = _find_reason(name, summary, max_categories, keep_ids=keep_ids)
        if reason is None and summary.kind in ("number", "date"):
            numbers.append(j)
        fitted[name] = reason or _fit_counted(name, summary)
    for j, features in zip(numbers, _fit_numbers(names, rows, summaries, numbers), strict=True):
        fitted[names[j]] = replace(features, from_text=j in texts)
    return FittedColumns(fitted, rows)


def _are_numbers(summary: ColumnSummary, max_categories: int) -> bool:
    """Return whether a column of text, which is none of categories, is one of numbers."""
    if summary.kind != "category" or not summary.values.kinds.are_numbers:
        return False
    levels, has_more = list(summary.values.counts), summary.values.has_more
    return _find_category_reason(levels, has_more, summary, max_categories) is not None


def _note_others(column: str, kinds: TextKinds) -> None:
    n = kinds.counts["other"]
    if n:
        listed = ", ".join(map(repr, kinds.others)) + (", ..." if n > len(kinds.others) else "")
        warn_user(
            TextAmongNumbersWarning(
                "Column {column!r} has {n_values:,} values that are not numbers ({listed}): they count as missing."
                if n > 1
                else "Column {column!r} has one value that is not a number ({listed}): it counts as missing.",
                column=column,
                n_values=n,
                listed=listed,
                values=list(kinds.others),
            )
        )


def _find_reason(name: str, summary: ColumnSummary, max_categories: int, *, keep_ids: bool) -> str | None:
    """Return why a column has no features; None if it has."""
    values, n_present = summary.values, summary.n_rows - summary.n_missing
    if summary.kind == "other":
        return "values that are neither numbers, dates, text nor vectors of one length"
    if summary.kind == "empty":
        return _NO_VALUES
    if summary.kind == "category":
        return _find_category_reason(list(values.counts), values.has_more, summary, max_categories)
    if summary.kind == "vector":
        deviation = np.sqrt(values.squares / n_present / len(values.mean))
        return _CONSTANT if deviation <= _ROUNDING * values.largest else None
    if not keep_ids and summary.kind == "number" and _is_id(name, summary):
        return "an id: a different integer in every row"
    spread, size = values.high - values.low, max(abs(values.low), abs(values.high))
    return _CONSTANT if spread <= _ROUNDING * size else None


def _find_category_reason(levels: list[str], has_more: bool, summary: ColumnSummary, max_categories: int) -> str | None:
    n_present = summary.n_rows - summary.n_missing
    if len(levels) + (summary.n_missing > 0) == 1:
        return _CONSTANT
    if not has_more and len(levels) <= max(2, min(max_categories, n_present / 2)):
        return None
    if all(judge_text(level) in ("integer", "number", "digits") for level in levels):
        return "numbers stored as text: convert the column to numbers"
    different = f"more than {MAX_LEVELS:,}" if has_more else f"{len(levels):,}"
    return f"an id or free text: {different} different texts in {n_present:,} rows"


def _is_id(name: str, summary: ColumnSummary) -> bool:
    values, n = summary.values, summary.n_rows
    if not values.is_distinct or summary.n_missing:
        return False
    is_enumeration = n >= _MIN_ENUMERATED and values.low in (0, 1) and values.high - values.low == n - 1
    return bool(is_enumeration or _ID_NAME.fullmatch(name.strip()))


def _fit_counted(name: str, summary: ColumnSummary) -> Features | str:
    """Return the features of a column without numbers, from its summary."""
    values, n = summary.values, summary.n_rows
    if summary.kind == "vector":
        deviation = float(np.sqrt(values.squares / values.n / len(values.mean)))
        return VectorFeatures(name, values.mean, deviation)
    if summary.kind != "category":
        return _NO_VALUES
    levels: list[str | None] = [*sorted(values.counts), *([None] if summary.n_missing else [])]
    shares = np.array([summary.n_missing if level is None else values.counts[level] for level in levels]) / n
    deviation = float(np.sqrt(np.sum(shares * (1 - shares))))
    return CategoryFeatures(name, tuple(levels), shares, 1 / max(deviation, _MIN_CATEGORY_DEVIATION))


def _fit_numbers(
    names: Sequence[str],
    rows: Chunks[ColumnsChunk],
    summaries: Sequence[ColumnSummary],
    indices: Sequence[int],
) -> list[NumberFeatures]:
    """Return the features of columns of numbers and dates."""
    if not indices:
        return []
    some = [summaries[j] for j in indices]
    present = np.array([each.n_rows - each.n_missing for each in some])
    samples = rows.sum(sample_values, indices, (MAX_SORTED / present).tolist()).values.columns
    scales = [
        find_scale(np.sort(np.concatenate(sample)), each.values.low, each.values.high)
        for sample, each in zip(samples, some, strict=True)
    ]
    sums = rows.sum(sum_deviations, indices, scales)
    means = sums.deviations / present
    deviations = np.sqrt(np.maximum(sums.squares / present - means**2, 0))
    features = []
    for j, each, scale, mean, deviation in zip(indices, some, scales, means, deviations, strict=True):
        share = each.n_missing / each.n_rows
        features.append(
            NumberFeatures(
                names[j],
                each.kind,
                each.values.is_whole,
                scale.limits,
                scale.median,
                scale.median + scale.deviation * float(mean),
                scale.deviation * float(deviation),
                share if share >= _MIN_MISSING_SHARE else None,
            )
        )
    return features


def find_scale(ordered: Array, low: float, high: float) -> Scale:
    """Return the median, the robust standard deviation and the limits of values, which are sorted."""
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
    limits = min(median - reach, float(ordered[clipped])), max(median + reach, float(ordered[last - clipped]))
    return Scale(median, deviation, limits)


class ChosenColumns(NamedTuple):
    """The columns of a table that are used."""

    features: tuple[Features, ...]  # one for each column
    dropped: dict[str, str]  # the other columns, each with the reason
    rows: Chunks[ColumnsChunk]  # their values


def choose_columns(
    source: TableSource,
    columns: Iterable[Any] | None,
    without: Iterable[Any],
    id: str | None,
    vectors: str | None,
    max_categories: int,
) -> ChosenColumns:
    """Choose among the columns of a table, or among those that are wanted, and fit their features."""
    if vectors is not None:
        columns = [*(() if columns is None else _check_list("columns", columns)), vectors]
    wanted = range(len(source.names)) if columns is None else find_columns(source, _check_list("columns", columns))
    unwanted = {source.names[j] for j in find_columns(source, _check_list("without", without))}
    wanted = [j for j in wanted if source.names[j] not in unwanted]
    check_unique(source, wanted)
    named_by = set() if id is None else set(find_columns(source, [id]))
    indices = [j for j in wanted if j not in named_by]
    names = [source.names[j] for j in indices]
    rows = source.read(indices)
    _check_size(rows.n_rows)
    fitted, rows = fit_features(names, rows, max_categories, keep_ids=columns is not None) if names else ({}, rows)
    if vectors is not None:
        _check_vectors(str(vectors), fitted.get(str(vectors)))
    used = {name: each for name, each in fitted.items() if not isinstance(each, str)}
    dropped = {source.names[j]: _NAMES_ROWS for j in named_by}
    dropped |= {name: each for name, each in fitted.items() if isinstance(each, str)}
    _check_usable(used, dropped | dict.fromkeys(sorted(unwanted), _NOT_WANTED))
    rows = rows.map(_take_columns, [j for j, name in enumerate(names) if name in used])
    return ChosenColumns(tuple(used.values()), dropped, rows)


def _take_columns(chunk: ColumnsChunk, indices: Sequence[int]) -> ColumnsChunk:
    return ColumnsChunk(chunk.first, tuple(chunk.columns[j] for j in indices))


def _check_size(n_rows: int) -> None:
    if n_rows < 2:
        raise SearchError(
            "The table has {n_rows} " + pluralize(n_rows, "row") + ", but at least {needed} are needed.",
            code="too_few_rows",
            n_rows=n_rows,
            needed=2,
        )


def _check_vectors(column: str, features: Features | str | None) -> None:
    if isinstance(features, VectorFeatures):
        return
    found = (
        "it is left out" if features is None else features if isinstance(features, str) else KIND_NAMES[features.kind]
    )
    raise SearchError(
        "{argument} needs a column of vectors of one length, but {column!r} is not: {found}.",
        code="not_vectors",
        argument=Option("vectors"),
        column=column,
        found=found,
    )


def _check_usable(used: Mapping[str, Features], dropped: Mapping[str, str]) -> None:
    if not used:
        raise SearchError(
            "The table has no column that can be used: {reasons}. Columns of numbers, dates or a few categories "
            "are needed.",
            code="no_usable_column",
            reasons="; ".join(f"{name!r} ({each})" for name, each in dropped.items()) or "it is empty",
        )


def _check_list(argument: str, columns: Iterable[Any]) -> Iterable[Any]:
    if isinstance(columns, str):
        raise SearchError(
            "{argument} must be a list of names, got {value!r}. Pass [{value!r}].",
            code="bad_argument",
            argument=Option(argument),
            value=columns,
        )
    return columns


def check_unique(table: Table | TableSource, indices: Iterable[int]) -> None:
    """Raise if two of the columns have the same name."""
    repeated = sorted({table.names[j] for j in indices if table.names.count(table.names[j]) > 1})
    if repeated:
        raise SearchError(
            "The table has several columns with the name {names}. Rename or remove all but one.",
            code="repeated_columns",
            names=", ".join(map(repr, repeated)),
        )
