"""Checks of rows without types: a first row that looks like data, and rows that cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from mixsearch.data.files.location import File
from mixsearch.data.files.streams import name_file
from mixsearch.data.files.types import MISSING_MARKS
from mixsearch.errors import Option, SearchError, SearchWarning

_MAX_NAME = 120
_MAX_QUOTED = 40
_FIRST_YEAR, _LAST_YEAR = 1000, 2999


def check_header(header: Sequence[str], rows: Sequence[Sequence[str]], file: File | None) -> SearchWarning | None:
    """Return a note if the first row looks like data: it has a number, a long text, or a value that its column repeats.

    Years, and the numbers that pandas gives to columns without names, are names.
    """
    found = _find_data(header, [row for row in rows if len(row) == len(header) and list(row) != list(header)])
    if found is None:
        return None
    value, reason = found
    return SearchWarning(
        "Line 1 of {file!r} is read as the names of the columns, but looks like data: {value!r} {reason}. Set "
        "{argument} if the file has no header.",
        code="header_looks_like_data",
        file=name_file(file),
        value=value[:_MAX_QUOTED],
        reason=reason,
        argument=Option("no_header"),
    )


def name_columns(n_columns: int) -> list[str]:
    """Return the names of the columns of a table without a header."""
    return [f"column {number}" for number in range(1, n_columns + 1)]


def _find_data(header: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, str] | None:
    numbers = [value for value in header if _is_number(value)]
    for value, *column in zip(header, *rows, strict=True):
        if len(value) > _MAX_NAME:
            return value, f"has {len(value)} characters"
        if value in numbers:
            is_data = not _are_names(numbers) and rows and all(map(_is_number_or_missing, column))
            if is_data:
                return value, "is a number above numbers"
        elif value not in MISSING_MARKS and value in column:
            return value, "is in its column again"
    return None


def _are_names(numbers: Sequence[str]) -> bool:
    """Return whether numbers may name columns: years, or 0, 1, 2 and so on."""
    if not all(number.isdecimal() for number in numbers):
        return False
    values = [int(number) for number in numbers]
    return all(_FIRST_YEAR <= value <= _LAST_YEAR for value in values) or (
        len(values) > 1 and values in (list(range(len(values))), list(range(1, len(values) + 1)))
    )


def _is_number_or_missing(value: str) -> bool:
    return value in MISSING_MARKS or _is_number(value)


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


_MAX_NAMED = 3


class BadRows:
    """Collects the errors of rows. Thread-safe; the result does not depend on the order in which they come."""

    def __init__(self, *, skip: bool = False) -> None:
        self._skip, self._lock = skip, Lock()
        self._n_rows = 0
        self._first: list[tuple[str, int, str, str]] = []

    @property
    def are_skipped(self) -> bool:
        """Whether bad rows are skipped."""
        return self._skip

    def add(self, error: SearchError) -> None:
        """Count a row, or raise its error with the option that would skip it. It has a file, and a line or a row."""
        if not self._skip:
            raise self.explain(error)
        unit = "line" if "line" in error.fields else "row"
        with self._lock:
            self._n_rows += 1
            named = (str(error.fields["file"]), int(error.fields[unit]), unit, error.code)
            self._first = sorted([*self._first, named])[:_MAX_NAMED]

    def explain(self, error: SearchError) -> SearchError:
        """Return an error with the option that would skip its row."""
        return error.append("Set {skip_argument} to skip such rows.", skip_argument=Option("skip_bad_rows"))

    def describe(self) -> list[SearchWarning]:
        """Return a note with the number of rows and the first ones; none if no row was skipped."""
        if not self._n_rows:
            return []
        rows = [{"file": file, unit: number, "reason": code} for file, number, unit, code in self._first]
        listed = "; ".join(
            f"{unit} {number:,} of {file!r} ({_REASONS[code]})" for file, number, unit, code in self._first
        )
        return [
            SearchWarning(
                "{n_rows:,} bad {noun} skipped: {listed}{more}.",
                code="skipped_rows",
                n_rows=self._n_rows,
                noun="row was" if self._n_rows == 1 else "rows were",
                listed=listed,
                more="; ..." if self._n_rows > len(rows) else "",
                first_rows=rows,
            )
        ]


_REASONS = {
    "wrong_row_length": "another number of values than the header",
    "invalid_csv": "not valid CSV",
    "invalid_json": "not valid JSON",
    "invalid_record": "no JSON object",
    "wrong_encoding": "another encoding",
    "document_too_long": "longer than a document may be",
}
