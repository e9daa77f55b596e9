"""Choose the columns with the text and the name of a document, and those to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mixsearch.data.column_names import list_names, suggest_name
from mixsearch.data.files.detection import TEXT_NAMES
from mixsearch.data.files.rows import build_batch
from mixsearch.data.files.types import allow_dates, flatten_types
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.text.options import CorpusOptions, KeptColumns, list_text_columns
from mixsearch.text.read.summary import summarize_columns


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

    def list_available(self, names: Sequence[str]) -> list[str]:
        """Return the columns to read that are among these names."""
        return [name for name in self.all if name in names]


def check_column(column: str, names: Sequence[str], file: str) -> None:
    """Raise an error that names the columns there are if a file lacks one."""
    if column not in names:
        raise _make_missing_column_error(column, names, file)


def choose_columns(
    names: Sequence[str], strings: Sequence[str], options: CorpusOptions, file: str
) -> tuple[Columns, SearchWarning | None]:
    """Return the columns of the text and the id, and a note if the text column was guessed."""
    named = list_text_columns(options)
    if named:
        return Columns(named, options.id), None
    candidates = [name for name in strings if name != options.id]
    usual = [name for name in candidates if name.lower() in TEXT_NAMES]
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
        columns=list_names(names),
    )


def choose_kept(sample: Any, columns: Columns, keep: KeptColumns, file: str) -> tuple[str, ...]:
    """Return the columns to keep with the text; `sample` has the first rows of all columns."""
    if keep is None:
        return ()
    if keep == "auto":
        return tuple(each.name for each in summarize_columns(sample, columns.texts, columns.id) if each.is_kept)
    for name in keep:
        check_column(name, sample.schema.names, file)
    return tuple(dict.fromkeys(keep))


def note_left_out(names: Sequence[str], columns: Columns, file: str) -> list[SearchWarning]:
    """Return a note that names the columns that were not kept, if there are some."""
    used = {*columns.texts, columns.id, *columns.kept}
    left_out = [name for name in names if name not in used]
    if not left_out:
        return []
    return [
        SearchWarning(
            "These columns of {file!r} were not kept: {columns}. Set {argument} to keep others.",
            code="columns_not_kept",
            file=file,
            columns=list_names(left_out),
            argument=Option("keep"),
        )
    ]


def build_kept(values: Mapping[str, Sequence[Any]], columns: Columns, n_rows: int, readings: Sequence[str]) -> Any:
    """Return the values of the columns to keep as a record batch; None if there is no such column."""
    if not columns.kept:
        return None
    return take_kept(build_batch({name: values.get(name, [None] * n_rows) for name in columns.kept}, readings), columns)


def take_kept(batch: Any, columns: Columns) -> Any:
    """Return the columns to keep of a record batch, nested values as JSON; None if there is no such column."""
    if not columns.kept:
        return None
    return allow_dates(flatten_types(batch.select([name for name in columns.kept if name in batch.schema.names])))


def join_texts(values: Sequence[Any]) -> str:
    """Return the text of a document from the values of its columns."""
    return to_text(values[0]) if len(values) == 1 else "\n".join(filter(None, map(to_text, values)))


def to_text(value: Any) -> str:
    """Return a value as text: null is empty, the items of a list are joined by blanks."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bytes):
        return value.decode("utf-8", errors="replace")
    return " ".join(map(to_text, value)) if isinstance(value, list) else str(value)


def _note_guess(column: str, reason: str, file: str) -> SearchWarning:
    return SearchWarning(
        "The text is read from column {column!r} of {file!r}, {reason}. Set {argument} to read another column.",
        code="text_column_guessed",
        column=column,
        file=file,
        reason=reason,
        argument=Option("text"),
    )


def _make_missing_column_error(column: str, names: Sequence[str], file: str) -> SearchError:
    error = SearchError(
        "No column {column!r} in {file!r}. Its columns are: {columns}.",
        code="column_missing",
        column=column,
        file=file,
        columns=list_names(names),
    )
    return suggest_name(error, column, names)
