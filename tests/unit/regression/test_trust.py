"""Warnings fire for wrong answers and not for right ones, counted over seeds."""

import warnings

import numpy as np
import pytest
from tests.coded import raises, warns
from tests.unit.regression.conftest import NOISE

from mixsearch import RegressionSearch
from mixsearch.datasets import make_hint, make_mixed_regression

SEEDS = range(20)


def members(data, component, n=10):
    rows = np.flatnonzero(data.labels == component)[:n]
    return data.X[rows], data.y[rows]


def mix(one, other):
    return tuple(np.concatenate(pair) for pair in zip(one, other, strict=True))


def count(draw, codes):
    """The share of seeds in which an answer has one of some warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.mean([any(warning.code in codes for warning in draw(seed).warnings) for seed in SEEDS])


def draw_data(seed, n=10_000):
    return make_mixed_regression(n, 6, 3, deviation=NOISE, random_state=seed)


def search_mixture(data, n_components=3, **options):
    return RegressionSearch(n_components).fit(data.X, data.y).search(**options)


def right(refine, by):
    def draw(seed):
        data = draw_data(seed)
        hint = {"hint": make_hint(data.centers, 0, gamma=0.9)} if by == "hint" else {"examples": members(data, 0)}
        return search_mixture(data, **hint, refine=refine)

    return draw


def right_of_few(seed):
    data = make_mixed_regression(400, 5, 2, deviation=0.3, intercept=0.5, random_state=seed)
    return search_mixture(data, 2, hint=data.centers[0], refine=True)


def mixed_examples(refine):
    def draw(seed):
        data = draw_data(seed, 40_000)
        return search_mixture(data, examples=mix(members(data, 0), members(data, 1)), refine=refine)

    return draw


def orthogonal(refine):
    def draw(seed):
        data = draw_data(seed)
        span, v = np.linalg.qr(data.centers.T)[0], np.random.default_rng(seed).standard_normal(6)
        return search_mixture(data, hint=v - span @ (span.T @ v), refine=refine)

    return draw


def tie(seed):
    data = draw_data(seed)
    return search_mixture(data, hint=np.linalg.pinv(data.centers) @ [1.0, 1.0, 0.0])


def skewed(refine):
    def draw(seed):
        rng = np.random.default_rng(seed)
        X, labels, centers = rng.exponential(size=(5000, 6)), rng.integers(2, size=5000), rng.standard_normal((2, 6))
        y = np.einsum("ij,ij->i", X, centers[labels]) + NOISE * rng.standard_normal(5000)
        return RegressionSearch(2).fit(X, y).search(make_hint(centers, 0, gamma=0.9), refine=refine)

    return draw


def cancelling(seed):
    rng = np.random.default_rng(seed)
    X, sign = rng.standard_normal((10_000, 4)), rng.choice([-1, 1], size=10_000)
    y = sign * (X @ [1.0, 2, 0, 1]) + NOISE * rng.standard_normal(10_000)
    return RegressionSearch(2).fit(X, y).search([1.0, 2, 0, 1])


def one_too_few(n_components):
    def draw(seed):
        data = draw_data(seed)
        components = [search_mixture(data, n_components, examples=members(data, i), refine=True) for i in range(3)]
        errors = [np.linalg.norm(found.center - center) for found, center in zip(components, data.centers, strict=True)]
        return components[int(np.argmax(errors))]

    return draw


ALL = {"weak_hint", "examples_disagree", "misfit"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("draw", "codes"),
    [
        pytest.param(mixed_examples(False), {"examples_disagree", "weak_hint"}, id="examples of two, moments"),
        pytest.param(mixed_examples(True), {"examples_disagree"}, id="examples of two, refined"),
        pytest.param(orthogonal(False), {"weak_hint"}, id="orthogonal, moments"),
        pytest.param(orthogonal(True), {"weak_hint"}, id="orthogonal, refined"),
        pytest.param(tie, {"weak_hint"}, id="tie"),
        pytest.param(skewed(False), {"misfit"}, id="skewed x"),
        pytest.param(cancelling, {"misfit"}, id="coefficients that cancel"),
        pytest.param(one_too_few(1), {"misfit"}, id="one line for three"),
        pytest.param(one_too_few(2), {"misfit"}, id="two lines for three"),
    ],
)
def test_wrong_answers_are_warned_about(draw, codes):
    assert count(draw, codes) >= 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    "draw",
    [
        pytest.param(right(False, "hint"), id="hint, moments"),
        pytest.param(right(True, "hint"), id="hint, refined"),
        pytest.param(right(False, "examples"), id="examples, moments"),
        pytest.param(right(True, "examples"), id="examples, refined"),
        pytest.param(right_of_few, id="few samples, refined"),
        pytest.param(skewed(True), id="skewed x, refined"),
    ],
)
def test_right_answers_are_not_warned_about(draw):
    assert count(draw, ALL) <= 0.05


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
