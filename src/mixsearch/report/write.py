"""Write a report to a file of the format that its name has, or show it in a notebook."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

from mixsearch.errors import SearchError
from mixsearch.index.query import Query
from mixsearch.index.topic_index import TopicIndex
from mixsearch.io.disk import explain_os_errors, write_atomically
from mixsearch.report.contents import Report, make_report
from mixsearch.report.page import make_page
from mixsearch.report.workbook import write_sheets
from mixsearch.topics.hint import parse_words

SUFFIXES = (".html", ".htm", ".xlsx")
_N_STARTERS = 6


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


@dataclass(frozen=True)
class ShownReport:
    """A report that a notebook shows as the value of a cell."""

    report: Report
    height: int = 640

    @cached_property
    def html(self) -> str:
        """The report as one HTML page, which opens offline."""
        return make_page(self.report)

    def __repr__(self) -> str:
        names = ", ".join(topic.name for topic in self.report.topics)
        return f"Report on {self.report.title}: {names}"

    def _repr_html_(self) -> str:
        # Neither scripts nor styles pass the frame, in either direction.
        title = escape(f"Topics of {self.report.title}", quote=True)
        return (
            f'<iframe title="{title}" sandbox srcdoc="{escape(self.html, quote=True)}" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #8884; border-radius: 8px"></iframe>'
        )


def show_topics(index: TopicIndex, hints: Sequence[str] = (), *, height: int = 640, **options: Any) -> ShownReport:
    """Return a report on some topics, which a notebook shows as the value of a cell."""
    chosen = list(hints) or [starter.word for starter in index.starters(_N_STARTERS)]
    queries = [Query(hint, words=parse_words(hint)) for hint in chosen]
    return ShownReport(make_report(index, queries, **options), height)
