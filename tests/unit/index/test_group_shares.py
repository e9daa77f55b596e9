import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.index.group_shares import count_members, estimate_shares, sum_groups


def draw_shares(rng, p, n):
    """Draw shares with mean p that are zero except in some documents."""
    return np.where(rng.random(n) < 4 * p, rng.beta(1, 3, n), 0)


def test_the_share_of_a_group_is_the_weighted_mean():
    rng = np.random.default_rng(0)
    shares, codes, weights = rng.random(50), rng.integers(-1, 3, 50), rng.integers(1, 9, 50)
    found = estimate_shares(shares, codes, 3, weights=weights)
    for group in range(3):
        own = codes == group
        assert found.value[group] == pytest.approx(np.average(shares[own], weights=weights[own]))
    assert np.all((found.low < found.value) & (found.value < found.high))


def test_the_standard_error_of_a_large_group_is_that_of_a_mean():
    rng = np.random.default_rng(1)
    shares = draw_shares(rng, 0.1, 4000)
    codes = np.repeat([0, 1], 2000)
    found = estimate_shares(shares, codes, 2)
    for group in range(2):
        plain = shares[codes == group].std() / np.sqrt(2000)
        assert found.stderr[group] == pytest.approx(plain, rel=0.05)
        assert found.high[group] - found.low[group] == pytest.approx(2 * 1.96 * plain, rel=0.05)


def test_topics_in_columns_are_the_topics_alone_if_there_are_few():
    rng = np.random.default_rng(2)
    shares, codes = rng.random((60, 3)) ** 4, rng.integers(0, 4, 60)
    together = estimate_shares(shares, codes, 4)
    for topic in range(3):
        alone = estimate_shares(shares[:, topic], codes, 4)
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one[:, topic], other)


def test_sparse_shares_have_the_sums_of_dense_ones():
    rng = np.random.default_rng(3)
    shares, codes, weights = rng.random((40, 5)) ** 3, rng.integers(-1, 2, 40), rng.random(40)
    dense = sum_groups(shares, codes, 2, weights)
    for kind in (sp.csr_array, sp.csc_array):
        sparse = sum_groups(kind(shares), codes, 2, weights)
        for name in ("weight", "squared_weight", "share", "first", "second"):
            np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name))


def test_a_group_without_the_topic_has_an_interval():
    shares = np.concatenate([np.zeros(20), draw_shares(np.random.default_rng(4), 0.1, 500)])
    codes = np.repeat([0, 1], [20, 500])
    found = estimate_shares(shares, codes, 2)
    assert found.value[0] == 0
    assert found.low[0] == 0
    assert 0.02 < found.high[0] < 0.15
    assert found.stderr[0] > 0


def test_a_group_without_documents_has_no_share():
    found = estimate_shares(np.array([0.5, 0.1]), np.array([0, 2]), 4)
    for each in found:
        assert np.isnan(each).tolist() == [False, True, False, True]
    assert np.isnan(count_members(np.array([0.5, 0.1]), np.array([0, 2]), 4).value[1])


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_shares_that_are_all_the_same_stay_within_bounds(value):
    found = estimate_shares(np.full(8, value), np.zeros(8, dtype=int), 1)
    assert found.value[0] == value
    assert 0 <= found.low[0] <= value <= found.high[0] <= 1
    assert found.high[0] - found.low[0] > 0.1


def test_no_documents_at_all():
    found = estimate_shares(np.empty(0), np.empty(0, dtype=int), 2)
    assert np.isnan(found.value).all()


def test_a_bias_moves_the_share_and_its_error_does_not_average_out():
    rng = np.random.default_rng(5)
    shares, codes = draw_shares(rng, 0.2, 100_000), np.zeros(100_000, dtype=int)
    plain = estimate_shares(shares, codes, 1)
    moved = estimate_shares(shares, codes, 1, bias=0.05, bias_stderr=0.02)
    assert moved.value[0] == pytest.approx(plain.value[0] - 0.05)
    assert moved.stderr[0] == pytest.approx(0.02, rel=0.05)
    assert moved.high[0] - moved.low[0] == pytest.approx(4 * 0.02, rel=0.05)


def test_a_few_heavy_documents_widen_the_interval():
    rng = np.random.default_rng(6)
    shares, codes = draw_shares(rng, 0.2, 200), np.zeros(200, dtype=int)
    even = estimate_shares(shares, codes, 1)
    uneven = estimate_shares(shares, codes, 1, weights=np.where(np.arange(200) < 10, 100, 1))
    assert uneven.stderr[0] > 2 * even.stderr[0]


@pytest.mark.slow
@pytest.mark.parametrize("by_length", [False, True])
@pytest.mark.parametrize("p", [0.02, 0.15])
def test_intervals_cover_in_small_and_large_groups(p, by_length):
    rng, n_runs = np.random.default_rng(7), 800
    sizes = np.array([5, 20, 100, 1000])
    codes = np.repeat(np.arange(4), sizes)
    held = np.zeros(4)
    for _ in range(n_runs):
        truth = p * np.exp(rng.normal(0, 0.3, 4))
        lengths = np.maximum(rng.lognormal(4, 0.6, len(codes)), 5).astype(int)
        seen = rng.binomial(lengths, draw_shares(rng, truth[codes], len(codes))) / lengths
        found = estimate_shares(seen, codes, 4, weights=lengths if by_length else None)
        held += (found.low <= truth) & (truth <= found.high)
    # Three standard errors of a frequency below 92% and above 98%.
    assert np.all(held / n_runs > 0.92 - 0.029)
    assert np.all(held / n_runs < 0.98 + 0.015)


@pytest.mark.slow
def test_numbers_of_documents_are_covered():
    rng, n_runs = np.random.default_rng(8), 800
    sizes = np.array([5, 50, 500])
    codes = np.repeat(np.arange(3), sizes)
    held, widths = np.zeros(3), np.zeros(3)
    for _ in range(n_runs):
        membership = rng.beta(0.2, 0.8, len(codes))
        truth = np.bincount(codes, rng.random(len(codes)) < membership)
        found = count_members(membership, codes, 3)
        held += (found.low <= truth) & (truth <= found.high)
        widths += (found.high - found.low) / n_runs
    assert np.all(held / n_runs > 0.93)
    assert widths[2] < 0.1 * 500


def test_known_members_are_counted_exactly():
    found = count_members(np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 1]), 2)
    for each in (found.value, found.low, found.high):
        assert each.tolist() == [1, 1]
    assert found.stderr.tolist() == [0, 0]


def test_a_doubt_about_all_members_widens_every_interval():
    membership, codes = np.full(1000, 0.9), np.repeat([0, 1], 500)
    found = count_members(membership, codes, 2, factor=(0.5, 1.1))
    assert found.low == pytest.approx([225, 225], rel=0.01)
    assert np.all(found.high > 490)
    assert np.all(found.high <= 500)
