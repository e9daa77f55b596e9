"""The columns of a table: what the first rows show, which have the text and the name, and which are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.files.detection import TEXT_NAMES
from mixsearch.data.files.rows import build_batch
from mixsearch.data.files.types import allow_dates, find_column_types, flatten_types
from mixsearch.errors import Option, SearchError, SearchWarning
from mixsearch.io.column_names import list_names, suggest_name
from mixsearch.text.options import CorpusOptions, KeptColumns, list_text_columns

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
    """Return what the first rows of a table show about its columns."""
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
