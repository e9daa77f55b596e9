import numpy as np
import pytest
import scipy.sparse as sp

from mixsearch.index.changes import compare_shares, compare_words
from mixsearch.index.group_shares import estimate_shares

N = 1200
AFTER = np.arange(N) < 400


def draw_counts(rng, frequencies):
    return sp.csr_array(rng.multinomial(rng.integers(20, 120, len(frequencies)), frequencies).astype(float))


def test_planted_topics_rise_and_fall():
    rng = np.random.default_rng(0)
    old, new = np.full(8, 1 / 8), np.array([2, 0.2, 1, 1, 1, 1, 1, 0.8]) / 8
    shares = np.where(AFTER[:, None], rng.dirichlet(new, N), rng.dirichlet(old, N))
    changes = compare_shares(shares, ~AFTER, AFTER)
    assert changes.list_rises().tolist() == [0]
    assert changes.list_falls().tolist() == [1]
    np.testing.assert_allclose(changes.after, shares[AFTER].mean(axis=0))
    np.testing.assert_allclose(changes.difference, changes.after - changes.before)
    assert np.all((changes.low <= new - old) & (new - old <= changes.high))


def test_intervals_are_wider_if_more_topics_are_looked_at():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet(np.full(10, 0.2), N)
    few, many = compare_shares(shares[:, :2], ~AFTER, AFTER), compare_shares(shares, ~AFTER, AFTER)
    assert np.all((many.high - many.low)[:2] > 1.2 * (few.high - few.low))
    np.testing.assert_allclose(many.stderr[:2], few.stderr)


def test_the_standard_error_is_that_of_two_independent_groups():
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.full(3, 0.5), N)
    changes = compare_shares(shares, ~AFTER, AFTER)
    each = estimate_shares(shares, AFTER.astype(int), 2)
    np.testing.assert_allclose(changes.stderr, np.hypot(*each.stderr))


def test_planted_words_are_found_and_no_others():
    rng = np.random.default_rng(3)
    usual = 1 / np.arange(1, 501)
    more = usual.copy()
    more[[5, 40]] *= 3
    usual, more = usual / usual.sum(), more / more.sum()
    counts = draw_counts(rng, np.where(AFTER[:, None], more, usual))
    changes = compare_words(counts, ~AFTER, AFTER)
    assert changes.list_rises().tolist() == [5, 40]
    total = np.asarray(counts[AFTER].sum(axis=0)).ravel()
    np.testing.assert_allclose(changes.after, total / total.sum())


def test_a_word_of_one_long_document_does_not_rise():
    counts = np.zeros((N, 3))
    counts[:, 0] = 50
    counts[::3, 1] = 1
    counts[0, 2] = 400  # in one document only
    changes = compare_words(sp.csr_array(counts), ~AFTER, AFTER)
    assert changes.difference[2] > 0.01
    assert 2 not in changes.list_rises()


@pytest.mark.slow
@pytest.mark.parametrize("n_after", [60, 600])
def test_random_groups_rarely_differ_in_any_word(n_after):
    rng = np.random.default_rng(4)
    own = rng.gamma(100 / np.arange(1, 801) / 7.3, size=(N, 800)) + 1e-12
    counts = draw_counts(rng, own / own.sum(axis=1, keepdims=True))
    wrong = 0
    for _ in range(100):
        after = np.isin(np.arange(N), rng.permutation(N)[:n_after])
        changes = compare_words(counts, ~after, after)
        wrong += len(changes.list_rises()) + len(changes.list_falls()) > 0
    # At most 5 of 100, and three standard errors.
    assert wrong <= 11


def test_an_empty_group_and_empty_documents():
    counts = sp.csr_array(np.array([[1.0, 2.0], [0.0, 0.0], [3.0, 0.0]]))
    nobody = np.zeros(3, dtype=bool)
    changes = compare_words(counts, ~nobody, nobody)
    assert np.isnan(changes.difference).all()
    assert changes.list_rises().size == changes.list_falls().size == 0
    assert np.isfinite(compare_words(counts, np.array([True, True, False]), np.array([False, False, True])).low).all()
