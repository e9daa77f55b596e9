"""Sheets of Excel workbooks."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from mixsearch.data.files.detection import NAMES
from mixsearch.data.files.header import check_header, name_columns
from mixsearch.data.files.location import File, TableFile
from mixsearch.data.files.rows import RowSource, choose_table, make_source, require_package
from mixsearch.data.files.streams import make_unreadable_error
from mixsearch.data.files.types import MISSING_MARKS

_N_FIRST_ROWS = 100


@contextmanager
def open_excel(file: File, *, no_header: bool = False) -> Iterator[RowSource]:
    """Open a sheet of a workbook: the named one, or the only one with rows."""
    try:
        import openpyxl
    except ImportError as error:
        raise require_package("openpyxl", "Excel workbooks", "excel", error) from error
    try:
        with file.open("rb") as raw, closing(_load(openpyxl, raw)) as book:
            sheets = [sheet.title for sheet in book.worksheets if next(_read_rows(book, sheet.title), None)]
            wanted = file.table if isinstance(file, TableFile) else None
            sheet = choose_table(file, wanted, sheets, "sheet")
            yield _open_sheet(file, book, sheet, no_header)
    except (zipfile.BadZipFile, KeyError, ValueError, SyntaxError) as error:
        if hasattr(error, "fields"):
            raise
        raise make_unreadable_error(file, error, NAMES["excel"]) from error


def _load(openpyxl: Any, raw: Any) -> Any:
    with warnings.catch_warnings():
        # About styles and extensions, which no value depends on.
        warnings.simplefilter("ignore", UserWarning)
        return openpyxl.load_workbook(raw, read_only=True, data_only=True)


def _open_sheet(file: File, book: Any, sheet: str, no_header: bool) -> RowSource:
    first = [row for row, _ in zip(_read_rows(book, sheet), range(_N_FIRST_ROWS), strict=False)]
    n_columns = max(map(len, first))
    header = ["" if value is None else str(value) for value in _pad(first[0], n_columns)]
    if no_header:
        return make_source(name_columns(n_columns), partial(_read_values, book, sheet, n_columns, 0))
    rows = [["" if value is None else str(value) for value in _pad(row, n_columns)] for row in first[1:]]
    source = make_source(header, partial(_read_values, book, sheet, n_columns, 1))
    return replace(source, note=check_header(header, rows, file))


def _read_rows(book: Any, sheet: str) -> Iterator[Sequence[Any]]:
    """Yield the rows that have values, without empty cells at their ends."""
    cells = book[sheet]
    cells.reset_dimensions()  # as the file states them, they are often wrong
    for row in cells.iter_rows(values_only=True):
        values = list(row)
        while values and values[-1] is None:
            values.pop()
        if values:
            yield values


def _read_values(book: Any, sheet: str, n_columns: int, n_skipped: int) -> Iterator[Sequence[Any]]:
    rows = _read_rows(book, sheet)
    for _ in range(n_skipped):
        next(rows, None)
    for row in rows:
        yield [None if isinstance(value, str) and value in MISSING_MARKS else value for value in _pad(row, n_columns)]


def _pad(row: Sequence[Any], n_columns: int) -> list[Any]:
    return [*row[:n_columns], *[None] * (n_columns - len(row))]
