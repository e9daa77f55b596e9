"""Regressions on samples in several chunks, as on a cluster."""

import pytest
from numpy.testing import assert_allclose
from tests.split_samples import split_samples

from mixsearch import RegressionSearch
from mixsearch.datasets import make_mixed_regression

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
