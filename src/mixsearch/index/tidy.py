"""Replies as rows of a table, one fact in each."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from mixsearch.index.answers import Answer, Reply

COLUMNS = ("hint", "kind", "rank", "item", "value", "likelier", "name", "snippet")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_FACTS = ("weight", "separation", "share_of_hint", "n_components", "n_fitted")


def as_csv(replies: Iterable[Reply], *, errors: bool = False, for_spreadsheets: bool = False) -> str:
    """All replies, with a header; with errors there is one column more.

    Spreadsheets take text that begins as a formula for one, whoever wrote it: an apostrophe before it prevents that.
    """
    text = io.StringIO()
    columns = (*COLUMNS, "stderr") if errors else COLUMNS
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for reply in replies:
        rows = [_row("error", 1, str(reply.error))] if reply.answer is None else _rows(reply.answer)
        named = ({"hint": reply.query.name, **row} for row in rows)
        writer.writerows(
            {key: _inert(value) for key, value in row.items()} if for_spreadsheets else row for row in named
        )
    return text.getvalue()


def _inert(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _rows(answer: Answer) -> Iterator[dict[str, Any]]:
    for rank, name in enumerate(_FACTS, 1):
        yield _row("fact", rank, name, getattr(answer, name), stderr=answer.weight_stderr if name == "weight" else "")
    if answer.confidence is not None:
        yield _row("fact", len(_FACTS) + 1, "confidence", answer.confidence)
    for rank, word in enumerate(answer.words, 1):
        yield _row("word", rank, word.word, word.probability, likelier=word.likelier, stderr=word.probability_stderr)
    for rank, related in enumerate(answer.related_words, 1):
        yield _row("related", rank, related.word, likelier=related.likelier)
    for rank, document in enumerate(answer.documents, 1):
        yield _row("document", rank, document.row, document.share, name=document.name, snippet=document.snippet)
    for rank, other in enumerate(answer.alternatives, 1):
        yield _row("alternative", rank, " ".join(other.words), other.share_of_hint)
    for rank, warning in enumerate(answer.warnings, 1):
        yield _row("warning", rank, warning)


def _row(kind: str, rank: int, item: Any, value: Any = "", **more: Any) -> dict[str, Any]:
    return {"kind": kind, "rank": rank, "item": item, "value": value, **more}
