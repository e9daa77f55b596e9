"""Refined regressions and their standard errors, against an independent EM of the whole mixture."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.linear_model import LinearRegression
from tests.coded import warns

from mixsearch import RegressionSearch


def log_densities(X, y, coefficients, deviations, weights):
    return np.log(weights) + norm.logpdf(y[:, None], X @ coefficients.T, deviations)


def maximum_likelihood(X, y, centers, intercepts, deviations, weights, n_steps=80):
    """The whole mixture by weighted least squares in all dimensions, from the truth, to convergence."""
    X, coefficients = np.column_stack([X, np.ones(len(y))]), np.column_stack([centers, intercepts])
    for _ in range(n_steps):
        logs = log_densities(X, y, coefficients, deviations, weights)
        members = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
        fits = [np.linalg.solve((X.T * w) @ X, (X.T * w) @ y) for w in members.T]
        coefficients = np.array(fits)
        deviations = np.sqrt((members * (y[:, None] - X @ coefficients.T) ** 2).sum(axis=0) / members.sum(axis=0))
        weights = members.mean(axis=0)
    objective = logsumexp(log_densities(X, y, coefficients, deviations, weights), axis=1).sum()
    return coefficients, deviations, weights, objective


def draw(rng, X, centers, intercepts, deviations, weights):
    labels = rng.choice(len(weights), size=len(X), p=weights)
    y = (X * centers[labels]).sum(axis=1) + intercepts[labels] + deviations[labels] * rng.standard_normal(len(X))
    return y, labels


CENTERS = np.array([[1.0, 0, 0.5, 0, -0.3], [0, 1.0, 0, -0.5, 0.3], [-0.6, -0.2, 0.8, 0.4, 0]])
INTERCEPTS = np.array([0.3, -0.2, 0.0])
DEVIATIONS = np.array([0.2, 0.4, 0.3])
WEIGHTS = np.array([0.3, 0.45, 0.25])
TRUTH = CENTERS, INTERCEPTS, DEVIATIONS, WEIGHTS


@pytest.fixture(scope="module")
def normal():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    y, _ = draw(rng, X, *TRUTH)
    return X, y, RegressionSearch(3).fit(X, y)


@pytest.fixture(scope="module")
def best(normal):
    X, y, _ = normal
    return maximum_likelihood(X, y, *TRUTH)


@pytest.mark.parametrize("target", [0, 2])
def test_refinement_ends_at_the_maximum_of_the_likelihood(normal, best, target):
    search, (coefficients, deviations, weights, objective) = normal[2], best
    found = search.search(CENTERS[target], refine=True)
    assert np.all(np.abs(found.center - coefficients[target, :-1]) < 0.05 * found.stderr.center)
    assert found.intercept == pytest.approx(coefficients[target, -1], abs=1e-3)
    assert found.noise_variance == pytest.approx(deviations[target] ** 2, rel=5e-3)
    assert found.weight == pytest.approx(weights[target], abs=0.05 * found.stderr.weight)
    assert found._refined.fit.log_likelihood == pytest.approx(objective, abs=0.01)


def test_refined_members_are_those_of_the_whole_mixture(normal, best):
    (X, y, search), (coefficients, deviations, weights, _) = normal, best
    logs = log_densities(np.column_stack([X, np.ones(len(y))]), y, coefficients, deviations, weights)
    expected = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))[:, 2]
    found = search.search(CENTERS[2], refine=True)
    assert_allclose(found.membership(X, y), expected, atol=5e-3)
    assert_allclose(found.predict(X[:9]), X[:9] @ found.center + found.intercept)


def run_random_em(X, y, k, seed, n_steps=150):
    """EM from a random assignment of samples to components."""
    rng = np.random.default_rng(seed)
    X, members = np.column_stack([X, np.ones(len(y))]), rng.dirichlet(np.ones(k), size=len(y))
    best = -np.inf
    for _ in range(n_steps):
        coefficients = np.array(
            [np.linalg.solve((X.T * w) @ X + 1e-9 * np.eye(X.shape[1]), (X.T * w) @ y) for w in members.T]
        )
        squares = (members * (y[:, None] - X @ coefficients.T) ** 2).sum(axis=0) / members.sum(axis=0)
        deviations = np.sqrt(np.maximum(squares, 0.01 * np.mean(squares)))
        logs = log_densities(X, y, coefficients, deviations, members.mean(axis=0))
        best = logsumexp(logs, axis=1).sum()
        members = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return best


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mixsearch.errors.WeakHintWarning")  # of 400 samples
@pytest.mark.parametrize("kind", ["normal", "skewed", "one feature"])
def test_refinement_is_as_likely_as_em_from_twenty_random_starts(kind):
    better = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        d = 1 if kind == "one feature" else 3
        X = rng.exponential(size=(400, d)) if kind == "skewed" else rng.standard_normal((400, d))
        centers = 2 * rng.standard_normal((2, d))
        y, _ = draw(rng, X, centers, np.array([0.5, -0.5]), np.array([0.3, 0.3]), [0.4, 0.6])
        found = RegressionSearch(2).fit(X, y).search(centers[0], refine=True)
        better.append(found._refined.fit.log_likelihood > max(run_random_em(X, y, 2, i) for i in range(20)) - 1)
    assert np.mean(better) >= 5 / 6


@pytest.mark.slow
def test_a_design_far_from_normal_biases_moments_but_not_the_likelihood():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.uniform(0, 1, (5000, 2)), rng.random((5000, 3)) < [0.5, 0.4, 0.6]]) * 2.0
    X[:, 1] += X[:, 0] + 3
    truth = (3 * CENTERS[:2], INTERCEPTS[:2], DEVIATIONS[:2], np.array([0.4, 0.6]))
    y, labels = draw(rng, X, *truth)
    coefficients, *_ = maximum_likelihood(X, y, *truth)
    few = np.flatnonzero(labels == 0)[:60]
    search = RegressionSearch(2).fit(X, y)
    found = search.search(examples=(X[few], y[few]), refine=True)
    assert_allclose(found.center, coefficients[0, :5], atol=2e-3)
    assert found.intercept == pytest.approx(coefficients[0, 5], abs=1e-2)
    error = np.abs(found.center - truth[0][0]).max()
    assert np.abs(found.moment_estimate.center - truth[0][0]).max() > 5 * error


def test_a_single_regression_is_least_squares():
    rng = np.random.default_rng(2)
    X = rng.exponential(size=(400, 3)) + 5
    y = X @ [1.0, 2, -1] + 3 + rng.standard_normal(400)
    found = RegressionSearch(1).fit(X, y).search([1.0, 2, -1], refine=True)
    peer = LinearRegression().fit(X, y)
    assert_allclose(found.center, peer.coef_, rtol=1e-6)
    assert found.intercept == pytest.approx(peer.intercept_)
    assert found.noise_variance == pytest.approx(np.mean((y - peer.predict(X)) ** 2), rel=1e-3)
    assert found.weight == pytest.approx(1)


def test_hardly_more_samples_than_features_do_not_break_the_steps():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((14, 5))
    y, _ = draw(rng, X, *TRUTH)
    found = RegressionSearch(1).fit(X, y).search(CENTERS[0], refine=True)
    assert np.isfinite(found.center).all()
    assert np.isfinite(found.stderr.center).all()
    assert found.noise_variance > 0


def test_standard_errors_of_a_single_regression_are_those_of_least_squares():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((4000, 30)) @ (np.eye(30) + 0.1) + 3
    y = X @ rng.standard_normal(30) + 2 * rng.standard_normal(4000)
    found = RegressionSearch(1).fit(X, y).search(np.ones(30), refine=True)
    textbook = 2 * np.sqrt(np.diag(np.linalg.inv(np.cov(X, rowvar=False))) / len(X))
    for estimate in (found, found.moment_estimate):
        assert np.mean(estimate.stderr.center / textbook) == pytest.approx(1, abs=0.06)


@pytest.mark.slow
def test_lines_without_noise_are_known_exactly_and_their_weights_as_well_as_from_labels():
    rng = np.random.default_rng(6)
    X = rng.standard_normal((3000, 5))
    y, labels = draw(rng, X, CENTERS[:2], INTERCEPTS[:2], np.zeros(2), np.array([0.4, 0.6]))
    found = RegressionSearch(2).fit(X, y).search(examples=(X[labels == 1][:12], y[labels == 1][:12]), refine=True)
    share = np.mean(labels == 1)
    assert_allclose(found.center, CENTERS[1], atol=1e-6)
    assert found.stderr.center.max() < 1e-5
    assert found.weight == pytest.approx(share, abs=0.02)
    assert found.stderr.weight == pytest.approx(np.sqrt(share * (1 - share) / len(y)), rel=0.5)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "skewed"])
def test_many_features_are_refined_to_the_maximum_of_the_likelihood(kind):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((8000, 30)) if kind == "normal" else rng.exponential(size=(8000, 30))
    centers = rng.standard_normal((2, 30)) / np.sqrt(30)
    truth = (centers, INTERCEPTS[:2], DEVIATIONS[:2], np.array([0.4, 0.6]))
    y, _ = draw(rng, X, *truth)
    coefficients, _, weights, objective = maximum_likelihood(X, y, *truth)
    found = RegressionSearch(2).fit(X, y).search(centers[0], refine=True)
    assert found._refined.fit.log_likelihood == pytest.approx(objective, abs=0.05)
    assert_allclose(found.center, coefficients[0, :-1], atol=1e-3)
    assert found.weight == pytest.approx(weights[0], abs=1e-3)


def draw_lines_in_x(differs, seed=0):
    """Two lines whose x may have different means; the labels, and rows of the second."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(600) < 0.4).astype(int)
    X = differs * np.array([[-1.5, 0.0], [1.5, 1.0]])[labels] + rng.standard_normal((600, 2))
    slopes, levels = np.array([[1.0, -1.0], [-0.5, 0.8]]), np.array([0.5, -0.5])
    y = np.sum(X * slopes[labels], axis=1) + levels[labels] + 0.5 * rng.standard_normal(600)
    return X, y, labels, np.flatnonzero(labels == 1)[:8]


def test_x_that_differs_between_lines_is_used_if_it_predicts_left_out_examples():
    X, y, labels, few = draw_lines_in_x(differs=True)
    search = RegressionSearch(2).fit(X, y)
    found = search.search(examples=(X[few], y[few]), refine=True)
    with warns("misfit"):  # from a direction, which says nothing about x
        plain = search.search([-0.5, 0.8], refine=True)
    assert (found.is_joint, plain.is_joint) == (True, False)
    errors = [np.mean((answer.membership(X, y) > 0.5) != labels) for answer in (found, plain)]
    assert errors[0] < 0.7 * errors[1]
    assert np.all(np.abs(found.center - [-0.5, 0.8]) < 4 * found.stderr.center)


def test_lines_stay_lines_if_x_is_the_same_for_all():
    answers = []
    for seed in range(6):
        X, y, _, few = draw_lines_in_x(differs=False, seed=seed)
        answers.append(RegressionSearch(2).fit(X, y).search(examples=(X[few], y[few]), refine=True).is_joint)
    assert np.mean(answers) <= 1 / 6
