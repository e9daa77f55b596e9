"""Regressions between which x differs, and examples that stay in their component."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from tests.coded import raises

from mixsearch import RegressionSearch
from mixsearch.core.em import EMOptions
from mixsearch.core.posterior import precision_factor, shrink_covariances
from mixsearch.data.partitions import partition_in_memory
from mixsearch.datasets import make_mixed_regression
from mixsearch.errors import DoubtfulExamplesWarning
from mixsearch.regression.design import estimate_features, fit_design
from mixsearch.regression.joint import evaluate_whole, hold_examples, likelihood_of_responses, maximize_whole
from mixsearch.regression.mixture import RegressionMixture, Regressors

SLOPES, LEVELS = np.array([[1.0, -1.0], [-0.5, 0.8]]), np.array([0.5, -0.5])
CENTERS = np.array([[-1.5, 0.0], [1.5, 1.0]])
NOISE = 0.5


def draw_joint(n=600, seed=0, apart=1.0):
    """Draw two lines on two features, with features of their own if they are apart."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.4).astype(int)
    X = apart * CENTERS[labels] + rng.normal(size=(n, 2))
    y = np.sum(X * SLOPES[labels], axis=1) + LEVELS[labels] + NOISE * rng.normal(size=n)
    return X, y, labels


def search(X, y, labels, n_components=2, **options):
    rows = np.flatnonzero(labels == 1)[:5]
    return RegressionSearch(n_components, **options).fit(X, y).search(examples=(X[rows], y[rows]), refine=True)


@pytest.mark.parametrize("n_components", [2, "auto"])
def test_x_that_differs_between_lines_says_which_one_a_sample_is_of(n_components):
    X, y, labels = draw_joint()
    joint, plain = search(X, y, labels, n_components), search(X, y, labels, joint=False)
    assert joint.joint
    assert not plain.joint
    errors = [np.mean((found.membership(X, y) > 0.5) != labels) for found in (joint, plain)]
    assert errors[0] < 0.7 * errors[1]
    assert np.all(np.abs(joint.center - SLOPES[1]) < 4 * joint.stderr.center)
    assert abs(joint.intercept - LEVELS[1]) < 4 * joint.predict_stderr(np.zeros((1, 2)))[0]
    assert abs(joint.weight - 0.4) < 4 * joint.stderr.weight
    assert "differs between components" in repr(joint)


def test_the_membership_of_new_samples_uses_x_too():
    X, y, labels = draw_joint()
    found = search(X, y, labels)
    # Where both lines meet, y says nothing.
    x = np.linalg.solve(np.vstack([SLOPES[1] - SLOPES[0], [0.0, 1.0]]), [LEVELS[0] - LEVELS[1], 0.0])
    response = x @ SLOPES[1] + LEVELS[1]
    assert np.ptp([x @ slopes + level for slopes, level in zip(SLOPES, LEVELS, strict=True)]) < 1e-9
    odds = 0.4 * multivariate_normal(CENTERS[1]).pdf(x) / (0.6 * multivariate_normal(CENTERS[0]).pdf(x))
    assert_allclose(found.membership(x[None], [response]), odds / (1 + odds), atol=0.15)
    assert found.membership(x[None] + [[3.0, 0.0]], [response + 3 * SLOPES[1, 0]]) > 0.95


@pytest.mark.parametrize("is_skewed", [False, True])
def test_the_joint_model_is_not_used_if_x_does_not_differ(is_skewed):
    X, y, labels = draw_joint(apart=0.0)
    if is_skewed:
        rng = np.random.default_rng(0)
        X = np.exp(0.8 * X)
        y = np.sum(X * SLOPES[labels], axis=1) + LEVELS[labels] + NOISE * rng.normal(size=len(y))
    found, plain = search(X, y, labels), search(X, y, labels, joint=False)
    assert not found.joint
    assert_allclose(found.center, plain.center)
    assert_allclose(found.stderr.center, plain.stderr.center)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mixsearch.WeakHintWarning")
def test_intervals_of_a_joint_model_cover_the_truth_about_as_often_as_they_say():
    found = [search(*draw_joint(400, seed)) for seed in range(16)]
    assert sum(each.joint for each in found) >= 15
    is_covered = [np.abs(each.center - SLOPES[1]) < 1.96 * each.stderr.center for each in found]
    assert np.mean(is_covered) >= 0.83
    assert np.mean([abs(each.weight - 0.4) < 1.96 * each.stderr.weight for each in found]) >= 0.8


def test_other_values_of_joint_are_refused():
    X, y, _ = draw_joint(50)
    with raises("bad_argument", argument="joint", choices="'auto', True, False"):
        RegressionSearch(2, joint="yes").fit(X, y)


def make_regressors(X, y):
    partitions = partition_in_memory(X, y)
    return Regressors(fit_design(partitions, "covariance"), partitions, has_intercepts=True)


def make_mixture(regressors):
    whitener = regressors.design.whitener
    lines = np.linalg.solve(whitener, SLOPES.T)
    features = estimate_features(regressors.design, np.stack([np.diag([50.0, 50.0, 50.0])] * 2))
    levels = LEVELS + SLOPES @ regressors.design.center
    return RegressionMixture(lines, levels, np.array([0.3, 0.4]), np.array([0.6, 0.4]), features)


def test_the_likelihood_of_a_joint_model_is_that_of_gaussians_of_x_and_y():
    X, y, _ = draw_joint(80)
    regressors = make_regressors(X, y)
    samples, mixture = hold_examples(regressors, X[:0], y[:0]), make_mixture(regressors)
    Z = regressors.design.predict(X, np.eye(2))
    covariances = [np.linalg.inv(factor @ factor.T) for factor in mixture.features.factors]
    of_features = np.column_stack(
        [multivariate_normal(*each).pdf(Z) for each in zip(mixture.features.centers, covariances, strict=True)]
    )
    residuals = y[:, None] - Z @ mixture.slopes - mixture.levels
    of_responses = np.exp(-0.5 * residuals**2 / mixture.variances) / np.sqrt(2 * np.pi * mixture.variances)
    both = (of_features * of_responses) @ mixture.weights
    assert_allclose(evaluate_whole(samples, mixture).objective, np.log(both).sum())
    given = both / (of_features @ mixture.weights)
    assert_allclose(likelihood_of_responses(samples, mixture), np.log(given).sum())


def test_examples_stay_in_their_component_and_are_counted_once():
    X, y, _ = draw_joint(80)
    regressors = make_regressors(X, y)
    new = np.array([[0.3, 0.4]]), np.array([9.0])
    samples = hold_examples(regressors, np.vstack([X[[3, 7]], new[0]]), np.append(y[[3, 7]], new[1]))
    assert samples.n_rows == 81
    mixture = make_mixture(regressors)
    resp = evaluate_whole(samples, mixture).resp
    assert_allclose(resp[[3, 7, 80]], [[1, 0]] * 3)
    free = evaluate_whole(hold_examples(regressors, X[:0], y[:0]), mixture)
    with_two = evaluate_whole(hold_examples(regressors, X[[3, 7]], y[[3, 7]]), mixture)
    assert_allclose(with_two.objective, free.objective + np.log(free.resp[[3, 7], 0]).sum())


def test_em_in_all_dimensions_raises_the_likelihood_and_finds_the_lines():
    X, y, labels = draw_joint(2000)
    regressors = make_regressors(X, y)
    samples = hold_examples(regressors, X[labels == 0][:3], y[labels == 0][:3])
    result = maximize_whole(samples, make_mixture(regressors), EMOptions(50, 0.01))
    assert np.all(np.diff(result.objectives) >= 0)
    assert_allclose(regressors.design.to_coefficients(result.state.slopes).T, SLOPES, atol=0.1)
    assert_allclose(result.state.weights, [0.6, 0.4], atol=0.05)


def test_covariances_of_few_samples_are_near_the_average():
    few, many = np.diag([9.0, 9.0]), np.diag([1.0, 4.0])
    shrunk = shrink_covariances(np.stack([few, many]), np.array([4.0, 4e6]), many)
    assert_allclose(shrunk, [(few + many) / 2, many], rtol=1e-4)
    factor = precision_factor(shrunk)
    assert_allclose(factor @ factor.swapaxes(1, 2) @ shrunk, [np.eye(2)] * 2, atol=1e-12)


def test_wrong_examples_are_still_doubted_if_they_are_held():
    data = make_mixed_regression(600, 3, 2, deviation=0.2, random_state=1)
    rows = np.concatenate([np.flatnonzero(data.labels == label)[:3] for label in (0, 1)])
    with pytest.warns(DoubtfulExamplesWarning):
        found = RegressionSearch(2).fit(data.X, data.y).search(examples=(data.X[rows], data.y[rows]), refine=True)
    assert {doubt.code for doubt in found.doubts} & {"examples_disagree", "examples_atypical"}
    assert found.confidence < 0.5
