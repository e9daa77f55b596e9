"""Ways from a few rows of a table to all rows like them: what a search in a table has to beat.

Each takes standardised columns once, does there what does not depend on the examples, and returns a function from the
examples, as row numbers, to a score of every row, higher for rows more alike.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading

from mixsearch._typing import Array

Rank = Callable[[Array], Array]  # row numbers of the examples -> scores, (n,)

# The random walk.
N_NEIGHBORS, RESTART, N_STEPS = 10, 0.01, 200
# Label spreading: its neighbours (scikit-learn's default), and random rows that stand for the other classes.
N_SPREADING, N_NEGATIVES = 7, 50
TINY = 1e-12


def nearest_example(Z: Array) -> Rank:
    return lambda rows: -cdist(Z, Z[rows]).min(axis=1)


def pu_logistic_regression(Z: Array) -> Rank:
    """Examples against all other rows, both groups with the same weight."""

    def rank(rows: Array) -> Array:
        is_example = np.isin(np.arange(len(Z)), rows)
        model = LogisticRegression(class_weight="balanced", max_iter=300).fit(Z, is_example)
        return np.asarray(model.decision_function(Z))

    return rank


def random_walk(Z: Array) -> Rank:
    """Expected visits to the examples of a walk from each row to its neighbours, which ends with a small probability.

    Examples with many neighbours are met more often by chance: a visit counts less by the root of their degree.
    """
    affinity = neighbor_affinity(Z)
    degree = np.maximum(np.asarray(affinity.sum(axis=1)).ravel(), TINY)
    step = sp.csr_array(sp.diags_array((1 - RESTART) / degree) @ affinity)

    def rank(rows: Array) -> Array:
        visit = np.zeros(len(Z))
        visit[rows] = 1 / np.sqrt(degree[rows])
        visits = visit
        for _ in range(N_STEPS):
            visits = step @ visits + RESTART * visit
        return np.asarray(visits)

    return rank


def neighbor_affinity(Z: Array) -> sp.csr_array:
    """Return exp(-(distance / distance of the last neighbour)^2) where either row is a neighbour of the other."""
    graph = sp.csr_array(kneighbors_graph(Z, min(N_NEIGHBORS, len(Z) - 1), mode="distance"))
    far = np.maximum(graph.max(axis=1).toarray().ravel(), TINY)
    graph.data = np.exp(-((graph.data / np.repeat(far, np.diff(graph.indptr))) ** 2))
    return sp.csr_array(graph.maximum(graph.T))


def label_spreading(Z: Array) -> Rank:
    """Examples against random other rows, some of which are of the class."""
    graph = kneighbors_graph(Z, N_SPREADING, include_self=True)

    def rank(rows: Array) -> Array:
        labels = np.full(len(Z), -1)
        others = np.setdiff1d(np.arange(len(Z)), rows)
        labels[np.random.default_rng(rows).choice(others, min(N_NEGATIVES, len(others) // 2), replace=False)] = 0
        labels[rows] = 1
        return np.asarray(LabelSpreading(kernel=lambda _, __: graph).fit(Z, labels).label_distributions_[:, 1])

    return rank


PEERS: dict[str, Callable[[Array], Rank]] = {
    "nearest example": nearest_example,
    "PU logistic": pu_logistic_regression,
    "random walk": random_walk,
    "label spreading": label_spreading,
}
