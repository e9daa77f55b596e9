"""Rankings of samples from a few known members of a class; mixtures are refitted for each search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.covariance import LedoitWolf
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.semi_supervised import LabelSpreading

from mixsearch import GaussianSearch, SubspaceSearch
from mixsearch._typing import Array

# Keeps covariances of small groups from losing a direction.
RIDGE = 1e-4


@dataclass(frozen=True, slots=True)
class Task:
    """Samples, a few of which are known to be of one class out of k."""

    X: Array  # (n, d)
    members: Array  # rows
    k: int
    rng: np.random.Generator

    @property
    def start(self) -> Array:
        """The members' mean and samples at random, (k, d)."""
        others = self.rng.choice(len(self.X), self.k - 1, replace=False)
        return np.vstack([self.X[self.members].mean(axis=0), self.X[others]])


# From a task to a score of each sample, (n,), higher for likelier members.
Ranking = Callable[[Task], Array]


def gaussian_search(task: Task) -> Array:
    return GaussianSearch(task.k).fit(task.X).search(examples=task.X[task.members]).membership(task.X)


def refined_gaussian_search(task: Task) -> Array:
    search = GaussianSearch(task.k).fit(task.X)
    return search.search(examples=task.X[task.members], refine=True).membership(task.X)


def subspace_search(dim: int, *, refine: bool) -> Ranking:
    def rank(task: Task) -> Array:
        search = SubspaceSearch(task.k, dim=dim).fit(task.X)
        return search.search(examples=task.X[task.members], refine=refine).membership(task.X)

    return rank


def gaussian_mixture(covariance_type: str) -> Ranking:
    def rank(task: Task) -> Array:
        peer = GaussianMixture(
            task.k, covariance_type=covariance_type, means_init=task.start, reg_covar=RIDGE, random_state=0
        )
        return np.asarray(peer.fit(task.X).predict_proba(task.X)[:, 0])

    return rank


def restarted_mixture(covariance_type: str) -> Ranking:
    """The best of ten fits that know nothing of the members, and the component that has most of them."""

    def rank(task: Task) -> Array:
        peer = GaussianMixture(
            task.k, covariance_type=covariance_type, n_init=10, reg_covar=RIDGE, random_state=task.members[0]
        )
        chances = peer.fit(task.X).predict_proba(task.X)
        return np.asarray(chances[:, chances[task.members].sum(axis=0).argmax()])

    return rank


def kmeans(task: Task) -> Array:
    """Return how much nearer a sample is to the members' center than to all others."""
    distances = KMeans(task.k, init=task.start, n_init=1).fit(task.X).transform(task.X)
    return np.asarray(distances[:, 1:].min(axis=1) - distances[:, 0])


def label_spreading(task: Task) -> Array:
    """Against as many samples at random for each other class: mostly of those."""
    labels = np.full(len(task.X), -1)
    others = np.setdiff1d(np.arange(len(task.X)), task.members)
    labels[task.rng.choice(others, min(len(task.members) * (task.k - 1), len(others) // 2), replace=False)] = 0
    labels[task.members] = 1
    return np.asarray(LabelSpreading(kernel="knn", n_neighbors=7).fit(task.X, labels).label_distributions_[:, 1])


def logistic_regression(task: Task) -> Array:
    """Members against all other samples."""
    labels = np.isin(np.arange(len(task.X)), task.members)
    return np.asarray(
        LogisticRegression(class_weight="balanced", max_iter=1000).fit(task.X, labels).decision_function(task.X)
    )


def nearest_mean(task: Task) -> Array:
    return -np.linalg.norm(task.X - task.X[task.members].mean(axis=0), axis=1)


def mahalanobis(task: Task) -> Array:
    """With the members' own covariance, shrunk towards a round one."""
    return np.asarray(-LedoitWolf().fit(task.X[task.members]).mahalanobis(task.X))


def members_span(task: Task) -> Array:
    """The part of a sample that lies in the span of the members."""
    inside = task.X @ np.linalg.qr(task.X[task.members].T)[0]
    return np.asarray(np.sum(inside**2, axis=1) / np.maximum(np.sum(task.X**2, axis=1), np.finfo(float).tiny))
