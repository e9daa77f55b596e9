"""The columns of a table: what the first rows show, which have the text and the name, and which are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, cast

import polars as pl

from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.column_names import list_names, suggest_name
from mixsearch.io.read import SAMPLE_ROWS
from mixsearch.io.types import DATES, describe_type, find_types, flatten
from mixsearch.text.options import CorpusOptions, KeptColumns, list_text_columns

Role = Literal["text", "id", "title", "link", "date", "category", "number"]

# Usual names of a column of texts.
_TEXT_NAMES = ("text", "body", "content", "abstract", "review", "description", "message")
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
# Rows in which columns of numbers are looked for, and the ways to read text that show one.
_N_FIRST_ROWS = 100
_NUMBERS = ("integer", "number", "decimal comma")


@dataclass(frozen=True)
class ColumnSummary:
    """A column, as the first rows show it.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        Its type: text, integer, number, boolean, date, datetime, or another one as Polars names it.
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


def summarize_columns(
    sample: pl.DataFrame, readings: Sequence[str] = DATES, texts: Sequence[str] = (), id: str | None = None
) -> list[ColumnSummary]:
    """Return what the first rows of a table show about its columns."""
    rows = find_types(flatten(sample.head(SAMPLE_ROWS)), readings)
    summaries: list[ColumnSummary] = []
    for column in rows.get_columns():
        n_kept = sum(summary.is_kept for summary in summaries)
        summaries.append(_summarize(column, texts, id, may_be_kept=n_kept < _MAX_KEPT))
    return summaries


def _summarize(column: pl.Series, texts: Sequence[str], id: str | None, *, may_be_kept: bool) -> ColumnSummary:
    values = column.alias("").drop_nulls()
    shown = values.cast(pl.String)
    n_distinct, mean_length = shown.n_unique(), float(cast(float, shown.str.len_chars().mean()) or 0.0)
    role: Role | None = "text" if column.name in texts else "id" if column.name == id else None
    if role is None and len(values):
        role = _find_role(column.name, values, n_distinct, mean_length)
    return ColumnSummary(
        column.name,
        describe_type(column.dtype),
        role,
        may_be_kept and role in _KEPT_ROLES,
        len(column),
        column.null_count(),
        n_distinct,
        mean_length,
        shown[0] if len(shown) else None,
    )


def _find_role(name: str, values: pl.Series, n_distinct: int, mean_length: float) -> Role | None:
    word, kind = name.strip().lower(), describe_type(values.dtype)
    if kind in ("date", "datetime"):
        return "date"
    if kind == "boolean":
        return "category"
    if n_distinct == len(values) > 1 and (
        word in ("id", "uuid", "guid", "key") or word.endswith(("_id", "-id", " id"))
    ):
        return "id"
    if kind in ("integer", "number"):
        are_years = word in _YEARS and values.is_between(_FIRST_YEAR, _LAST_YEAR).all()
        return "date" if are_years else "number"
    if kind != "text":
        return None
    if values.str.contains(_LINK).all():
        return "link"
    if word in _TITLES and mean_length <= _MAX_TITLE:
        return "title"
    is_short = mean_length <= _MAX_CATEGORY
    are_few = n_distinct <= min(_MAX_CATEGORIES, max(1, len(values) // _ROWS_PER_CATEGORY))
    return "category" if is_short and are_few else None


@dataclass(frozen=True)
class Columns:
    """The columns that are read."""

    texts: tuple[str, ...]
    id: str | None
    kept: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys([*self.texts, *([] if self.id is None else [self.id]), *self.kept]))

    def check(self, names: Sequence[str], file: str) -> None:
        """Raise if a file lacks a column of the text or the id. Of columns that are kept, its values are missing."""
        for column in replace(self, kept=()).all:
            check_column(column, names, file)


def check_column(column: str, names: Sequence[str], file: str) -> None:
    """Raise an error that names the columns there are if a file lacks one."""
    if column not in names:
        error = SearchError(
            "No column {column!r} in {file!r}. Its columns are: {columns}.",
            code="column_missing",
            column=column,
            file=file,
            columns=list_names(names),
        )
        raise suggest_name(error, column, names)


def choose_columns(
    first: pl.DataFrame, readings: Sequence[str], options: CorpusOptions, file: str
) -> tuple[Columns, SearchWarning | None]:
    """Return the columns of the text and the id, and a note if the text column was guessed."""
    named = list_text_columns(options)
    if named:
        return Columns(named, options.id), None
    # Every value of CSV is text, but a column of numbers does not hold the texts.
    kinds = find_types(first.head(_N_FIRST_ROWS), [name for name in readings if name in _NUMBERS]).schema
    candidates = [name for name, kind in kinds.items() if describe_type(kind) == "text" and name != options.id]
    usual = [name for name in candidates if name.lower() in _TEXT_NAMES]
    if len(candidates) == 1:
        return Columns((candidates[0],), options.id), _note_guess(candidates[0], "the only column of strings", file)
    if len(usual) == 1:
        return Columns((usual[0],), options.id), _note_guess(usual[0], "a usual name for the text", file)
    raise SearchError(
        "{n_candidates} columns of {file!r} may hold the text. Set {argument} to one of its columns: {columns}.",
        code="unclear_text_column",
        n_candidates=len(candidates),
        file=file,
        argument=Option("text"),
        columns=list_names(first.columns),
    )


def choose_kept(
    first: pl.DataFrame, columns: Columns, keep: KeptColumns, file: str, readings: Sequence[str]
) -> tuple[str, ...]:
    """Return the columns to keep with the text; `first` has the first rows of all columns."""
    if keep is None:
        return ()
    if keep == "auto":
        summaries = summarize_columns(first, readings, columns.texts, columns.id)
        return tuple(summary.name for summary in summaries if summary.is_kept)
    for name in keep:
        check_column(name, first.columns, file)
    return tuple(dict.fromkeys(keep))


def note_left_out(names: Sequence[str], columns: Columns, file: str) -> list[SearchWarning]:
    """Return a note that names the columns that were not kept, if there are some."""
    used = {*columns.texts, columns.id, *columns.kept}
    left_out = [name for name in names if name not in used]
    note = SearchWarning(
        "These columns of {file!r} were not kept: {columns}. Set {argument} to keep others.",
        code="columns_not_kept",
        file=file,
        columns=list_names(left_out),
        argument=Option("keep"),
    )
    return [note] if left_out else []


def _note_guess(column: str, reason: str, file: str) -> SearchWarning:
    return SearchWarning(
        "The text is read from column {column!r} of {file!r}, {reason}. Set {argument} to read another column.",
        code="text_column_guessed",
        column=column,
        file=file,
        reason=reason,
        argument=Option("text"),
    )
