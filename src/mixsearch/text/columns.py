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


@dataclass(frozen=True)
class ColumnSummary:
    """A column, as the first rows show it."""

    name: str
    kind: str  # text, integer, number, boolean, date, datetime, or another type as Polars names it
    role: Role | None  # what it seems to hold
    is_kept: bool  # whether it is kept with the text by default
    n_rows: int  # of those that were read
    n_missing: int
    n_distinct: int
    mean_length: float  # characters of the values, as text
    example: str | None  # the first value, as text

    @property
    def is_name(self) -> bool:
        """Whether it can name the documents: unique and short, called id, name, key or title."""
        is_unique = self.n_missing == 0 and self.n_distinct == self.n_rows > 1
        return self.role in ("id", "title") and is_unique and self.mean_length <= _MAX_NAME


@dataclass(frozen=True)
class TextColumns:
    """The columns that are read."""

    texts: tuple[str, ...]
    id: str | None
    stored: tuple[str, ...] = ()

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys([*self.texts, *([] if self.id is None else [self.id]), *self.stored]))


def summarize_columns(
    sample: pl.DataFrame, readings: Sequence[str] = DATES, texts: Sequence[str] = (), id: str | None = None
) -> list[ColumnSummary]:
    """Return what the first rows of a table show about its columns, given those of the text and of the names."""
    rows = find_types(unwrap(sample.head(SAMPLE_ROWS)), readings)
    summaries = [_summarize(column, texts) for column in rows.get_columns()]
    n_kept = 0
    for i, summary in enumerate(summaries):
        # Titles that are names are kept, too.
        role = "id" if summary.name == id and summary.role != "title" else summary.role
        is_short = summary.n_missing < summary.n_rows and summary.mean_length <= MAX_KEPT_CHARACTERS
        is_kept = is_short and role != "text" and (summary.name != id or role == "title") and n_kept < MAX_KEPT
        n_kept += is_kept
        summaries[i] = replace(summary, role=role, is_kept=is_kept)
    return summaries


def unwrap(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a table of plain columns; of lists with at most one element, the elements."""
    lists = [
        column.name
        for column in frame.get_columns()
        if isinstance(column.dtype, pl.List) and cast(int, column.list.len().max() or 0) <= 1
    ]
    return flatten(frame.with_columns(frame[name].list.first() for name in lists))


def _summarize(column: pl.Series, texts: Sequence[str]) -> ColumnSummary:
    values = column.alias("").drop_nulls()
    shown = values.cast(pl.String)
    n_distinct, mean_length = shown.n_unique(), float(cast(float, shown.str.len_chars().mean()) or 0.0)
    role: Role | None = "text" if column.name in texts else None
    if role is None and len(values):
        role = _find_role(column.name, values, n_distinct, mean_length)
    example = shown[0] if len(shown) else None
    kind, n_missing = describe_type(column.dtype), column.null_count()
    return ColumnSummary(column.name, kind, role, False, len(column), n_missing, n_distinct, mean_length, example)


def _find_role(name: str, values: pl.Series, n_distinct: int, mean_length: float) -> Role | None:
    word, kind = name.strip().lower(), describe_type(values.dtype)
    if kind in ("date", "datetime"):
        return "date"
    if kind == "boolean":
        return "category"
    if n_distinct == len(values) > 1 and (word in _IDS or word.endswith(("_id", "-id", " id"))):
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


def check_columns(needed: Sequence[str], names: Sequence[str], file: str) -> None:
    """Raise an error that names the columns there are if a file lacks one."""
    for column in needed:
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
) -> tuple[TextColumns, list[SearchWarning]]:
    """Return the columns to read, given the first rows of all, and notes about what was guessed and left out."""
    check_columns(options.named_columns, first.columns, file)
    texts, notes = _choose_texts(first, readings, options, file)
    summaries, id = summarize_columns(first, readings, texts), options.id
    if id is None:
        names = sorted((summary for summary in summaries if summary.is_name), key=lambda name: name.role == "title")
        id = names[0].name if names else None
    if options.keep is None or not isinstance(options.keep, str):
        return TextColumns(texts, id, tuple(dict.fromkeys(options.keep or ()))), notes
    stored = tuple(summary.name for summary in summarize_columns(first, readings, texts, id) if summary.is_kept)
    if left_out := [name for name in first.columns if name not in (*texts, id, *stored)]:
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
    return TextColumns(texts, id, stored), notes


def _choose_texts(
    first: pl.DataFrame, readings: Sequence[str], options: CorpusOptions, file: str
) -> tuple[tuple[str, ...], list[SearchWarning]]:
    if options.text_columns:
        return options.text_columns, []
    # Every value of CSV is text, but a column of numbers does not hold the texts.
    kinds = find_types(first.head(SAMPLE_ROWS), [name for name in readings if name not in DATES]).schema
    candidates = [name for name, kind in kinds.items() if describe_type(kind) == "text" and name != options.id]
    usual = [name for name in candidates if name.lower() in _TEXT_NAMES]
    chosen, reason = (candidates, "the only column of strings") if len(candidates) == 1 else (usual, "a usual name")
    if len(chosen) != 1:
        raise SearchError(
            "{n_candidates} columns of {file!r} may hold the text. Set {argument} to one of its columns: {columns}.",
            code="unclear_text_column",
            n_candidates=len(candidates),
            file=file,
            argument=Option("text"),
            columns=list_names(first.columns),
        )
    note = SearchWarning(
        "The text is read from column {column!r} of {file!r}, {reason}. Set {argument} to read another column.",
        code="text_column_guessed",
        column=chosen[0],
        file=file,
        reason=reason,
        argument=Option("text"),
    )
    return (chosen[0],), [note]
