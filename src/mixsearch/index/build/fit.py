"""The fit of an index: which documents enter, and their topics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.core.rows import Chunks
from mixsearch.errors import FewerComponentsWarning, SearchError, collect_warnings, warn_user
from mixsearch.index.build.options import DEFAULT_COMPONENTS, IndexOptions, OnProgress
from mixsearch.text.corpus import Corpus
from mixsearch.topics.corpus import fit_corpus, make_search
from mixsearch.topics.counts import damp
from mixsearch.topics.old_lda import WordCountChunk
from mixsearch.topics.search import TopicSearch
from mixsearch.topics.segments import fits_segment, limit_segments


def choose_search(options: IndexOptions, n_words: int) -> TopicSearch:
    """Return a search with these options, after a check of their values."""
    n_components = min(DEFAULT_COMPONENTS, n_words) if options.n_components is None else options.n_components
    return make_search(n_components, n_words, options.search)


def check_n_documents(n_documents: int, n_short: int, min_words: int) -> None:
    """Reject a corpus with fewer than two documents that are long enough."""
    if n_documents < 2:
        raise SearchError(
            "An index needs at least 2 documents, but "
            + ("only {n_documents} of {n_all:,} has" if n_documents else "none of {n_all:,} has")
            + " {min_words} words of the vocabulary or more. Add documents.",
            code="too_few_documents",
            n_documents=n_documents,
            n_all=n_documents + n_short,
            min_words=min_words,
        )


def check_n_added(n_nonzeros: int) -> None:
    """Reject more counts than can be added at once: new documents are in memory, and become one segment."""
    if not fits_segment(n_nonzeros):
        raise SearchError(
            "The documents to add have more than {maximum:,} non-zero counts. Add them in several parts.",
            code="too_many_counts",
            maximum=limit_segments(n_nonzeros).maximum,
            n_nonzeros=n_nonzeros,
        )


def select_documents(counts: sp.csr_array, damping: bool, min_words: int) -> tuple[sp.csr_array, Array]:
    """Return the counts of documents with enough words, as a fit takes them, and the rows of those documents."""
    # Bit for bit what a fit in memory makes of them, which has the counts in double precision.
    values = damp(counts.data) if damping else counts.data.astype(np.float32)
    weighted = sp.csr_array((values, counts.indices.astype(np.int32, copy=False), counts.indptr), shape=counts.shape)
    kept = np.flatnonzero(np.asarray(weighted.sum(axis=1)) >= min_words)
    return weighted[kept], kept


def fit_search(
    search: TopicSearch,
    options: IndexOptions,
    documents: Chunks[WordCountChunk],
    corpus: Corpus,
    n_short: int,
    on_progress: OnProgress,
    allocate: Callable[..., Array] = np.empty,
) -> None:
    """Fit a search to the documents of a corpus."""
    on_progress("Fitting topics", 0, None, "passes")
    with collect_warnings() as warned:
        fit_corpus(
            search,
            documents,
            vocabulary=corpus.vocabulary,
            n_dropped=n_short + corpus.n_dropped,
            allocate=allocate,
            on_pass=lambda n_passes: on_progress("Fitting topics", n_passes, None, "passes"),
        )
    is_requested = isinstance(options.n_components, int)
    for warning in warned:
        # Fewer topics than the default are not worth a word.
        if is_requested or not isinstance(warning, FewerComponentsWarning):
            warn_user(warning)
