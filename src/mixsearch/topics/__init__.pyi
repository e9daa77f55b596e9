from .answers import Answer, Question, answer_questions, describe_topic, frame_documents
from .build import Built, IndexOptions, build_index
from .groups import TopicGroups
from .index import TopicIndex, open_index
from .membership import TopicCheck
from .overview import list_topics
from .storage import Growth
from .topic import TopicComponent
from .update import add_documents, refresh_index, remove_documents
from .words import Meaning, TopicWord

__all__ = [
    "Answer",
    "Built",
    "Growth",
    "IndexOptions",
    "Meaning",
    "Question",
    "TopicCheck",
    "TopicComponent",
    "TopicGroups",
    "TopicIndex",
    "TopicWord",
    "add_documents",
    "answer_questions",
    "build_index",
    "describe_topic",
    "frame_documents",
    "list_topics",
    "open_index",
    "refresh_index",
    "remove_documents",
]
