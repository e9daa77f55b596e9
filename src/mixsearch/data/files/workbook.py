"""Excel workbooks, written row by row: values keep their types, and text is never a formula."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from mixsearch.data.arrow import make_package_error
from mixsearch.data.files.types import to_json
from mixsearch.errors import SearchError

# Limits of Excel.
MAX_ROWS = 1_048_576
_MAX_TEXT = 32_767
_MAX_TITLE = 31
_MAX_EXACT = 2**53
_FIRST_YEAR = 1900
# Characters that XML cannot hold, and those that a title of a sheet cannot.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_NOT_IN_TITLE = re.compile(r"[\[\]:*?/\\]")
_WIDTH, _MAX_WIDTH = 14, 90


@dataclass(frozen=True)
class Sheet:
    """A sheet of a workbook."""

    title: str
    header: Sequence[str]
    rows: Iterable[Sequence[Any]]
    formats: Sequence[str | None] = field(default=())
    widths: Sequence[int] = field(default=())


def write_workbook(path: Path, sheets: Iterable[Sheet]) -> None:
    """Write sheets to a file, one row in memory at a time."""
    try:
        import openpyxl
    except ImportError as error:
        raise make_package_error("openpyxl", "Excel workbooks") from error
    book = openpyxl.Workbook(write_only=True)
    titles: set[str] = set()
    try:
        for sheet in sheets:
            _write_sheet(book.create_sheet(_make_title(sheet.title, titles)), sheet, path)
    except BaseException:
        if book.worksheets:
            book.save(io.BytesIO())  # removes its temporary files
        raise
    book.save(path)


def _write_sheet(page: Any, sheet: Sheet, path: Path) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    for index in range(max(len(sheet.header), len(sheet.widths))):
        width = sheet.widths[index] if index < len(sheet.widths) else _WIDTH
        page.column_dimensions[get_column_letter(index + 1)].width = min(width, _MAX_WIDTH)
    if sheet.header:
        page.freeze_panes = "A2"
        page.append([_make_cell(page, name, font=Font(bold=True)) for name in sheet.header])
    top, wrapped = Alignment(vertical="top"), Alignment(vertical="top", wrap_text=True)
    for number, row in enumerate(sheet.rows, start=bool(sheet.header)):
        _check_size(number, path)
        formats = chain(sheet.formats, repeat(None))
        page.append(
            [
                _make_cell(page, value, alignment=wrapped if _is_long(value) else top, number_format=pattern)
                for value, pattern in zip(row, formats, strict=False)
            ]
        )


def _make_title(title: str, taken: set[str]) -> str:
    """Return a title that Excel accepts and no other sheet has, ignoring case."""
    plain = _NOT_IN_TITLE.sub(" ", clean_text(title)).strip(" '")[:_MAX_TITLE] or "Sheet"
    unique, copy = plain, 1
    while unique.lower() in taken:
        copy += 1
        unique = f"{plain[: _MAX_TITLE - len(str(copy)) - 3]} ({copy})"
    taken.add(unique.lower())
    return unique


def clean_text(text: str) -> str:
    """Return a text as a cell can hold it: without control characters, and not too long."""
    plain = _ILLEGAL.sub("\ufffd", text)
    return plain if len(plain) <= _MAX_TEXT else f"{plain[: _MAX_TEXT - 1]}…"


def _is_long(value: Any) -> bool:
    return isinstance(value, str) and len(value) > _WIDTH


def _make_cell(page: Any, value: Any, **style: Any) -> Any:
    from openpyxl.cell import WriteOnlyCell

    plain = _make_plain(value)
    cell = WriteOnlyCell(page, value=plain)
    if isinstance(plain, str):
        cell.data_type = "s"  # what begins with "=" is text too
    if isinstance(plain, int) and "yy" in (style.get("number_format") or ""):
        del style["number_format"]  # a year among dates would be shown as a day of 1905
    for name, each in style.items():
        if each is not None:
            setattr(cell, name, each)
    return cell


def _make_plain(value: Any) -> Any:
    """Return a value of a type that Excel has; others become text."""
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_EXACT else str(value)
    if isinstance(value, float | Decimal):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, datetime):
        value = value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo is not None else value
        return value if value.year >= _FIRST_YEAR else str(value)
    if isinstance(value, date):
        return value if value.year >= _FIRST_YEAR else str(value)
    if isinstance(value, time | timedelta):
        return value
    if isinstance(value, str):
        return clean_text(value)
    return clean_text(to_json(value) if isinstance(value, list | dict) else str(value))


def _check_size(number: int, path: Path) -> None:
    if number >= MAX_ROWS:
        raise SearchError(
            "{file!r} would have more than {n_rows:,} rows, the limit of Excel. Write .parquet or .csv.",
            code="too_many_rows",
            file=str(path),
            n_rows=MAX_ROWS,
        )
