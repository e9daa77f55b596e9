"""The topic index: a corpus on disk that is built from files, opens at once, and answers in milliseconds."""

from mixsearch.index.answer import (
    Alternative,
    Answer,
    AnswerWarning,
    RelatedWord,
    SkippedWord,
    TopicWord,
    TypicalDocument,
    describe,
)
from mixsearch.index.build import DEFAULT_COMPONENTS, Built, IndexOptions, OnProgress, build_index
from mixsearch.index.columns import ROW, Columns, StoredColumn
from mixsearch.index.compare import Outcome, answer_queries, compare_topics
from mixsearch.index.completion import CorpusWord
from mixsearch.index.contents import Contents
from mixsearch.index.map import MAX_WORDS, MappedTopic, Neighbour, TopicMap, UnmappedWord, map_topics
from mixsearch.index.options import AnswerOptions
from mixsearch.index.overlap import compute_overlaps
from mixsearch.index.query import Found, Query
from mixsearch.index.snippets import match_word
from mixsearch.index.starters import Starter
from mixsearch.index.to_csv import map_to_csv, to_csv
from mixsearch.index.topic_index import Document, TopicIndex, open_index
from mixsearch.index.update import (
    Added,
    Existing,
    Growth,
    Removed,
    add_documents,
    refresh_index,
    remove_documents,
)

__all__ = [
    "DEFAULT_COMPONENTS",
    "MAX_WORDS",
    "ROW",
    "Added",
    "Alternative",
    "Answer",
    "AnswerOptions",
    "AnswerWarning",
    "Built",
    "Columns",
    "Contents",
    "CorpusWord",
    "Document",
    "Existing",
    "Found",
    "Growth",
    "IndexOptions",
    "MappedTopic",
    "Neighbour",
    "OnProgress",
    "Outcome",
    "Query",
    "RelatedWord",
    "Removed",
    "SkippedWord",
    "Starter",
    "StoredColumn",
    "TopicIndex",
    "TopicMap",
    "TopicWord",
    "TypicalDocument",
    "UnmappedWord",
    "add_documents",
    "answer_queries",
    "build_index",
    "compare_topics",
    "compute_overlaps",
    "describe",
    "map_to_csv",
    "map_topics",
    "match_word",
    "open_index",
    "refresh_index",
    "remove_documents",
    "to_csv",
]
