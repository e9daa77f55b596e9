"""A report as an Excel workbook: long tables, one sheet for each kind of fact."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from mixsearch.index.answer import Answer, TypicalDocument
from mixsearch.index.groups import GroupShare, TopicGroups
from mixsearch.io.workbook import Sheet, write_workbook
from mixsearch.report.contents import Report, list_methods

_SHARE, _FINE, _COUNT, _TIMES = "0.0%", "0.00%", "#,##0", "0.0"
_GROUP_NAMES = ("documents", "share", "low", "high", "about", "about low", "about high", "with words")
_GROUP_FORMATS = (_COUNT, _FINE, _FINE, _FINE, _COUNT, _COUNT, _COUNT, _COUNT)


def write_sheets(report: Report, path: Path) -> None:
    """Write a report as a workbook."""
    write_workbook(path, _list_sheets(report))


def _list_sheets(report: Report) -> Iterator[Sheet]:
    yield _make_summary(report)
    yield _make_words(report)
    yield _make_documents(report)
    if report.timeline is not None:
        yield _make_timeline(report.timeline)
    if report.groups:
        yield _make_groups(report.groups)
    yield _make_other_meanings(report)
    yield _make_overlaps(report)
    yield Sheet("Methods", ("about", "explanation"), list_methods(report), widths=(28, 90))


def _make_summary(report: Report) -> Sheet:
    found = [(topic.name, *_summarize(topic.answer)) for topic in report.topics]
    failed = [(outcome.query.name, "not found", *[None] * 8, str(outcome.error)) for outcome in report.failed]
    return Sheet(
        "Summary",
        ("topic", "verdict", "confidence", "meaning of the verdict", "share of all text", "documents about it",
         "at least", "at most", "documents with the words", "words", "notes"),
        [*found, *failed],
        (None, None, "0%", None, _FINE, _COUNT, _COUNT, _COUNT, _COUNT),
        (24, 12, 12, 32, 16, 18, 10, 10, 22, 70, 70),
    )  # fmt: skip


def _make_words(report: Report) -> Sheet:
    return Sheet(
        "Words",
        ("topic", "rank", "word", "probability", "times likelier"),
        [
            (topic.name, rank, word.word, word.probability, word.likelier)
            for topic in report.topics
            for rank, word in enumerate(topic.answer.words, 1)
        ],
        (None, None, None, _FINE, _TIMES),
        (24, 6, 24, 12, 14),
    )


def _make_documents(report: Report) -> Sheet:
    return Sheet(
        "Documents",
        ("topic", "rank", "row", "id", "title", "date", "link", "share", "snippet"),
        [
            (topic.name, rank, *_describe(document))
            for topic in report.topics
            for rank, document in enumerate(topic.answer.documents, 1)
        ],
        (None, None, None, None, None, "yyyy-mm-dd", None, _SHARE, None),
        (24, 6, 8, 18, 48, 12, 32, 8, 80),
    )


def _make_timeline(timeline: TopicGroups) -> Sheet:
    starts: Sequence[str | None] = timeline.starts or [None] * len(timeline.labels)
    return Sheet(
        "Timeline",
        ("topic", timeline.column, "first day", *_GROUP_NAMES),
        [
            (topic.hint, group.label, _read_date(start), *_list_shares(group))
            for topic in timeline.topics
            for group, start in zip(topic.groups, starts, strict=True)
        ],
        (None, None, "yyyy-mm-dd", *_GROUP_FORMATS),
        (24, 14, 12),
    )


def _make_groups(all_groups: Sequence[TopicGroups]) -> Sheet:
    return Sheet(
        "Groups",
        ("topic", "column", "group", *_GROUP_NAMES),
        [
            (topic.hint, groups.column, group.label, *_list_shares(group))
            for groups in all_groups
            for topic in groups.topics
            for group in topic.groups
        ],
        (None, None, None, *_GROUP_FORMATS),
        (24, 16, 24),
    )


def _make_other_meanings(report: Report) -> Sheet:
    return Sheet(
        "Other meanings",
        ("topic", "rank", "words", "part of the hint", "share of all text"),
        [
            (topic.name, other.rank, ", ".join(other.words), other.share_of_hint, other.weight)
            for topic in report.topics
            for other in topic.answer.alternatives
        ],
        (None, None, None, _SHARE, _FINE),
        (24, 6, 60, 16, 16),
    )


def _make_overlaps(report: Report) -> Sheet:
    names = [topic.name for topic in report.topics]
    return Sheet(
        "In common",
        ("topic", *names),
        [(name, *row) for name, row in zip(names, report.overlaps, strict=True)],
        (None, *[_SHARE] * len(names)),
        (24,),
    )


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
