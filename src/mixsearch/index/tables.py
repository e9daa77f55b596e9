"""Documents and answers of an index as tables: data frames and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from mixsearch._typing import Array
from mixsearch.core.rows import row_slices
from mixsearch.errors import SearchError
from mixsearch.index.column_file import ID, ROW
from mixsearch.io.values import rename_repeated
from mixsearch.topics.component import Topic
from mixsearch.topics.local_em import ABOUT_SHARE

if TYPE_CHECKING:
    from mixsearch.index.answer import Answer
    from mixsearch.index.compare import Outcome
    from mixsearch.index.map import TopicMap
    from mixsearch.index.topic_index import TopicIndex

TEXT = "text"
# Documents whose counts and texts are in memory at a time.
CHUNK_ROWS = 10_000
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
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def list_documents(index: TopicIndex, *, text: bool = True) -> Iterator[pl.DataFrame]:
    """Read all documents of an index, with their names, columns and texts.

    Parameters
    ----------
    index : TopicIndex
        The index.
    text : bool, default=True
        Whether to return their texts, if the index stores them.

    Returns
    -------
    iterator of polars.DataFrame
        Some documents each, with the columns row, id if documents have names, those that were kept, and text.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import polars
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, list_documents, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> documents = polars.concat(list_documents(open_index(built.path)))
    >>> documents.columns
    ['row', 'date', 'city', 'stars', 'text']
    """
    return (_read_documents(index, indices, text=text) for indices in _list_indices(index))


def label_documents(index: TopicIndex, outcomes: Sequence[Outcome], *, text: bool = False) -> Iterator[pl.DataFrame]:
    """Read all documents of an index with their share of some topics.

    Parameters
    ----------
    index : TopicIndex
        The index.
    outcomes : sequence of Outcome
        What `answer_queries` returned; those without a topic are left out.
    text : bool, default=False
        Whether to return their texts, if the index stores them.

    Returns
    -------
    iterator of polars.DataFrame
        Some documents each, with the columns of `list_documents` and, for each topic, its share in the document under
        the name of the query, whether the document is about it, and the verdict of the topic. The shares in a document
        add up to at most 1.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import polars
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, Query, answer_queries, build_index, label_documents, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> index = open_index(built.path)
    >>> outcomes = answer_queries(index, [Query("sushi", {"sushi": 1})])
    >>> polars.concat(label_documents(index, outcomes)).columns
    ['row', 'date', 'city', 'stars', 'sushi', 'sushi about', 'sushi verdict']
    """
    found = [outcome for outcome in outcomes if outcome.topic is not None]
    if not found:
        raise SearchError("No topic was found, so there is nothing to label documents with.", code="no_topics")
    return (_label(index, found, indices, text) for indices in _list_indices(index))


def _label(index: TopicIndex, outcomes: Sequence[Outcome], indices: Array, text: bool) -> pl.DataFrame:
    columns = _read_documents(index, indices, text=text).get_columns()
    shares = _compute_shares(index, [outcome.topic for outcome in outcomes if outcome.topic is not None], indices)
    for outcome, share in zip(outcomes, shares.T, strict=True):
        name, code = outcome.query.name, "" if outcome.answer is None else outcome.answer.verdict_code
        columns += [
            pl.Series(name, share),
            pl.Series(f"{name} about", share >= ABOUT_SHARE),
            pl.Series(f"{name} verdict", [code]).new_from_index(0, len(share)),
        ]
    return _name_columns(columns)


def _name_columns(columns: Sequence[pl.Series]) -> pl.DataFrame:
    """Make a table of columns; repeated names get a number."""
    names = rename_repeated([column.name for column in columns])
    return pl.DataFrame([column.alias(name) for column, name in zip(columns, names, strict=True)])


def _compute_shares(index: TopicIndex, topics: Sequence[Topic], indices: Array) -> Array:
    """Return the share of topics in documents, which add up to at most 1 in each, (n, q)."""
    shares = index.shares(topics, _find_rows(index, indices))
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1))


def _list_indices(index: TopicIndex) -> Iterator[Array]:
    """Yield the indices of all documents in the corpus, in chunks."""
    return (np.arange(chunk.start, chunk.stop) for chunk in row_slices(index.n_documents, CHUNK_ROWS))


def _find_rows(index: TopicIndex, indices: Array) -> list[int]:
    rows: list[int] = np.asarray(index.fitted.search.kept_rows_)[indices].tolist()
    return rows


def _read_documents(index: TopicIndex, indices: Array, *, text: bool) -> pl.DataFrame:
    """Read the rows, names, columns and texts of documents."""
    frame = _read_columns(index, indices)
    if not text or not index.has_texts:
        return frame
    texts = [document.text for document in index.documents(_find_rows(index, indices))]
    return _name_columns([*frame.get_columns(), pl.Series(TEXT, texts, dtype=pl.String)])


def _read_columns(index: TopicIndex, indices: Array) -> pl.DataFrame:
    """Read the rows, names and columns of documents."""
    if index.columns.names:
        return index.columns.take(indices)
    rows = _find_rows(index, indices)
    columns = [pl.Series(ROW, rows, dtype=pl.Int64)]
    if index.has_names:
        columns.append(pl.Series(ID, [document.name for document in index.documents(rows)], dtype=pl.String))
    return pl.DataFrame(columns)


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
    """Return the topics of a map as a table with a header, one per row."""
    facts = ("weight", "separation", "verdict", "x", "y")
    rows = (
        {"words": " ".join(topic.words), "typical_words": " ".join(topic.label)}
        | {name: getattr(topic, name) for name in facts}
        for topic in found.topics
    )
    return write_rows(rows, MAP_COLUMNS)


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


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, for_spreadsheets: bool = False) -> str:
    """Return rows as a table with a header."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(map(_escape_row, rows) if for_spreadsheets else rows)
    return text.getvalue()


def _escape_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _escape(value) for name, value in row.items()}


def _escape(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
