"""A corpus on disk that answers hints: built from files, opened at once, searched in milliseconds."""

from mixsearch.index.answers import Answer, Asking, Query, Reply
from mixsearch.index.asking import ask
from mixsearch.index.building import build_index
from mixsearch.index.options import IndexOptions
from mixsearch.index.overlap import overlaps
from mixsearch.index.overview import TopicMap, map_topics
from mixsearch.index.suggesting import telling_words
from mixsearch.index.summary import Built
from mixsearch.index.topic_index import Document, TopicIndex, open_index

__all__ = [
    "Answer",
    "Asking",
    "Built",
    "Document",
    "IndexOptions",
    "Query",
    "Reply",
    "TopicIndex",
    "TopicMap",
    "ask",
    "build_index",
    "map_topics",
    "open_index",
    "overlaps",
    "telling_words",
]
