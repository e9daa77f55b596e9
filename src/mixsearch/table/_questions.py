"""The rows of a table whose label is worth asking for."""

from __future__ import annotations

import numpy as np
from sklearn.cluster import KMeans

from mixsearch._typing import Array

# Clusters are found among at most this many rows.
MAX_CANDIDATES = 200
# A candidate counts at least this part of the likeliest one.
MIN_WEIGHT = 1e-3


def choose_candidates(n_rows: int, n: int) -> Array:
    """Return which rows of a ranking to choose n questions from, evenly spread over it."""
    n_candidates = min(n_rows, max(MAX_CANDIDATES, n))
    return np.unique(np.linspace(0, max(n_rows - 1, 0), n_candidates).astype(np.intp))


def choose_questions(X: Array, membership: Array, n: int) -> Array:
    """Return rows in the middle of clusters of likely members, (n,): the index of each, sorted.

    Parameters
    ----------
    X : array of shape (m, p)
        Candidates, from the likeliest member on.
    membership : array of shape (m,)
    n : int
        How many.

    Returns
    -------
    array of int, shape (n,)

    Notes
    -----
    Each row should stand for as many likely members as possible that no other stands for: k-means with memberships as
    weights. docs/decisions/tables.md compares it with other rules.
    """
    if not min(n, len(X)):
        return np.empty(0, dtype=np.intp)
    n_clusters = min(n, len(np.unique(X, axis=0)))
    chosen = _central_rows(X, np.maximum(membership, MIN_WEIGHT * membership.max()), n_clusters)
    # Rows that are equal to others make fewer clusters: the likeliest ones follow.
    others = np.setdiff1d(np.arange(len(X)), chosen)[: n - n_clusters]
    return np.sort(np.concatenate([chosen, others]))


def _central_rows(X: Array, weights: Array, n_clusters: int) -> Array:
    """Return the index of the row nearest to the center of each cluster, (n_clusters,)."""
    means = KMeans(n_clusters, n_init=2, random_state=0).fit(X, sample_weight=weights)
    distances = means.transform(X)[np.arange(len(X)), means.labels_]
    first = np.lexsort([distances, means.labels_])
    _, index = np.unique(means.labels_[first], return_index=True)
    return np.asarray(first[index])
