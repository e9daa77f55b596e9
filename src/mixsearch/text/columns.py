"""The columns of a table: what the first rows show, which have the text and the name, and which are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import polars as pl

from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.column_names import list_names, suggest_name
from mixsearch.io.read import SAMPLE_ROWS
from mixsearch.io.types import DATES, describe_type, find_types, flatten
from mixsearch.text.options import CorpusOptions

Role = Literal["text", "id", "title", "link", "date", "category", "number"]

# Usual names of a column of texts, of titles, of names, and of years.
_TEXT_NAMES = ("text", "body", "content", "abstract", "review", "description", "message")
_TITLES = ("title", "headline", "subject", "heading")
_IDS = ("id", "uuid", "guid", "key", "name")
_YEARS = ("year", "yr", "jahr", "annee", "ano", "anno")
_FIRST_YEAR, _LAST_YEAR = 1000, 2999
# Mean characters: a title is a line, a name and a category a few words; at least three rows share one on average.
_MAX_TITLE, _MAX_NAME, _MAX_CATEGORIES, _ROWS_PER_CATEGORY = 300, 60, 200, 3
# Columns are kept by default up to this number, and up to this mean number of characters.
MAX_KEPT, MAX_KEPT_CHARACTERS = 50, 300
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
    rows = find_types(unwrap(sample.head(SAMPLE_ROWS)), readings)
    summaries: list[ColumnSummary] = []
    for column in rows.get_columns():
        n_kept = sum(summary.is_kept for summary in summaries)
        summaries.append(_summarize(column, texts, id, may_be_kept=n_kept < MAX_KEPT))
    return summaries


def unwrap(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of plain columns; of lists with at most one element, the elements."""
    lists = [
        column.name
        for column in frame.get_columns()
        if isinstance(column.dtype, pl.List) and cast(int, column.list.len().max() or 0) <= 1
    ]
    return flatten(frame.with_columns(frame[name].list.first() for name in lists))


def _summarize(column: pl.Series, texts: Sequence[str], id: str | None, *, may_be_kept: bool) -> ColumnSummary:
    values = column.alias("").drop_nulls()
    shown = values.cast(pl.String)
    n_distinct, mean_length = shown.n_unique(), float(cast(float, shown.str.len_chars().mean()) or 0.0)
    role: Role | None = "text" if column.name in texts else None
    if role is None and len(values):
        role = _find_role(column.name, values, n_distinct, mean_length)
    if column.name == id and role != "title":  # titles that are names are kept, too
        role = "id"
    is_short = len(values) > 0 and mean_length <= MAX_KEPT_CHARACTERS
    return ColumnSummary(
        column.name,
        describe_type(column.dtype),
        role,
        may_be_kept and is_short and role not in ("text", "id"),
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
    if n_distinct == len(values) > 1 and _names_ids(word):
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
    are_few = n_distinct <= min(_MAX_CATEGORIES, max(1, len(values) // _ROWS_PER_CATEGORY))
    return "category" if mean_length <= _MAX_NAME and are_few else None


def _names_ids(word: str) -> bool:
    return word in _IDS or word.endswith(("_id", "-id", " id"))


def find_name_column(sample: pl.DataFrame, texts: Sequence[str]) -> str | None:
    """Return the column that names the documents: unique and short, called id, name, key or title."""
    rows = unwrap(sample)
    for is_usual in (_names_ids, _TITLES.__contains__):
        for column in rows.get_columns():
            shown = column.alias("").cast(pl.String)
            if column.name in texts or not is_usual(column.name.strip().lower()) or not len(shown) > 1:
                continue
            is_short = float(cast(float, shown.str.len_chars().mean()) or 0.0) <= _MAX_NAME
            if is_short and not shown.null_count() and shown.n_unique() == len(shown):
                return column.name
    return None


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

    def check(self, names: Sequence[str], file: str, id: str | None) -> None:
        """Raise if a file lacks a column of the text or the id that was asked for. Of others, values are missing."""
        for column in [*self.texts, *([] if id is None else [id])]:
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
) -> tuple[Columns, list[SearchWarning]]:
    """Return the columns to read, given the first rows of all, and notes about what was guessed and left out."""
    texts, notes = _choose_texts(first, readings, options, file)
    for name in [*texts, *([] if options.id is None else [options.id])]:
        check_column(name, first.columns, file)
    id = find_name_column(first, texts) if options.id is None and options.keep is not None else options.id
    if options.keep is None or not isinstance(options.keep, str):
        kept = tuple(dict.fromkeys(options.keep or ()))
        for name in kept:
            check_column(name, first.columns, file)
        return Columns(texts, id, kept), notes
    kept = tuple(summary.name for summary in summarize_columns(first, readings, texts, id) if summary.is_kept)
    if left_out := [name for name in first.columns if name not in (*texts, id, *kept)]:
        notes.append(
            SearchWarning(
                "These columns of {file!r} were not kept: {columns}. By default up to {n_columns} columns of at most "
                "{n_characters} characters on average are kept. Set {argument} to keep others.",
                code="columns_not_kept",
                file=file,
                columns=list_names(left_out),
                n_columns=MAX_KEPT,
                n_characters=MAX_KEPT_CHARACTERS,
                argument=Option("keep"),
            )
        )
    return Columns(texts, id, kept), notes


def _choose_texts(
    first: pl.DataFrame, readings: Sequence[str], options: CorpusOptions, file: str
) -> tuple[tuple[str, ...], list[SearchWarning]]:
    if options.text_columns:
        return options.text_columns, []
    # Every value of CSV is text, but a column of numbers does not hold the texts.
    kinds = find_types(first.head(_N_FIRST_ROWS), [name for name in readings if name in _NUMBERS]).schema
    candidates = [name for name, kind in kinds.items() if describe_type(kind) == "text" and name != options.id]
    usual = [name for name in candidates if name.lower() in _TEXT_NAMES]
    chosen, reason = (candidates, "the only column of strings") if len(candidates) == 1 else (usual, "a usual name")
    if len(chosen) == 1:
        note = SearchWarning(
            "The text is read from column {column!r} of {file!r}, {reason}. Set {argument} to read another column.",
            code="text_column_guessed",
            column=chosen[0],
            file=file,
            reason=reason,
            argument=Option("text"),
        )
        return (chosen[0],), [note]
    raise SearchError(
        "{n_candidates} columns of {file!r} may hold the text. Set {argument} to one of its columns: {columns}.",
        code="unclear_text_column",
        n_candidates=len(candidates),
        file=file,
        argument=Option("text"),
        columns=list_names(first.columns),
    )
