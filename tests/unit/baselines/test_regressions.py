import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LinearRegression
from sklearn.mixture import GaussianMixture

from mixsearch import SearchError
from mixsearch.baselines import Regressions, em_regressions
from mixsearch.baselines._regressions import run_em
from mixsearch.datasets import make_mixed_regression


def test_one_component_is_least_squares():
    data = make_mixed_regression(500, 4, 1, deviation=0.5, intercept=1.0, random_state=0)
    found, expected = em_regressions(data.X, data.y, 1), LinearRegression().fit(data.X, data.y)
    assert_allclose(found.centers[0], expected.coef_, atol=1e-10)
    assert found.intercepts[0] == pytest.approx(expected.intercept_)
    assert found.variances[0] == pytest.approx(np.mean((data.y - expected.predict(data.X)) ** 2))


def test_without_a_slope_it_is_a_mixture_of_gaussians():
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.normal(-2, 1, 300), rng.normal(3, 0.5, 200)])
    X = np.zeros((500, 1))
    start = Regressions(np.array([0.5, 0.5]), np.zeros((2, 1)), np.array([-1.0, 1.0]), np.ones(2))
    found = run_em(X, y, start, 2000, 1e-10)
    peer = GaussianMixture(2, means_init=[[-1.0], [1.0]], tol=1e-12, max_iter=2000, reg_covar=0).fit(y[:, None])
    assert_allclose(found.intercepts, peer.means_.ravel(), atol=1e-4)
    assert_allclose(found.variances, peer.covariances_.ravel(), atol=1e-4)
    assert_allclose(found.weights, peer.weights_, atol=1e-4)


def test_a_step_never_lowers_the_likelihood():
    data = make_mixed_regression(400, 3, 3, deviation=0.5, random_state=1)
    rng = np.random.default_rng(0)
    now = Regressions(np.full(3, 1 / 3), rng.normal(size=(3, 3)), np.zeros(3), np.ones(3))
    heights = []
    for _ in range(20):
        now = run_em(data.X, data.y, now, 1, 0.0)
        heights.append(now.log_likelihood)
    assert np.all(np.diff(heights) > -1e-9)


def test_it_finds_every_regression_of_an_easy_mixture():
    data = make_mixed_regression(3000, 5, 3, deviation=0.05, intercept=1.0, random_state=0)
    found = em_regressions(data.X, data.y, 3, random_state=0)
    for center in data.centers:
        assert_allclose(found.find_component(center), center, atol=0.02)


def test_too_few_samples_are_named():
    with pytest.raises(SearchError, match=r"3 regressions on 5 features need at least 21 samples, but X has 20\."):
        em_regressions(np.ones((20, 5)), np.ones(20), 3)
