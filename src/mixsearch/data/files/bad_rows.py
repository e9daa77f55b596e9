"""Rows that cannot be read: each is an error, or skipped and counted."""

from __future__ import annotations

from threading import Lock

from mixsearch.errors import Option, SearchError, SearchWarning

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
