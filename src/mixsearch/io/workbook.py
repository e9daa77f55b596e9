"""Excel workbooks, written row by row: values keep their types, and text is never a formula."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from mixsearch.errors import SearchError
from mixsearch.io.values import to_text

# Limits of Excel.
MAX_ROWS = 1_048_576
_MAX_TEXT, _MAX_TITLE, _MAX_EXACT, _FIRST_YEAR = 32_767, 31, 2**53, 1900
_NOT_IN_TITLE = re.compile(r"[\[\]:*?/\\\x00-\x1f]")
_NOT_IN_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_WIDTH, _MAX_WIDTH = 14, 90
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "remove_timezone": True,
    "default_date_format": "yyyy-mm-dd",
}


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook."""

    title: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]
    formats: Sequence[str | None] = ()
    widths: Sequence[int] = ()


def write_workbook(path: Path, sheets: Iterable[Sheet]) -> None:
    """Write sheets to a file, one row in memory at a time."""
    import xlsxwriter

    with xlsxwriter.Workbook(path, _OPTIONS) as book:
        titles: set[str] = set()
        for sheet in sheets:
            _write_sheet(book, book.add_worksheet(_make_title(sheet.title, titles)), sheet, path)


def _write_sheet(book: Any, page: Any, sheet: Sheet, path: Path) -> None:
    top = {"valign": "top"}
    plain, wrapped = book.add_format(top), book.add_format({**top, "text_wrap": True})
    times = book.add_format({**top, "num_format": "yyyy-mm-dd hh:mm:ss"})
    formats = [None if form is None else book.add_format({**top, "num_format": form}) for form in sheet.formats]
    for column, width in enumerate([*sheet.widths, *[_WIDTH] * (len(sheet.header) - len(sheet.widths))]):
        page.set_column(column, column, min(width, _MAX_WIDTH))
    if sheet.header:
        page.freeze_panes(1, 0)
        page.write_row(0, 0, list(map(_make_plain, sheet.header)), book.add_format({"bold": True}))
    for number, row in enumerate(sheet.rows, start=bool(sheet.header)):
        if number >= MAX_ROWS:
            raise SearchError(
                "{file!r} would have more than {n_rows:,} rows, the limit of Excel. Write .parquet or .csv.",
                code="too_many_rows",
                file=str(path),
                n_rows=MAX_ROWS,
            )
        for column, (value, form) in enumerate(zip(map(_make_plain, row), chain(formats, repeat(None)), strict=False)):
            if isinstance(value, str):
                page.write_string(number, column, value, wrapped if len(value) > _WIDTH else plain)
            elif isinstance(value, int) and "yy" in getattr(form, "num_format", ""):
                page.write(number, column, value, plain)  # a year among dates would be shown as a day of 1905
            else:
                page.write(number, column, value, form or (times if isinstance(value, datetime) else None))


def _make_title(title: str, taken: set[str]) -> str:
    """Return a title that Excel accepts and no other sheet has, ignoring case."""
    plain = _NOT_IN_TITLE.sub(" ", title).strip(" '")[:_MAX_TITLE] or "Sheet"
    unique, copy = plain, 1
    while unique.lower() in taken:
        copy += 1
        unique = f"{plain[: _MAX_TITLE - len(str(copy)) - 3]} ({copy})"
    taken.add(unique.lower())
    return unique


def _make_plain(value: Any) -> Any:
    """Return a value of a type that Excel has; others become text."""
    value = value.item() if hasattr(value, "item") else value
    if value is None or isinstance(value, bool | time | timedelta):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_EXACT else str(value)
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, date) and value.year >= _FIRST_YEAR:
        is_zoned = isinstance(value, datetime) and value.tzinfo is not None
        return value.astimezone(UTC) if is_zoned else value  # type: ignore[attr-defined]
    text = _NOT_IN_TEXT.sub("\ufffd", to_text(value))
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 1]}…"
