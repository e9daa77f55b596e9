from .answer import Answer, AnswerOptions
from .build.local import build_index
from .build.options import IndexOptions
from .compare import answer_queries
from .description import describe
from .groups import TopicGroups, group_topics
from .growth import Growth
from .map import TopicMap, map_topics
from .query import Found, Query
from .tables import label_documents, list_documents, to_csv
from .topic_index import TopicIndex, open_index, verify_index
from .update.add import add_documents
from .update.refresh import refresh_index
from .update.remove import remove_documents

__all__ = [
    "Answer",
    "AnswerOptions",
    "Found",
    "Growth",
    "IndexOptions",
    "Query",
    "TopicGroups",
    "TopicIndex",
    "TopicMap",
    "add_documents",
    "answer_queries",
    "build_index",
    "describe",
    "group_topics",
    "label_documents",
    "list_documents",
    "map_topics",
    "open_index",
    "refresh_index",
    "remove_documents",
    "to_csv",
    "verify_index",
]
