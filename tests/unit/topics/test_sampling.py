"""A few terms that represent a sum of many."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mixsearch.topics.old_lda import sample_terms


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
