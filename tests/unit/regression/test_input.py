"""Input that no regression fits is an error with a code, and no warning of NumPy leaks."""

import warnings

import numpy as np
import pytest
from tests.coded import raises

from mixsearch import RegressionSearch

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 3))
Y = np.where(rng.random(300) < 0.4, X @ [1.0, 2, 0], X @ [0, -1.0, 1]) + 0.1 * rng.standard_normal(300)


@pytest.fixture(autouse=True)
def no_leaks():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.mark.parametrize(
    ("samples", "responses", "n_components", "code"),
    [
        (np.ones((300, 3)), Y, 2, "constant_features"),
        (X, np.ones(300), 2, "constant_response"),
        (X, X @ [1.0, 2, 3], 2, "one_regression"),
        (X[:, :1], 2 * X[:, 0], 2, "one_regression"),
        (1e160 * X, Y, 2, "too_large"),
        (X, 1e160 * Y, 2, "too_large"),
        (X.astype(np.float32) * np.float32(1e20), Y, 2, "too_large"),
        (X, Y, 10**9, "too_few_samples"),
    ],
)
def test_input_without_an_answer_is_refused(samples, responses, n_components, code):
    with raises(code):
        RegressionSearch(n_components).fit(samples, responses)


@pytest.mark.parametrize(
    ("hint", "code"),
    [
        ({"hint": [1e200, 0, 0]}, "too_large"),
        ({"examples": (1e160 * X[:3], Y[:3])}, "too_large"),
        ({"examples": (X[:3], 1e160 * Y[:3])}, "too_large"),
        ({"examples": (X[:3], Y[:2])}, "bad_samples"),
    ],
)
def test_hints_and_examples_without_an_answer_are_refused(hint, code):
    with raises(code):
        RegressionSearch(2).fit(X, Y).search(**hint)


@pytest.mark.parametrize("kind", ["constant", "boolean", "integers", "large"])
def test_odd_columns_leave_the_others_alone(kind):
    column = {
        "constant": np.full(300, 7.0),
        "boolean": rng.random(300) < 0.5,
        "integers": rng.integers(0, 10**15, 300),
        "large": 1e90 * rng.standard_normal(300),
    }[kind]
    samples, members = np.column_stack([X, column]), np.flatnonzero(np.abs(Y - X @ [1.0, 2, 0]) < 0.2)[:8]
    component = RegressionSearch(2).fit(samples, Y).search(examples=(samples[members], Y[members]), refine=True)
    assert component.center[:3] == pytest.approx([1, 2, 0], abs=0.15)
    assert np.isfinite(component.stderr.center).all()
