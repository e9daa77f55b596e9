"""Answers as a table: one fact per row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from mixsearch.index.answer import Answer
from mixsearch.index.compare import Outcome
from mixsearch.index.csv_rows import write_rows
from mixsearch.index.map import TopicMap

COLUMNS = ("hint", "kind", "rank", "item", "value", "likelier", "name", "snippet", "title", "link", "date")
MAP_COLUMNS = ("words", "typical_words", "weight", "separation", "verdict", "x", "y")
_FACTS = (
    "weight",
    "n_about",
    "n_about_low",
    "n_about_high",
    "n_holding",
    "separation",
    "share_of_hint",
    "n_components",
    "n_fitted",
)


def to_csv(outcomes: Iterable[Outcome], *, errors: bool = False, for_spreadsheets: bool = False) -> str:
    """Return answers as a table with a header.

    Parameters
    ----------
    outcomes : iterable of Outcome
        The answers. An error is one row.
    errors : bool, default=False
        Add a column of standard errors.
    for_spreadsheets : bool, default=False
        Put an apostrophe before text that a spreadsheet would read as a formula.

    Returns
    -------
    str

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, Query, answer_queries, build_index, open_index, to_csv
    >>> texts = make_reviews(500, random_state=0).text
    >>> built = build_index(texts, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> table = to_csv(answer_queries(open_index(built.path), [Query("sushi", {"sushi": 1})]))
    >>> table.splitlines()[0]
    'hint,kind,rank,item,value,likelier,name,snippet,title,link,date'
    """
    columns = (*COLUMNS, "stderr") if errors else COLUMNS
    rows = ({"hint": outcome.query.name, **fact} for outcome in outcomes for fact in _list_rows(outcome))
    return write_rows(rows, columns, for_spreadsheets=for_spreadsheets)


def _list_rows(outcome: Outcome) -> Iterable[dict[str, Any]]:
    return [_row("error", 1, str(outcome.error))] if outcome.answer is None else _list_facts(outcome.answer)


def map_to_csv(found: TopicMap) -> str:
    """Return the topics of a map as a table with a header, one per row.

    Parameters
    ----------
    found : TopicMap
        The topics.

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(MAP_COLUMNS)
    for topic in found.topics:
        words, typical = " ".join(topic.words), " ".join(topic.label)
        separation = "" if topic.separation is None else topic.separation
        writer.writerow([words, typical, topic.weight, separation, topic.verdict, topic.x, topic.y])
    return text.getvalue()


def _list_facts(answer: Answer) -> Iterator[dict[str, Any]]:
    for rank, name in enumerate(_FACTS, 1):
        yield _row("fact", rank, name, getattr(answer, name), stderr=answer.weight_stderr if name == "weight" else "")
    if answer.confidence is not None:
        yield _row("fact", len(_FACTS) + 1, "confidence", answer.confidence)
    for rank, word in enumerate(answer.words, 1):
        yield _row("word", rank, word.word, word.probability, likelier=word.likelier, stderr=word.probability_stderr)
    for rank, related in enumerate(answer.related_words, 1):
        yield _row("related", rank, related.word, likelier=related.likelier)
    for rank, document in enumerate(answer.documents, 1):
        known = {name: getattr(document, name) for name in ("name", "snippet", "title", "link", "date")}
        yield _row("document", rank, document.row, document.share, **known)
    for rank, other in enumerate(answer.alternatives, 1):
        yield _row("alternative", rank, " ".join(other.words), other.share_of_hint)
    for rank, warning in enumerate(answer.warnings, 1):
        yield _row("warning", rank, warning.message)


def _row(kind: str, rank: int, item: Any, value: Any = "", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "rank": rank, "item": item, "value": value, **more}
