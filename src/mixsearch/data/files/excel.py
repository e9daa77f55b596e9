"""Sheets of Excel workbooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from mixsearch.data.files.header import check_header, name_columns
from mixsearch.data.files.location import File, TableFile
from mixsearch.data.files.rows import RowSource, choose_table, make_package_error, make_source
from mixsearch.data.files.signatures import NAMES
from mixsearch.data.files.streams import check_archive, make_unreadable_error
from mixsearch.data.files.types import MISSING_MARKS
from mixsearch.errors import SearchError

_N_FIRST_ROWS = 100

# Starts to read the rows of a sheet anew.
_RowReader = Callable[[], Iterator[Sequence[Any]]]


@contextmanager
def open_excel(file: File, *, no_header: bool = False) -> Iterator[RowSource]:
    """Open a sheet of a workbook: the named one, or the only one with rows."""
    try:
        import openpyxl
    except ImportError as error:
        raise make_package_error("openpyxl", "Excel workbooks", "excel") from error
    with file.open("rb") as raw:
        with _explain_errors(file):
            check_archive(file)
        with _explain_errors(file), warnings.catch_warnings():
            # About styles and extensions, which no value depends on.
            warnings.simplefilter("ignore", UserWarning)
            book = openpyxl.load_workbook(raw, read_only=True, data_only=True)
        with closing(book):
            sheets = {sheet.title: partial(_read_rows, sheet, file) for sheet in book.worksheets}
            titles = [title for title, read in sheets.items() if next(read(), None)]
            title = choose_table(file, file.table if isinstance(file, TableFile) else None, titles, "sheet")
            yield _open_sheet(file, sheets[title], no_header)


@contextmanager
def _explain_errors(file: File) -> Iterator[None]:
    try:
        yield
    except SearchError:
        raise
    # Damaged workbooks raise errors of every kind: of archives, of XML, of keys that are not there.
    except Exception as error:
        raise make_unreadable_error(file, error, NAMES["excel"]) from error


def _open_sheet(file: File, read: _RowReader, no_header: bool) -> RowSource:
    first = list(islice(read(), _N_FIRST_ROWS))
    n_columns = max(map(len, first))
    header = ["" if value is None else str(value) for value in _pad(first[0], n_columns)]
    if no_header:
        return make_source(name_columns(n_columns), partial(_read_values, read, n_columns, 0))
    rows = [["" if value is None else str(value) for value in _pad(row, n_columns)] for row in first[1:]]
    source = make_source(header, partial(_read_values, read, n_columns, 1))
    return replace(source, note=check_header(header, rows, file))


def _read_rows(sheet: Any, file: File) -> Iterator[Sequence[Any]]:
    """Yield the rows that have values, without empty cells at their ends."""
    with _explain_errors(file):
        sheet.reset_dimensions()  # as the file states them, they are often wrong
        rows = sheet.iter_rows(values_only=True)
    while True:
        with _explain_errors(file):
            row = next(rows, None)
        if row is None:
            return
        values = list(row)
        while values and values[-1] is None:
            values.pop()
        if values:
            yield values


def _read_values(read: _RowReader, n_columns: int, n_skipped: int) -> Iterator[Sequence[Any]]:
    for row in islice(read(), n_skipped, None):
        yield [None if isinstance(value, str) and value in MISSING_MARKS else value for value in _pad(row, n_columns)]


def _pad(row: Sequence[Any], n_columns: int) -> list[Any]:
    return [*row[:n_columns], *[None] * (n_columns - len(row))]
