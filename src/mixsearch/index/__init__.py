"""The topic index: a corpus on disk that is built from files, opens at once, and answers in milliseconds."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.index.answer import (
        Alternative,
        Answer,
        AnswerOptions,
        AnswerWarning,
        RelatedWord,
        SkippedWord,
        TopicWord,
        TypicalDocument,
    )
    from mixsearch.index.build import DEFAULT_COMPONENTS, Built, IndexOptions, OnProgress, build_index
    from mixsearch.index.column_file import ROW, StoredColumn
    from mixsearch.index.columns import Columns
    from mixsearch.index.compare import (
        Outcome,
        answer_queries,
        compare_topics,
        compute_overlaps,
        name_outcomes,
    )
    from mixsearch.index.completion import CorpusWord
    from mixsearch.index.contents import Contents
    from mixsearch.index.description import describe, describe_columns, find_words
    from mixsearch.index.document_map import DocumentPoints, assign_topics, place_documents
    from mixsearch.index.documents import Document
    from mixsearch.index.groups import GroupedTopic, GroupShare, TopicGroups, group_topics, make_unique
    from mixsearch.index.map import MAX_WORDS, MappedTopic, Neighbour, TopicMap, UnmappedWord, map_topics
    from mixsearch.index.query import Found, Query
    from mixsearch.index.starters import Starter
    from mixsearch.index.tables import label_documents, list_documents, map_to_csv, to_csv
    from mixsearch.index.topic_index import TopicIndex, open_index, verify_index
    from mixsearch.index.update import (
        Added,
        Existing,
        Growth,
        Removed,
        add_documents,
        refresh_index,
        remove_documents,
    )
else:
    __getattr__, __dir__ = lazy_front(__name__)

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
    "DocumentPoints",
    "Existing",
    "Found",
    "GroupShare",
    "GroupedTopic",
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
    "TopicGroups",
    "TopicIndex",
    "TopicMap",
    "TopicWord",
    "TypicalDocument",
    "UnmappedWord",
    "add_documents",
    "answer_queries",
    "assign_topics",
    "build_index",
    "compare_topics",
    "compute_overlaps",
    "describe",
    "describe_columns",
    "find_words",
    "group_topics",
    "label_documents",
    "list_documents",
    "make_unique",
    "map_to_csv",
    "map_topics",
    "name_outcomes",
    "open_index",
    "place_documents",
    "refresh_index",
    "remove_documents",
    "to_csv",
    "verify_index",
]
