"""A corpus on disk that answers hints: built from files, opened at once, searched in milliseconds."""

from mixsearch.index.building import Built, IndexOptions, build_index
from mixsearch.index.topic_index import Document, TopicIndex, open_index

__all__ = ["Built", "Document", "IndexOptions", "TopicIndex", "build_index", "open_index"]
