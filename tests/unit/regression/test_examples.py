"""Examples that come back or do not, negative ones, and the number of regressions."""

import numpy as np
import pytest
from tests.coded import raises, warns

from mixsearch import RegressionSearch
from mixsearch.datasets import make_mixed_regression

NOISE = 0.2


@pytest.fixture(scope="module")
def data():
    return make_mixed_regression(20_000, 6, 3, deviation=NOISE, random_state=4)


@pytest.fixture(scope="module")
def search(data):
    return RegressionSearch(3).fit(data.X, data.y)


def members(data, component, n=10):
    rows = np.flatnonzero(data.labels == component)[:n]
    return data.X[rows], data.y[rows]


def test_examples_that_come_back_are_counted(data, search):
    component = search.search(examples=members(data, 1, 4), refine=True)
    assert np.median(component.check.ranks) <= 0.5 * component.check.n_rows
    assert "4 examples come back among" in repr(component)


@pytest.mark.filterwarnings("ignore::mixsearch.errors.DoubtfulExamplesWarning")  # moments are rough
@pytest.mark.parametrize("refine", [False, True])
def test_negative_examples_are_those_of_other_components(data, search, refine):
    for target, negative in ((0, 1), (1, 0)):
        examples = {"examples": members(data, target, 4), "not_examples": members(data, negative, 4)}
        component = search.search(**examples, refine=refine)
        assert np.linalg.norm(data.centers - component.center, axis=1).argmin() == target
    with raises("needs_examples", argument="not_examples"):
        search.search(data.centers[0], not_examples=members(data, 1))


@pytest.mark.slow
@pytest.mark.parametrize(("n_components", "n_features"), [(1, 4), (2, 4), (3, 4), (3, 30)])
def test_bic_counts_regressions(n_components, n_features):
    data = make_mixed_regression(20_000, n_features, n_components, deviation=NOISE, random_state=1)
    assert RegressionSearch("auto").fit(data.X, data.y).n_components_ == n_components


def test_heavy_noise_is_not_counted_as_many_lines():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = X @ [2.0, -1.0] + rng.standard_t(3, size=600)
    assert RegressionSearch("auto").fit(X, y).n_components_ <= 2


def test_an_outlier_among_the_examples_is_reported_and_does_not_move_the_answer(data, search):
    X, y = members(data, 0, 8)
    with warns("examples_disagree", n_disagreeing=1, rows=[2]):
        component = search.search(examples=(X, y + 300 * NOISE * (np.arange(8) == 2)), refine=True)
    assert np.linalg.norm(component.center - data.centers[0]) < 0.05
