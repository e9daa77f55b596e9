"""Probabilities of the words of documents that mix several topics."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mixsearch._typing import Array
from mixsearch.data.chunks import row_slices

# Numbers, one for each stored count and topic, that stay in cache while they are multiplied and summed.
CACHED_CELLS = 1 << 16
# A word that has almost no probability under all topics of its document would lead to a division by zero.
MIN_PROBABILITY = float(np.finfo(np.float64).tiny)


def mix_topics(counts: sp.csr_array, levels: Array, topics: Array, minimum: float = MIN_PROBABILITY) -> Array:
    """Return Σ level x topic for each word of each document."""
    n_topics = topics.shape[1]
    documents = np.repeat(np.arange(len(levels)), np.diff(counts.indptr))
    ones = np.ones(n_topics, topics.dtype)
    mixed = np.empty(counts.nnz, np.result_type(levels, topics))
    with np.errstate(invalid="ignore"):  # kernels of BLAS may set this flag although all factors are finite
        for part in row_slices(counts.nnz, max(CACHED_CELLS // n_topics, 1)):
            by_topic = np.take(levels, documents[part], axis=0) * np.take(topics, counts.indices[part], axis=0)
            mixed[part] = by_topic @ ones  # several times as fast as a sum over so short an axis
    return np.maximum(mixed, minimum)


def project_to_simplex(point: Array) -> Array:
    """Return the probability vector nearest to a point of R^d, (d,).

    Notes
    -----
    It is max(point - level, 0) with the one level at which this sums to 1. The level computed from a subset of the
    entries that contains all positive ones is never above it. Entries below that level are zero; dropping them until
    none is left gives the level itself.
    """
    positive, n_left = point, 0
    while len(positive) != n_left:
        n_left, level = len(positive), (positive.sum() - 1) / len(positive)
        positive = positive[positive > level]
    return np.asarray(np.maximum(point - level, 0))
