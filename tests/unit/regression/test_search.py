import numpy as np
import pytest
from tests.coded import raises

from mixsearch import RegressionSearch
from mixsearch.datasets import make_hint, make_mixed_regression

data = make_mixed_regression(60_000, 8, 3, intercept=0.8, deviation=0.2, random_state=2)
search = RegressionSearch(3).fit(data.X, data.y)


def test_the_noise_variance_of_a_fit_is_the_average_over_its_regressions():
    noisy = make_mixed_regression(60_000, 5, 2, intercept=0.5, deviation=1.0, random_state=4)
    assert RegressionSearch(2).fit(noisy.X, noisy.y).noise_variance_ == pytest.approx(1, rel=0.1)


def test_a_response_whose_square_is_constant_shows_no_component_to_moments():
    y = np.where(np.arange(200) % 2, 1.0, -1.0)
    with raises("needs_refinement", n_components=2, n_features=8):
        RegressionSearch(2).fit(data.X[:200], y).search(np.ones(8))


def test_too_few_samples_say_how_many_are_needed():
    with raises("too_few_samples", needed=9, n_samples=8):
        RegressionSearch(2).fit(data.X[:8], data.y[:8])


@pytest.mark.parametrize(
    ("examples", "code"),
    [(data.X[:3], "examples_not_pair"), ((data.X[:3, :2], data.y[:3]), "other_features")],
)
def test_examples_are_pairs(examples, code):
    with raises(code):
        search.search(examples=examples)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_normal_features_are_not_reported_however_many(seed):
    """Tested where directions were chosen, they look heavy-tailed."""
    lines = make_mixed_regression(6000, 120, 2, random_state=seed)
    found = RegressionSearch(2).fit(lines.X, lines.y).search(lines.centers[0])
    assert "misfit" not in [warning.code for warning in found.warnings]


def test_memberships_are_probabilities_that_can_be_believed():
    members = search.search(make_hint(data.centers, 2)).membership(data.X, data.y)
    assert members.mean() == pytest.approx(data.weights[2], abs=0.06)
    brier = np.mean((members - (data.labels == 2)) ** 2)
    assert brier < 0.6 * data.weights[2] * (1 - data.weights[2])


@pytest.mark.parametrize("row", range(3))  # some of them round, some do not
def test_copies_of_one_example_are_named(row):
    with raises("examples_uninformative"):
        search.search(examples=(np.repeat(data.X[row : row + 1], 5, axis=0), np.repeat(data.y[row], 5)))
