"""LDA topics of a corpus of word counts."""

from typing import TYPE_CHECKING

from mixsearch._front import lazy_front

if TYPE_CHECKING:
    from mixsearch.topics._component import (
        COUNT_FACTOR,
        DocumentCount,
        Topic,
        WordStatistics,
        has_quick_confidence,
        keep_documents,
        list_alternatives,
    )
    from mixsearch.topics._corpus import FittedCorpus, fit_corpus, get_min_words, is_damped, make_search
    from mixsearch.topics._counts import damp
    from mixsearch.topics._documents import (
        WORDS_ELSEWHERE,
        CountPartition,
        TopicPartition,
        corpus_in_memory,
        join_corpora,
    )
    from mixsearch.topics._dropped import MAX_DOCUMENTS as MAX_DROPPED_DOCUMENTS
    from mixsearch.topics._dropped import DroppedTable, Postings, load_dropped, store_dropped
    from mixsearch.topics._hint import join_weights, parse_word, parse_words
    from mixsearch.topics._local_em import ABOUT_SHARE
    from mixsearch.topics._search import TopicSearch
    from mixsearch.topics._segments import (
        BY_DOCUMENT,
        BY_WORD,
        DOCUMENTS,
        Segment,
        fits_segment,
        limit_segments,
        name_fitted,
        open_counts,
        place_in,
        read_segments,
        sparse_from,
        write_segments,
    )
    from mixsearch.topics._storage import KIND, VERSION, open_search, store_documents, store_search
    from mixsearch.topics._update import (
        CorpusSums,
        measure_documents_in,
        measure_drift,
        scale_masses,
        store_changed_sums,
        store_new_segment,
        sum_corpus,
    )
else:
    __getattr__, __dir__ = lazy_front(__name__)

__all__ = [
    "ABOUT_SHARE",
    "BY_DOCUMENT",
    "BY_WORD",
    "COUNT_FACTOR",
    "DOCUMENTS",
    "KIND",
    "MAX_DROPPED_DOCUMENTS",
    "VERSION",
    "WORDS_ELSEWHERE",
    "CorpusSums",
    "CountPartition",
    "DocumentCount",
    "DroppedTable",
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
    "fits_segment",
    "get_min_words",
    "has_quick_confidence",
    "is_damped",
    "join_corpora",
    "join_weights",
    "keep_documents",
    "limit_segments",
    "list_alternatives",
    "load_dropped",
    "make_search",
    "measure_documents_in",
    "measure_drift",
    "name_fitted",
    "open_counts",
    "open_search",
    "parse_word",
    "parse_words",
    "place_in",
    "read_segments",
    "scale_masses",
    "sparse_from",
    "store_changed_sums",
    "store_documents",
    "store_dropped",
    "store_new_segment",
    "store_search",
    "sum_corpus",
    "write_segments",
]
