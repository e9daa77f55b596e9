"""Regressions on samples in several chunks, as on a cluster."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.split_samples import split_samples

from mixsearch import RegressionSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.datasets import make_mixed_regression
from mixsearch.regression import fit_regression

CUTS = (5, 5, 700, 701)


def fit_pieces(search, X, y, cuts):
    search._check_chunks = lambda X, y: split_samples(X, cuts, y)
    search.n_features_in_ = X.shape[1]
    return search.fit(X, y)


def require_same(one, many):
    assert_allclose(many.center, one.center, rtol=1e-8, atol=1e-10)
    for name in ("weight", "intercept", "noise_variance"):
        assert getattr(many, name) == pytest.approx(getattr(one, name), rel=1e-8, abs=1e-10)
    assert_allclose(many.stderr.center, one.stderr.center, rtol=1e-5)  # responsibilities have single precision
    assert many.stderr.weight == pytest.approx(one.stderr.weight, rel=1e-5)


@pytest.fixture(scope="module")
def data():
    return make_mixed_regression(900, 6, 3, deviation=0.3, intercept=0.3, random_state=1)


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_regressions_in_pieces_are_those_of_all_rows(data, preset):
    X, y = data.X, data.y if preset == "default" else data.y - data.intercepts[data.labels]
    one, many = RegressionSearch(3, preset=preset), RegressionSearch(3, preset=preset)
    one, many = one.fit(X, y), fit_pieces(many, X, y, CUTS)
    members = data.labels == 1
    for hint in ({"hint": data.centers[1]}, {"examples": (X[members][:12], y[members][:12])}):
        found, pieced = one.search(**hint, refine=True), many.search(**hint, refine=True)
        require_same(found, pieced)
        require_same(found.moment_estimate, pieced.moment_estimate)


@pytest.mark.parametrize(("n_components", "n_features", "paper"), [(1, 6, False), (2, 2, False), (3, 6, True)])
def test_hinted_moments_in_pieces_are_those_of_all_rows(n_components, n_features, paper):
    data = make_mixed_regression(1500, n_features, n_components, deviation=0.3, random_state=2)
    options = {"paper": paper, "seed": 0}
    one = fit_regression(chunk_in_memory(data.X, data.y), n_components, **options)
    many = fit_regression(split_samples(data.X, (1, 1, 900), data.y), n_components, **options)
    basis = np.eye(n_components)
    for hint, matrix in zip(basis, one.tensor(basis), strict=True):
        assert_allclose(one.hinted(hint).matrix, matrix, rtol=1e-8, atol=1e-10)
        assert_allclose(many.hinted(hint).matrix, matrix, rtol=1e-8, atol=1e-10)
    assert_allclose(many.tensor(basis), one.tensor(basis), rtol=1e-8, atol=1e-10)


@pytest.mark.slow
def test_more_regressions_than_features_in_pieces():
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((1200, 1)), rng.integers(0, 2, 1200)
    y = np.array([1.0, -0.5])[labels] * x[:, 0] + labels + 0.1 * rng.standard_normal(1200)
    few = x[labels == 0][:8], y[labels == 0][:8]
    one = RegressionSearch(2).fit(x, y).search(examples=few, refine=True)
    many = fit_pieces(RegressionSearch(2), x, y, (1, 500, 500))
    require_same(one, many.search(examples=few, refine=True))
    assert one.center == pytest.approx([1.0], abs=0.05)


def test_columns_that_depend_on_others_count_once_where_the_second_moment_is_an_operator(data, monkeypatch):
    X = np.hstack([data.X, data.X[:, :2]])
    options = {"paper": False, "seed": 0}
    array = fit_regression(chunk_in_memory(X, data.y), 3, **options)
    monkeypatch.setattr("mixsearch.core.moments.DENSE_LIMIT", 3)
    operator = fit_regression(chunk_in_memory(X, data.y), 3, **options)
    assert operator.frame.basis.shape == (6, 3)
    assert_allclose(operator.frame.values, array.frame.values, rtol=1e-6)
