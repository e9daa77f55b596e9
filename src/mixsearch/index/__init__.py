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
from mixsearch.index.compare import Outcome, answer_queries, compare_topics
from mixsearch.index.completion import CorpusWord
from mixsearch.index.contents import Contents
from mixsearch.index.frames import label_documents, list_documents
from mixsearch.index.map import MAX_WORDS, MappedTopic, Neighbour, TopicMap, UnmappedWord, map_topics
from mixsearch.index.options import AnswerOptions
from mixsearch.index.overlap import compute_overlaps
from mixsearch.index.query import Found, Query
from mixsearch.index.snippets import match_word
from mixsearch.index.starters import Starter
from mixsearch.index.to_csv import map_to_csv, to_csv
from mixsearch.index.topic_index import Document, TopicIndex, open_index

__all__ = [
    "DEFAULT_COMPONENTS",
    "MAX_WORDS",
    "Alternative",
    "Answer",
    "AnswerOptions",
    "AnswerWarning",
    "Built",
    "Contents",
    "CorpusWord",
    "Document",
    "Found",
    "IndexOptions",
    "MappedTopic",
    "Neighbour",
    "OnProgress",
    "Outcome",
    "Query",
    "RelatedWord",
    "SkippedWord",
    "Starter",
    "TopicIndex",
    "TopicMap",
    "TopicWord",
    "TypicalDocument",
    "UnmappedWord",
    "answer_queries",
    "build_index",
    "compare_topics",
    "compute_overlaps",
    "describe",
    "label_documents",
    "list_documents",
    "map_to_csv",
    "map_topics",
    "match_word",
    "open_index",
    "to_csv",
]
