"""k-means as a baseline: one subspace per cluster, and clusters that start at seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_array

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.hints import hint_from_direction
from mixsearch.core.second_moment import second_moment_of_rows
from mixsearch.core.validation import FLOAT_DTYPES, as_samples, check_n_features, check_n_samples, check_positive_int
from mixsearch.errors import SearchError


@dataclass(frozen=True, slots=True)
class Subspaces:
    """One subspace per cluster."""

    bases: Array  # (k, d, r), orthonormal columns
    labels: Array  # (n,), the cluster of each sample

    def component_of(self, hint: Any) -> Array:
        """The basis, (d, r), of the subspace on which the projection of a hint v, (d,), is longest."""
        v = hint_from_direction(hint, self.bases.shape[1])
        return np.asarray(self.bases[np.argmax(np.linalg.norm(v @ self.bases, axis=1))])


class Clusters(NamedTuple):
    """Clusters of samples."""

    centers: Array  # (k, d)
    labels: Array  # (n,)


def kmeans_subspaces(
    X: Any, n_components: int, dim: int, *, n_init: int = 1, max_iter: int = 300, random_state: Any = 0
) -> Subspaces:
    """Fit one subspace to each cluster of k-means: the paper's baseline for mixtures of subspaces.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    n_components : int
        k, clusters and subspaces.
    dim : int
        r, the dimension of each.
    n_init : int, default=1
        How often k-means starts, by k-means++; the best run counts.
    max_iter : int, default=300
        Steps of k-means at most.
    random_state : int, RandomState instance or None, default=0

    Notes
    -----
    The basis is that of the r largest singular values of the cluster, not centred: subspaces go through zero. So the
    center of each is zero as well, and clusters around centers need not have anything to do with subspaces.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.baselines import kmeans_subspaces
    >>> X = np.diag([1.0, 1.0, 1.0, 1.0])[[0, 0, 0, 3, 3]]
    >>> found = kmeans_subspaces(X, 2, 1)
    >>> abs(found.component_of([0.1, 0, 0, 1])).ravel()
    array([0., 0., 0., 1.])
    """
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    check_positive_int("n_components", n_components)
    check_positive_int("dim", dim)
    check_n_features(samples.shape[1], dim, samples.shape[1], "dimensions", "a basis has no more columns than rows")
    check_n_samples(samples, n_components, f"{n_components} clusters")
    means = KMeans(n_components, n_init=n_init, max_iter=max_iter, random_state=random_state).fit(samples)
    labels = np.asarray(means.labels_)
    return Subspaces(np.stack([_span(samples[labels == place], dim) for place in range(n_components)]), labels)


def _span(members: Samples, dim: int) -> Array:
    """An orthonormal basis of the directions in which samples are longest, (d, r)."""
    if members.shape[0] < dim:
        raise SearchError(
            f"A cluster of {members.shape[0]} samples spans less than {dim} dimensions. Ask for fewer clusters or "
            "dimensions, or start k-means more often (n_init)."
        )
    return top_eigenpairs(second_moment_of_rows(members), dim).vectors


def seeded_kmeans(X: Any, y: Any, *, constrained: bool = False, max_iter: int = 300) -> Clusters:
    """Cluster samples from a few that are labelled: seeded k-means of Basu, Banerjee and Mooney (2002).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
    y : array of shape (n,)
        The cluster of each seed, from 0, and -1 for all other samples. Every cluster needs a seed.
    constrained : bool, default=False
        Leave the seeds in their clusters throughout; else they only say where centers start.
    max_iter : int, default=300
        Steps at most.

    Examples
    --------
    >>> from mixsearch.baselines import seeded_kmeans
    >>> seeded_kmeans([[0.0], [1.0], [7.0], [9.0]], [0, -1, 1, -1]).centers
    array([[0.5],
           [8. ]])
    """
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    check_positive_int("max_iter", max_iter)
    seeds = _checked_seeds(y, samples.shape[0])
    starts = _means(samples, seeds)
    if constrained:
        return _constrained_steps(samples, seeds, starts, max_iter)
    found = KMeans(len(starts), init=starts, n_init=1, max_iter=max_iter).fit(samples)
    return Clusters(np.asarray(found.cluster_centers_), np.asarray(found.labels_))


def _checked_seeds(y: Any, n_samples: int) -> Array:
    """Labels of seeds, 0 to k - 1 and -1 elsewhere, each of the k at least once."""
    seeds = np.asarray(y)
    if seeds.shape != (n_samples,) or not np.issubdtype(seeds.dtype, np.integer):
        raise SearchError(
            f"y must hold a whole number for each of the {n_samples:,} samples, -1 where it is no seed; found shape "
            f"{seeds.shape} of type {seeds.dtype}."
        )
    known = np.unique(seeds[seeds >= 0])
    if not len(known) or len(known) != known[-1] + 1:
        raise SearchError(
            f"Clusters are numbered from 0 and every one needs a seed; found seeds of {known.tolist()}. Label at least "
            "one sample of each."
        )
    return seeds


def _constrained_steps(X: Samples, seeds: Array, centers: Array, max_iter: int) -> Clusters:
    """Steps of k-means in which seeds never change their cluster."""
    labels = seeds
    for _ in range(max_iter):
        before, labels = labels, np.where(seeds >= 0, seeds, pairwise_distances_argmin(X, centers))
        if np.array_equal(labels, before):
            break
        centers = _means(X, labels)
    return Clusters(centers, labels)


def _means(X: Samples, labels: Array) -> Array:
    """The mean of each cluster, (k, d); samples labelled -1 are of none."""
    clusters = (X[labels == place] for place in range(int(labels.max()) + 1))
    return np.stack([np.asarray(members.mean(axis=0), dtype=np.float64) for members in clusters])
