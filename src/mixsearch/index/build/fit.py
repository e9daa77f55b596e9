"""Which documents an index holds, as a fit takes them, and the fit: the same wherever they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.partitions import Partitions
from mixsearch.errors import SearchError
from mixsearch.index.build.options import DEFAULT_COMPONENTS, IndexOptions, OnProgress
from mixsearch.topics import LEAST_WORDS, CountPartition, TopicSearch, damp

# SciPy counts the non-zeros of counts with 32-bit columns in 32 bits.
MOST_NONZEROS = 2**31 - 1


def checked_search(options: IndexOptions, n_words: int) -> TopicSearch:
    """A search with these options, which are as they must be."""
    wanted = min(DEFAULT_COMPONENTS, n_words) if options.n_components is None else options.n_components
    search = TopicSearch(wanted, **options.search)
    search.check_options(n_words)
    return search


def require_some(n_documents: int, n_short: int, least: int) -> None:
    """Refuse a corpus with hardly any document that is long enough."""
    if n_documents < 2:
        raise SearchError(
            f"Of {n_documents + n_short:,} documents, {n_documents} have at least {least} words of the vocabulary; an "
            "index needs 2 at least. Count rarer words (min_df), or give more documents."
        )


def check_n_features(n_nonzeros: int) -> None:
    """Refuse more counts than an index holds."""
    if n_nonzeros > MOST_NONZEROS:
        raise SearchError(
            f"The corpus has more than {MOST_NONZEROS:,} non-zero counts, which is all that one index holds. "
            "Raise min_df, lower max_df or max_words, or index parts of it."
        )


def least_words(search: TopicSearch) -> int:
    """Words that a document must have."""
    return 1 if search.moments == "plugin" else LEAST_WORDS


def long_enough(counts: sp.csr_array, damping: bool, least: int) -> tuple[sp.csr_array, Array]:
    """The counts of documents with enough words as a fit takes them, and which those are."""
    # To the bit what a fit in memory makes of them, which has the counts in double precision.
    values = damp(counts.data) if damping else counts.data.astype(np.float32)
    weighed = sp.csr_array((values, counts.indices.astype(np.int32, copy=False), counts.indptr), shape=counts.shape)
    kept = np.flatnonzero(np.asarray(weighed.sum(axis=1)) >= least)
    return weighed[kept], kept


def fit_search(
    search: TopicSearch,
    partitions: Partitions[CountPartition],
    say: OnProgress,
    allocate: Callable[..., Array] = np.empty,
) -> None:
    """Fit a search to documents, wherever they are."""
    say("Fitting topics", 0, None, "passes")
    search.fit_documents(
        partitions,
        distinct=search.moments != "plugin",
        allocate=allocate,
        on_pass=lambda n_passes: say("Fitting topics", n_passes, None, "passes"),
    )
