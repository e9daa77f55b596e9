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

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, Query, build_index, open_index
    >>> from mixsearch.report import make_report, write_report
    >>> folder, reviews = Path(mkdtemp()), make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, folder / "reviews.index", IndexOptions(n_components=12))
    >>> report = make_report(open_index(built.path), [Query("sushi", {"sushi": 1})])
    >>> write_report(report, folder / "report.html")
    >>> "sushi" in (folder / "report.html").read_text(encoding="utf-8")
    True
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
            "Cannot write a report to {file!r}: the name must end in {suffixes}.",
            code="unknown_format",
            file=str(file),
            suffixes=", ".join(SUFFIXES),
        )
    return suffix
