import numpy as np
import pytest

from mixsearch.index.group_shares import estimate_shares


def draw_shares(rng, p, n):
    """Draw shares with mean p that are zero except in some documents."""
    return np.where(rng.random(n) < 4 * p, rng.beta(1, 3, n), 0)


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


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_shares_that_are_all_the_same_stay_within_bounds(value):
    found = estimate_shares(np.full(8, value), np.zeros(8, dtype=int), 1)
    assert found.value[0] == value
    assert 0 <= found.low[0] <= value <= found.high[0] <= 1
    assert found.high[0] - found.low[0] > 0.1


def test_no_documents_at_all():
    found = estimate_shares(np.empty(0), np.empty(0, dtype=int), 2)
    assert np.isnan(found.value).all()


@pytest.mark.slow
@pytest.mark.parametrize("p", [0.02, 0.15])
def test_intervals_cover_in_small_and_large_groups(p):
    rng, n_runs = np.random.default_rng(7), 800
    sizes = np.array([5, 20, 100, 1000])
    codes = np.repeat(np.arange(4), sizes)
    held = np.zeros(4)
    for _ in range(n_runs):
        truth = p * np.exp(rng.normal(0, 0.3, 4))
        lengths = np.maximum(rng.lognormal(4, 0.6, len(codes)), 5).astype(int)
        seen = rng.binomial(lengths, draw_shares(rng, truth[codes], len(codes))) / lengths
        found = estimate_shares(seen, codes, 4)
        held += (found.low <= truth) & (truth <= found.high)
    # Three standard errors of a frequency below 92% and above 98%.
    assert np.all(held / n_runs > 0.92 - 0.029)
    assert np.all(held / n_runs < 0.98 + 0.015)
