"""A report in a notebook, in a self-contained frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any

from mixsearch.index import Query, TopicIndex
from mixsearch.report._contents import Report, make_report
from mixsearch.report._page import make_page
from mixsearch.topics import parse_words

_N_STARTERS = 6


@dataclass(frozen=True)
class ShownReport:
    """A report that a notebook shows as the value of a cell.

    Parameters
    ----------
    report : Report
        What `make_report` returned.
    height : int, default=640
        The height of the frame, in pixels.
    """

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
    """Return a report on some topics, which a notebook shows as the value of a cell.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    hints : sequence of str
        One for each topic, as in a search box: "sushi -burger". By default, words to start with.
    height : int, default=640
        The height of the frame, in pixels.
    **options
        Further arguments of `make_report`: title, over, by, where, n_words, n_documents.

    Returns
    -------
    ShownReport
    """
    chosen = list(hints) or [starter.word for starter in index.starters(_N_STARTERS)]
    queries = [Query(hint, words=parse_words(hint)) for hint in chosen]
    return ShownReport(make_report(index, queries, **options), height)
