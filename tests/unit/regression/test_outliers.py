"""Samples far from every regression are left out of the fit; clean samples never are."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.coded import warns
from tests.split_samples import split_samples

from mixsearch import RegressionSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_mixed_regression
from mixsearch.regression import find_regression_outliers

ROWS = np.array([17, 40, 711])


def outlier_rows(X, y):
    return find_regression_outliers(chunk_in_memory(X, y))[0]


def draw(n=2000, d=5, k=2, seed=0):
    data = make_mixed_regression(n, d, k, deviation=0.2, random_state=seed)
    return data.X.copy(), data.y.copy()


@pytest.mark.parametrize("size", [30, 1e6])
def test_responses_far_beyond_all_others_are_found(size):
    X, y = draw()
    y[ROWS] += size
    assert_array_equal(outlier_rows(X, y), ROWS)


def test_samples_far_from_all_others_are_found_though_their_responses_fit():
    X, y = draw()
    X[ROWS] *= 100
    assert_array_equal(outlier_rows(X, y), ROWS)


@pytest.mark.parametrize(("d", "k", "n"), [(1, 1, 500), (5, 2, 200), (30, 10, 5000)])
def test_clean_regressions_lose_no_sample(d, k, n):
    for seed in range(3):
        assert_array_equal(outlier_rows(*draw(n, d, k, seed)), [])


def test_a_rare_regression_with_large_coefficients_loses_no_sample():
    rng = np.random.default_rng(0)
    X, is_rare = rng.normal(size=(5000, 4)), rng.random(5000) < 0.05
    assert_array_equal(outlier_rows(X, np.where(is_rare, 10 * X[:, 0], X[:, 1]) + 0.1 * rng.normal(size=5000)), [])


def test_members_of_a_rare_level_stay():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(5000, 4)), np.arange(5000) < 8])
    assert_array_equal(outlier_rows(X, X.sum(axis=1) + 0.1 * rng.normal(size=5000)), [])


def test_outliers_are_the_same_however_samples_are_split():
    X, y = draw()
    y[ROWS] = 1e3
    rows, samples, standardized = find_regression_outliers(split_samples(X, (1, 700, 713), y))
    assert_array_equal(rows, ROWS)
    assert standardized.chunks.n_rows == samples.n_rows == 1997


def test_a_fit_says_what_it_left_out_and_is_as_if_it_had_never_been_there():
    X, y = draw()
    y[ROWS] = 1e3
    search, rest = RegressionSearch(2), np.delete(np.arange(len(y)), ROWS)
    with warns("outliers", n_outliers=3, n_samples=2000):
        search.fit(X, y)
    assert_array_equal(search.outliers_, ROWS)
    hint = X[:, 0] @ X
    clean = RegressionSearch(2).fit(X[rest], y[rest]).search(hint, refine=True)
    assert_allclose(search.search(hint, refine=True).center, clean.center)
