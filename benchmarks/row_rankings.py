"""Ways from a few rows of a table to all rows like them: what a search in a table has to beat.

Each takes standardised columns once, does there what does not depend on the examples, and returns a function from the
examples, as row numbers, to a score of every row, higher for rows more alike.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.covariance import LedoitWolf
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import OneClassSVM

from mixsearch._typing import Array

Rank = Callable[[Array], Array]  # row numbers of the examples -> scores, (n,)

# The random walk.
N_NEIGHBORS, RESTART, N_STEPS = 10, 0.01, 200
# The mixtures that BIC chooses from; the ridge keeps small components from losing a direction.
NUMBERS, SHAPES, N_STARTS, RIDGE = (1, 2, 3, 4, 5, 6, 8, 10), ("spherical", "diag", "tied", "full"), 3, 1e-4
# Label spreading: its neighbours (scikit-learn's default), and random rows that stand for the other classes.
N_SPREADING, N_NEGATIVES = 7, 50
# Fewer examples have no covariance to speak of.
MIN_FOR_COVARIANCE = 3
TINY = 1e-12


def nearest_example(Z: Array) -> Rank:
    return lambda rows: -cdist(Z, Z[rows]).min(axis=1)


def examples_mean(Z: Array) -> Rank:
    return lambda rows: -np.linalg.norm(Z - Z[rows].mean(axis=0), axis=1)


def shrunk_mahalanobis(Z: Array) -> Rank:
    """Rank by the Mahalanobis distance, with the shrunk covariance of the examples."""
    return lambda rows: -np.asarray(LedoitWolf().fit(Z[rows]).mahalanobis(Z))


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


def mixture_by_bic(Z: Array) -> Rank:
    """The component that has most of the examples, by its responsibilities."""
    fits = (_fit_mixture(Z, k, shape) for k, shape in product(NUMBERS, SHAPES))
    best = min((fit for fit in fits if fit is not None), key=lambda fit: fit.bic(Z))
    resp = best.predict_proba(Z)
    return lambda rows: np.asarray(resp[:, resp[rows].sum(axis=0).argmax()])


def _fit_mixture(Z: Array, k: int, shape: str) -> GaussianMixture | None:
    """Return the fit, or None if a covariance is singular in spite of the ridge."""
    try:
        return GaussianMixture(k, covariance_type=shape, n_init=N_STARTS, reg_covar=RIDGE, random_state=0).fit(Z)
    except ValueError:
        return None


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


def hdbscan(Z: Array) -> Rank:
    """The cluster that has most of the examples, by membership, then all other rows by their nearest example."""
    clusters, near = HDBSCAN(copy=True).fit(Z), nearest_example(Z)

    def rank(rows: Array) -> Array:
        found = clusters.labels_[rows]
        if np.all(found < 0):
            return near(rows)
        in_cluster = clusters.labels_ == np.bincount(found[found >= 0]).argmax()
        return np.where(in_cluster, clusters.probabilities_, near(rows) - 1)

    return rank


def one_class_svm(Z: Array) -> Rank:
    """A support of the examples, with the kernel's width that suits the whole table."""
    return lambda rows: np.asarray(OneClassSVM(gamma=1 / Z.shape[1]).fit(Z[rows]).decision_function(Z))


PEERS: dict[str, Callable[[Array], Rank]] = {
    "nearest example": nearest_example,
    "mean of examples": examples_mean,
    "Mahalanobis, shrunk": shrunk_mahalanobis,
    "PU logistic": pu_logistic_regression,
    "random walk": random_walk,
    "mixture by BIC": mixture_by_bic,
    "label spreading": label_spreading,
    "HDBSCAN": hdbscan,
    "one-class SVM": one_class_svm,
}
MIN_EXAMPLES = {"Mahalanobis, shrunk": MIN_FOR_COVARIANCE}
