"""Documents of an index as tables: their columns, texts, and the share of topics in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch._typing import Array
from mixsearch.data.arrow import import_pyarrow
from mixsearch.data.chunks import row_slices
from mixsearch.data.files.types import rename_repeated
from mixsearch.errors import SearchError
from mixsearch.index.column_file import ID, ROW
from mixsearch.topics import ABOUT_SHARE, Topic

if TYPE_CHECKING:
    from mixsearch.index.compare import Outcome
    from mixsearch.index.topic_index import TopicIndex

TEXT = "text"
_NEED = "Tables of documents"
# Documents whose counts and texts are in memory at a time.
_CHUNK_ROWS = 10_000


def list_documents(index: TopicIndex, *, text: bool = True) -> Any:
    """Return all documents of an index, with their names, columns and texts.

    Parameters
    ----------
    index : TopicIndex
        The index.
    text : bool, default=True
        Whether to return their texts, if the index stores them.

    Returns
    -------
    pyarrow.RecordBatchReader
        With the columns row, id if documents have names, those that were kept, and text.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, build_index, list_documents, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> list_documents(open_index(built.path)).read_all().column_names
    ['row', 'date', 'city', 'stars', 'text']
    """
    return _stream(_read_documents(index, indices, text=text) for indices in _list_indices(index))


def label_documents(index: TopicIndex, outcomes: Sequence[Outcome], *, text: bool = False) -> Any:
    """Return all documents of an index with their share of some topics.

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
    pyarrow.RecordBatchReader
        With the columns of `list_documents` and, for each topic, its share in the document under the name of the
        query, whether the document is about it, and the verdict of the topic. The shares in a document add up to at
        most 1.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from mixsearch.datasets import make_reviews
    >>> from mixsearch.index import IndexOptions, Query, answer_queries, build_index, label_documents, open_index
    >>> reviews = make_reviews(500, random_state=0).to_columns()
    >>> built = build_index(reviews, mkdtemp() + "/reviews.index", IndexOptions(n_components=12))
    >>> index = open_index(built.path)
    >>> outcomes = answer_queries(index, [Query("sushi", {"sushi": 1})])
    >>> label_documents(index, outcomes).read_all().column_names  # read_pandas() for a data frame
    ['row', 'date', 'city', 'stars', 'sushi', 'sushi about', 'sushi verdict']
    """
    found = [outcome for outcome in outcomes if outcome.topic is not None]
    if not found:
        raise SearchError("No topic was found, so there is nothing to label documents with.", code="no_topics")
    return _stream(_label(index, found, indices, text) for indices in _list_indices(index))


def _label(index: TopicIndex, outcomes: Sequence[Outcome], indices: Array, text: bool) -> Any:
    arrow = import_pyarrow(_NEED)
    table = _read_documents(index, indices, text=text)
    shares = _compute_shares(index, [outcome.topic for outcome in outcomes if outcome.topic is not None], indices)
    names, columns = list(table.column_names), list(table.columns)
    for outcome, share in zip(outcomes, shares.T, strict=True):
        code = "" if outcome.answer is None else outcome.answer.verdict_code
        verdict = arrow.DictionaryArray.from_arrays(np.zeros(len(indices), dtype=np.int8), [code])
        names += [outcome.query.name, f"{outcome.query.name} about", f"{outcome.query.name} verdict"]
        columns += [arrow.array(share), arrow.array(share >= ABOUT_SHARE), verdict]
    return arrow.table(columns, names=rename_repeated(names))


def _compute_shares(index: TopicIndex, topics: Sequence[Topic], indices: Array) -> Array:
    """Return the share of topics in documents, which add up to at most 1 in each, (n, q)."""
    shares = index.shares(topics, _find_rows(index, indices))
    return np.asarray(shares / np.maximum(shares.sum(axis=1, keepdims=True), 1))


def _list_indices(index: TopicIndex) -> Iterator[Array]:
    """Yield the indices of all documents in the corpus, in chunks."""
    return (np.arange(chunk.start, chunk.stop) for chunk in row_slices(index.n_documents, _CHUNK_ROWS))


def _find_rows(index: TopicIndex, indices: Array) -> list[int]:
    rows: list[int] = np.asarray(index.fitted.search.kept_rows_)[indices].tolist()
    return rows


def _read_documents(index: TopicIndex, indices: Array, *, text: bool) -> Any:
    """Return the rows, names, columns and texts of documents."""
    arrow = import_pyarrow(_NEED)
    table = _read_columns(index, indices)
    if not text or not index.has_texts:
        return table
    texts = arrow.array([document.text for document in index.documents(_find_rows(index, indices))], arrow.string())
    return arrow.table([*table.columns, texts], names=rename_repeated([*table.column_names, TEXT]))


def _read_columns(index: TopicIndex, indices: Array) -> Any:
    """Return the rows, names and columns of documents."""
    if index.columns.names:
        return index.columns.take(indices)
    arrow = import_pyarrow(_NEED)
    rows = _find_rows(index, indices)
    columns = {ROW: arrow.array(rows, arrow.int64())}
    if index.has_names:
        columns[ID] = arrow.array([document.name for document in index.documents(rows)], arrow.string())
    return arrow.table(columns)


def _stream(tables: Iterator[Any]) -> Any:
    """Return tables of one schema as a reader of record batches."""
    arrow = import_pyarrow(_NEED)
    first = next(tables)

    def list_batches() -> Iterator[Any]:
        yield from first.combine_chunks().to_batches()
        for table in tables:
            yield from table.combine_chunks().to_batches()

    return arrow.RecordBatchReader.from_batches(first.schema, list_batches())
