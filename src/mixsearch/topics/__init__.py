"""LDA topics of a corpus of word counts."""

from mixsearch.topics._component import (
    COUNT_FACTOR,
    DocumentCount,
    Topic,
    WordStatistics,
    has_quick_confidence,
    keep_documents,
)
from mixsearch.topics._corpus import FittedCorpus, fit_corpus, get_min_words, is_damped, make_search
from mixsearch.topics._counts import damp
from mixsearch.topics._documents import WORDS_ELSEWHERE, CountPartition, TopicPartition, corpus_in_memory
from mixsearch.topics._dropped import MAX_DOCUMENTS as MAX_DROPPED_DOCUMENTS
from mixsearch.topics._dropped import Postings, store_dropped
from mixsearch.topics._hint import join_weights, parse_word, parse_words
from mixsearch.topics._search import TopicSearch
from mixsearch.topics._segments import (
    BY_DOCUMENT,
    BY_WORD,
    DOCUMENTS,
    Segment,
    place_in,
    read_segments,
    sparse_from,
    write_segments,
)
from mixsearch.topics._storage import KIND, VERSION, open_search, store_documents, store_search

__all__ = [
    "BY_DOCUMENT",
    "BY_WORD",
    "COUNT_FACTOR",
    "DOCUMENTS",
    "KIND",
    "MAX_DROPPED_DOCUMENTS",
    "VERSION",
    "WORDS_ELSEWHERE",
    "CountPartition",
    "DocumentCount",
    "FittedCorpus",
    "Postings",
    "Segment",
    "Topic",
    "TopicPartition",
    "TopicSearch",
    "WordStatistics",
    "corpus_in_memory",
    "damp",
    "fit_corpus",
    "get_min_words",
    "has_quick_confidence",
    "is_damped",
    "join_weights",
    "keep_documents",
    "make_search",
    "open_search",
    "parse_word",
    "parse_words",
    "place_in",
    "read_segments",
    "sparse_from",
    "store_documents",
    "store_dropped",
    "store_search",
    "write_segments",
]
