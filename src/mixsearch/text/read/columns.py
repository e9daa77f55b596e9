"""Which columns of a table are the text and the name of a document."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mixsearch.errors import SearchError
from mixsearch.text.options import CorpusOptions

_USUAL_NAMES = ("text", "body", "content", "review", "description", "message")
_SHOWN = 20


@dataclass(frozen=True)
class Columns:
    """The columns that are read."""

    texts: tuple[str, ...]
    id: str | None

    @property
    def all(self) -> list[str]:
        """Every column that is read, once."""
        return list(dict.fromkeys([*self.texts, *([] if self.id is None else [self.id])]))

    def check(self, names: Sequence[str], file: str) -> None:
        """Raise where a file lacks one of the columns."""
        for column in self.all:
            if column not in names:
                raise SearchError(_no_column(column, names, file))


def choose_columns(
    names: Sequence[str], strings: Sequence[str], options: CorpusOptions, file: str
) -> tuple[Columns, str | None]:
    """The columns to read, and a sentence where they were not asked for by name."""
    if options.text_columns:
        return Columns(options.text_columns, options.id), None
    candidates = [name for name in strings if name != options.id]
    usual = [name for name in candidates if name.lower() in _USUAL_NAMES]
    if len(candidates) == 1:
        return Columns((candidates[0],), options.id), _say(candidates[0], "the only column of strings", file)
    if len(usual) == 1:
        return Columns((usual[0],), options.id), _say(usual[0], "by its name", file)
    raise SearchError(
        f"Found {len(candidates)} columns that may hold the text in {file}, needed one: name it with text=. "
        f"The columns are: {_list(names)}."
    )


def join_texts(values: Sequence[Any]) -> str:
    """The text of a document from the values of its columns."""
    return as_text(values[0]) if len(values) == 1 else "\n".join(filter(None, map(as_text, values)))


def as_text(value: Any) -> str:
    """A value as text: nothing where it is null, its parts joined by blanks where it is a list."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    return " ".join(map(as_text, value)) if isinstance(value, list) else str(value)


def _say(column: str, why: str, file: str) -> str:
    return f"The text is read from {column!r} in {file}, {why}; text= names another."


def _no_column(column: str, names: Sequence[str], file: str) -> str:
    near = difflib.get_close_matches(column, names, n=1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"Found no column {column!r} in {file}, needed one of: {_list(names)}.{meant}"


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHOWN]) + (f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
