"""k-means baselines: subspaces of clusters, and clusters from seeds."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans

from mixsearch import SearchError
from mixsearch.baselines import kmeans_subspaces, seeded_kmeans
from mixsearch.errors import HintError


def draw_apart(seed=0, sign=1.0):
    """Draw points of three planes of R^9, far from zero, so that each plane is one cluster."""
    rng = np.random.default_rng(seed)
    bases = np.linalg.qr(rng.normal(size=(9, 6)))[0].reshape(9, 3, 2).transpose(1, 0, 2)
    labels = rng.integers(0, 3, size=150)
    coordinates = rng.normal(size=(150, 2)) + np.array([20.0, 0.0]) * sign
    return np.einsum("idr,ir->id", bases[labels], coordinates), labels, bases


def draw_blobs(seed=0, n=90):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=n)
    return rng.normal(size=(n, 4)) + 3 * np.eye(3, 4)[labels], labels


def seeds_of(labels, per_cluster=2):
    y = np.full(len(labels), -1)
    for place in range(3):
        y[np.flatnonzero(labels == place)[:per_cluster]] = place
    return y


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_subspaces_without_noise_are_found_exactly_where_clusters_are_theirs(as_given):
    X, labels, bases = draw_apart()
    found = kmeans_subspaces(as_given(X), 3, 2, n_init=5)
    for place, basis in enumerate(bases):
        (own,) = set(found.labels[labels == place])
        assert_allclose(found.bases[own] @ found.bases[own].T, basis @ basis.T, atol=1e-8)
        assert_allclose(found.find_component(basis @ [0.0, -1.0]), found.bases[own])


def test_a_basis_is_that_of_the_largest_singular_values_of_the_cluster_not_centred():
    X = np.random.default_rng(3).normal(size=(60, 7)) + 1.0
    found = kmeans_subspaces(X, 2, 3)
    for place, basis in enumerate(found.bases):
        axes = np.linalg.svd(X[found.labels == place])[2][:3].T
        assert_allclose(basis @ basis.T, axes @ axes.T, atol=1e-8)


def test_clusters_are_those_of_scikit_learn():
    X, _ = draw_blobs()
    expected = KMeans(3, n_init=2, random_state=4).fit(X)
    assert np.array_equal(kmeans_subspaces(X, 3, 1, n_init=2, random_state=4).labels, expected.labels_)


def test_seeded_clusters_are_those_of_scikit_learn_from_the_means_of_the_seeds():
    X, labels = draw_blobs()
    y = seeds_of(labels)
    starts = np.array([X[y == place].mean(axis=0) for place in range(3)])
    expected = KMeans(3, init=starts, n_init=1).fit(X)
    found = seeded_kmeans(X, y)
    assert_allclose(found.centers, expected.cluster_centers_)
    assert np.array_equal(found.labels, expected.labels_)


def test_constrained_clusters_keep_a_seed_that_is_nearer_to_another_center():
    X, labels = draw_blobs(seed=1)
    y = seeds_of(labels)
    stray = np.flatnonzero(labels == 0)[-1]
    y[stray] = 2
    assert seeded_kmeans(X, y).labels[stray] == 0
    found = seeded_kmeans(X, y, constrained=True)
    assert np.array_equal(found.labels[y >= 0], y[y >= 0])


@pytest.mark.parametrize("as_given", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_constrained_clusters_stand_still_where_they_end(as_given):
    """Centers are the means of their clusters, and every sample but the seeds is with its nearest center."""
    X, labels = draw_blobs(seed=2)
    y = seeds_of(labels, per_cluster=4)
    found = seeded_kmeans(as_given(X), y, constrained=True)
    assert_allclose(found.centers, [X[found.labels == place].mean(axis=0) for place in range(3)])
    nearest = np.argmin(np.linalg.norm(X[:, None] - found.centers, axis=2), axis=1)
    assert np.array_equal(found.labels[y < 0], nearest[y < 0])


def test_a_cluster_that_is_too_small_for_its_subspace_is_named():
    X = np.vstack([np.eye(6)[:4] * 0.1, 100 * np.ones((1, 6))])
    with pytest.raises(SearchError, match="A cluster has 1 sample, but 2 dimensions need at least 2"):
        kmeans_subspaces(X, 2, 2)


def test_sizes_that_cannot_be_are_refused():
    X, _ = draw_blobs(n=5)
    with pytest.raises(SearchError, match="6 clusters need at least 6 samples, but X has n_samples=5"):
        kmeans_subspaces(X, 6, 1)
    with pytest.raises(SearchError, match="dimension 5 need at least 5 features, but X has n_features=4"):
        kmeans_subspaces(X, 1, 5)
    with pytest.raises(HintError, match="The hint is zero"):
        kmeans_subspaces(X, 2, 1).find_component(np.zeros(4))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, -1, -1], r"got seeds of \[\]"),
        ([0, 2, -1], r"got seeds of \[0, 2\]"),
        ([0, 1], r"each of the 3 samples.*got shape \(2,\)"),
        ([0.0, 1.0, 1.0], "got shape .* of type float64"),
    ],
)
def test_seeds_that_leave_a_cluster_without_one_are_refused(y, message):
    with pytest.raises(SearchError, match=message):
        seeded_kmeans(np.eye(3), y)
