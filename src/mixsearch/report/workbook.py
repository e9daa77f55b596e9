"""A report as an Excel workbook: long tables, one sheet for each kind of fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl

from mixsearch.index.answer import Answer, TypicalDocument
from mixsearch.index.groups import GroupShare
from mixsearch.io.types import make_series
from mixsearch.io.values import rename_repeated
from mixsearch.io.workbook import write_workbook
from mixsearch.report.contents import Report, list_methods

_GROUP_NAMES = ("documents", "share", "low", "high", "about", "about low", "about high", "with words")
# The formats of columns that mean the same in all sheets.
_FORMATS = {
    **dict.fromkeys(("share", "part of the hint"), "0.0%"),
    **dict.fromkeys(("share of all text", "low", "high", "probability"), "0.00%"),
    **dict.fromkeys(_GROUP_NAMES[4:], "#,##0"),
    **{"confidence": "0%", "times likelier": "0.0", "documents": "#,##0"},
}


def write_sheets(report: Report, path: Path) -> None:
    """Write a report as a workbook."""
    write_workbook(path, _list_sheets(report), _FORMATS)


def _make_sheet(title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> tuple[str, pl.DataFrame]:
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    return title, pl.DataFrame([make_series(name, values) for name, values in zip(header, columns, strict=True)])


def _list_sheets(report: Report) -> Iterator[tuple[str, pl.DataFrame]]:
    failed = [(outcome.query.name, "not found", *[None] * 8, str(outcome.error)) for outcome in report.failed]
    yield _make_sheet(
        "Summary",
        ("topic", "verdict", "confidence", "meaning of the verdict", "share of all text", "documents about it",
         "at least", "at most", "documents with the words", "words", "notes"),
        [*((topic.name, *_summarize(topic.answer)) for topic in report.topics), *failed],
    )  # fmt: skip
    yield _make_sheet(
        "Words",
        ("topic", "rank", "word", "probability", "times likelier"),
        [
            (topic.name, rank, word.word, word.probability, word.likelier)
            for topic in report.topics
            for rank, word in enumerate(topic.answer.words, 1)
        ],
    )
    yield _make_sheet(
        "Documents",
        ("topic", "rank", "row", "id", "title", "date", "link", "share", "snippet"),
        [
            (topic.name, rank, *_describe(document))
            for topic in report.topics
            for rank, document in enumerate(topic.answer.documents, 1)
        ],
    )
    if report.timeline is not None:
        starts: Sequence[str | None] = report.timeline.starts or [None] * len(report.timeline.labels)
        yield _make_sheet(
            "Timeline",
            ("topic", report.timeline.column, "first day", *_GROUP_NAMES),
            [
                (topic.hint, group.label, _read_date(start), *_list_shares(group))
                for topic in report.timeline.topics
                for group, start in zip(topic.groups, starts, strict=True)
            ],
        )
    if report.groups:
        yield _make_sheet(
            "Groups",
            ("topic", "column", "group", *_GROUP_NAMES),
            [
                (topic.hint, groups.column, group.label, *_list_shares(group))
                for groups in report.groups
                for topic in groups.topics
                for group in topic.groups
            ],
        )
    yield _make_sheet(
        "Other meanings",
        ("topic", "rank", "words", "part of the hint", "share of all text"),
        [
            (topic.name, other.rank, ", ".join(other.words), other.share_of_hint, other.weight)
            for topic in report.topics
            for other in topic.answer.alternatives
        ],
    )
    names = [topic.name for topic in report.topics]
    overlaps = [(name, *row) for name, row in zip(names, report.overlaps, strict=True)]
    yield _make_sheet("In common", rename_repeated(("topic", *names)), overlaps)
    yield _make_sheet("Methods", ("about", "explanation"), list(list_methods(report)))


def _summarize(answer: Answer) -> tuple[Any, ...]:
    return (
        answer.verdict_code,
        answer.confidence,
        answer.verdict,
        answer.weight,
        answer.n_about,
        answer.n_about_low,
        answer.n_about_high,
        answer.n_holding,
        ", ".join(word.word for word in answer.words),
        " ".join(warning.message for warning in answer.warnings) or None,
    )


def _describe(document: TypicalDocument) -> tuple[Any, ...]:
    known = (document.row, document.name, document.title, _read_date(document.date), document.link)
    return (*known, document.share, document.snippet)


def _list_shares(group: GroupShare) -> tuple[Any, ...]:
    return (
        group.n_documents,
        group.share,
        group.low,
        group.high,
        group.n_about,
        group.n_about_low,
        group.n_about_high,
        group.n_holding,
    )


def _read_date(text: str | None) -> date | int | str | None:
    """Return a date or a year with its type, and anything else as text."""
    if text is None or re.fullmatch(r"\d{4}", text):
        return None if text is None else int(text)
    try:
        return datetime.fromisoformat(text) if "T" in text or " " in text else date.fromisoformat(text)
    except ValueError:
        return text
