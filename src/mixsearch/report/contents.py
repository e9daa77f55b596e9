"""What a report says: topics with their words, documents, timelines and groups, and how it was made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from mixsearch.errors import SearchError
from mixsearch.index.answer import Answer, AnswerOptions
from mixsearch.index.compare import Outcome, answer_queries, compare_topics, name_outcomes
from mixsearch.index.groups import GroupedTopic, TopicGroups, group_topics
from mixsearch.index.query import Query
from mixsearch.index.topic_index import TopicIndex

# Columns of groups that are chosen by themselves.
_MAX_COLUMNS = 3
# A heading and a paragraph each.
_SECTIONS = (
    (
        "How a topic is found",
        "Each hint is a word or a few words. A topic is a set of words that occur together in the same documents, each "
        "with its probability. From how words occur together, in pairs and triples, the search computes the one topic "
        "that the hint points to, and then refines it on the documents near the hint. Nobody labelled any document, "
        "and no list of topics was set in advance.",
    ),
    (
        "Words",
        "Words are listed by how well they distinguish documents of the topic from others. The percentage is the "
        "probability of the word in the topic; 12× means that it is twelve times as likely there as in all documents.",
    ),
    (
        "Verdict",
        "The verdict says whether the topic is the one that the hint means. It is based on a probability calibrated on "
        "labelled texts: clear means 80% or more, likely 50%, doubtful 20%, unclear less. Read the words and the "
        "documents before you rely on a topic that is doubtful or unclear.",
    ),
    (
        "How many documents",
        "A document is about a topic if at least a quarter of it is. Words alone do not determine the exact number: "
        "in labelled texts, the range contained the number of labelled documents for most topics. The "
        "share of a topic is its part of all text, so a topic in few long documents and one in many short ones can "
        "have the same share.",
    ),
    (
        "Documents",
        "Documents are listed by how much they are about the topic: by their words, their likelihood, and their "
        "distance to the documents that contain the hint. The share of a document is an estimate. Shares of "
        "several topics in one document add up to at most 100%.",
    ),
    (
        "Over time and by group",
        "The line or dot is the mean share of the topic in the documents of a period or group. The band or bar is a "
        "95% interval for the share in all documents of this kind, given the topic that was "
        "found. Periods with few documents have wide intervals. Shares whose intervals do not overlap differ; "
        "among many comparisons, some differ by chance.",
    ),
    (
        "Other meanings",
        "A word can mean several things. Other topics that the hint points to are listed with the part of the hint "
        "that each accounts for. To search for one of them, add a word that is specific to it.",
    ),
    (
        "What to keep in mind",
        "Topics are patterns of words, not judgements about what was meant: irony, negation and rare spellings are not "
        "understood. Documents with too few words are left out.",
    ),
)


@dataclass(frozen=True)
class ReportedTopic:
    """A topic of a report."""

    name: str
    answer: Answer
    timeline: GroupedTopic | None
    groups: tuple[GroupedTopic, ...]


@dataclass(frozen=True)
class Report:
    """Topics of an index, as plain data for a page or a workbook.

    Parameters
    ----------
    title : str
        The title.
    created : date
        When the report was made.
    index : str
        The name of the index.
    n_documents, n_words, n_fitted : int
        The number of documents, of words, and of topics that were fitted to them.
    where : str or None
        The filter of the documents.
    topics : tuple of ReportedTopic
        The topics that were found.
    timeline : TopicGroups or None
        The shares of all topics over time.
    groups : tuple of TopicGroups
        The shares of all topics by the values of columns.
    overlaps : tuple of tuple of float
        What each pair of topics has in common, from 0 to 1.
    failed : tuple of Outcome
        The hints without a topic, with their errors.
    """

    title: str
    created: date
    index: str
    n_documents: int
    n_words: int
    n_fitted: int
    where: str | None
    topics: tuple[ReportedTopic, ...]
    timeline: TopicGroups | None
    groups: tuple[TopicGroups, ...]
    overlaps: tuple[tuple[float, ...], ...]
    failed: tuple[Outcome, ...]


def make_report(
    index: TopicIndex,
    queries: Sequence[Query],
    *,
    title: str | None = None,
    over: str | Literal["auto"] | None = "auto",
    by: Sequence[str] | Literal["auto"] = "auto",
    where: str | None = None,
    n_words: int = 12,
    n_documents: int = 10,
    created: date | None = None,
) -> Report:
    """Search for topics and describe them for a report.

    Parameters
    ----------
    index : TopicIndex
        The index to search.
    queries : sequence of Query
        What to search for. A query without a topic leaves the others alone.
    title : str, optional
        The title; by default the name of the index.
    over : str, "auto" or None, default="auto"
        The column of the timeline: dates or numbers. "auto" takes the first column of dates, if there is one.
    by : sequence of str or "auto", default="auto"
        The columns of the groups. "auto" takes the first three columns of categories.
    where : str, optional
        A filter of the documents that are listed and counted.
    n_words, n_documents : int
        How many words and documents to list for each topic.
    created : date, optional
        The day of the report; today by default.

    Returns
    -------
    Report

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, Query, build_index, open_index
    >>> from mixsearch.report import make_report
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> report = make_report(open_index(built.path), [Query("sushi", {"sushi": 1})])
    >>> report.title, report.timeline.column, [groups.column for groups in report.groups]
    ('reviews', 'date', ['city'])
    """
    options = AnswerOptions(n_words=n_words, n_documents=n_documents)
    outcomes = answer_queries(index, [replace(query, where=where) for query in queries], options)
    found = [outcome for outcome in outcomes if outcome.topic is not None and outcome.answer is not None]
    if not found:
        raise next((outcome.error for outcome in outcomes if outcome.error is not None), _make_error())
    named = name_outcomes(found)
    column = index.columns.find("date") if over == "auto" else over
    timeline = None if column is None else group_topics(index, named, over=column, where=where)
    columns = _choose_columns(index) if by == "auto" else list(by)
    groups = tuple(group_topics(index, named, by=each, where=where) for each in columns)
    return Report(
        title=title or index.path.stem,
        created=created or date.today(),
        index=index.path.name,
        n_documents=index.n_documents,
        n_words=len(index.vocabulary),
        n_fitted=index.n_components,
        where=where,
        topics=tuple(
            ReportedTopic(
                name,
                outcome.answer,
                None if timeline is None else timeline.topics[position],
                tuple(each.topics[position] for each in groups),
            )
            for position, (name, outcome) in enumerate(zip(named, found, strict=True))
            if outcome.answer is not None
        ),
        timeline=timeline,
        groups=groups,
        overlaps=tuple(tuple(each or 0.0 for each in row) for row in compare_topics(found)),
        failed=tuple(outcome for outcome in outcomes if outcome.error is not None),
    )


def _choose_columns(index: TopicIndex) -> list[str]:
    return [column.name for column in index.columns.described if column.role == "category"][:_MAX_COLUMNS]


def _make_error() -> SearchError:
    return SearchError("A report needs at least one hint, got none.", code="no_hints")


def list_methods(report: Report) -> list[tuple[str, str]]:
    """Return the headings and paragraphs of the page of methods."""
    return [("The documents", _describe_documents(report)), *_SECTIONS]


def _describe_documents(report: Report) -> str:
    parts = [
        f"{report.n_documents:,} documents of the index {report.index}, with {report.n_words:,} distinct words that "
        f"were counted. {report.n_fitted:,} topics were fitted to them; a search uses as many as its hint needs."
    ]
    if report.where is not None:
        parts.append(f"Only documents with {report.where} are listed and counted.")
    if report.timeline is not None and report.timeline.n_missing:
        n_missing, column = report.timeline.n_missing, report.timeline.column
        parts.append(f"{n_missing:,} of them have no value in the column {column}, and are not part of the timeline.")
    return " ".join(parts)
