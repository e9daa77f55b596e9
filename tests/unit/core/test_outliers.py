"""Samples far from all others are found wherever they are; members of a component never are."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import warns
from tests.split_samples import split_samples

from mixsearch import GaussianSearch
from mixsearch.core.outliers import find_outliers
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_gaussian_mixture
from mixsearch.errors import OutliersWarning

ROWS = np.array([17, 40, 711])


def spoiled(distance, rows=ROWS, n=1000, d=12, seed=0):
    """Return normal samples, some of which lie this far away, each in a direction of its own."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    directions = rng.normal(size=(len(rows), d))
    X[rows] += distance * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    return X


def outlier_rows(X):
    return find_outliers(chunk_in_memory(X))


@pytest.mark.parametrize("distance", [30, 1e9])
def test_samples_far_from_all_others_are_found_however_far_they_are(distance):
    assert_array_equal(outlier_rows(spoiled(distance)), ROWS)


def test_a_gross_outlier_does_not_hide_smaller_ones():
    X = spoiled(30)
    X[5] = 1e7
    assert_array_equal(outlier_rows(X), [5, *ROWS])


def test_up_to_one_percent_of_the_samples_may_lie_anywhere():
    rows = np.arange(3, 1000, 101)
    assert_array_equal(outlier_rows(spoiled(300, rows)), rows)


def test_five_far_samples_close_to_each_other_are_a_component():
    X = spoiled(0)
    X[:5] += 100
    assert_array_equal(outlier_rows(X), [])
    assert_array_equal(outlier_rows(X[1:]), range(4))


@pytest.mark.parametrize("ratio", [1, 64])
@pytest.mark.parametrize("n_features", [2, 20, 200])
def test_mixtures_lose_no_sample(n_features, ratio):
    for seed in range(4):
        deviations = np.sqrt([1, ratio])
        data = make_gaussian_mixture(2000, n_features, 2, deviation=deviations, weights=[0.95, 0.05], random_state=seed)
        assert_array_equal(outlier_rows(data.X), [])


@pytest.mark.parametrize("cuts", [(), (10, 10, 41)])
def test_rows_are_those_of_all_samples_in_every_split(cuts):
    X = spoiled(50)
    assert_array_equal(find_outliers(split_samples(X, cuts)), ROWS)


def test_sparse_samples_have_the_same_outliers():
    X = spoiled(50)
    X[:, 6:] = 0
    assert_array_equal(outlier_rows(sp.csr_array(X)), outlier_rows(X))


def test_samples_of_equal_length_are_not_far_by_rounding():
    X = np.random.default_rng(0).normal(size=(500, 6))
    X = np.vstack([X, -X])
    assert_array_equal(outlier_rows(X / np.linalg.norm(X, axis=1, keepdims=True)), [])


def test_a_fit_leaves_outliers_out_and_says_so():
    data = make_gaussian_mixture(3000, 10, 3, random_state=0)
    X = np.vstack([data.X[:50], np.full((1, 10), 40.0), data.X[50:]])
    with warns("outliers", n_outliers=1, n_samples=3001) as caught:
        search = GaussianSearch(3).fit(X)
    assert caught[0].message.fields == {"n_outliers": 1, "n_samples": 3001, "rows": [50]}
    assert_array_equal(search.outliers_, [50])
    clean = GaussianSearch(3).fit(data.X)
    v = data.centers[0] - data.centers.mean(axis=0)
    found, wanted = search.search(v), clean.search(v)
    assert_allclose(found.center, wanted.center, atol=1e-8)
    assert_allclose(found.membership(X[50:51]), wanted.membership(X[50:51]), atol=1e-8)


def test_labels_are_those_of_all_rows():
    data = make_gaussian_mixture(3000, 10, 3, random_state=0)
    X = np.vstack([np.full((1, 10), 40.0), data.X])
    y = np.append(-1, np.where((data.labels == 1) & (np.arange(3000) < 60), 1, -1))
    with pytest.warns(OutliersWarning):
        found = GaussianSearch(3).fit(X, y).component_
    assert_allclose(found.center, GaussianSearch(3).fit(data.X, y[1:]).component_.center, atol=1e-8)


def test_the_paper_leaves_nothing_out():
    data = make_gaussian_mixture(3000, 10, 3, random_state=0)
    X = np.vstack([data.X, np.full((1, 10), 40.0)])
    assert not hasattr(GaussianSearch(3, preset="paper").fit(X), "outliers_")
