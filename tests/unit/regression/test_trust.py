"""Answers that look sure are right: what makes a regression doubtful, and what does not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.coded import raises, warns
from tests.unit.regression.conftest import NOISE

from mixsearch import RegressionSearch
from mixsearch.data.partitions import partition_in_memory
from mixsearch.datasets import make_hint, make_mixed_regression
from mixsearch.errors import DoubtfulExamplesWarning
from mixsearch.regression.moments import fit_regression


def members(data, component, n=10):
    rows = np.flatnonzero(data.labels == component)[:n]
    return data.X[rows], data.y[rows]


def codes(found):
    return [doubt.code for doubt in found.doubts]


def exponential(n, d, k, seed=0):
    """Return regressions on features with an exponential distribution, their coefficients and labels."""
    rng = np.random.default_rng(seed)
    X, labels = rng.exponential(size=(n, d)), rng.integers(k, size=n)
    centers = rng.standard_normal((k, d))
    centers /= np.linalg.norm(centers, axis=1, keepdims=True)
    return X, np.einsum("ij,ij->i", X, centers[labels]) + NOISE * rng.standard_normal(n), centers, labels


@pytest.mark.parametrize("refine", [False, True])
@pytest.mark.parametrize("component", [0, 2])
def test_members_of_one_regression_are_no_reason_for_doubt(data, search, component, refine):
    found = search.search(examples=members(data, component), refine=refine)
    assert np.linalg.norm(data.centers - found.center, axis=1).argmin() == component
    assert found.confidence > 0.9
    assert not found.doubts


@pytest.mark.parametrize("refine", [False, True])
def test_examples_of_two_regressions_are_doubted(data, search, refine):
    (X, y), (other_X, other_y) = members(data, 0, 5), members(data, 1, 5)
    with pytest.warns(DoubtfulExamplesWarning):
        found = search.search(examples=(np.vstack([X, other_X]), np.concatenate([y, other_y])), refine=refine)
    assert found.confidence < 0.01


@pytest.mark.parametrize("refine", [False, True])
def test_an_example_far_from_every_regression_is_doubted(data, search, refine):
    X, y = members(data, 0, 5)
    with warns("examples_atypical", n_examples=5):
        found = search.search(examples=(X, y + 170 * NOISE * (np.arange(5) == 2)), refine=refine)
    assert "examples_atypical" in codes(found)
    assert found.confidence < 0.01


@pytest.mark.parametrize("refine", [False, True])
def test_a_direction_orthogonal_to_all_coefficients_says_nothing(data, search, refine):
    span, _ = np.linalg.qr(data.centers.T)
    v = np.ones(6)
    with warns("hint_uninformative"):
        found = search.search(v - span @ (span.T @ v), refine=refine)
    assert codes(found)[0] == "hint_uninformative"
    assert found.confidence < 0.5


def test_p_values_of_directions_without_information_are_uniform():
    p_values = []
    for seed in range(60):
        data = make_mixed_regression(3000, 6, 2, deviation=NOISE, random_state=seed)
        family = fit_regression(
            partition_in_memory(data.X, data.y), 2, design="covariance", intercept=True, paper=False, seed=0
        )
        span, _ = np.linalg.qr(data.centers.T)
        v = np.random.default_rng(seed).standard_normal(6)
        p_values.append(family.information_p_value(family.design.to_slopes(v - span @ (span.T @ v))))
    assert np.mean(np.array(p_values) < 0.5) == pytest.approx(0.5, abs=0.2)
    assert np.mean(np.array(p_values) < 0.05) < 0.2


def test_a_tie_is_doubted(data, search):
    with warns("weak_hint"):
        found = search.search(np.linalg.pinv(data.centers) @ [1.0, 1.0, 0.0])
    assert codes(found) == ["weak_hint"]


def test_moments_of_x_that_is_not_normal_are_refined_by_default_and_doubted_otherwise():
    X, y, centers, _ = exponential(5000, 6, 2)
    search, hint = RegressionSearch(2).fit(X, y), make_hint(centers, 0, gamma=0.9)
    found = search.search(hint)
    assert_allclose(found.center, centers[0], atol=0.05)
    assert found.confidence > 0.9
    assert not found.doubts
    with warns("not_normal", argument="refine"):
        moments = search.search(hint, refine=False)
    assert codes(moments)[0] == "not_normal"
    assert moments.confidence < 0.5


def test_normal_x_is_not_refined_by_default(data, search):
    hint = make_hint(data.centers, 0, gamma=0.9)
    assert_allclose(search.search(hint).center, search.search(hint, refine=False).center)
    with raises("bad_argument", argument="refine", value="maybe"):
        search.search(hint, refine="maybe")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::mixsearch.errors.SearchWarning")
def test_one_regression_too_few_is_doubted_only_if_the_answer_depends_on_it(data):
    search = RegressionSearch(2).fit(data.X[:4000], data.y[:4000])
    for component in range(3):
        found = search.search(examples=members(data, component, 20), refine=True)
        error = np.linalg.norm(found.center - data.centers[component])
        assert ("too_few_components" in codes(found)) == (error > 0.05)


def test_a_single_line_through_two_is_doubted():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 2))
    y = np.where(rng.random(1000) < 0.5, X[:, 0], X[:, 1]) + 0.1 * rng.standard_normal(1000)
    with warns("too_few_components", n_components=1, larger=2, n_samples=1000):
        found = RegressionSearch(1).fit(X, y).search([1.0, 0.0], refine=True)
    assert found.confidence < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [1, 2, 3])
def test_the_likelihood_counts_regressions_where_moments_cannot(n_components):
    X, y, _, _ = exponential(800, 4, n_components, seed=1)
    assert RegressionSearch("auto").fit(X, y).n_components_ == n_components


def test_heavy_noise_is_not_counted_as_many_lines():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = X @ [2.0, -1.0] + rng.standard_t(3, size=600)
    assert RegressionSearch("auto").fit(X, y).n_components_ <= 2
