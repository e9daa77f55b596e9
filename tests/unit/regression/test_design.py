import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch.core.rows import chunk_in_memory
from mixsearch.regression import fit_design, standardize

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
