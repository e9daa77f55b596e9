"""A map of documents: a point for each, near those that are about the same, with the topic that it is most about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from mixsearch._typing import Array
from mixsearch.index.embedding import embed_in_plane
from mixsearch.index.map import find_mapped_topics
from mixsearch.index.topic_index import TopicIndex

# Of a larger corpus, as many documents at even steps.
MAX_POINTS = 100_000
# A document is about the topic that has most of it, from this share on.
MIN_SHARE = 0.15
# What stands for a document without a topic.
NO_TOPIC = 255


class DocumentPoints(NamedTuple):
    """Documents in the plane.

    Parameters
    ----------
    rows : array of shape (n,)
        Their rows in the files that were indexed.
    points : array of shape (n, 2)
        Between 0 and 1.
    step : int
        The distance between two documents that have a point, in rows.
    """

    rows: Array
    points: Array
    step: int


def place_documents(index: TopicIndex) -> DocumentPoints:
    """Return the documents of an index in the plane: those about the same are near each other.

    Parameters
    ----------
    index : TopicIndex
        The index.

    Returns
    -------
    DocumentPoints
        At most 100,000 of them.
    """
    step = -(-index.n_documents // MAX_POINTS)
    rows = index.fitted.search.kept_rows_[::step]
    return DocumentPoints(np.asarray(rows), embed_in_plane(index.fitted.places(step)), step)


def assign_topics(
    index: TopicIndex,
    words: Sequence[str] | None = None,
    *,
    n: int = 30,
    by: Literal["distinctive", "frequent"] = "distinctive",
    step: int = 1,
) -> Array:
    """Return the topic of a map that each document is most about.

    Parameters
    ----------
    index : TopicIndex
        The index.
    words, n, by
        The map, as `map_topics` takes them.
    step : int, default=1
        Take every `step`-th document only.

    Returns
    -------
    array of shape (m,), of uint8
        Indices in `TopicMap.topics`; 255 for a document that is about none of them.
    """
    topics = find_mapped_topics(index, words, n=n, by=by)
    shares = index.document_shares(topics)[::step]
    best = shares.argmax(axis=1)
    is_about = np.take_along_axis(shares, best[:, None], axis=1)[:, 0] >= MIN_SHARE
    return np.where(is_about, best, NO_TOPIC).astype(np.uint8)
