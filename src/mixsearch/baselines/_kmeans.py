"""k-means as a baseline: one subspace per cluster, and clusters started at seeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.cluster import KMeans
from sklearn.metrics import pairwise_distances_argmin
from sklearn.utils.validation import check_array

from mixsearch._typing import Array, Samples
from mixsearch.core.eigen import top_eigenpairs
from mixsearch.core.hints import hint_from_direction
from mixsearch.core.second_moment import second_moment_of_rows
from mixsearch.core.validation import FLOAT_DTYPES, as_samples, check_n_features, check_n_samples, check_positive_int
from mixsearch.display import pluralize
from mixsearch.errors import ArgumentError, Option, SearchError


@dataclass(frozen=True, slots=True)
class Subspaces:
    """One subspace per cluster.

    Attributes
    ----------
    bases : array of shape (k, d, r)
        Orthonormal bases, in columns.
    labels : array of shape (n,)
        The cluster of each sample.
    """

    bases: Array
    labels: Array

    def find_component(self, hint: ArrayLike) -> Array:
        """Find the subspace with the longest projection of a hint.

        Parameters
        ----------
        hint : array of shape (d,)
            The direction v.

        Returns
        -------
        array of shape (d, r)
            Its basis.
        """
        v = hint_from_direction(hint, self.bases.shape[1])
        return np.asarray(self.bases[np.argmax(np.linalg.norm(v @ self.bases, axis=1))])


class Clusters(NamedTuple):
    """Clusters of samples.

    Attributes
    ----------
    centers : array of shape (k, d)
        The center of each cluster.
    labels : array of shape (n,)
        The cluster of each sample.
    """

    centers: Array
    labels: Array


def kmeans_subspaces(
    X: ArrayLike | sp.sparray | sp.spmatrix,
    n_components: int,
    dim: int,
    *,
    n_init: int = 1,
    max_iter: int = 300,
    random_state: int | np.random.RandomState | None = 0,
) -> Subspaces:
    """Fit one subspace to each cluster of k-means: the paper's baseline for mixtures of subspaces.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples.
    n_components : int
        The number k of clusters and subspaces.
    dim : int
        The dimension r of each subspace.
    n_init : int, default=1
        The number of starts by k-means++. The best run is used.
    max_iter : int, default=300
        The maximum number of iterations of k-means.
    random_state : int, RandomState instance or None, default=0
        The seed.

    Returns
    -------
    Subspaces

    Notes
    -----
    The basis has the r largest singular values of the cluster, not centered, since subspaces contain the origin. As all
    subspaces have mean zero, clusters around centers need not match them.

    Examples
    --------
    >>> import numpy as np
    >>> from mixsearch.baselines import kmeans_subspaces
    >>> X = np.diag([1.0, 1.0, 1.0, 1.0])[[0, 0, 0, 3, 3]]
    >>> found = kmeans_subspaces(X, 2, 1)
    >>> abs(found.find_component([0.1, 0, 0, 1])).ravel()
    array([0., 0., 0., 1.])
    """
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    check_positive_int("n_components", n_components)
    check_positive_int("dim", dim)
    check_n_features(samples.shape[1], dim, f"Subspaces of dimension {dim}")
    check_n_samples(samples, n_components, f"{n_components} clusters")
    means = KMeans(n_components, n_init=n_init, max_iter=max_iter, random_state=random_state).fit(samples)
    labels = np.asarray(means.labels_)
    return Subspaces(np.stack([_find_basis(samples[labels == index], dim) for index in range(n_components)]), labels)


def _find_basis(members: Samples, dim: int) -> Array:
    """Return the top singular vectors of samples, (d, r)."""
    if members.shape[0] < dim:
        raise SearchError(
            "A cluster has {n_members} "
            + pluralize(members.shape[0], "sample")
            + ", but {dim} dimensions need at least {dim}. Use fewer clusters or "
            "dimensions, or raise {argument}.",
            code="small_cluster",
            n_members=members.shape[0],
            dim=dim,
            argument=Option("n_init"),
        )
    return top_eigenpairs(second_moment_of_rows(members), dim).vectors


def seeded_kmeans(
    X: ArrayLike | sp.sparray | sp.spmatrix, y: ArrayLike, *, constrained: bool = False, max_iter: int = 300
) -> Clusters:
    """Cluster samples from a few labeled ones: seeded k-means of Basu, Banerjee and Mooney (2002).

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        The samples.
    y : array of shape (n,)
        The cluster of each seed, from 0, and -1 for all other samples. Every cluster needs a seed.
    constrained : bool, default=False
        Keep the seeds in their clusters. By default they only set the initial centers.
    max_iter : int, default=300
        The maximum number of iterations.

    Returns
    -------
    Clusters

    Examples
    --------
    >>> from mixsearch.baselines import seeded_kmeans
    >>> seeded_kmeans([[0.0], [1.0], [7.0], [9.0]], [0, -1, 1, -1]).centers
    array([[0.5],
           [8. ]])
    """
    samples = as_samples(check_array(X, accept_sparse="csr", dtype=FLOAT_DTYPES))
    check_positive_int("max_iter", max_iter)
    seeds = _check_seeds(y, samples.shape[0])
    starts = _compute_means(samples, seeds)
    if constrained:
        return _run_constrained(samples, seeds, starts, max_iter)
    found = KMeans(len(starts), init=starts, n_init=1, max_iter=max_iter).fit(samples)
    return Clusters(np.asarray(found.cluster_centers_), np.asarray(found.labels_))


def _check_seeds(y: ArrayLike, n_samples: int) -> Array:
    """Check that labels are -1 or 0 to k - 1, each of these at least once."""
    seeds = np.asarray(y)
    if seeds.shape != (n_samples,) or not np.issubdtype(seeds.dtype, np.integer):
        raise ArgumentError(
            "{argument} must be an integer for each of the {n_samples:,} samples, -1 if it is not a seed, got shape "
            "{shape} of type {dtype}.",
            argument=Option("y"),
            n_samples=n_samples,
            shape=seeds.shape,
            dtype=str(seeds.dtype),
        )
    known = np.unique(seeds[seeds >= 0])
    if not len(known) or len(known) != known[-1] + 1:
        raise SearchError(
            "Clusters are numbered from 0 and each needs a seed, got seeds of {clusters}. Label at least one sample of "
            "each.",
            code="cluster_without_seed",
            clusters=known.tolist(),
        )
    return seeds


def _run_constrained(X: Samples, seeds: Array, centers: Array, max_iter: int) -> Clusters:
    """Run k-means with the seeds fixed to their clusters."""
    labels = seeds
    for _ in range(max_iter):
        before, labels = labels, np.where(seeds >= 0, seeds, pairwise_distances_argmin(X, centers))
        if np.array_equal(labels, before):
            break
        centers = _compute_means(X, labels)
    return Clusters(centers, labels)


def _compute_means(X: Samples, labels: Array) -> Array:
    """Return the mean of each cluster, (k, d). Samples labeled -1 belong to none."""
    clusters = (X[labels == index] for index in range(int(labels.max()) + 1))
    return np.stack([np.asarray(members.mean(axis=0), dtype=np.float64) for members in clusters])
