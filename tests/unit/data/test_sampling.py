"""A few terms that represent a sum of many."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mixsearch.data.reductions import sample_terms


def draw_sizes(seed, m=2000):
    return np.random.default_rng(seed).pareto(1.0, m) * (np.arange(m) % 3 > 0)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(10, 1000))
def test_no_more_terms_are_chosen_than_asked_for_and_their_sizes_add_up_to_those_of_all(seed, n):
    sizes = draw_sizes(seed)
    chosen, weights = sample_terms(sizes, n)
    assert len(chosen) <= n + 1
    assert np.all(sizes[chosen] > 0)
    assert np.all(weights >= 1)
    # Each term below the bound stands for one bound, so that at most one of them is missing or too many.
    assert_allclose(sizes[chosen] @ weights, sizes.sum(), atol=1.01 * (sizes[chosen] * weights).min())


def test_the_largest_terms_are_chosen_and_stand_for_themselves():
    sizes = np.r_[np.full(5, 100.0), np.full(1000, 1.0), np.full(5, 200.0)]
    chosen, weights = sample_terms(sizes, 60)
    is_large = sizes[chosen] > 1
    assert np.count_nonzero(is_large) == 10
    assert np.all(weights[is_large] == 1)
    assert_allclose(weights[~is_large], 20)
    steps = np.diff(chosen[~is_large])
    assert 19 <= steps.min() <= steps.max() <= 21


def test_all_terms_are_chosen_if_they_are_few():
    chosen, weights = sample_terms(np.array([0.0, 3.0, 0.0, 1e-300]), 2)
    assert chosen.tolist() == [1, 3]
    assert weights.tolist() == [1, 1]


@pytest.mark.parametrize("n", [200, 400, 800])
def test_a_sum_of_any_values_is_estimated_without_bias(n):
    sizes = draw_sizes(1)
    values = np.random.default_rng(2).normal(1, 1, (200, len(sizes))) * sizes
    chosen, weights = sample_terms(sizes, n)
    errors = values[:, chosen] @ weights - values.sum(axis=1)
    # The terms below the bound b differ from their mean by b in size; others have no error.
    bound = (sizes[chosen] * weights).min()
    deviation = bound * np.sqrt(n)
    assert abs(errors.mean()) < 4 * deviation / np.sqrt(len(errors))
    assert errors.std() < 2 * deviation
