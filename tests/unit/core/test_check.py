import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixsearch import Check, GaussianSearch
from mixsearch.datasets import make_gaussian_mixture


def test_expected_recall_is_that_of_members_at_random_ranks():
    rng = np.random.default_rng(0)
    weights = np.exp(-np.arange(2000) / 500)
    members = np.sort(rng.choice(np.arange(1, 2001), 300, replace=False, p=weights / weights.sum()))
    checks = [Check(rng.choice(members, 5, replace=False), 2000) for _ in range(2000)]
    for n in (100, 300, 700):
        assert_allclose(np.mean([check.expected_recall(n) for check in checks]), np.mean(members <= n), atol=0.05)


def test_expected_recall_rises_from_none_to_all():
    check = Check(np.array([3, 3, 900]), 1000)
    recall = [check.expected_recall(n) for n in range(1001)]
    assert recall[0] == 0
    assert recall[-1] == 1
    assert np.all(np.diff(recall) >= 0)


def test_reading_as_far_as_promised_finds_what_is_promised():
    check = Check(np.array([1, 7, 12, 40, 333]), 1000)
    n = check.n_to_read(0.8)
    assert n >= 333
    assert_allclose(check.expected_recall(n), 5 / 6, atol=0.01)


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        ([4, 23, 26, 57, 196], "4 of 5 examples come back among the first 60 when left out; reading the first 200"),
        ([2, 3, 900], "2 of 3 examples come back among the first 10 when left out; reading the first 900"),
        ([3, 960, 990], "1 of 3 examples comes back among the first 10 when left out; reading the first 990"),
        ([990, 995], "0 of 2 examples come back among the first 500 when left out; reading the first 1,000"),
        ([], "no check: it needs two examples"),
    ],
)
def test_sentence_tells_how_far_to_read(ranks, sentence):
    assert str(Check(np.array(ranks, dtype=int), 1000)).startswith(sentence)


def test_no_recall_is_expected_without_a_check():
    check = Check(np.empty(0, dtype=int), 10)
    assert np.isnan(check.expected_recall(5))
    assert check.n_to_read() == 10


@pytest.mark.parametrize("deviation", [0.5, 2.5])  # with and without members of a membership of exactly 1
def test_reading_as_far_as_the_check_of_a_gaussian_says_finds_as_many_members(deviation):
    data = make_gaussian_mixture(4000, 20, 4, deviation=deviation, random_state=0)
    search = GaussianSearch(4).fit(data.X)
    shortfalls = []
    for label in range(4):
        members = data.labels == label
        found = search.search(examples=data.X[members][:9])
        n = found.check.n_to_read()
        best = np.argsort(-found.membership(data.X), kind="stable")[:n]
        shortfalls.append(found.check.expected_recall(n) - members[best].sum() / members.sum())
    assert np.mean(shortfalls) < 0.05
