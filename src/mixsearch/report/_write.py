"""Write a report to a file of the format that its name has."""

from __future__ import annotations

import os
from pathlib import Path

from mixsearch.errors import SearchError
from mixsearch.report._contents import Report
from mixsearch.report._page import make_page
from mixsearch.report._workbook import write_sheets
from mixsearch.storage import explain_os_errors, write_atomically

SUFFIXES = (".html", ".htm", ".xlsx")


def write_report(report: Report, path: str | os.PathLike[str]) -> None:
    """Write a report, completely or not at all.

    Parameters
    ----------
    report : Report
        What `make_report` returned.
    path : path
        A file .html, which opens offline in any browser, or .xlsx. It is replaced if it exists.
    """
    file = Path(path)
    suffix = check_suffix(file)
    with explain_os_errors("write to", file), write_atomically(file) as temporary:
        if suffix == ".xlsx":
            write_sheets(report, temporary)
        else:
            temporary.write_bytes(make_page(report).encode("utf-8", "replace"))


def check_suffix(file: Path) -> str:
    """Return the suffix of a file, or raise an error if reports have no such format."""
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise SearchError(
            "{file!r} has no format of reports. The name must end in {suffixes}.",
            code="unknown_format",
            file=str(file),
            suffixes=", ".join(SUFFIXES),
        )
    return suffix
