"""Regressions on real designs: categories, one feature, odd columns, data frames."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.coded import raises

from mixsearch import RegressionSearch
from mixsearch.core.rows import chunk_in_memory
from mixsearch.regression import fit_design, standardize


def two_lines(seed, n=300):
    """One feature, one flat line and the diagonal, as in the tone perception experiment."""
    rng = np.random.default_rng(seed)
    X, labels = rng.uniform(1.3, 3, (n, 1)), (rng.random(n) < 0.3).astype(int)
    flat, diagonal = 1.9 + 0.05 * X[:, 0] + 0.05 * rng.standard_normal(n), X[:, 0] + 0.13 * rng.standard_normal(n)
    return X, np.where(labels, diagonal, flat), labels


@pytest.mark.parametrize("target", [0, 1])
def test_two_lines_on_one_feature_are_found_from_five_examples(target):
    X, y, labels = two_lines(0)
    # Samples near the crossing of the lines could belong to either: examples are clear members.
    few = np.flatnonzero((labels == target) & (np.abs(X[:, 0] - 2) > 0.2))[:5]
    found = RegressionSearch(2).fit(X, y).search(examples=(X[few], y[few]), refine=True)
    slope, intercept = [(0.05, 1.9), (1.0, 0.0)][target]
    assert found.center[0] == pytest.approx(slope, abs=4 * found.stderr.center[0])
    assert found.stderr.center[0] < 0.06
    assert found.intercept == pytest.approx(intercept, abs=0.2)
    assert np.sqrt(found.noise_variance) == pytest.approx([0.05, 0.13][target], rel=0.3)
    assert found.weight == pytest.approx(np.mean(labels == target), abs=0.1)
    (other,) = found.alternatives
    assert other.center[0] == pytest.approx([1.0, 0.05][target], abs=0.15)
    with raises("needs_refinement", n_components=2, n_features=1):
        _ = found.moment_estimate


def test_more_lines_than_features_need_the_likelihood():
    X, y, _ = two_lines(0)
    search = RegressionSearch(2).fit(X, y)
    for question in ({"hint": [1.0]}, {"examples": (X[:5], y[:5])}):
        with raises("needs_refinement", n_features=1, n_components=2, argument="refine"):
            search.search(**question)
    assert search.search([1.0], refine=True).center[0] == pytest.approx(1, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("n_components", [3, "auto"])
def test_as_many_lines_as_features_are_found_from_examples_also_if_moments_lack_one(n_components):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((600, 3)), rng.integers(3, size=600)
    centers, intercepts = np.array([[3.0, 0, -1], [-2, 1, 2], [0, -3, 1]]), np.array([0.0, 4, -2])
    y = np.einsum("ij,ij->i", X, centers[labels]) + intercepts[labels] + 0.3 * rng.standard_normal(600)
    few = np.flatnonzero(labels == 1)[:6]
    search = RegressionSearch(n_components).fit(X, y)
    assert search.n_components_ == 3
    found = search.search(examples=(X[few], y[few]), refine=True)
    assert_allclose(found.center, centers[1], atol=0.15)
    assert found.intercept == pytest.approx(4, abs=0.15)


def test_all_levels_of_a_category_may_be_columns():
    rng = np.random.default_rng(0)
    n = 4000
    table = pd.DataFrame(
        {"size": rng.normal(50, 10, n), "age": rng.normal(30, 5, n), "kind": rng.choice(list("abc"), n)}
    )
    labels = rng.random(n) < 0.4
    kinds = table["kind"].map({"a": 0.0, "b": 5.0, "c": -3.0})
    y = np.where(labels, 0.5 * table["size"] + kinds, 30 + 0.8 * table["age"]) + rng.standard_normal(n)
    # Without drop: the three columns of kind add up to 1, on top of the intercept.
    columns = make_column_transformer((OneHotEncoder(sparse_output=False), ["kind"]), remainder="passthrough")
    pipeline = make_pipeline(columns.set_output(transform="pandas"), RegressionSearch(2)).fit(table, y)
    X, search = pipeline[0].transform(table), pipeline[1]
    few = np.flatnonzero(labels)[:40]
    found = search.search(examples=(X.iloc[few], y[few]), refine=True)
    named = found.coefficients
    assert named["remainder__size"] == pytest.approx(0.5, abs=0.03)
    assert named["remainder__age"] == pytest.approx(0, abs=0.05)
    assert named["onehotencoder__kind_b"] - named["onehotencoder__kind_a"] == pytest.approx(5, abs=0.3)
    assert named["onehotencoder__kind_c"] - named["onehotencoder__kind_a"] == pytest.approx(-3, abs=0.3)
    assert_allclose(found.predict(X), 0.5 * table["size"] + kinds, atol=1)
    assert "remainder__size 0." in repr(found)


rng = np.random.default_rng(0)
PLAIN = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4)) * [1e-5, 1, 1e4, 10] + [1, -2, 3e6, 0]
DEPENDENT = np.column_stack([PLAIN, PLAIN[:, 0] * 1e5 - PLAIN[:, 1], np.full(200, 7.0)])


def standardize_samples(chunks):
    return standardize(chunks, fit_design(chunks))


@pytest.mark.parametrize(("X", "rank"), [(PLAIN, 4), (DEPENDENT, 4)])
def test_standardized_samples_have_mean_zero_and_identity_covariance(X, rank):
    Z = standardize_samples(chunk_in_memory(X, X[:, 0])).chunks.chunk.samples
    assert_allclose(Z.mean(axis=0), np.zeros(rank), atol=1e-8)
    assert_allclose(np.cov(Z, rowvar=False, bias=True), np.eye(rank), atol=1e-7)


@pytest.mark.parametrize("X", [PLAIN, DEPENDENT])
def test_coefficients_predict_the_same_in_both_coordinates(X):
    design, chunks = standardize_samples(chunk_in_memory(X, X[:, 0]))
    slopes = np.random.default_rng(1).standard_normal((chunks.n_features, 2))
    coefficients = design.whitener @ slopes
    assert_allclose((X - X.mean(axis=0)) @ coefficients, chunks.chunk.samples @ slopes, atol=1e-6)
    assert_allclose(design.unwhitener @ coefficients, slopes, atol=1e-6)


def test_coefficients_of_dependent_columns_are_the_smallest_that_predict_the_same():
    design, chunks = standardize_samples(chunk_in_memory(DEPENDENT, DEPENDENT[:, 0]))
    slope = np.array([1.0, -2, 0.5, 3])
    deviations = DEPENDENT.std(axis=0)
    deviations[-1] = 1
    scaled = (DEPENDENT - DEPENDENT.mean(axis=0)) / deviations
    shortest = np.linalg.lstsq(scaled, chunks.chunk.samples @ slope, rcond=1e-8)[0]
    assert_allclose(design.whitener @ slope * deviations, shortest, atol=1e-6)
