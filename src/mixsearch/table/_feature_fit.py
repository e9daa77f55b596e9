"""Choose the columns of a table to use, and the scale of their features."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.partitions import Partitions
from mixsearch.errors import TextAmongNumbersWarning, warn_user
from mixsearch.table._features import CategoryFeatures, Features, NumberFeatures, VectorFeatures
from mixsearch.table._summaries import (
    MAX_LEVELS,
    MAX_SORTED,
    ColumnsPartition,
    ColumnSummary,
    Scale,
    TextKinds,
    read_columns_of_texts,
    sample_values,
    sum_deviations,
    summarize,
)

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


class FittedColumns(NamedTuple):
    """The features of each column, or the reason why it has none; and the columns, with texts read as numbers."""

    features: dict[str, Features | str]
    rows: Partitions[ColumnsPartition]


def fit_features(
    names: Sequence[str], rows: Partitions[ColumnsPartition], max_categories: int, *, keep_ids: bool
) -> FittedColumns:
    """Return the features of each column, or the reason why it has none.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    rows : Partitions of ColumnsPartition
    max_categories : int
        A column of text with more different values is left out.
    keep_ids : bool
        Use integers that look like ids.

    Returns
    -------
    FittedColumns

    Warns
    -----
    TextAmongNumbersWarning
        If a column of text is read as numbers, and some values are none.

    Notes
    -----
    Three passes over the rows: kinds and extremes, a sample for quantiles, means and variances; a further one if
    columns of text are numbers. The answer does not depend on the partitions.
    """
    summaries: tuple[ColumnSummary, ...] = rows.reduce(summarize).summaries.columns
    texts = [j for j, summary in enumerate(summaries) if _are_numbers(summary, max_categories)]
    if texts:
        for j in texts:
            _note_others(names[j], summaries[j].values.kinds)
        rows = rows.map(read_columns_of_texts, texts).persist()
        summaries = rows.reduce(summarize).summaries.columns
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
    if all(map(_is_number, levels)):
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
    rows: Partitions[ColumnsPartition],
    summaries: Sequence[ColumnSummary],
    indices: Sequence[int],
) -> list[NumberFeatures]:
    """Return the features of columns of numbers and dates."""
    if not indices:
        return []
    some = [summaries[j] for j in indices]
    present = np.array([each.n_rows - each.n_missing for each in some])
    samples = rows.reduce(sample_values, indices, (MAX_SORTED / present).tolist()).values.columns
    scales = [
        find_scale(np.sort(np.concatenate(sample)), each.values.low, each.values.high)
        for sample, each in zip(samples, some, strict=True)
    ]
    sums = rows.reduce(sum_deviations, indices, scales)
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


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
