"""Describe the columns of a table from its first rows, and choose those to keep with the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.types import allow_dates, find_column_types, flatten_types

Role = Literal["text", "id", "title", "link", "date", "category", "number"]

# Rows in which columns are looked at.
N_SAMPLE_ROWS = 2000
# Roles of the columns that are kept by default.
_KEPT_ROLES = ("title", "link", "date", "category", "number")
_TITLES = ("title", "headline", "subject", "heading")
_YEARS = ("year", "yr", "jahr", "annee", "ano", "anno")
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
# A title is a line, a category a few words that at least three rows share on average.
_MAX_TITLE, _MAX_CATEGORY = 300, 60
_MAX_CATEGORIES, _ROWS_PER_CATEGORY = 200, 3
# Tables of measurements or embeddings have hundreds of columns.
_MAX_KEPT = 30
_LINK = r"^(?:https?|ftp)://\S+$"


@dataclass(frozen=True)
class ColumnSummary:
    """A column, as the first rows show it.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        Its type, as PyArrow names it: string, int64, double, bool, date32[day], timestamp[us].
    role : {"text", "id", "title", "link", "date", "category", "number"} or None
        What it seems to hold.
    is_kept : bool
        Whether it is kept with the text by default.
    n_rows, n_missing, n_distinct : int
        The rows that were read, those without a value, and different values.
    mean_length : float
        Mean number of characters of the values, as text.
    example : str or None
        Its first value, as text.
    """

    name: str
    kind: str
    role: Role | None
    is_kept: bool
    n_rows: int
    n_missing: int
    n_distinct: int
    mean_length: float
    example: str | None


def summarize_columns(sample: Any, texts: Sequence[str] = (), id: str | None = None) -> list[ColumnSummary]:
    """Return what the first rows of a table show about its columns.

    Parameters
    ----------
    sample : pyarrow.RecordBatch
        The first rows. Columns of text that may become other types are marked by `allow_readings`.
    texts : sequence of str
        The text columns.
    id : str, optional
        The column that names the documents, if it is known.

    Returns
    -------
    list of ColumnSummary
        One for each column, in their order.
    """
    rows = find_column_types(flat := allow_dates(flatten_types(sample))).convert(flat)
    summaries: list[ColumnSummary] = []
    n_kept = 0
    for field in rows.schema:
        summary = _summarize(field.name, rows.column(field.name), texts, id, may_be_kept=n_kept < _MAX_KEPT)
        n_kept += summary.is_kept
        summaries.append(summary)
    return summaries


def _summarize(name: str, column: Any, texts: Sequence[str], id: str | None, *, may_be_kept: bool) -> ColumnSummary:
    values = column.drop_null()
    shown = _show(values)
    n_distinct, mean_length = len(set(shown)), sum(map(len, shown)) / max(len(values), 1)
    role: Role | None = "text" if name in texts else "id" if name == id else None
    if role is None and len(values):
        role = _find_role(name, values, n_distinct, mean_length)
    return ColumnSummary(
        name,
        str(column.type),
        role,
        may_be_kept and role in _KEPT_ROLES,
        len(column),
        column.null_count,
        n_distinct,
        mean_length,
        shown[0] if shown else None,
    )


def _show(values: Any) -> list[str]:
    """Return values as text."""
    arrow = import_pyarrow("Columns")
    try:
        texts: list[str] = values.cast(arrow.string()).to_pylist()
    except arrow.ArrowException:
        return list(map(str, values.to_pylist()))
    return texts


def _find_role(name: str, values: Any, n_distinct: int, mean_length: float) -> Role | None:
    types = import_pyarrow("Columns").types
    word, kind = name.strip().lower(), values.type
    if types.is_temporal(kind) and not (types.is_time(kind) or types.is_duration(kind)):
        return "date"
    if types.is_boolean(kind):
        return "category"
    if n_distinct == len(values) > 1 and (
        word in ("id", "uuid", "guid", "key") or word.endswith(("_id", "-id", " id"))
    ):
        return "id"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "date" if word in _YEARS and _are_years(values) else "number"
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return None
    return _find_text_role(word, values, n_distinct, mean_length)


def _find_text_role(word: str, values: Any, n_distinct: int, mean_length: float) -> Role | None:
    from pyarrow import compute

    if compute.all(compute.match_substring_regex(values, _LINK)).as_py():
        return "link"
    if word in _TITLES and mean_length <= _MAX_TITLE:
        return "title"
    is_short = mean_length <= _MAX_CATEGORY
    are_few = n_distinct <= min(_MAX_CATEGORIES, max(1, len(values) // _ROWS_PER_CATEGORY))
    return "category" if is_short and are_few else None


def _are_years(values: Any) -> bool:
    from pyarrow import compute

    bounds = compute.min_max(values).as_py()
    return bool(bounds["min"] >= _FIRST_YEAR and bounds["max"] <= _LAST_YEAR)
