"""LDA topics of a corpus of word counts."""

from mixsearch.topics._component import Topic
from mixsearch.topics._corpus import FittedCorpus, fit_corpus, make_search
from mixsearch.topics._counts import LEAST_WORDS, damp
from mixsearch.topics._documents import CountPartition, TopicPartition, corpus_in_memory
from mixsearch.topics._hint import parse_word, parse_words
from mixsearch.topics._search import TopicSearch
from mixsearch.topics._storage import (
    BY_DOCUMENT,
    BY_WORD,
    DOCUMENTS,
    KIND,
    VERSION,
    open_search,
    sparse_from,
    store_documents,
    store_search,
)

__all__ = [
    "BY_DOCUMENT",
    "BY_WORD",
    "DOCUMENTS",
    "KIND",
    "LEAST_WORDS",
    "VERSION",
    "CountPartition",
    "FittedCorpus",
    "Topic",
    "TopicPartition",
    "TopicSearch",
    "corpus_in_memory",
    "damp",
    "fit_corpus",
    "make_search",
    "open_search",
    "parse_word",
    "parse_words",
    "sparse_from",
    "store_documents",
    "store_search",
]
