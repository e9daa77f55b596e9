"""Excel workbooks, in which text is never a formula."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl

from mixsearch.errors import SearchError
from mixsearch.io.types import flatten, map_columns

# Limits of Excel.
MAX_ROWS, _MAX_TEXT, _MAX_TITLE, _MAX_EXACT = 1_048_575, 32_767, 31, 2**53
_OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "remove_timezone": True}


def write_workbook(
    path: Path, sheets: Iterable[tuple[str, pl.DataFrame]], formats: Mapping[str, str] | None = None
) -> None:
    """Write tables as sheets, with the formats of numbers by column, where a column has one."""
    import xlsxwriter

    with xlsxwriter.Workbook(path, _OPTIONS) as book:
        for title, frame in sheets:
            if frame.height > MAX_ROWS:
                raise SearchError(
                    "{file!r} would have more than {n_rows:,} rows, the limit of Excel. Write .parquet or .csv.",
                    code="too_many_rows",
                    file=str(path),
                    n_rows=MAX_ROWS,
                )
            map_columns(flatten(frame), _make_plain).write_excel(
                book,
                re.sub(r"[\[\]:*?/\\]", " ", title)[:_MAX_TITLE],
                column_formats={name: form for name, form in (formats or {}).items() if name in frame.columns},
                freeze_panes=(1, 0),
                header_format={"bold": True},
                autofit=True,
            )


def _make_plain(column: pl.Series) -> pl.Series:
    """Return values that cells can hold: text is cut, large integers are text, infinity is missing."""
    if column.dtype == pl.String:
        return column.str.slice(0, _MAX_TEXT)
    if column.dtype.is_float():
        return column.set(~column.is_finite(), None)
    is_large = column.dtype.is_integer() and (column.abs() > _MAX_EXACT).any()
    return column.cast(pl.String) if is_large else column
