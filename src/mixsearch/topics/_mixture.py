"""What the topics of documents make of their words together."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices

# Numbers, one for each word of a document and topic, that stay in cache while they are multiplied and summed.
CACHED_CELLS = 1 << 16


# A word for which all topics of a document have next to no chance would divide by nothing.
LEAST_CHANCE = float(np.finfo(np.float64).tiny)


def mix(counts: sp.csr_array, levels: Array, topics: Array, least: float = LEAST_CHANCE) -> Array:
    """What the topics make of each word of each document together, one number for each count that is stored.

    Parameters
    ----------
    counts : sparse array of shape (n, d)
        Which words each document has.
    levels : array of shape (n, k)
        Of each topic in each document.
    topics : array of shape (d, k)
    least : float
        What no word falls below.
    """
    n_topics = topics.shape[1]
    documents = np.repeat(np.arange(len(levels)), np.diff(counts.indptr))
    ones = np.ones(n_topics, topics.dtype)
    mixed = np.empty(counts.nnz, np.result_type(levels, topics))
    for part in row_slices(counts.nnz, max(CACHED_CELLS // n_topics, 1)):
        by_topic = np.take(levels, documents[part], axis=0) * np.take(topics, counts.indices[part], axis=0)
        mixed[part] = by_topic @ ones  # several times as fast as a sum over an axis that is so short
    return np.maximum(mixed, least)
