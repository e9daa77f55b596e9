"""Rows as CSV, also for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, for_spreadsheets: bool = False) -> str:
    """Return rows as a table with a header.

    Parameters
    ----------
    rows : iterable of mapping
        The values by column. What is missing is empty, and what has no column is left out.
    columns : sequence of str
        The header.
    for_spreadsheets : bool, default=False
        Put an apostrophe before text that a spreadsheet would read as a formula.

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_escape_row, rows) if for_spreadsheets else rows)
    return text.getvalue()


def _escape_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _escape(value) for name, value in row.items()}


def _escape(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
