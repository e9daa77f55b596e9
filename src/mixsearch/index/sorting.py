"""The documents of a topic in the order of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mixsearch.index.groups import find_column
from mixsearch.topics import Topic, has_quick_confidence

if TYPE_CHECKING:
    from mixsearch.index.topic_index import TopicIndex

# Of a topic with more documents, those that are most about it are sorted.
MAX_SORTED = 1000


def sort_documents(index: TopicIndex, topic: Topic, column: str, *, descending: bool) -> list[tuple[int, float]]:
    """Return the documents about a topic in the order of a column.

    Parameters
    ----------
    index : TopicIndex
        The index that found the topic.
    topic : Topic
        The topic.
    column : str
        The column.
    descending : bool
        Largest values first.

    Returns
    -------
    list of (int, float)
        The row of each document and the topic's share in it. Documents without a value come last, and those with the
        same value are in the order of their shares.
    """
    name = find_column(index.columns, column)
    n_about = topic.document_count.n if has_quick_confidence(topic) else MAX_SORTED
    best = topic.documents(int(np.clip(n_about, 1, MAX_SORTED)))
    indices = index.fitted.find_documents([row for row, _ in best])
    values = index.columns.take(indices, [name]).column(name).to_pylist()
    known = [i for i, value in enumerate(values) if value is not None and value == value]  # not NaN
    # A sort in reverse keeps equal values in their order, too.
    ranked = sorted(known, key=lambda i: _fold(values[i]), reverse=descending)
    missing = sorted(set(range(len(best))) - set(known))
    return [best[i] for i in (*ranked, *missing)]


def _fold(value: Any) -> Any:
    """Return the sort key of a value: texts as in a dictionary, ignoring case."""
    return value.casefold() if isinstance(value, str) else value
